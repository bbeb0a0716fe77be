// Makes a Response of what Rust gives: one crossing for status, headers and body.

// Responses have few different sets of headers; each is taken apart once. The bound is for
// those that repeat a caller's words, such as an echoed origin.
const known = new Map();
const MOST_KNOWN = 64;

/** `head` holds lines of `name: value`, or nothing; `body` is a view of WebAssembly memory. */
export function respond(status, head, body) {
  let headers = known.get(head);
  if (headers === undefined) {
    // What is thrown here would pass through WebAssembly and leave it in disorder.
    const lines = head === "" ? [] : head.split("\n");
    headers = new Headers(lines.map((line) => line.split(/: (.*)/s, 2)));
    // A cookie is a secret, and no two are the same.
    if (known.size < MOST_KNOWN && !head.includes("\nset-cookie: ")) known.set(head, headers);
  }
  return new Response(body.length === 0 ? null : body.slice(), { status, headers });
}
