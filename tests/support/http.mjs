// A raw HTTP client: it adds no headers and decompresses nothing. It checks every response against the
// contract and searches it for secrets.
import http from "node:http";
import { check } from "./contract.mjs";
import { watch } from "./leaks.mjs";

export class Client {
  #agent = new http.Agent({ keepAlive: true });

  constructor(address) {
    this.address = address;
  }

  /** Sends a request; `chunked` sends the body in pieces, without Content-Length. */
  async request(method, path, { headers = {}, body, chunked = false } = {}) {
    const bytes = body === undefined ? undefined : Buffer.from(body);
    const reply = await this.#exchange(method, path, { ...headers }, bytes, chunked);
    watch(path, headers, bytes?.toString(), reply);
    check(method, path, bytes?.toString(), reply);
    return reply;
  }

  get(path, headers) {
    return this.request("GET", path, { headers });
  }

  /** Posts `body`: strings and bytes as they are, anything else as JSON. */
  post(body, { path = "/tools/call", headers = {}, chunked } = {}) {
    const raw = typeof body === "string" || Buffer.isBuffer(body);
    return this.request("POST", path, {
      headers: { "content-type": "application/json", ...headers },
      body: raw ? body : JSON.stringify(body),
      chunked,
    });
  }

  /** Calls a tool; `rest` has further fields of the request. */
  call(tool_id, input, rest = {}) {
    return this.post({ tool_id, input, ...rest });
  }

  closeConnections() {
    this.#agent.destroy();
  }

  #exchange(method, path, headers, bytes, chunked) {
    const { hostname, port } = new URL(this.address);
    if (bytes !== undefined && !chunked) headers["content-length"] ??= bytes.length;
    return new Promise((resolve, reject) => {
      const options = { hostname, port, method, path, headers, agent: this.#agent };
      const request = http.request(options, (response) => {
        const parts = [];
        response.on("data", (part) => parts.push(part));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(parts).toString();
          const { statusCode: status, headers } = response;
          resolve({ status, headers, text, get json() { return JSON.parse(text); } });
        });
      });
      request.on("error", (error) => {
        // While a test did something else, the server may have closed the connection, which was idle.
        const wasClosed = request.reusedSocket && ["ECONNRESET", "EPIPE"].includes(error.code);
        if (wasClosed) resolve(this.#exchange(method, path, headers, bytes, chunked));
        else reject(error);
      });
      if (chunked) {
        for (let at = 0; at < bytes.length; at += 16384) request.write(bytes.subarray(at, at + 16384));
      } else if (bytes !== undefined) {
        request.write(bytes);
      }
      request.end();
    });
  }
}
