// Makes a Response of what Rust gives: one crossing for status, headers and body.

/** Headers, from lines of `name: value`. */
export function headers(lines) {
  // What is thrown here would pass through WebAssembly and leave it in disorder.
  return new Headers(lines === "" ? [] : lines.split("\n").map((line) => line.split(/: (.*)/s, 2)));
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** `body` is a view of WebAssembly memory that holds UTF-8. Text leaves for less than bytes do. */
export function respond(status, headers, body) {
  return lend(status, headers, body.length === 0 ? null : decoder.decode(body));
}

/** A copy of a view of WebAssembly memory, to lend. */
export function copy(body) {
  return body.slice();
}

/** `body` can be lent again and again: nobody writes to it. */
export function lend(status, headers, body) {
  return new Response(body, { status, headers });
}
