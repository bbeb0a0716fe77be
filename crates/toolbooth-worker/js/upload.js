// A response whose body is written chunk by chunk.

/**
 * The property of a `Response` with its `Upload`. The bundle has this file twice, as a snippet of Rust and as an import of
 * entry.js, so they share no variables.
 */
export const UPLOAD = Symbol.for("toolbooth.upload");

// A package may replace what is global. This is from before.
const { Response } = globalThis;

export class Upload {
  #writer;
  #end;
  /** Resolves when the body is complete. */
  written = new Promise((resolve) => (this.#end = resolve));

  constructor(status, headers) {
    // The stream of the runtime itself: its chunks cross no JS on their way to the client.
    const { readable, writable } = new IdentityTransformStream();
    this.#writer = writable.getWriter();
    this.response = new Response(readable, { status, headers });
    this.response[UPLOAD] = this;
  }

  /** Resolves when the client can take more. Throws if it has gone. */
  write(bytes) {
    return this.#writer.write(bytes);
  }

  /** Like `write`, but `bytes` is a view of WebAssembly memory. */
  writeView(bytes) {
    return this.write(bytes.slice());
  }

  close() {
    this.#end();
    this.#writer.close().catch(() => {});
  }

  /** Ends the body with an error. */
  abort(error) {
    this.#end();
    this.#writer.abort(error).catch(() => {});
  }
}
