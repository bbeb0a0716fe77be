// An HTTP server of a test on a loopback port.
import { execFileSync } from "node:child_process";
import http from "node:http";
import https from "node:https";

/**
 * Starts it. If `respond` fails, the request ends without a response and the error is printed: the test that made the request
 * fails, not a file without a test's name.
 */
export const listen = (respond) => opened(http.createServer(guarded(respond)), "http://127.0.0.1");

/** The same with TLS, at `localhost`, with a certificate that clients have to be told to accept. */
export function listenSecurely(respond) {
  const request = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost"];
  const pem = execFileSync("openssl", [...request, "-keyout", "-", "-out", "-"], { stdio: ["ignore", "pipe", "ignore"] });
  return opened(https.createServer({ key: pem, cert: pem }, guarded(respond)), "https://localhost");
}

function guarded(respond) {
  return async (request, response) => {
    try {
      await respond(request, response);
    } catch (error) {
      // The client may leave before its request is complete.
      if (error.code !== "ECONNRESET") console.error(error);
      response.destroy();
    }
  };
}

async function opened(server, origin) {
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address();
  return {
    server,
    port,
    base: `${origin}:${port}`,
    close() {
      server.closeAllConnections();
      return new Promise((closed) => server.close(closed));
    },
  };
}
