// A response whose body is written chunk by chunk.

// The bodies that are being written. After a crash nobody would end them.
const open = new Set();

/** Ends every body with an error. */
export function abortAll(error) {
  for (const upload of open) upload.abort(error);
}

export class Upload {
  #writer;

  constructor(status, headers) {
    // The stream of the runtime itself: its chunks cross no JS on their way to the client.
    const { readable, writable } = new IdentityTransformStream();
    this.#writer = writable.getWriter();
    this.response = new Response(readable, { status, headers });
    open.add(this);
  }

  /** Resolves when the client can take more. Throws if it has gone. `bytes` is a view of WebAssembly memory. */
  write(bytes) {
    return this.#writer.write(bytes.slice());
  }

  close() {
    open.delete(this);
    this.#writer.close().catch(() => {});
  }

  abort(error) {
    open.delete(this);
    this.#writer.abort(error).catch(() => {});
  }
}
