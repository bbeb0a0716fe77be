// The definition of a tool from an operation, without its id and version.
import { bodyOf, isJson, parametersOf, responseOf } from "./operations.js";
import { isObject, own } from "./nodes.js";
import { mapping, readParameters, withoutCredentials } from "./parameters.js";
import { MAX_DESCRIPTION, clean, joined, shorten } from "./text.js";
import { MEDIA_TYPE, readBody } from "./body.js";
import { paginationOf } from "./pages.js";
import { proven } from "./proof.js";
import { Schemas } from "./schemas.js";
import { RequiredNames, withDefinitions } from "./size.js";
import { LARGE, slim } from "./slim.js";
import { withProperties } from "./names.js";

/** The longest description that is kept for people. It is a part of the Worker. */
const MAX_DOCUMENTATION = 16_000;
/** The longest title. */
const MAX_TITLE = 100;
/**
 * The definition of `toolkit`.`tool`. `context` has the documents, their notes, the servers, the credentials and the kinds of schemas.
 * `kept`: the properties of the last import by place and name. Throws an `Unsupported` if the operation cannot be a tool.
 */
export function define(context, toolkit, tool, operation, kept) {
  const { documents, notes, servers, credentials, kinds } = context;
  const schemas = new Schemas(documents, notes, kinds);
  const reading = { documents, notes, schemas };
  const nodes = parametersOf(documents, operation);
  const body = readBody(reading, bodyOf(documents, operation, nodes), operation.method);
  const { auth, isOptional, requirements } = credentials.of(operation);
  const parameters = readParameters(reading, operation, nodes);
  const entries = withProperties(withoutCredentials([...parameters, ...(body?.entries ?? [])], auth), kept);
  const name = `${toolkit}_${tool}`;
  const isRead = ["GET", "HEAD"].includes(operation.method);
  const documentation = documentationOf(operation, documents);
  const { description, resources } = forModels(documentation, toolkit, tool);
  const title = clean(own(operation.node.value, "summary")).replaceAll("\n", " ");
  return {
    name,
    ...(title && [...title].length <= MAX_TITLE && { title }),
    description,
    input_schema: inputOf({ ...context, limit: context.isSlim ? LARGE - description.length - name.length - 100 : undefined }, operation, schemas, entries),
    output_schema: {},
    ...(auth && { scopes: [`${toolkit.toLowerCase()}:${isRead ? "read" : "write"}`] }),
    ...(requirements && { requirements }),
    http: {
      method: operation.method,
      base: servers.of(operation),
      path: operation.requestPath,
      ...(Object.keys(operation.query.fixed).length > 0 && { query: operation.query.fixed }),
      ...requestOf(entries, body),
      ...headersOf(context, operation, body),
      ...(auth && { auth, ...(isOptional && { auth_optional: true }) }),
      ...(isRead && { retry: true }),
      ...paginationOf(context, operation, entries),
    },
    annotations: {
      read_only: isRead,
      destructive: !isRead,
      idempotent: isRead || ["PUT", "DELETE"].includes(operation.method),
      open_world: true,
    },
    ...(resources && { resources }),
    ...(own(operation.node.value, "deprecated") === true && { deprecated: { message: "The service's description calls this operation deprecated." } }),
  };
}

/** What a document says about an operation: its summary, and its description. */
function documentationOf({ node, method, path }, documents) {
  const [summary, description] = ["summary", "description"].map((member) => clean(own(node.value, member)));
  const title = clean(own(own(documents.root.value, "info"), "title"));
  if (description === "") return summary || `${method} ${path}${title ? ` of ${title.replace(/\.$/, "")}` : ""}.`;
  const isRepeated = summary === "" || description.toLowerCase().startsWith(summary.toLowerCase().replace(/\.$/, ""));
  return isRepeated ? description : `${summary}${/[.!?]$/.test(summary) ? "" : "."}\n\n${description}`;
}

/** The description for models; the full one is a resource, if it is longer. */
function forModels(documentation, toolkit, tool) {
  const description = shorten(documentation, MAX_DESCRIPTION);
  if (description === documentation) return { description };
  const resource = { uri: `docs://${toolkit.toLowerCase()}/${tool}`, name: `${toolkit}_${tool}`, description: `The full description of ${toolkit}.${tool}.`, mime_type: "text/markdown", text: shorten(documentation, MAX_DOCUMENTATION) };
  return { description, resources: [resource] };
}

function inputOf({ documents, notes, limit }, operation, schemas, entries) {
  const { definitions } = schemas;
  const properties = Object.fromEntries(entries.map((entry) => [entry.property, named(entry)]));
  const required = entries.filter((entry) => entry.required).map(({ property }) => property);
  const dependent = dependentRequired(entries);
  const input = { type: "object", properties, ...(required.length > 0 && { required }), ...(dependent && { dependentRequired: dependent }), additionalProperties: false };
  const names = new RequiredNames(definitions);
  const complete = new Map([...definitions].map(([name, schema]) => [name, names.complete(schema)]));
  const note = () => notes.add(documents.place(operation.node), "has an input that is too large for a model: its deepest parts are not described");
  const { schema, isTooLarge } = withDefinitions(names.complete(input), complete, note);
  if (isTooLarge) throw documents.unsupported(operation.node, "has too many parameters");
  return proven(limit === undefined ? schema : slim(schema, limit), (place) => notes.add(`${documents.place(operation.node)} ${place}`, "no value of a schema was found that fits all of it, so a wider one is used"));
}

/**
 * What the members of an optional body require: a body may be absent, but not a part of what it must have. Each member names one that is
 * required, which names the next.
 */
function dependentRequired(entries) {
  const body = entries.filter((entry) => entry.in === "body").map(({ property }) => property);
  const needed = entries.filter(({ isRequiredInBody }) => isRequiredInBody).map(({ property }) => property);
  if (needed.length === 0 || body.length === 1) return undefined;
  const next = (property) => needed[(needed.indexOf(property) + 1) % needed.length];
  return Object.fromEntries(body.filter((property) => next(property) !== property).map((property) => [property, [next(property)]]));
}

/** The schema of a property. A name of which little is left, or that other names become too, is described. */
function named({ name, property, schema, isRequiredInBody, isShared }) {
  if (!isObject(schema)) return {};
  const isRenamed = property !== name && (/[^\p{ASCII}]/u.test(name) || isShared);
  const original = isRenamed ? `The service calls it ${clean(name)}.` : "";
  const needed = isRequiredInBody ? "Required if any part of the body is given." : "";
  return original || needed ? { ...schema, description: shorten(joined(schema.description, needed, original)) } : schema;
}

/** How the input becomes a request: the members `parameters` and `body` of `http`. */
function requestOf(entries, body) {
  const parameters = entries.filter((entry) => entry.in !== "body").map(mapping);
  const ofBody = entries.filter((entry) => entry.in === "body");
  const list = parameters.length > 0 ? { parameters } : {};
  if (!body) return list;
  const encoding = Object.keys(body.encoding ?? {}).length > 0 ? { encoding: body.encoding } : {};
  if (body.whole) return { ...list, body: { type: body.type, ...(body.contentType && { contentType: body.contentType }), whole: ofBody[0].property, ...encoding } };
  const properties = Object.fromEntries(ofBody.map(({ property, name }) => [property, name]));
  return { ...list, body: { type: body.type, properties, ...(body.required && { required: true }), ...encoding } };
}

function headersOf({ documents }, operation, body) {
  const { types } = responseOf(documents, operation);
  const json = types.find((type) => /^application\/json\b/i.test(type)) ?? types.find(isJson) ?? types[0];
  const accept = json !== undefined && MEDIA_TYPE.test(json) ? { Accept: json } : {};
  const headers = { ...accept, ...body?.headers };
  return Object.keys(headers).length > 0 ? { headers } : {};
}
