// What any Worker costs that reads its request: all ratios are to this one.
export default {
  async fetch(request) {
    return new Response(await request.arrayBuffer());
  },
};
