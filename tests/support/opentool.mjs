// Models of the known OpenTool clients: for a response, each returns the result or the exception
// (section 6 of the specification) that its caller sees.

const UNAUTHORIZED = { exception: "OpenToolServerUnauthorizedException" };
const NO_ACCESS = { exception: "OpenToolServerNoAccessException" };
const failed = (message) => ({ exception: "OpenToolServerCallException", message });
const crash = (exception) => ({ exception });

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** `call()` of each client: `{ result }` or `{ exception, message? }`. */
export const call = {
  // Accepts whatever is there; treats every status except 2xx and 401 as a missing server.
  typescript({ status, text }) {
    if (status === 401) return UNAUTHORIZED;
    if (status < 200 || status > 299) return NO_ACCESS;
    const body = parsed(text) ?? text;
    return body?.error ? failed(body.error.message) : { result: body?.result };
  },
  // Parses into a class: result and error must be objects or null.
  java({ status, text }) {
    if (status === 401) return UNAUTHORIZED;
    if (status === 404) return NO_ACCESS;
    if (status < 200 || status > 299) return failed("HTTP error");
    if (text === "") return crash("ResponseNullException");
    const body = parsed(text);
    const members = [body?.result ?? {}, body?.error ?? {}];
    if (!isObject(body) || !members.every(isObject)) return failed("Failed to parse");
    if (body.error) return failed(body.error.message ?? null);
    return body.result ? { result: body.result } : crash("ErrorNullException");
  },
  // Casts each member; a failing cast is an uncaught TypeError.
  dart({ status, text }) {
    if (status === 401) return UNAUTHORIZED;
    if (status < 200 || status > 299) return failed(`HTTP ${status} ${text}`);
    if (text === "") return crash("TypeError");
    const body = parsed(text);
    if (body === undefined) return crash("FormatException");
    const texts = isObject(body) && [body.jsonrpc, body.id].every((member) => typeof member === "string");
    if (!texts || !isObject(body.result)) return crash("TypeError");
    if (body.error === undefined || body.error === null) return { result: body.result };
    const { code, message } = body.error;
    return typeof code === "number" && typeof message === "string" ? failed(message) : crash("TypeError");
  },
};

/** The events that the Dart client finds in a chunk of a stream, as `[name, data]`. */
export const events = (text) =>
  [...text.matchAll(/event:(\w+)\ndata:(.*?)\n\n/g)].map(([, name, data]) => [name, JSON.parse(data)]);

const TYPES = {
  boolean: (value) => typeof value === "boolean",
  integer: Number.isInteger,
  number: (value) => typeof value === "number",
  string: (value) => typeof value === "string",
  array: Array.isArray,
  object: isObject,
};

/** `load()` of the Dart client, the strictest: returns the names of the functions, or null. */
export function load(document) {
  const texts = (object, ...names) => isObject(object) && names.every((name) => typeof object[name] === "string");
  const schema = (one) =>
    isObject(one) && one.type in TYPES && !("$ref" in one) &&
    (one.enum ?? []).every((value) => value === null || TYPES[one.type](value)) &&
    Object.values(one.properties ?? {}).every(schema) && (one.items === undefined || schema(one.items));
  const named = (one) => texts(one, "name") && schema(one.schema);
  const parameter = (one) => named(one) && typeof one.required === "boolean";
  const known = (one) =>
    texts(one, "name", "description") && Array.isArray(one.parameters) && one.parameters.every(parameter) &&
    (!one.return || named(one.return)) && Object.values(one.stream ?? {}).every(named);
  const whole = texts(document, "opentool") && texts(document.info, "title", "version") && Array.isArray(document.functions);
  return whole && document.functions.every(known) ? document.functions.map(({ name }) => name) : null;
}

/** Every string of a document; one client turns strings of digits into integers. */
export function* texts(value) {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null) for (const one of Object.values(value)) yield* texts(one);
}
