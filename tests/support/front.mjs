// The address under which users reach a Worker. It is known before the Worker starts, which must be told.
import http from "node:http";

/** Starts it; requests go to `serve(address)`'s address. */
export async function front() {
  let target, held;
  const server = http.createServer((request, response) => {
    const { method, url, headers } = request;
    if (held && url.startsWith(held.path)) {
      // Without content the browser stays where it is.
      response.writeHead(204).end();
      held.resolve(url);
      held = undefined;
      return;
    }
    const { hostname, port } = new URL(target);
    const onward = http.request({ hostname, port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", (error) => response.destroy(error));
    request.pipe(onward);
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    origin: `http://localhost:${server.address().port}`,
    serve(address) {
      target = address;
    },
    /** Keeps the next request to `path` from the Worker, and gives its address. */
    hold: (path) => new Promise((resolve) => (held = { path, resolve })),
    close() {
      server.closeAllConnections();
      return new Promise((closed) => server.close(closed));
    },
  };
}
