// A minimal HTTP client: keep-alive sockets with one request in flight each.
import { once } from "node:events";
import { connect } from "node:net";

/** The bytes of a POST with a JSON body. */
export function post(path, body, headers = { "content-type": "application/json" }) {
  const lines = Object.entries({
    host: "bench",
    ...headers,
    "content-length": Buffer.byteLength(body),
  });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `POST ${path} HTTP/1.1\r\n${head}\r\n${body}`;
}

/** The bytes of a GET. */
export function get(path, headers = {}) {
  const lines = Object.entries({ host: "bench", ...headers });
  return `GET ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
}

/** A connection that sends one request at a time. */
export class Connection {
  #socket;
  #received = "";
  #waiting = { resolve() {}, reject() {} };

  static async open(port) {
    const connection = new Connection(port);
    await connection.ready();
    return connection;
  }

  constructor(port) {
    this.port = port;
  }

  /** Opens the connection, or reopens it if the server closed it because it was idle. */
  async ready() {
    if (this.#socket?.readyState === "open") return;
    const socket = connect({ host: "127.0.0.1", port: this.port, noDelay: true });
    await once(socket, "connect");
    this.#socket = socket;
    // In latin1, a character is a byte, as in content-length; text() decodes other characters.
    socket.setEncoding("latin1");
    socket.on("data", (chunk) => this.#receive(chunk));
    const fail = (error) => socket === this.#socket && this.#waiting.reject(error);
    socket.on("error", fail);
    socket.on("close", () => fail(new Error("the connection was closed")));
  }

  send(request) {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new Error("the connection is closed"));
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close() {
    this.#socket.destroy();
  }

  #receive(chunk) {
    this.#received += chunk;
    const end = this.#received.indexOf("\r\n\r\n");
    if (end < 0) return;
    const head = this.#received.slice(0, end);
    const status = Number(head.slice(9, 12));
    const rest = this.#received.slice(end + 4);
    const length = status === 304 ? 0 : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1]);
    const inChunks = /\r\ntransfer-encoding: *chunked/i.test(head);
    if (Number.isNaN(length) && !inChunks) return this.#waiting.reject(new Error(`no content-length in ${head}`));
    if (inChunks ? !rest.endsWith(LAST_CHUNK) : rest.length < length) return;
    const body = inChunks ? joined(rest) : rest;
    this.#received = "";
    this.#waiting.resolve({ status, head, body });
  }
}

const LAST_CHUNK = "0\r\n\r\n";

/** The body in complete chunks. */
function joined(chunks) {
  let body = "";
  for (let at = 0; !chunks.startsWith(LAST_CHUNK, at); ) {
    const start = chunks.indexOf("\r\n", at) + 2;
    const end = start + Number.parseInt(chunks.slice(at, start), 16);
    body += chunks.slice(start, end);
    at = end + 2;
  }
  return body;
}

/** `count` connections to a port. */
export function open(port, count, connect = Connection.open) {
  return Promise.all(Array.from({ length: count }, () => connect(port)));
}

/** Sends `requests` equal requests over the connections. Returns the total seconds and the milliseconds of
 *  each request; throws if a status differs from `expected`. */
export async function load(connections, request, requests, expected = 200) {
  const latencies = [];
  let left = requests;
  await Promise.all(connections.map((connection) => connection.ready()));
  const started = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      while (left-- > 0) {
        const sent = performance.now();
        const { status } = await connection.send(request);
        if (status !== expected) throw new Error(`answered ${status} under load`);
        latencies.push(performance.now() - sent);
      }
    }),
  );
  return { seconds: (performance.now() - started) / 1000, latencies };
}
