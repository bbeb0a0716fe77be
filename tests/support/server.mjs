// An HTTP server of a test on a loopback port.
import http from "node:http";

/**
 * Starts it. If `respond` fails, the request ends without a response and the error is printed: the test that made the request
 * fails, not a file without a test's name.
 */
export async function listen(respond) {
  const server = http.createServer(async (request, response) => {
    try {
      await respond(request, response);
    } catch (error) {
      // The client may leave before its request is complete.
      if (error.code !== "ECONNRESET") console.error(error);
      response.destroy();
    }
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address();
  return {
    server,
    port,
    base: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      return new Promise((closed) => server.close(closed));
    },
  };
}
