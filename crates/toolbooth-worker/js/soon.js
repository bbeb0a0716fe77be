// Calls a function soon. The runtime's `queueMicrotask` does the same, but wraps each function in an object of its own.

// It belongs to no request, so it outlives each.
const resolved = Promise.resolve();

/** Calls `run` after the code that runs now. */
export function soon(run) {
  resolved.then(run);
}
