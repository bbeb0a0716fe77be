// JSON whose numbers keep their digits: JavaScript's own numbers lose those of large integers.

/** A JSON value. */
export type Json = null | boolean | number | string | ExactNumber | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

/** What ECMAScript's "JSON.parse source text access" adds. Browsers without it round numbers. */
interface SourceText {
  rawJSON?(text: string): unknown;
}
const { rawJSON } = JSON as SourceText;
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** A number that JavaScript would write in another way. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  toJSON(): unknown {
    return rawJSON ? rawJSON(this.text) : Number(this.text);
  }
}

/** Reads a number; undefined if `text` is not a JSON number. */
export function numberOf(text: string): number | ExactNumber | undefined {
  if (!NUMBER.test(text)) return undefined;
  const number = Number(text);
  return String(number) === text ? number : new ExactNumber(text);
}

/** Throws a `SyntaxError`. */
export function parse(text: string): Json {
  const exact = (_: string, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && context?.source !== undefined ? numberOf(context.source) : value;
  return JSON.parse(text, exact) as Json;
}

export function stringify(value: Json, indent?: number): string {
  return JSON.stringify(value, null, indent);
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** A member of an object, but nothing that every object inherits. */
export function own<Value>(object: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The value at a JSON pointer; undefined if there is none. */
export function at(value: Json | undefined, pointer: string): Json | undefined {
  let found = value;
  for (const escaped of pointer.split("/").slice(1)) {
    const key = escaped.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(found)) found = found[Number(key)];
    else if (isObject(found)) found = own(found, key);
    else return undefined;
  }
  return found;
}

/** Whether two values are equal as JSON. */
export function isEqual(one: Json | undefined, other: Json | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && stringify(one) === stringify(other));
}
