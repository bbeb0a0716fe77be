// Reads request bodies that WebAssembly asks for: long ones, and those of unknown length.

/**
 * Gives the bytes of a request's body, or undefined when it has more than `limit`. Of such a body no more
 * is read than it takes to know. Throws when the connection ends first.
 */
export async function read(request, limit) {
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
