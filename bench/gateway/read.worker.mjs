// A Worker that reads every chunk and writes it again: the least that a gateway on Workers can do that looks into a stream.
export default {
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    const { status, headers, body } = await fetch(`${env.UPSTREAM}${pathname}`, { method: "POST", headers: request.headers, body: request.body });
    const { readable, writable } = new IdentityTransformStream();
    context.waitUntil(copy(body.getReader(), writable.getWriter()));
    return new Response(readable, { status, headers });
  },
};

async function copy(reader, writer) {
  for (let part = await reader.read(); !part.done; part = await reader.read()) await writer.write(part.value);
  await writer.close();
}
