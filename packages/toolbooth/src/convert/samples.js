// An input for the first example of a tool, as its schema describes it.
import { isObject } from "../import/nodes.js";

const FORMATS = {
  date: "2026-01-31",
  "date-time": "2026-01-31T12:00:00Z",
  duration: "P1D",
  email: "ada@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  time: "12:00:00Z",
  uri: "https://example.com",
  uuid: "00000000-0000-4000-8000-000000000000",
};
const MAX_DEPTH = 8;
const MAX_LENGTH = 1000;

/** A value of a schema, with nothing that is optional. Patterns and conditions are not read: the build says if it does not match. */
export function sampleOf(schema, root = schema, depth = 0) {
  if (!isObject(schema) || depth > MAX_DEPTH) return null;
  const { $ref, allOf, anyOf, oneOf, const: one, enum: values, examples, default: preset } = schema;
  if (one !== undefined) return one;
  for (const list of [examples, values]) if (Array.isArray(list) && list.length > 0) return list[0];
  if (preset !== undefined && preset !== null) return preset;
  const within = (inner) => sampleOf(inner, root, depth + 1);
  if ($ref !== undefined) return within(target($ref, root));
  const [type] = [schema.type].flat();
  if (type === undefined) {
    const [first] = anyOf ?? oneOf ?? allOf ?? [];
    if (first !== undefined) return within(first);
  }
  if (type === "object" || (type === undefined && isObject(schema.properties))) return members(schema, within);
  if (type === "array") return Array.from({ length: Math.min(schema.minItems ?? 0, 10) }, (_, at) => within(schema.prefixItems?.[at] ?? schema.items));
  if (type === "integer" || type === "number") return number(schema);
  if (type === "boolean") return true;
  return type === "null" ? null : text(schema);
}

function members(schema, within) {
  const parts = [schema, ...(Array.isArray(schema.allOf) ? schema.allOf : [])].filter(isObject);
  const all = Object.assign({}, ...parts.map(({ properties }) => properties));
  const required = parts.flatMap(({ required = [] }) => required);
  return Object.fromEntries(required.map((name) => [name, within(Object.hasOwn(all, name) ? all[name] : {})]));
}

function number({ minimum, exclusiveMinimum, maximum, multipleOf }) {
  const least = minimum ?? (exclusiveMinimum === undefined ? undefined : exclusiveMinimum + 1);
  const value = least ?? (maximum === undefined ? 1 : Math.min(1, maximum));
  return multipleOf > 0 ? Math.ceil(value / multipleOf) * multipleOf : value;
}

function text({ format, minLength = 0, maxLength = MAX_LENGTH }) {
  if (Object.hasOwn(FORMATS, format ?? "")) return FORMATS[format];
  return "text".padEnd(Math.min(minLength, MAX_LENGTH), "t").slice(0, maxLength);
}

/** What a reference of a converted schema leads to. */
function target(reference, root) {
  const steps = reference.split("/").slice(1).map((it) => decodeURIComponent(it).replaceAll("~1", "/").replaceAll("~0", "~"));
  return steps.reduce((value, name) => (typeof value === "object" && value !== null && Object.hasOwn(value, name) ? value[name] : undefined), root);
}
