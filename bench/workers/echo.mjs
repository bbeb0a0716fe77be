// The baseline of the ratios: reads the request body and returns it.
export default {
  async fetch(request) {
    return new Response(await request.arrayBuffer());
  },
};
