// Reads request bodies that WebAssembly asks for: long ones, and those of unknown length.

/** The body of a request. Nothing of it is read before `read` is called. */
export class BodyReader {
  #request;
  #bytes;
  /** Whether it is being read and has not arrived yet. */
  arriving = false;

  constructor(request) {
    this.#request = request;
  }

  /** Reads the body like `receive`. Another call gives what the first one read. */
  read(limit) {
    if (this.#bytes === undefined) {
      this.arriving = true;
      this.#bytes = receive(this.#request, limit).finally(() => (this.arriving = false));
    }
    return this.#bytes;
  }
}

/**
 * Gives the bytes of a request's body, or undefined when it has more than `limit`. Of such a body no more
 * is read than it takes to know. Throws when the connection ends first.
 */
async function receive(request, limit) {
  const length = request.headers.get("content-length");
  if (length !== null) {
    return Number(length) > limit ? undefined : new Uint8Array(await request.arrayBuffer());
  }
  const pieces = [];
  let received = 0;
  for await (const piece of request.body ?? []) {
    received += piece.length;
    if (received > limit) return undefined;
    pieces.push(piece);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}
