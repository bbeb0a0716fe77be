// The fetch event: reads the body, calls into WebAssembly once, hands back what it gives.
//
// "wasm" is the module that worker-build makes. Its default export is a class that starts a fresh
// WebAssembly instance after a panic; extending it keeps that.
import Recovering from "wasm";

const NO_BODY = new Uint8Array(0);
// After a panic there is no library left to ask how an answer looks.
const FAILED = { status: 500, headers: { "oxp-version": "1.0" } };
let limit;

export default class extends Recovering {
  async fetch(request) {
    try {
      limit ??= super.body_limit(this.env);
      const body = request.body === null ? NO_BODY : await read(request, limit);
      return await super.answer(request.method, request.url, request.headers, body, this.env);
    } catch (error) {
      console.error("Request failed", error);
      return Response.json({ message: "The tool server failed" }, FAILED);
    }
  }
}

// All bytes of the body, or undefined when they are more than `limit`. What is too long is not read
// to its end.
async function read(request, limit) {
  const declared = Number(request.headers.get("content-length"));
  if (declared > limit) return undefined;
  if (declared > 0) return new Uint8Array(await request.arrayBuffer());
  const chunks = [];
  let length = 0;
  for await (const chunk of request.body) {
    length += chunk.length;
    if (length > limit) return undefined;
    chunks.push(chunk);
  }
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}
