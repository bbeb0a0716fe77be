// Sends a request to another server and reads the response chunk by chunk, as slowly as its reader.
import { retryAfter } from "./send.js";

/**
 * Resolves when the headers have arrived, or to `{ timedOut: true }` after `timeout` milliseconds. Throws if the
 * request fails. Redirects are not followed. The parameter `body` is a view of WebAssembly memory.
 */
export async function open(method, url, headers, body, timeout) {
  const download = new Download(timeout);
  // WebAssembly may move its memory while this waits.
  const request = { method, headers, body: body?.slice(), signal: download.signal, redirect: "manual" };
  try {
    await download.start(fetch(url, request));
  } catch (error) {
    if (!download.timedOut) throw error;
  }
  return download;
}

class Download {
  #controller = new AbortController();
  #timeout;
  #response;
  #reader;
  timedOut = false;

  constructor(timeout) {
    this.#timeout = timeout;
  }

  get signal() {
    return this.#controller.signal;
  }

  get status() {
    return this.#response.status;
  }

  get retryAfter() {
    return retryAfter(this.#response.headers);
  }

  async start(response) {
    this.#response = await this.#inTime(response);
    this.#reader = this.#response.body?.getReader();
  }

  /** The next bytes; undefined at the end. Throws if none arrive in time. */
  async next() {
    const { value } = (await this.#inTime(this.#reader?.read())) ?? {};
    return value;
  }

  /** Ends the request; the other server sees a closed connection. */
  cancel() {
    this.#controller.abort();
  }

  async #inTime(promise) {
    const timer = setTimeout(() => {
      this.timedOut = true;
      this.#controller.abort();
    }, this.#timeout);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }
}
