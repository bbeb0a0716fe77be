// A client for measurements: connections that stay open, each with one request at a time, and the times of each answer.
import { once } from "node:events";
import { connect } from "node:net";

const HEAD_END = Buffer.from("\r\n\r\n");
const LAST_CHUNK = Buffer.from("\r\n0\r\n\r\n");
/** The longest wait for an answer, in milliseconds. */
const LIMIT = 60_000;

/** The bytes of a request: `{ url, headers, body }`. */
export function bytesOf({ url, headers, body }) {
  const { host, pathname, search } = new URL(url);
  const lines = Object.entries({ host, "content-type": "application/json", accept: "*/*", ...headers, "content-length": Buffer.byteLength(body) });
  return Buffer.from(`POST ${pathname}${search} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`);
}

/** A connection to a server. */
class Connection {
  #socket;
  #port;

  constructor(port) {
    this.#port = port;
  }

  /** Opens the connection, or opens it again if the server has closed it. */
  async ready() {
    if (this.#socket?.readyState === "open") return;
    this.#socket = connect({ host: "127.0.0.1", port: this.#port, noDelay: true });
    // The one that waits for an answer hears of it.
    this.#socket.on("error", () => {});
    await once(this.#socket, "connect");
  }

  /** Sends a request. Returns the status, the body's bytes as they came, and the milliseconds until its first byte and until its end. */
  send(request) {
    const socket = this.#socket;
    return new Promise((resolve, reject) => {
      const begun = performance.now();
      const parts = [];
      let head;
      let first;
      let length = 0;
      let size = 0;
      const finish = (result, error) => {
        clearTimeout(timer);
        socket.off("data", receive).off("close", closed);
        if (error) reject(error);
        else resolve({ status: Number(head.slice(9, 12)), head, body: Buffer.concat(parts), first: result.first, whole: performance.now() - begun });
      };
      const timer = setTimeout(() => {
        socket.destroy();
        finish(undefined, new Error(`no answer in ${LIMIT / 1000} seconds`));
      }, LIMIT);
      const closed = () => finish(undefined, new Error("the connection was closed"));
      const receive = (part) => {
        parts.push(part);
        if (head === undefined) {
          const all = Buffer.concat(parts);
          const end = all.indexOf(HEAD_END);
          if (end < 0) return;
          head = all.subarray(0, end).toString("latin1");
          // With the line break before it, an empty body ends like any other.
          parts.splice(0, parts.length, all.subarray(end + 2));
          length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1]);
          size = parts[0].length - 2;
        } else {
          size += part.length;
        }
        if (size > 0) first ??= performance.now() - begun;
        if (Number.isNaN(length) ? endsWith(parts, LAST_CHUNK) : size >= length) finish({ first: first ?? performance.now() - begun });
      };
      socket.on("data", receive).on("close", closed);
      socket.write(request);
    });
  }

  close() {
    this.#socket?.destroy();
  }
}

/** Whether the last bytes of the parts are these. */
function endsWith(parts, bytes) {
  let end = parts.at(-1);
  for (let at = parts.length - 2; end.length < bytes.length && at >= 0; at -= 1) end = Buffer.concat([parts[at], end]);
  return end.subarray(-bytes.length).equals(bytes);
}

/** Connections to the server of a request. */
export function open(url, count) {
  const port = Number(new URL(url).port);
  return Array.from({ length: count }, () => new Connection(port));
}

/**
 * Sends a request so many times over the connections, over each as soon as the answer before has come; fewer times if that takes longer than
 * `seconds`, but at least once over each. `accept` throws if an answer is not the expected one. Returns the number of requests, the seconds
 * that they took, and the milliseconds until the first byte and until the end of each answer.
 */
export async function load(connections, request, { requests, seconds }, accept) {
  const [first, whole] = [[], []];
  await Promise.all(connections.map((connection) => connection.ready()));
  const begun = performance.now();
  let left = requests;
  await Promise.all(
    connections.map(async (connection) => {
      for (let isFirst = true; left > 0 && (isFirst || performance.now() - begun < seconds * 1000); isFirst = false) {
        left -= 1;
        await connection.ready();
        const answer = await connection.send(request);
        accept(answer);
        first.push(answer.first);
        whole.push(answer.whole);
      }
    }),
  );
  return { requests: whole.length, seconds: (performance.now() - begun) / 1000, first, whole };
}
