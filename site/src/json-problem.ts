// Why a text is not JSON, and where. Browsers describe it in different words, and some do not say where.

/** Thrown where the text stops being JSON. */
class Stop extends Error {
  readonly at: number;
  readonly expected: string;

  constructor(at: number, expected: string) {
    super(expected);
    this.at = at;
    this.expected = expected;
  }
}

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** What is wrong with a text that is not JSON, such as `Line 2, column 8: expected a value, found "}"`. */
export function problemIn(text: string): string {
  try {
    const end = after(text, value(text, 0), SPACE);
    return end < text.length ? inWords(text, new Stop(end, "the end")) : "This is not JSON";
  } catch (stop) {
    return stop instanceof Stop ? inWords(text, stop) : "This is not JSON";
  }
}

function inWords(text: string, { at, expected }: Stop): string {
  const lines = text.slice(0, at).split("\n");
  const found = at < text.length ? JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0)) : "the end of the text";
  return `Line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1}: expected ${expected}, found ${found}`;
}

/** Where a pattern ends that begins at `at`; `at` itself if it does not match. */
function after(text: string, at: number, pattern: RegExp): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** Where the value ends that begins at `from`, after spaces. */
function value(text: string, from: number): number {
  const at = after(text, from, SPACE);
  switch (text[at]) {
    case "{":
      return members(text, at + 1, "}", member);
    case "[":
      return members(text, at + 1, "]", value);
    case '"':
      return string(text, at);
    default: {
      const end = after(text, at, SCALAR);
      if (end === at) throw new Stop(at, "a value");
      return end;
    }
  }
}

/** Where an object or an array ends. */
function members(text: string, from: number, close: string, one: (text: string, from: number) => number): number {
  let at = after(text, from, SPACE);
  if (text[at] === close) return at + 1;
  for (;;) {
    at = after(text, one(text, at), SPACE);
    if (text[at] === close) return at + 1;
    if (text[at] !== ",") throw new Stop(at, `a comma or ${close}`);
    at += 1;
  }
}

function member(text: string, from: number): number {
  const at = after(text, from, SPACE);
  if (text[at] !== '"') throw new Stop(at, "a name in double quotes");
  const colon = after(text, string(text, at), SPACE);
  if (text[colon] !== ":") throw new Stop(colon, "a colon");
  return value(text, colon + 1);
}

function string(text: string, from: number): number {
  const end = after(text, from, STRING);
  if (text[end] !== '"') throw new Stop(end, text[end] === "\\" ? "an escape such as \\n" : "a closing quote on the same line");
  return end + 1;
}
