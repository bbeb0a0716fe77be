// Reads long request bodies, and those of unknown length, when WebAssembly asks for them.

/** The body of a request. Nothing is read before `read` is called. */
export class BodyReader {
  #request;
  #bytes;
  /** Whether a read is in progress. */
  arriving = false;

  constructor(request) {
    this.#request = request;
  }

  /** Reads the body like `receive`. Later calls return the result of the first. */
  read(limit) {
    if (this.#bytes === undefined) {
      this.arriving = true;
      this.#bytes = receive(this.#request, limit).finally(() => (this.arriving = false));
    }
    return this.#bytes;
  }
}

/**
 * Returns the bytes of a request's body, or undefined if it has more than `limit`; then reading stops at
 * the limit. Throws if the connection ends first.
 */
async function receive(request, limit) {
  const length = request.headers.get("content-length");
  if (length !== null) {
    return Number(length) > limit ? undefined : new Uint8Array(await request.arrayBuffer());
  }
  const chunks = [];
  let received = 0;
  for await (const chunk of request.body ?? []) {
    received += chunk.length;
    if (received > limit) return undefined;
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
