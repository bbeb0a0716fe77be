// A proxy that users reach a Worker through. Its URL is known before the Worker starts, which needs it as PUBLIC_URL.
import { text } from "node:stream/consumers";
import { listen } from "./server.mjs";

/** Starts the proxy, before the Worker that it serves. */
export async function front() {
  let worker, held;
  const errors = [];
  const added = {};
  const { port, close } = await listen(async (request, response) => {
    // The proxy reads responses, so they must not be compressed.
    const { method, url, headers: { "accept-encoding": _, ...headers } } = request;
    if (held && url.startsWith(held.path)) {
      // With 204 the browser stays where it is.
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
      errors.push(error);
      response.destroy();
    }
  });
  return {
    origin: `http://localhost:${port}`,
    /** Errors while proxying, such as a response that violates the contract. */
    faults: errors,
    /** Headers added to every request. */
    added,
    /** Forwards requests to this Worker. */
    serve: (client) => (worker = client),
    /** Holds back the next request to `path` and returns its URL. */
    hold: (path) => new Promise((resolve) => (held = { path, resolve })),
    close,
  };
}
