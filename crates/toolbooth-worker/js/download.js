// Sends a request to another server and reads the response chunk by chunk, as slowly as its reader.
import { request, retryAfter } from "./send.js";

/**
 * Resolves when the headers have arrived, or to `{ timedOut: true }` after `timeout` milliseconds. Throws if the
 * request fails. Redirects are not followed. The parameter `body` is a view of WebAssembly memory.
 */
export async function open(binding, method, url, headers, body, timeout) {
  const download = new Download(timeout);
  // WebAssembly may move its memory while this waits.
  const init = { method, headers, body: body?.slice(), signal: download.signal };
  try {
    await download.start(request(binding, url, init));
  } catch (error) {
    download.cancel();
    if (!download.timedOut) throw error;
  }
  return download;
}

/** The result of `pipe` if the client has gone. */
const CLIENT_GONE = true;

class Download {
  #controller = new AbortController();
  #timeout;
  #timer;
  // When the current wait began; undefined between two of them.
  #since;
  // What to do while nothing arrives, and how long to wait before.
  #onSilence;
  #patience;
  #response;
  #reader;
  timedOut = false;

  constructor(timeout) {
    this.#timeout = timeout;
    this.#patience = timeout;
    this.#watch(timeout);
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

  /**
   * Writes what `transform` makes of each chunk to `upload`, until the end or until it returns undefined. Writes
   * `keepAlive` whenever nothing has arrived for `patience` milliseconds. Returns whether the client has gone. Throws
   * if a read fails, or if nothing arrives in time.
   */
  async pipe(upload, transform, patience, keepAlive) {
    let gone = false;
    const leave = () => {
      gone = CLIENT_GONE;
      this.cancel();
    };
    // A write costs twice as much as a read. So the first bytes of a millisecond are written
    // at once, and those that follow in it together.
    let held = [];
    let written, writing, timer;
    const flush = () => {
      clearTimeout(timer);
      timer = undefined;
      written = Date.now();
      writing = upload.write(joined(held)).catch(leave);
      held = [];
      return writing;
    };
    this.#patience = patience;
    this.#onSilence = () => upload.write(keepAlive).catch(leave);
    clearTimeout(this.#timer);
    this.#watch(patience);
    try {
      for (;;) {
        this.#since = Date.now();
        const { value } = (await this.#reader?.read()) ?? {};
        this.#since = undefined;
        const bytes = value && transform(value);
        if (!bytes) break;
        if (bytes.length === 0) continue;
        held.push(bytes);
        if (Date.now() !== written) await flush();
        else {
          timer ??= setTimeout(flush, 1);
          // As slowly as the client takes what was written before.
          await writing;
        }
        if (gone) break;
      }
      if (held.length > 0) await flush();
      return gone;
    } catch (error) {
      if (held.length > 0) await flush();
      if (gone) return CLIENT_GONE;
      // WebAssembly has crashed: no request waits for the result, but all requests must know.
      if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) reportError(error);
      throw error;
    }
  }

  /** Ends the request; the other server sees a closed connection. */
  cancel() {
    clearTimeout(this.#timer);
    this.#controller.abort();
  }

  async #inTime(promise) {
    this.#since = Date.now();
    try {
      return await promise;
    } finally {
      this.#since = undefined;
    }
  }

  // One timer for the whole download: a timer per read would cost more than the read.
  #watch(delay) {
    this.#timer = setTimeout(() => {
      const waited = this.#since === undefined ? 0 : Date.now() - this.#since;
      if (waited >= this.#timeout) {
        this.timedOut = true;
        this.cancel();
        return;
      }
      if (waited >= this.#patience) this.#onSilence?.();
      const next = waited < this.#patience ? this.#patience - waited : this.#patience;
      this.#watch(Math.min(next, this.#timeout - waited));
    }, delay);
  }
}

function joined(chunks) {
  if (chunks.length === 1) return chunks[0];
  const bytes = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let length = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, length);
    length += chunk.length;
  }
  return bytes;
}
