// Reads long request bodies, and those of unknown length, when WebAssembly asks for them.

// How long `start` waits for the first bytes, in milliseconds.
const PATIENCE = 1000;

/** The body of a request. Nothing is read before `read` or `start` is called. */
export class BodyReader {
  #request;
  #bytes;
  #first;
  // What has been received, if the length was unknown or only the first bytes were wanted.
  #chunks = [];
  /** Whether a read is in progress. */
  arriving = false;

  constructor(request) {
    this.#request = request;
  }

  /**
   * Returns the bytes of the body, or undefined if it has more than `limit`; then reading stops at the limit.
   * Throws if the connection ends first. Later calls return the result of the first.
   */
  read(limit) {
    return (this.#bytes ??= this.#waitFor(this.#receive(limit)));
  }

  /**
   * Returns the first `limit` bytes of a body that was not read completely: what `read` has received, or what
   * arrives soon. Never throws. Later calls return the result of the first.
   */
  start(limit) {
    return (this.#first ??= this.#waitFor(this.#receiveFirst(limit)));
  }

  #waitFor(reading) {
    this.arriving = true;
    return reading.finally(() => (this.arriving = false));
  }

  async #receive(limit) {
    const { headers, body } = this.#request;
    const length = headers.get("content-length");
    if (length !== null) {
      return Number(length) > limit ? undefined : new Uint8Array(await this.#request.arrayBuffer());
    }
    let received = 0;
    for await (const chunk of body ?? []) {
      received += chunk.length;
      this.#chunks.push(chunk);
      if (received > limit) return undefined;
    }
    return this.#joined();
  }

  async #receiveFirst(limit) {
    const { body, bodyUsed } = this.#request;
    if (body !== null && !bodyUsed) {
      const reader = body.getReader({ mode: "byob" });
      let timer;
      const late = new Promise((resolve) => (timer = setTimeout(resolve, PATIENCE)));
      // If the connection ends, no client waits for the response.
      await Promise.race([this.#fill(reader, limit), late]).catch(() => {});
      clearTimeout(timer);
      reader.cancel().catch(() => {});
    }
    return (await this.#joined()).subarray(0, limit);
  }

  /** Reads exactly `limit` bytes, or fewer if the body ends. */
  async #fill(reader, limit) {
    for (let missing = limit; missing > 0; ) {
      const { value, done } = await reader.read(new Uint8Array(missing));
      if (done) return;
      missing -= value.length;
      this.#chunks.push(value);
    }
  }

  async #joined() {
    return new Uint8Array(await new Blob(this.#chunks).arrayBuffer());
  }
}
