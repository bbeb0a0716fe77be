// Why a request of FastMCP 4.1.2 differs from that of an imported tool: what OpenAPI asks for is in the requests of the tools.
import { isDeepStrictEqual } from "node:util";

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** The parts of two requests that differ. */
const parts = (ours, theirs) => ["method", "path", "query", "headers", "body"].filter((part) => !isDeepStrictEqual(ours[part], theirs[part]));

/** Whether the text of a value is Python's: `['a', 'b']`, `{'a': 1}` or `True`. */
const isPython = (text) => /(?:^|=)(?:\[.*\]|\{.*\}|True|False|None)$/s.test(text);
const only = (list, fits) => list.length > 0 && list.every(fits);
/** What one list has and the other has not. */
const without = (one, other) => one.filter((value) => !other.includes(value));

/** The reasons, each with when it applies: `differing` are the parts that differ. */
const REASONS = [
  ["FastMCP fails to send a header that is no text", ({ failed }) => /Header value must be str or bytes/.test(failed)],
  ["FastMCP drops parameters and bodies that are references into other paths (#/paths/~1…)", ({ failed, refersToPaths }) => refersToPaths && /^LookupError: FastMCP has no /.test(failed)],
  ["FastMCP has no argument for a body, or for a part of one", ({ failed }) => /^LookupError: FastMCP has no (?:member|body)/.test(failed)],
  ["FastMCP fails to send a value in a form or a part", ({ failed }) => /(?:TypeError|ValueError|AttributeError|DeprecationWarning)/.test(failed ?? "")],
  ["FastMCP sends a list or an object in a path as Python writes it", ({ differing, theirs }) => isDeepStrictEqual(differing, ["path"]) && theirs.path.some((part) => /^\[.*\]$|^\{.*\}$/s.test(part))],
  ["FastMCP sends nested values of the query as Python writes them", ({ differing, ours, theirs }) => isDeepStrictEqual(differing, ["query"]) && only(without(theirs.query, ours.query), isPython)],
  ["FastMCP sends a query parameter of JSON as fields", ({ differing, definition }) => isDeepStrictEqual(differing, ["query"]) && definition.http.parameters.some(({ style }) => style === "json")],
  ["FastMCP sends a list of deepObject or with a delimiter like one of form", ({ differing, definition }) => isDeepStrictEqual(differing, ["query"]) && definition.http.parameters.some(({ style }) => ["deepObject", "spaceDelimited", "pipeDelimited"].includes(style))],
  ["FastMCP sends no query for an empty list with explode: false", ({ differing, ours }) => isDeepStrictEqual(differing, ["query"]) && ours.query.some((one) => one.endsWith("="))],
  ["FastMCP sends objects in forms and parts as Python writes them", ({ differing, theirs, ours }) => isDeepStrictEqual(differing, ["body"]) && Array.isArray(theirs.body) && Array.isArray(ours.body) && only(without(theirs.body, ours.body), (text) => typeof text === "string" && isPython(text))],
  ["FastMCP ignores the style of a field of a form", ({ differing, definition }) => isDeepStrictEqual(differing, ["body"]) && definition.http.body?.type === "form" && Object.keys(definition.http.body.encoding ?? {}).length > 0],
  ["FastMCP sends no body where an empty one is required", ({ ours, theirs, definition }) => theirs.body === null && definition.http.body?.required === true && Object.keys(ours.body ?? {}).length === 0],
  ["FastMCP sends an object of JSON for a file", ({ differing, definition, input }) => differing.includes("body") && ["multipart", "raw"].includes(definition.http.body?.type) && Object.values(input).flat().some((value) => isObject(value) && "data" in value)],
  ["FastMCP sends the first media type of a body, not that of JSON or a form", ({ differing, ours, theirs }) => differing.every((part) => ["headers", "body"].includes(part)) && typeOf(ours) !== typeOf(theirs) && typeOf(theirs) !== undefined],
  ["FastMCP drops a null", ({ differing, ours, theirs }) => isDeepStrictEqual(differing, ["body"]) && isDeepStrictEqual(nonNull(ours.body), nonNull(theirs.body))],
];

const typeOf = ({ headers }) => headers.find((header) => header.startsWith("content-type="));
const nonNull = (body) => (isObject(body) ? Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)) : body);

/** The reason why two requests differ, or undefined if there is none that we know. */
export function reasonOf({ ours, theirs, failed, definition, input, refersToPaths }) {
  if (!ours && failed !== undefined) return "neither sends text in a header that no header can have";
  if (!ours) return theirs?.path.some((part) => part === "{}" || part === "[]") ? "FastMCP sends an empty list or object in a path as Python writes it, and the tool refuses it" : undefined;
  const differing = theirs ? parts(ours, theirs) : [];
  const applies = ([, fits]) => (theirs ? fits({ ours, theirs, failed: "", differing, definition, input }) : failed !== undefined && fits({ ours, theirs: { query: [], path: [], headers: [], body: null }, failed, differing, definition, input, refersToPaths }));
  return REASONS.find(applies)?.[0];
}
