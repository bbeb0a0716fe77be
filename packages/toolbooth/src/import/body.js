// The request body of an operation as properties of a tool's input.
import { isJson } from "./operations.js";
import { child, isObject, items, once, own, propertiesOf } from "./nodes.js";
import { clean, shorten } from "./text.js";
import { FILE, isEncodedFile, isFileSchema, mayBeFile } from "./uploads.js";

const FORM = /^application\/x-www-form-urlencoded\b/i;
const MULTIPART = /^multipart\/form-data\b/i;
/** A media type or a range such as `image/*`, in which a file says its own type. */
export const MEDIA_TYPE = /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+(?: *; *[\w-]+=[\w."-]+)*$/;
/** How deep objects with files may be in a form. */
const MAX_PARTS_DEPTH = 3;
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

/**
 * The body of an operation: `{ type, headers, entries }` with an entry for each property, or with `whole` if the body is one
 * property. Undefined if there is none. Fails if `method` needs it, and none of its media types is supported.
 */
export function readBody(context, body, method) {
  if (body === undefined) return undefined;
  const { documents, notes } = context;
  // A media type becomes a header, so it may have nothing else in it.
  const contents = body.contents.map((one) => ({ ...one, type: mediaType(one.type) })).filter(({ type }) => MEDIA_TYPE.test(type));
  const all = TYPES.flatMap(([type, fits]) => contents.filter((one) => fits(one.type)).map((content) => ({ type, content })));
  // JSON and other forms have no files: in them, a file would be a text.
  const found = all.find(({ type, content }) => type === "multipart" && all[0].type !== "multipart" && hasFile(documents, content.schema) && hasFile(documents, all[0].content.schema)) ?? all[0];
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
  if (type !== "multipart" && all.some((one) => one.type === "multipart" && hasFile(documents, one.content.schema))) notes.add(documents.place(body.node), `takes files as multipart/form-data too: it is sent as ${content.type}, without files`);
  for (const member of ["itemSchema", "prefixEncoding", "itemEncoding"]) if (content.given?.[member] !== undefined) notes.add(documents.place(body.node), `has ${member}, which is not described`);
  if (type === "raw") return rawBody(context, content, body);
  const headers = type === "json" && isJson(content.type) && !/^application\/json$/i.test(content.type) ? { "Content-Type": content.type } : {};
  const isJsonBody = type === "json";
  const schema = type === "multipart" ? withFiles(context, content) : context.schemas.inline(content.schema);
  const isEmpty = isObject(schema) && isObject(schema.properties) && Object.keys(schema.properties).length === 0 && !isObject(schema.additionalProperties);
  if (isEmpty && !body.required) return undefined;
  if (["GET", "HEAD"].includes(method)) {
    if (body.required) throw documents.unsupported(body.node, `a body of ${method} is not supported`);
    notes.add(documents.place(body.node), `a body of ${method} is not supported: it is left out`);
    return undefined;
  }
  const isFree = isObject(schema) && schema.additionalProperties !== false && isOpen(documents, content.schema);
  const flat = isObject(schema) && !isFree ? flattened(schema) : undefined;
  if (!flat) {
    if (!isJsonBody) return { type, headers, whole: true, entries: [formEntry(context, body, schema)], encoding: encodings(context, type, content, Object.keys(schema?.properties ?? {})) };
    return { type, headers, whole: true, entries: [wholeEntry(context, content.schema, body)] };
  }
  if (flat.isLenient) notes.add(documents.place(content.schema), "has alternatives of required properties, which only the service checks");
  const isPartial = !body.required && Object.keys(flat.properties).length > 1;
  const entries = Object.entries(flat.properties).map(([name, property]) => ({ name, in: "body", schema: property, required: body.required && flat.required.includes(name), isRequiredInBody: isPartial && flat.required.includes(name) }));
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
  const isText = /^text\/|[/+](?:x-)?(?:xml|yaml|csv|graphql|javascript|jsonl|ndjson|toml)\b/i.test(type) && !mayBeFile(context.documents, schema);
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

/** Whether a body says that it has members beyond its properties. */
const isOpen = once((documents, target) => {
  const { additionalProperties: rest, unevaluatedProperties } = target.value;
  return rest === true || isObject(rest) || unevaluatedProperties === true || items(child(target, "allOf")).some((part) => isOpen(documents, part));
});

/** The properties of an object's schema, if nothing else about it matters; undefined otherwise. */
function flattened(schema) {
  const { type, properties, required = [], anyOf, oneOf, ...rest } = schema;
  if ((type !== undefined && type !== "object" && ![type].flat().includes("object")) || !isObject(properties)) return undefined;
  if (Object.keys(properties).length === 0) return undefined;
  // GitHub lists which properties must be present as alternatives of `required`; providers of models refuse those at the root.
  const onlyRequired = [...(anyOf ?? []), ...(oneOf ?? [])].every((one) => isObject(one) && Object.keys(one).every((keyword) => keyword === "required" || keyword === "type"));
  const structural = ["allOf", "not", "if", "then", "else", "$ref", "patternProperties", "dependentSchemas", "propertyNames", "const", "enum"];
  if (!onlyRequired || structural.some((keyword) => keyword in rest)) return undefined;
  return { properties, required, isLenient: anyOf !== undefined || oneOf !== undefined };
}

/** The schema of a form with parts, in which files are objects. `encoding`: what the document says about each part. */
function withFiles(context, { schema: node, encoding }) {
  const schema = withParts(context, node);
  if (!isObject(schema) || !isObject(schema.properties)) return schema;
  const properties = Object.entries(schema.properties).map(([name, property]) => {
    const given = own(encoding, name);
    const file = isEncodedFile(property, given) ? FILE : property;
    const item = isObject(property) && property.type === "array" && isEncodedFile(property.items ?? {}, given) ? { ...property, items: FILE } : file;
    const what = [item, ...(item?.anyOf ?? [])].some(isFileSchema) ? "A file." : isFileSchema(item?.items) ? "Files." : undefined;
    return [name, what ? { ...item, description: property.description ?? what } : item];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** The schema of a form. A part that is an object with a file cannot be JSON: its members become parts, such as `owner[photo]`. */
function withParts(context, node, depth = 0) {
  const { documents, notes, schemas } = context;
  const schema = schemas.form(node);
  if (!isObject(schema) || !isObject(schema.properties)) return schema;
  const properties = new Map(Object.entries(schema.properties));
  let required = schema.required ?? [];
  for (const [name, part] of partsOf(documents, node)) {
    const item = child(documents.reach(part), "items");
    if (properties.has(name) && item.value !== undefined && hasFile(documents, item)) notes.add(documents.place(part), "is a list of objects with files in a form: the files are sent as texts");
    if (!properties.has(name) || depth >= MAX_PARTS_DEPTH || !hasFile(documents, part)) continue;
    const inner = withParts(context, part, depth + 1);
    const named = (one) => `${name}${one.replace(/^[^[]+/, "[$&]")}`;
    properties.delete(name);
    for (const [one, property] of Object.entries(inner.properties ?? {})) properties.set(named(one), property);
    const isRequired = required.includes(name);
    required = [...required.filter((one) => one !== name), ...(isRequired ? (inner.required ?? []).map(named) : [])];
  }
  const { required: _, ...rest } = schema;
  return { ...rest, properties: Object.fromEntries(properties), ...(required.length > 0 && { required }) };
}

/** The properties of an object, with those in its `allOf`. */
const partsOf = (documents, node) => propertiesOf(documents, node, ["allOf"]);

/** Whether a body has a property that is a file, or may be one. */
const hasFile = once((documents, target) => partsOf(documents, target).some(([, one]) => mayBeFile(documents, one)));

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
