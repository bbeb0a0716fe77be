// What the runtime itself costs: an empty answer to an unread request.
export default {
  fetch: () => new Response(null),
};
