// Keywords of JSON Schema: which values they may have, which of them contain schemas, and what is left out.

const isCount = (value) => Number.isInteger(value) && value >= 0;
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const isText = (value) => typeof value === "string";
const isFlag = (value) => typeof value === "boolean";
const isNames = (value) => Array.isArray(value) && value.every(isText);

export const TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"];

/** Keywords without schemas that stay as they are, with the check of their value. Any other value is left out. */
export const PLAIN = {
  contentEncoding: isText,
  contentMediaType: isText,
  deprecated: isFlag,
  exclusiveMaximum: isNumber,
  exclusiveMinimum: isNumber,
  maxContains: isCount,
  maximum: isNumber,
  maxItems: isCount,
  maxLength: isCount,
  maxProperties: isCount,
  minContains: isCount,
  minimum: isNumber,
  minItems: isCount,
  minLength: isCount,
  minProperties: isCount,
  multipleOf: (value) => isNumber(value) && value > 0,
  required: isNames,
  uniqueItems: isFlag,
};

/** Keywords with a schema, a list of schemas, and schemas by name. */
export const WITH_SCHEMA = ["additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"];
export const WITH_LIST = ["anyOf", "oneOf", "prefixItems"];
export const WITH_NAMES = ["dependentSchemas", "patternProperties", "properties"];

/** Keywords that say nothing to a model, or that are read elsewhere. They are left out without a note. */
export const SILENT = new Set([
  ...["$comment", "$schema", "$defs", "$id", "$anchor", "id", "definitions", "title", "description", "default", "example", "examples"],
  ...["externalDocs", "xml", "readOnly", "writeOnly", "nullable", "discriminator", "collectionFormat", "allowEmptyValue", "allOf", "type"],
  ...["enum", "const", "format", "pattern", "dependentRequired", "dependencies", "contentSchema", "style", "explode", "in", "name", "schema"],
]);

/** Keywords of schemas that the Worker checks to the letter: what they reject is never accepted. */
const EXACT = ["type", "required", "enum", "const", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "title", "description"];

/** Whether a schema of a document is checked to the letter, so that its opposite is too. */
export function isExact(schema) {
  if (typeof schema === "boolean") return true;
  if (typeof schema !== "object" || schema === null) return false;
  return Object.entries(schema).every(([keyword, value]) => {
    if (["anyOf", "allOf"].includes(keyword)) return Array.isArray(value) && value.every(isExact);
    return keyword === "properties" ? Object.values(value ?? {}).every(isExact) : EXACT.includes(keyword);
  });
}

/** Formats whose check is small. docs/SIZE.md has what the others cost; they are only described. */
const CHECKED_FORMATS = ["date", "duration", "ipv4", "ipv6", "json-pointer", "time", "uuid"];
/** Formats of OpenAPI that only name a type of a programming language. */
const SILENT_FORMATS = ["int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "integer", "number", "float", "double", "decimal", "string", "password", "enum", "boolean"];

/** A format: `{ format }` if the Worker checks it, `{ described }` if the description names it. */
export function formatOf(format) {
  if (!isText(format) || format === "" || SILENT_FORMATS.includes(format.toLowerCase())) return {};
  if (CHECKED_FORMATS.includes(format)) return { format };
  return { described: format.slice(0, 40) };
}

/** A pattern without the slashes of a literal of JavaScript, which could never match. One with flags stays as it is. */
export function patternOf(pattern) {
  const [, literal] = (isText(pattern) && /^\/(\^.*|.*\$)\/$/s.exec(pattern)) || [];
  return literal ?? pattern;
}

/**
 * Whether a pattern costs little: one that looks around or back is refused by the build, and one with a word boundary, or with
 * many repetitions, needs a second engine in the Worker.
 */
export function isCheapPattern(pattern) {
  if (!isText(pattern) || pattern.length > 500) return false;
  try {
    new RegExp(pattern, "u");
  } catch {
    return false;
  }
  // A literal of JavaScript with flags.
  if (/^\/(?:\^.*|.*\$)\/[a-z]+$/s.test(pattern)) return false;
  if (/\(\?(?!:)|\\[bBkpPcuxX1-9]|\[\[|\[\^?\]|&&|--|~~/.test(pattern)) return false;
  // A repetition of many characters becomes as many states, and more for characters beyond ASCII.
  const repeated = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].map(([, least, most]) => Math.max(Number(least), Number(most || 0)));
  const isWide = /\\[wWdDsS]|\[\^|(?<!\\)\./.test(pattern);
  const states = repeated.reduce((sum, count) => sum + count, 0);
  // Within a group that repeats, they multiply.
  const isNested = /\)[*+{]/.test(pattern);
  return states <= (isWide ? 12 : isNested ? 32 : 128) && repeated.filter((count) => count > 1).length <= 8;
}
