// Builds OpenAPI 3.1 documents: JSON Schemas, operations, responses and the document around them.

// Schemas

export const string = { type: "string" };
export const text = { type: "string", minLength: 1 };
export const number = { type: "number" };
export const integer = { type: "integer" };
export const boolean = { type: "boolean" };
export const nothing = { type: "null" };
export const natural = { type: "integer", minimum: 0 };
export const anyObject = { type: "object" };
export const pattern = (pattern) => ({ type: "string", pattern });
export const constant = (value) => ({ type: typeof value, const: value });
export const choice = (...values) => (values.length === 1 ? constant(values[0]) : { type: "string", enum: values });
export const array = (items, rest = {}) => ({ type: "array", items, ...rest });
export const nonEmpty = (items) => array(items, { minItems: 1 });
export const mapOf = (values, rest = {}) => ({ type: "object", ...rest, additionalProperties: values });
export const oneOf = (...schemas) => ({ oneOf: schemas });
export const anyOf = (...schemas) => ({ anyOf: schemas });
/** An optional member of a request: null is absent. */
export const orNull = (schema) => oneOf(schema, nothing);
export const about = (description, schema = {}) => ({ ...schema, description });
export const schema = (name) => ref("schemas", name);

/** An object that may have other members too; a name that ends in `?` is optional. */
export function open(members, rest = {}) {
  const names = Object.keys(members);
  const properties = Object.fromEntries(names.map((name) => [name.replace(/\?$/, ""), members[name]]));
  const required = names.filter((name) => !name.endsWith("?"));
  return { type: "object", properties, ...(required.length > 0 && { required }), ...rest };
}
/** An object with these members only. */
export const object = (members, rest = {}) => open(members, { ...rest, additionalProperties: false });

/** One event of a stream; `data` describes its data, which is JSON. */
export const event = (name, data) =>
  object({ event: constant(name), data: { type: "string", contentMediaType: "application/json", contentSchema: data } });

// Responses: each header is given as the name of its component

export const header = (description, schema, required = true) => ({ description, required, schema });

/** A response with a JSON body of the named schema, or of a schema that has no name; or without a body. */
export function response(description, body, headers = {}) {
  if (body === undefined) return { description, headers };
  const content = { "application/json": { schema: typeof body === "string" ? schema(body) : body } };
  return { description, headers, content };
}

export const requestBody = (description, body) => ({
  required: true,
  description,
  content: response("", body).content,
});

// Operations: the responses are given as status to the name of its component

/** One operation, of a path that `path` does not describe. Without `security`, it needs no credentials. */
export const operation = ({ responses, parameters, requestBody, security = [], ...rest }) => ({
  ...rest,
  security,
  ...(parameters?.length > 0 && {
    parameters: parameters.map((one) => (typeof one === "string" ? ref("parameters", one) : one)),
  }),
  ...(requestBody && { requestBody: ref("requestBodies", requestBody) }),
  responses: mapValues(responses, (name) => ref("responses", name)),
});

const head = ({ operationId, ...get }) => ({ ...get, summary: "Like GET, without the body" });
const options = {
  summary: "The methods of this path; the CORS preflight of an allowed origin",
  responses: { 204: "Options", 403: "OriginNotAllowed" },
};

/** The operations of a path: those given, with HEAD like GET, and OPTIONS. */
export function path(operations) {
  const all = { ...operations, ...(operations.get && { head: head(operations.get) }), options, ...operations };
  return mapValues(all, operation);
}

/** The operations of a path, each with an id: that of the first, followed by the method. */
function withIds(operations) {
  const [{ operationId }] = Object.values(operations);
  const entries = Object.entries(operations);
  return Object.fromEntries(entries.map(([method, one]) => [method, { operationId: `${operationId}-${method}`, ...one }]));
}

// Documents

const VERSION = "0.1.0";
/** Who answers questions: the people who run the server, and not those who wrote it. */
const CONTACT = { name: "The operator of this server" };

/**
 * A whole document. `headers` hold the components; `everywhere` names the headers that all responses have.
 * The components that neither a path nor another used component refers to are left out, except those of
 * `implied`: the responses of paths and methods that the document does not list.
 */
export function document({ title, description, servers, paths, implied, everywhere = {}, ...components }) {
  components.responses = mapValues(components.responses, (one) => ({
    ...one,
    headers: mapValues({ ...everywhere, ...one.headers }, (name) => ref("headers", name)),
  }));
  // `Toolbooth: chat gateway` is about `chat gateway`.
  const tag = title.replace(/^Toolbooth: /, "");
  return {
    openapi: "3.1.0",
    info: { title, version: VERSION, description, contact: CONTACT, license: { name: "MIT OR Apache-2.0", identifier: "MIT OR Apache-2.0" } },
    servers,
    tags: [{ name: tag, description: title }],
    paths: mapValues(paths, (operations) => mapValues(withIds(operations), (one) => ({ tags: [tag], ...one }))),
    components: used(components, [paths, implied.map((name) => ref("responses", name))]),
  };
}

/** The components that `roots` refer to, directly or through other components. */
function used({ securitySchemes, ...components }, roots) {
  const names = new Set();
  const visit = (value) => {
    if (typeof value !== "object" || value === null) return;
    if (value.$ref !== undefined && !names.has(value.$ref)) {
      names.add(value.$ref);
      const [kind, name] = value.$ref.split("/").slice(2);
      if (components[kind]?.[name] === undefined) throw new Error(`no component ${value.$ref}`);
      visit(components[kind][name]);
    }
    Object.values(value).forEach(visit);
  };
  visit(roots);
  const kept = (kind) => Object.entries(components[kind]).filter(([name]) => names.has(ref(kind, name).$ref));
  const kinds = Object.keys(components).map((kind) => [kind, Object.fromEntries(kept(kind))]);
  return {
    ...(securitySchemes && { securitySchemes }),
    ...Object.fromEntries(kinds.filter(([, kind]) => Object.keys(kind).length > 0)),
  };
}

/** A document as text: one line for each operation and each component. */
export function print({ paths, components, ...head }) {
  const lines = (value, depth) => {
    if (depth === 0) return JSON.stringify(value);
    const indent = "  ".repeat(3 - depth);
    const entries = Object.entries(value).map(([key, inner]) => `${indent}  ${JSON.stringify(key)}: ${lines(inner, depth - 1)}`);
    return `{\n${entries.join(",\n")}\n${indent}}`;
  };
  const top = Object.entries(head).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  return `{\n${top.join(",\n")},\n  "paths": ${lines(paths, 2)},\n  "components": ${lines(components, 2)}\n}\n`;
}

export const mapValues = (object, change) => Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));

const ref = (kind, name) => ({ $ref: `#/components/${kind}/${name}` });
