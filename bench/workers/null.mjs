// Measures the runtime itself: an empty response, without reading the request.
export default {
  fetch: () => new Response(null),
};
