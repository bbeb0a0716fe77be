// The address under which users reach a Worker. It is known before the Worker starts, which must be told.
import http from "node:http";
import { text } from "node:stream/consumers";

/** Starts it, before the Worker that it serves. */
export async function front() {
  let worker, held;
  const faults = [];
  const added = {};
  const server = http.createServer(async (request, response) => {
    // Answers are read on the way, and so must not be compressed.
    const { method, url, headers: { "accept-encoding": _, ...headers } } = request;
    if (held && url.startsWith(held.path)) {
      // Without content the browser stays where it is.
      response.writeHead(204).end();
      held.resolve(url);
      held = undefined;
      return;
    }
    try {
      const body = (await text(request)) || undefined;
      const reply = await worker.request(method, url, { headers: { ...headers, ...added }, body });
      response.writeHead(reply.status, reply.headers).end(reply.text);
    } catch (error) {
      faults.push(error);
      response.destroy();
    }
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    origin: `http://localhost:${server.address().port}`,
    /** What went wrong on the way, such as an answer that the contract does not have. */
    faults,
    /** Headers that every request gets on the way. */
    added,
    /** Hands requests on to this Worker. */
    serve: (client) => (worker = client),
    /** Keeps the next request to `path` from the Worker, and gives its address. */
    hold: (path) => new Promise((resolve) => (held = { path, resolve })),
    close() {
      server.closeAllConnections();
      return new Promise((closed) => server.close(closed));
    },
  };
}
