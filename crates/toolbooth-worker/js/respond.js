// Creates a Response for Rust: one call across the boundary for status, headers and body.

// A package may replace what is global. These are from before.
const { Headers, Response } = globalThis;

/** Creates Headers from lines of `name: value`. */
export function headers(lines) {
  // Must not throw: an exception would pass through WebAssembly and leave it in an undefined state.
  return new Headers(lines === "" ? [] : lines.split("\n").map((line) => line.split(/: (.*)/s, 2)));
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** `body` is a view of WebAssembly memory with UTF-8. A string body is cheaper than bytes. */
export function respond(status, headers, body) {
  return respondWith(status, headers, body.length === 0 ? null : decoder.decode(body));
}

/** Copies a view of WebAssembly memory, for `respondWith`. */
export function copy(body) {
  return body.slice();
}

/** Like `respond`, without a copy: `body` is never written to, so many responses can share it. */
export function respondWith(status, headers, body) {
  return new Response(body, { status, headers });
}
