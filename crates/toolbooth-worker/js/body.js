// Bodies of requests as text. The runtime gives text for less than half of what bytes cost.

/** What stands for a body that is longer than the limit, or that is not UTF-8. */
export const TOO_LARGE = Symbol("too large");
export const NOT_TEXT = Symbol("not text");

const encoder = new TextEncoder();

/**
 * The text that the runtime has made of a body of `length` bytes. It puts U+FFFD where there was no
 * UTF-8, and leaves a byte order mark out; both tell themselves by the length, but for a character of
 * four bytes whose last is missing.
 */
export function checked(text, length) {
  // As many characters as bytes: each has one, or stands for one that was none.
  if (text.length === length && !text.includes("\ufffd")) return text;
  return encoder.encode(text).length === length ? text : NOT_TEXT;
}

/**
 * The text of a body whose length nobody has said. What is too long is not read to its end. A byte
 * order mark stays, for whoever reads JSON to refuse.
 */
export async function undeclared(body, limit) {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  let length = 0;
  for await (const piece of body) {
    length += piece.length;
    if (length > limit) return TOO_LARGE;
    try {
      text += decoder.decode(piece, { stream: true });
    } catch {
      return NOT_TEXT;
    }
  }
  try {
    return text + decoder.decode();
  } catch {
    return NOT_TEXT;
  }
}
