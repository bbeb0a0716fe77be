// The parameters of an operation as properties of a tool's input, each with where its value goes.
import { child, isObject, own } from "./nodes.js";
import { contentsOf, isJson } from "./operations.js";
import { withQuery } from "./query.js";
import * as swagger from "./swagger.js";
import { clean, joined, shorten } from "./text.js";
import { MAX_SAMPLE, ofType } from "./values.js";
import { spellingOf } from "./yaml.js";

/** Headers that OpenAPI gives to other parts of a document, or that belong to the connection and to the Worker. */
const RESERVED_HEADERS =
  /^(?:accept|accept-encoding|authorization|cf-.*|connection|content-length|content-type|cookie|expect|forwarded|host|keep-alive|proxy-.*|sec-.*|set-cookie|te|traceparent|tracestate|trailer|transfer-encoding|upgrade|x-forwarded-.*)$/i;
/** The longest name of a parameter. */
const MAX_NAME = 256;
/** The styles of each place; the first is the default. */
const STYLES = { path: ["simple"], header: ["simple"], query: ["form", "spaceDelimited", "pipeDelimited", "deepObject"] };

/**
 * The parameters of an operation: `{ name, in, schema, required, style, explode }`. Fails if a required one is not supported; an
 * optional one is left out with a note.
 */
export function readParameters({ documents, notes, schemas }, operation, nodes) {
  const entries = [];
  const isTaken = (one) => entries.some((other) => other.in === one.in && sameName(one, other));
  for (const node of nodes) {
    const { value } = node;
    if (["body", "formData"].includes(own(value, "in")) && documents.isSwagger) continue;
    const reason = reasonAgainst(node, documents);
    if (reason === undefined && isTaken(value)) notes.add(documents.place(node), "has the place and the name of an earlier parameter: it is left out");
    else if (reason === undefined) entries.push(entry(documents.isSwagger ? swagger.parameter(node) : node, schemas));
    else if (own(value, "required") === true && reason.isFatal) throw documents.unsupported(node, reason.text);
    else if (reason.text) notes.add(documents.place(node), `${reason.text}: it is left out`);
  }
  return withPath(withQuery(entries, operation.query), operation, documents, notes);
}

/** Whether a text is a token of RFC 9110, 5.6.2, such as the name of a header or of a cookie. */
export const isToken = (name) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);

/** Whether a parameter or a secret may be the header of this name. */
export const isHeader = (name) => isToken(name) && !RESERVED_HEADERS.test(name);

/** Names of headers are the same in any case. */
const sameName = (one, other) => one.name === other.name || (one.in === "header" && one.name.toLowerCase() === other.name.toLowerCase());

/**
 * The entries without those that the credentials of an operation send, and without other ways to send the same: Slack requires a
 * parameter `token`, and Google's documents have several. A model has no token, and must not be asked for one.
 */
export function withoutCredentials(entries, auth) {
  if (!auth) return entries;
  const isSent = (entry) => [auth].flat().some((one) => entry.in === one.in && sameName(entry, one));
  // In a body, `token` may also be what an operation is about.
  const isToken = ({ name, in: place, schema }) => /^(?:access_token|oauth_token|token)$/i.test(name) && (place !== "body" || /\bauth\w* token\b/i.test(schema.description ?? ""));
  const isKey = ({ name, schema }) => /^(?:api_?)?key$/i.test(name) && /\bAPI key\b/i.test(schema.description ?? "");
  return entries.filter((entry) => entry.in === "path" || !(isSent(entry) || isToken(entry) || isKey(entry)));
}

function reasonAgainst(node, documents) {
  const { value } = node;
  const fatal = (text) => ({ text, isFatal: true });
  if (!isObject(value) || typeof value.name !== "string" || value.name === "") return fatal("a parameter without a name is not valid");
  if (value.name.length > MAX_NAME) return fatal(`a parameter whose name has more than ${MAX_NAME} characters is not supported`);
  if (value.in === "cookie") return fatal("parameters in cookies are not supported");
  if (!Object.hasOwn(STYLES, String(value.in))) return fatal(`parameters in ${JSON.stringify(value.in ?? null)} are not supported`);
  if (value.in === "header" && RESERVED_HEADERS.test(value.name)) return { text: undefined, isFatal: false };
  if (value.in === "header" && !isHeader(value.name)) return fatal("the name is not one of a header");
  const style = documents.isSwagger ? swagger.parameter(node).value.style : value.style;
  if (style !== undefined && !STYLES[value.in].includes(style)) return fatal(`the style ${JSON.stringify(style)} is not supported in ${value.in}`);
  return undefined;
}

function entry(node, schemas) {
  const { value } = node;
  const [contentType, content] = contentsOf(schemas.documents, node)[0] ?? [];
  const isDocument = content !== undefined && value.in === "query" && isJson(contentType);
  const style = isDocument ? "json" : (value.style ?? STYLES[value.in][0]);
  const explode = typeof value.explode === "boolean" ? value.explode : style === "form" || style === "deepObject";
  const given = child(content ?? node, "schema");
  const schema = content && !isDocument ? encoded(contentType, clean(value.description)) : described(schemas, given, value);
  return { name: value.name, in: value.in, required: value.in === "path" || value.required === true, schema, style, explode };
}

/** A parameter whose value is a document of a different format: the model writes its text. */
const encoded = (type, description) => ({ type: "string", contentMediaType: type, description: shorten(joined(description, `The text of a document: ${type}.`)) });

/** The schema of a parameter, with the description of the parameter, which is the better one. */
export function described(schemas, node, parameter = {}) {
  const { description, deprecated, examples } = parameter;
  const schema = node.value === undefined ? {} : schemas.convert(node);
  if (!isObject(schema)) return schema;
  const text = shorten(clean(description));
  // The format and the pattern in the description of the schema are not in that of the parameter.
  const extra = [...(schema.description ?? "").matchAll(/(?:Format: \S+?\.|Pattern: .*|Default: .*\.)(?= |$)/g)].map(([one]) => one).join(" ");
  const [holder, name] = parameter.example === undefined ? [Object.values(isObject(examples) ? examples : {})[0], "value"] : [parameter, "example"];
  const sample = isObject(holder) ? ofType(own(holder, name) ?? own(holder, "dataValue"), schema.type, spellingOf(holder, name)) : undefined;
  const isSample = schema.examples === undefined && schema.enum === undefined && ["string", "number"].includes(typeof sample) && String(sample).length <= MAX_SAMPLE;
  return {
    ...schema,
    ...(text && { description: shorten(text === schema.description ? text : joined(text, extra)) }),
    ...(deprecated === true && { deprecated: true }),
    ...(isSample && { examples: [sample] }),
  };
}

/** The entries with one for each `{name}` of the path, and no other in a path. */
function withPath(entries, { requestPath: path, node }, documents, notes) {
  const names = [...path.matchAll(/\{([^{}/]+)\}/g)].map(([, name]) => name);
  const used = entries.filter((one) => one.in !== "path" || names.includes(one.name));
  const missing = [...new Set(names)].filter((name) => !used.some((one) => one.in === "path" && one.name === name));
  if (missing.length > 0) notes.add(documents.place(node), "does not describe a parameter of its path, which is therefore a string");
  return [...missing.map((name) => ({ name, in: "path", required: true, schema: { type: "string", description: `A part of the path ${path}.` }, style: "simple", explode: false })), ...used];
}

/** What the definition's `http.parameters` says about an entry with a property. */
export function mapping({ property, in: place, name, style, explode, schema }) {
  const isScalar = style !== "json" && ["string", "integer", "number", "boolean"].includes(schema.type);
  // Only what differs from the default is written: `form` with `explode` in the query, `simple` without it elsewhere.
  const ofStyle = style === STYLES[place][0] ? {} : { style };
  const usual = style === "form" || style === "deepObject";
  return { property, in: place, name, ...(!isScalar && { ...ofStyle, ...(style !== "json" && explode !== usual && { explode }) }) };
}
