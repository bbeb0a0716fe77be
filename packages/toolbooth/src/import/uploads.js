// Files in the forms of a document, in whatever way it describes them.
import { child, isObject, items, once, own } from "./nodes.js";

/** A file in the input: the interpreter sends its bytes as a part. */
export const FILE = {
  type: "object",
  properties: {
    name: { type: "string", description: "The name of the file." },
    type: { type: "string", description: "Its media type, such as image/png." },
    data: { type: "string", contentEncoding: "base64", description: "Its content in base64." },
  },
  required: ["data"],
  additionalProperties: false,
};
/** Media types whose content is a text that a model writes. */
const TEXT = /^text\/|[/+](?:json|xml|yaml|csv|graphql|javascript|jsonl|ndjson|toml|x-www-form-urlencoded)\b/i;

/** Whether the content of a media type is text. Of several, all must be. */
export const isText = (types) => types.split(",").every((type) => TEXT.test(type.trim().replace(/\/x-/i, "/")));

/** Whether a schema of the input is a file. */
export const isFileSchema = (schema) => isObject(schema) && schema.properties?.data === FILE.properties.data;

/** Whether a node is a file: by its type or format, or because its media type is no text and it is not encoded. */
export const isFile = once((documents, target) => {
  const { value } = target;
  const types = [value.type ?? []].flat().filter((type) => type !== "null");
  if (types.some((type) => type !== "string" && type !== "file")) return false;
  const isUnencoded = typeof value.contentMediaType === "string" && value.contentEncoding === undefined && !isText(value.contentMediaType);
  if (types.includes("file") || /^(?:binary|file)$/i.test(String(value.format)) || isUnencoded) return true;
  return items(child(target, "allOf")).some((part) => isFile(documents, part));
});

/** Whether a part of a form is a file, or may be one, or a list of them. */
export const mayBeFile = once((documents, target) => {
  const parts = ["anyOf", "oneOf", "allOf"].flatMap((keyword) => items(child(target, keyword)));
  return isFile(documents, target) || [...parts, child(target, "items")].some((one) => mayBeFile(documents, one));
});

/** Whether a part is one of text or of no type, for which the form's `encoding` says that it is a file. */
export const isEncodedFile = (schema, encoding) => {
  const contentType = own(encoding, "contentType");
  if (typeof contentType !== "string" || isText(contentType) || !isObject(schema)) return false;
  const isPlain = ["enum", "const", "pattern", "contentEncoding", "$ref", "anyOf", "oneOf", "allOf"].every((keyword) => !(keyword in schema));
  return isPlain && [schema.type ?? "string"].flat().every((type) => type === "string" || type === "null");
};
