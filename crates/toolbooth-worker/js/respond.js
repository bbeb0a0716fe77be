// Makes a Response of what Rust gives: one crossing for status, headers and body.

/** Headers, from lines of `name: value`. */
export function headers(lines) {
  // What is thrown here would pass through WebAssembly and leave it in disorder.
  return new Headers(lines === "" ? [] : lines.split("\n").map((line) => line.split(/: (.*)/s, 2)));
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** `body` is a view of WebAssembly memory that holds UTF-8. Text leaves for less than bytes do. */
export function respond(status, headers, body) {
  return new Response(body.length === 0 ? null : decoder.decode(body), { status, headers });
}
