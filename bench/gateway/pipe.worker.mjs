// A Worker that only pipes: the least that a gateway on Workers can do.
export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    const { status, headers, body } = await fetch(`${env.UPSTREAM}${pathname}`, { method: "POST", headers: request.headers, body: request.body });
    return new Response(body, { status, headers });
  },
};
