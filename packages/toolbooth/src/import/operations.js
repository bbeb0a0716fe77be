// The operations of a document: its methods, paths and parts, whatever version of OpenAPI it has.
import { child, isObject, items, members, own, Unsupported } from "./nodes.js";
import { queryOf } from "./query.js";
import * as swagger from "./swagger.js";

/** The most operations of one import. */
export const MAX_OPERATIONS = 10_000;
const METHODS = ["get", "head", "post", "put", "patch", "delete"];
/** Methods that OpenAPI describes, and a tool does not send. */
const OTHER_METHODS = ["options", "trace", "query"];
/** A method of HTTP that only `additionalOperations` has. */
const isOtherMethod = (name) => OTHER_METHODS.includes(name.toLowerCase()) || /^[A-Z][A-Z-]*$/.test(name);
/** Members of a path that are no methods. */
const isMember = (name) => name.startsWith("x-") || ["$ref", "summary", "description", "servers", "parameters", "additionalOperations"].includes(name);

/**
 * The operations of a document, in its order. Some documents tell several operations of a path apart by a fragment, which is no part
 * of a request, or by a query: `requestPath` is without them, and `query` has the latter. One that cannot be read has `problem`, an
 * `Unsupported`, instead of its parts.
 */
export function operations(documents) {
  const found = [];
  for (const [path, node] of members(child(documents.root, "paths"))) {
    if (path.startsWith("x-")) continue;
    for (const [method, operation] of methods(documents, node)) {
      if (found.length >= MAX_OPERATIONS) return { operations: found, isCut: true };
      const [address] = path.split("#");
      const requestPath = encoded(address.split("?")[0]);
      found.push({ method: method.toUpperCase(), path, requestPath, query: queryOf(address), ...part(documents, path, method, operation, node) });
    }
  }
  return { operations: found, isCut: false };
}

function* methods(documents, node) {
  let target = node;
  try {
    target = documents.follow(node);
    if (!isObject(target.value)) throw documents.unsupported(target, "is not an object");
  } catch (error) {
    if (!(error instanceof Unsupported)) throw error;
    return yield ["", error];
  }
  // Members next to a reference belong to the path as well.
  const merged = { ...target, value: { ...target.value, ...(target === node ? {} : withoutReference(node.value)) } };
  for (const [name, operation] of members(merged)) if (!isMember(name)) yield [name, operation];
  for (const [name, operation] of members(child(merged, "additionalOperations"))) if (!name.startsWith("x-")) yield [name, operation];
}

function withoutReference({ $ref: _, ...rest }) {
  return rest;
}

function part(documents, path, method, operation, pathNode) {
  if (operation instanceof Unsupported) return { tags: [], problem: operation };
  const problem = (reason) => ({ tags: [], problem: documents.unsupported(operation, reason) });
  if (isOtherMethod(method)) return problem(`the method ${method.toUpperCase()} is not supported`);
  if (!METHODS.includes(method)) return problem(`${JSON.stringify(method)} is not a method`);
  if (!isObject(operation.value)) return problem("is not an object");
  const { operationId, tags } = operation.value;
  return {
    node: operation,
    pathNode,
    operationId: typeof operationId === "string" && operationId !== "" ? operationId : undefined,
    tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [],
    problem: wrongPath(documents, path, operation),
  };
}

function wrongPath(documents, path, operation) {
  if (!path.startsWith("/")) return documents.unsupported(operation, "the path does not begin with /");
  if (/[\s\p{Cc}]/u.test(path) || !/^(?:[^{}]|\{[^{}/]+\})*$/.test(path)) return documents.unsupported(operation, "the path is not valid: expected segments and {names}");
  if (queryOf(path.split("#")[0]) === undefined) return documents.unsupported(operation, "the query of the path is not valid: expected fields with values or {names}");
  const names = [...path.matchAll(/\{([^{}/]+)\}/g)].map(([, name]) => name);
  if (new Set(names).size < names.length) return documents.unsupported(operation, "a path with the same {name} twice is not supported");
  const [segments] = path.split(/[?#]/);
  const isOut = segments.split("/").some((segment) => [".", ".."].includes(segment)) || /%(?:2e|2f|5c|(?![0-9a-f]{2}))/i.test(segments);
  return isOut ? documents.unsupported(operation, "the path is not valid: it may not have . or .. as a segment, nor encode a dot or a slash") : undefined;
}

/** A path whose characters are those of an address; names stay as they are. */
const encoded = (path) => path.replace(/\{[^{}/]+\}|[^\w\-.~!$&'()*+,;=:@%/]/gu, (one) => (one.length > 2 && one.startsWith("{") ? one : wellFormed(one)));

/** Half of a character has no encoding. */
const wellFormed = (text) => encodeURIComponent(text.replace(/\p{Cs}/gu, "\uFFFD"));

/** Whether an item of `--include` selects an operation: a tag, an operationId, or a path with what is below it. */
export function isIncluded({ path, tags, operationId }, item) {
  if (item.startsWith("/")) return path === item || path.startsWith(item.endsWith("/") ? item : `${item}/`);
  return operationId === item || tags.includes(item);
}

/** The parameters of an operation, as nodes: its own, and those of its path that it does not replace. */
export function parametersOf(documents, { node, pathNode }) {
  const read = (list) => items(list).map((one) => documents.follow(one));
  const own_ = read(child(node, "parameters"));
  const key = ({ value }) => `${own(value, "in")} ${own(value, "name")}`;
  const inherited = read(child(documents.follow(pathNode), "parameters")).filter((one) => !own_.some((other) => key(other) === key(one)));
  return [...inherited, ...own_];
}

/** The request body of an operation: `{ node, required, contents: [{ type, schema, encoding, given }] }`, or undefined. */
export function bodyOf(documents, { node }, parameters) {
  if (documents.isSwagger) {
    const consumes = swagger.texts(node, "consumes");
    return swagger.requestBody(parameters, node.value.consumes === undefined ? swagger.texts(documents.root, "consumes") : consumes);
  }
  const reference = child(node, "requestBody");
  if (reference.value === undefined) return undefined;
  const body = documents.follow(reference);
  const contents = contentsOf(documents, body).map(([type, content]) => {
    const given = child(content, "schema");
    return { type, schema: given.value === undefined ? { ...given, value: {} } : given, encoding: own(content.value, "encoding") ?? {}, given: isObject(content.value) ? content.value : {} };
  });
  return { node: body, required: own(body.value, "required") === true, contents };
}

/** The successful response of an operation: its node, its media types and its schema, as far as they are described. */
export function responseOf(documents, { node }) {
  const all = members(child(node, "responses")).filter(([status]) => /^2/.test(status)).sort(([one], [other]) => (one < other ? -1 : 1));
  const [, first] = all[0] ?? [];
  if (!first) return { types: [] };
  const response = documents.follow(first);
  if (documents.isSwagger) {
    const types = swagger.texts(node, "produces");
    return { response, types: types.length > 0 ? types : swagger.texts(documents.root, "produces"), schema: child(response, "schema") };
  }
  // A call needs no response, so that one which leads nowhere says nothing.
  const contents = members(child(response, "content")).map(([type, content]) => [type, documents.reach(content)]);
  const json = contents.find(([type]) => isJson(type)) ?? contents[0];
  return { response, types: contents.map(([type]) => type), schema: json && child(json[1], "schema") };
}

/** The media types of a body or a parameter, each with its content. Since OpenAPI 3.2, that may be a reference. */
export const contentsOf = (documents, node) => members(child(node, "content")).map(([type, content]) => [type, documents.follow(content)]);

/** Whether a media type is JSON. */
export const isJson = (type) => /^[^;]*(?:\/|\+)json\b/i.test(type);
