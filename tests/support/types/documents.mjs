// The documents that OpenAI, Anthropic and Google publish of their APIs, as validators. `make` fetches them into .tools/openapi.
import { readFileSync } from "node:fs";
import Ajv from "ajv/dist/2020.js";
import { parse } from "yaml";

const read = (name) => readFileSync(new URL(`../../../.tools/openapi/${name}`, import.meta.url), "utf8");

/** Schemas of OpenAPI as JSON Schema: of several, one is meant, and a member that may be null says so in its own way. */
function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  const { nullable, discriminator: _, oneOf, $recursiveRef, example: __, ...rest } = value;
  if ($recursiveRef) return {};
  const schema = Object.fromEntries(Object.entries(rest).filter(([name]) => !name.startsWith("x-")).map(([name, one]) => [name, plain(one)]));
  if (oneOf) schema.anyOf = plain(oneOf);
  return nullable === true ? { anyOf: [{ type: "null" }, schema] } : schema;
}

/** Google's own form. Its JSON has no other members, and takes 64-bit integers as texts and as numbers. */
function google(schemas) {
  const convert = ({ $ref, type, format, items, properties, additionalProperties, enum: values }) => {
    // The document names schemas that it lacks.
    if ($ref) return $ref in schemas ? { $ref: `#/components/schemas/${$ref}` } : {};
    if (type === "any") return {};
    if (format === "int64" || format === "google-duration") return { type: ["string", "number"] };
    return {
      type,
      ...(values && { enum: values }),
      ...(items && { items: convert(items) }),
      ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, convert(one)])), additionalProperties: false }),
      ...(additionalProperties && { additionalProperties: convert(additionalProperties) }),
    };
  };
  return { components: { schemas: Object.fromEntries(Object.entries(schemas).map(([name, one]) => [name, convert(one)])) } };
}

const DOCUMENTS = {
  openai: () => ({ components: { schemas: plain(parse(read("openai.yaml")).components.schemas) } }),
  anthropic: () => ({ components: { schemas: plain(parse(read("anthropic.yaml")).components.schemas) } }),
  google: () => google(JSON.parse(read("gemini.json")).schemas),
};

/** Without optional members that are null: those that a document lacks null for. */
function withoutNulls(value) {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).filter(([name, one]) => one !== null || !OPTIONAL.includes(name)).map(([name, one]) => [name, withoutNulls(one)]));
}
const OPTIONAL = ["safety_identifier", "prompt_cache_key", "user", "usage"];

const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
const loaded = new Set();
const validators = new Map();

/**
 * What is wrong with `value` as the schema of this name of a provider: `path problem`. In answers, OpenAI writes null for optional
 * members that the document has no null for.
 */
export function documentProblems(provider, name, value, { isAnswer = false } = {}) {
  if (!loaded.has(provider)) {
    ajv.addSchema({ $id: provider, ...DOCUMENTS[provider]() });
    loaded.add(provider);
  }
  const key = `${provider}#/components/schemas/${name}`;
  if (!validators.has(key)) validators.set(key, ajv.compile({ $ref: key }));
  const validate = validators.get(key);
  if (validate(isAnswer ? withoutNulls(value) : value)) return [];
  // Alternatives that `type` says are not meant say nothing. Ajv names the schema that each problem is of.
  const isTag = ({ instancePath, keyword }) => ["const", "enum"].includes(keyword) && /\/(type|role|object)$/.test(instancePath);
  const alternative = ({ schemaPath }) => schemaPath.replace(/\/(properties|required|additionalProperties|type|const|enum|items)\b.*$/, "");
  const others = new Set(validate.errors.filter(isTag).map(alternative));
  const meant = validate.errors.filter((error) => error.keyword !== "anyOf" && !others.has(alternative(error)));
  const found = meant.length > 0 ? meant : validate.errors;
  return [...new Set(found.map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params.additionalProperty ?? params.allowedValues ?? "")}`))].slice(0, 6);
}
