// A response whose body is written chunk by chunk.

// The bodies that are being written. After a crash nobody would end them.
const open = new Set();
// Their promises, by response.
const written = new WeakMap();

/** A promise that resolves when the body of a response has been written; undefined if it is complete. */
export const whenWritten = (response) => written.get(response);

/** Ends every body with an error. */
export function abortAll(error) {
  for (const upload of open) upload.abort(error);
}

export class Upload {
  #writer;
  #end;

  constructor(status, headers) {
    // The stream of the runtime itself: its chunks cross no JS on their way to the client.
    const { readable, writable } = new IdentityTransformStream();
    this.#writer = writable.getWriter();
    this.response = new Response(readable, { status, headers });
    written.set(this.response, new Promise((resolve) => (this.#end = resolve)));
    open.add(this);
  }

  /** Resolves when the client can take more. Throws if it has gone. `bytes` is a view of WebAssembly memory. */
  write(bytes) {
    return this.#writer.write(bytes.slice());
  }

  close() {
    this.#finish();
    this.#writer.close().catch(() => {});
  }

  abort(error) {
    this.#finish();
    this.#writer.abort(error).catch(() => {});
  }

  #finish() {
    open.delete(this);
    this.#end();
  }
}
