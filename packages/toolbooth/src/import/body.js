// The request body of an operation as properties of a tool's input.
import { isJson } from "./operations.js";
import { child, isObject, members, own } from "./nodes.js";
import { clean, shorten } from "./text.js";

const FORM = /^application\/x-www-form-urlencoded\b/i;
const MULTIPART = /^multipart\/form-data\b/i;
/** A media type or a range such as `image/*`, in which a file says its own type. */
export const MEDIA_TYPE = /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+(?: *; *[\w-]+=[\w."-]+)*$/;
/** The media types that a tool can send, the best first. */
const TYPES = [
  ["json", (type) => /^application\/json\b/i.test(type)],
  ["json", (type) => /^application\/merge-patch\+json\b/i.test(type)],
  ["json", isJson],
  ["json", (type) => /^(?:\*\/\*|application\/\*)/.test(type)],
  ["form", (type) => FORM.test(type)],
  ["multipart", (type) => MULTIPART.test(type)],
  // A file or a text, which is sent as it is. Other parts of multipart have no names.
  ["raw", (type) => !/^multipart\//i.test(type)],
];

/** A file in the input: the interpreter sends its bytes as a part. */
const FILE = {
  type: "object",
  properties: {
    name: { type: "string", description: "The name of the file." },
    type: { type: "string", description: "Its media type, such as image/png." },
    data: { type: "string", contentEncoding: "base64", description: "Its content in base64." },
  },
  required: ["data"],
  additionalProperties: false,
};

/**
 * The body of an operation: `{ type, headers, entries }` with an entry for each property, or with `whole` if the body is one
 * property. Undefined if there is none. Fails if `method` needs it, and none of its media types is supported.
 */
export function readBody(context, body, method) {
  if (body === undefined) return undefined;
  const { documents, notes } = context;
  // A media type becomes a header, so it may have nothing else in it.
  const contents = body.contents.map((one) => ({ ...one, type: mediaType(one.type) })).filter(({ type }) => MEDIA_TYPE.test(type));
  const found = TYPES.flatMap(([type, fits]) => contents.filter((one) => fits(one.type)).map((content) => ({ type, content })))[0];
  if (!found) {
    const names = body.contents.map(({ type }) => type).join(", ") || "no media type";
    const reason = `a body of ${names} is not supported`;
    // Without its body, an operation that writes would do something else.
    if (body.required || ["POST", "PUT", "PATCH"].includes(method)) throw documents.unsupported(body.node, reason);
    notes.add(documents.place(body.node), `${reason}: it is left out`);
    return undefined;
  }
  const { type, content } = found;
  if (!body.contents.some((one) => one.type === content.type)) notes.add(documents.place(body.node), `has no valid media type for its body: it is sent as ${content.type}`);
  if (type === "raw") return rawBody(context, content, body);
  const headers = type === "json" && isJson(content.type) && !/^application\/json$/i.test(content.type) ? { "Content-Type": content.type } : {};
  const isJsonBody = type === "json";
  const schema = isJsonBody ? context.schemas.inline(content.schema) : withFiles(context, content.schema);
  const isEmpty = isObject(schema) && isObject(schema.properties) && Object.keys(schema.properties).length === 0 && !isObject(schema.additionalProperties);
  if (isEmpty && !body.required) return undefined;
  if (["GET", "HEAD"].includes(method)) {
    if (body.required) throw documents.unsupported(body.node, `a body of ${method} is not supported`);
    notes.add(documents.place(body.node), `a body of ${method} is not supported: it is left out`);
    return undefined;
  }
  const flat = isObject(schema) ? flattened(isJsonBody ? schema : fixed(context, content.schema, schema)) : undefined;
  if (!flat) {
    if (!isJsonBody) return { type, headers, whole: true, entries: [formEntry(context, body, schema)] };
    return { type, headers, whole: true, entries: [wholeEntry(context, content.schema, body)] };
  }
  if (flat.isLenient) notes.add(documents.place(content.schema), "has alternatives of required properties, which only the service checks");
  const entries = Object.entries(flat.properties).map(([name, property]) => ({ name, in: "body", schema: property, required: body.required && flat.required.includes(name) }));
  return { type, headers, whole: false, required: body.required, entries, encoding: encodings(context, type, content, Object.keys(flat.properties)) };
}

/** A media type without parameters that are none. What has no type is JSON, and so is a misspelled `applicationjson`. */
function mediaType(type) {
  const essence = MEDIA_TYPE.test(type) ? type : type.split(";")[0].trim();
  return /^(?:application[ ._-]?json)?$/i.test(essence) ? "application/json" : essence;
}

/** The fields of a form whose fields the document does not list: any texts and files. */
function formEntry({ documents, notes }, body, schema) {
  const description = shorten(clean(own(body.node.value, "description")) || "The fields of the form.");
  const isTyped = isObject(schema) && [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].some((one) => isObject(one.properties));
  if (isTyped) return { name: "body", in: "body", required: body.required, schema: { ...schema, type: "object", description } };
  notes.add(documents.place(body.node), "has a form whose fields are not listed: any of them are accepted");
  const field = { anyOf: [{ type: ["string", "number", "boolean"] }, FILE] };
  return { name: "body", in: "body", required: body.required, schema: { type: "object", additionalProperties: field, description } };
}

/** A body that is one text, or one file. */
function rawBody(context, { type, schema }, body) {
  const isText = /^text\/|[/+](?:x-)?(?:xml|yaml|csv|graphql|javascript|jsonl|ndjson|toml)\b/i.test(type) && fileOf(context.documents, schema) === undefined;
  const described = shorten(clean(own(body.node.value, "description")) || `The body of the request: ${type}.`);
  const content = { ...(isText ? { type: "string", contentMediaType: type } : FILE), description: described };
  const isRange = type.includes("*");
  return { type: "raw", ...(!isRange && { contentType: type }), headers: {}, whole: true, entries: [{ name: "body", in: "body", required: body.required, schema: content }] };
}

/** A whole body keeps its reference, so that its schema has a name. */
function wholeEntry({ schemas }, node, body) {
  const schema = schemas.convert(node);
  const description = shorten(clean(own(body.node.value, "description")) || "The body of the request.");
  const isDescribed = !isObject(schema) || schema.description !== undefined;
  return { name: "body", in: "body", required: body.required, schema: isDescribed ? schema : { ...schema, description } };
}

/** The schema of a form with its fixed fields only: a form is never one property. */
function fixed({ documents, notes }, node, { additionalProperties, ...schema }) {
  if (!isObject(additionalProperties) || !isObject(schema.properties)) return schema;
  notes.add(documents.place(node), "allows fields of any name in a form: only those that it lists are described");
  return schema;
}

/** The properties of an object's schema, if nothing else about it matters; undefined otherwise. */
function flattened(schema) {
  const { type, properties, required = [], additionalProperties, anyOf, oneOf, ...rest } = schema;
  if ((type !== undefined && type !== "object" && ![type].flat().includes("object")) || !isObject(properties)) return undefined;
  if (Object.keys(properties).length === 0) return undefined;
  if (isObject(additionalProperties) && Object.keys(additionalProperties).some((keyword) => keyword !== "description")) return undefined;
  // GitHub lists which properties must be present as alternatives of `required`; providers of models refuse those at the root.
  const onlyRequired = [...(anyOf ?? []), ...(oneOf ?? [])].every((one) => isObject(one) && Object.keys(one).every((keyword) => keyword === "required" || keyword === "type"));
  const structural = ["allOf", "not", "if", "then", "else", "$ref", "patternProperties", "dependentSchemas", "propertyNames", "const", "enum"];
  if (!onlyRequired || structural.some((keyword) => keyword in rest)) return undefined;
  return { properties, required, isLenient: anyOf !== undefined || oneOf !== undefined };
}

/** The schema of a form, in which files are objects. */
function withFiles({ schemas, documents }, node) {
  const schema = schemas.inline(node);
  if (!isObject(schema) || !isObject(schema.properties)) return schema;
  const target = documents.follow(node);
  const files = new Map(members(child(target, "properties")).map(([name, one]) => [name, fileOf(documents, one)]));
  const properties = Object.entries(schema.properties).map(([name, property]) => {
    const kind = files.get(name);
    const file = { ...FILE, description: property.description ?? "A file." };
    if (kind === "file") return [name, file];
    return kind === "files" ? [name, { type: "array", items: FILE, description: property.description ?? "Files." }] : [name, property];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

function fileOf(documents, node) {
  const { value } = documents.follow(node);
  if (own(value, "type") === "array" && fileOf(documents, child(documents.follow(node), "items")) === "file") return "files";
  const isBinary = own(value, "format") === "binary" || own(value, "type") === "file";
  return isBinary || (own(value, "contentMediaType") === "application/octet-stream" && own(value, "contentEncoding") === undefined) ? "file" : undefined;
}

/** How the values of a form are written, and the media types of the parts of a multipart body, where a document says so. */
function encodings({ documents, notes }, type, { encoding, schema }, names) {
  const read = names.flatMap((name) => {
    const given = own(encoding, name);
    if (type === "json" || !isObject(given)) return [];
    const { contentType, style, explode } = given;
    const isOne = typeof contentType === "string" && /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(contentType);
    const isStyle = ["form", "spaceDelimited", "pipeDelimited", "deepObject"].includes(style);
    if (style !== undefined && !isStyle) notes.add(documents.place(schema), `has the style ${JSON.stringify(style)} in a form, which is not supported: lists are separated by commas`);
    // Parts have styles since OpenAPI 3.1.
    const isDelimited = (documents.isSwagger || documents.isModern) && style !== "deepObject" && (explode === false || (explode === undefined && isStyle && style !== "form"));
    const ofPart = isDelimited ? { ...(isStyle && { style }), explode: false } : isOne && { contentType };
    const known = type === "form" ? { ...(isStyle && { style }), ...(typeof explode === "boolean" && { explode }) } : { ...ofPart };
    return Object.keys(known).length > 0 ? [[name, known]] : [];
  });
  return Object.fromEntries(read);
}
