// Whether the response of an operation has further pages, as far as a document says so.
import { isObject, own, propertiesOf } from "./nodes.js";
import { responseOf } from "./operations.js";

/**
 * The names of a parameter, and those that lead to a member of the response, the best first. Together they mean pages with a cursor. Upper case
 * and signs do not count: `next_cursor` is `nextCursor`. From the documents of PagerDuty, Square, Notion, Google, Amazon, X, Box, Spotify,
 * HubSpot, Kubernetes and Azure, November 2026.
 */
const CURSORS = Object.entries({
  cursor: ["nextcursor", "cursors.next", "cursors.after", "cursor"],
  startcursor: ["nextcursor", "endcursor"],
  nextcursor: ["nextcursor"],
  pagecursor: ["nextpagecursor", "nextcursor"],
  after: ["cursors.after", "next.after", "endcursor", "nextcursor"],
  pagetoken: ["nextpagetoken"],
  nextpagetoken: ["nextpagetoken"],
  nexttoken: ["nexttoken"],
  paginationtoken: ["nexttoken", "nextpaginationtoken", "paginationtoken"],
  continuationtoken: ["nextcontinuationtoken", "continuationtoken"],
  continue: ["metadata.continue"],
  marker: ["nextmarker", "marker"],
});
/** How many objects may be around a cursor. */
const CURSOR_DEPTH = 2;

const plain = (name) => name.replace(/[^a-z0-9]/gi, "").toLowerCase();

/** The member `pagination` of an operation with these entries, or nothing. */
export function paginationOf({ documents }, operation, entries) {
  const { response, schema } = responseOf(documents, operation);
  if (!response) return {};
  const headers = own(response.value, "headers");
  const isRead = ["GET", "HEAD"].includes(operation.method);
  if (isRead && isObject(headers) && Object.keys(headers).some((name) => /^link$/i.test(name))) return { pagination: { link: true } };
  for (const [parameter, paths] of CURSORS) {
    const entry = entries.find((one) => ["query", "body"].includes(one.in) && plain(one.name) === parameter);
    if (!entry || schema?.value === undefined) continue;
    const found = membersOf(documents, schema);
    const cursor = paths.map((path) => found.find((one) => `.${one.map(plain).join(".")}`.endsWith(`.${path}`))).find((one) => one !== undefined);
    if (cursor) return { pagination: { cursor: cursor.join("."), parameter: entry.property } };
  }
  return {};
}

/** The names that lead to each text or number of a response, as lists: services often have the cursor in an object such as `meta`. */
function membersOf(documents, schema, depth = 0) {
  const found = [];
  const below = [];
  for (const [name, one] of propertiesOf(documents, schema, ["allOf", "anyOf", "oneOf"])) {
    if (name === "" || name.includes(".")) continue;
    const { value } = documents.reach(one);
    const types = [own(value, "type") ?? []].flat();
    const isScalar = !isObject(own(value, "properties")) && !types.some((type) => ["object", "array", "boolean"].includes(type)) && !/^(?:uri|url)/i.test(String(own(value, "format")));
    if (isScalar) found.push([name]);
    if (depth < CURSOR_DEPTH && !types.includes("array")) below.push([name, one]);
  }
  return [...found, ...below.flatMap(([name, one]) => membersOf(documents, one, depth + 1).map((path) => [name, ...path]))];
}
