// Merges the schemas of an `allOf` into one.
import { isDeepStrictEqual } from "node:util";
import { isObject } from "./nodes.js";

const union = (one, other) => [...new Set([...one, ...other])];
const common = (one, other) => one.filter((value) => other.some((same) => isDeepStrictEqual(value, same)));
const asList = (value) => (Array.isArray(value) ? value : [value]);

/** What stands for a property that only answers have, until all parts of its object are merged. */
export const READ_ONLY = Object.freeze({ readOnly: true });

/** A schema without the properties that only answers have, which nothing may require either. */
export function withoutReadOnly(schema) {
  if (!isObject(schema) || !isObject(schema.properties)) return schema;
  const names = Object.keys(schema.properties).filter((name) => schema.properties[name] === READ_ONLY);
  if (names.length === 0) return schema;
  const properties = Object.fromEntries(Object.entries(schema.properties).filter(([name]) => !names.includes(name)));
  return { ...notRequiring(schema, names), properties };
}

/** A schema, with its alternatives, that requires none of these names. */
function notRequiring(schema, names) {
  if (!isObject(schema)) return schema;
  const changed = Object.entries(schema).map(([keyword, value]) => {
    if (keyword === "required") return [keyword, value.filter((name) => !names.includes(name))];
    return ["allOf", "anyOf", "oneOf"].includes(keyword) ? [keyword, value.map((one) => notRequiring(one, names))] : [keyword, value];
  });
  return Object.fromEntries(changed.filter(([keyword, value]) => keyword !== "required" || value.length > 0));
}

/** How two values of a keyword become one. `undefined`: they cannot. */
const RULES = {
  description: (one) => one,
  deprecated: (one, other) => one || other,
  examples: (one) => one,
  required: union,
  enum: (one, other) => nonEmpty(common(one, other)),
  type: types,
  properties: byName,
  patternProperties: byName,
  items: (one, other) => merged(one, other),
  minimum: Math.max,
  exclusiveMinimum: Math.max,
  minLength: Math.max,
  minItems: Math.max,
  minProperties: Math.max,
  maximum: Math.min,
  exclusiveMaximum: Math.min,
  maxLength: Math.min,
  maxItems: Math.min,
  maxProperties: Math.min,
  uniqueItems: (one, other) => one || other,
  // Each part of an `allOf` describes its own properties: taken literally, `false` in one would forbid those of all others.
  additionalProperties: (one, other) => (one === false || other === false ? false : merged(one, other)),
  dependentRequired: (one, other) => ({ ...other, ...one }),
};

/** The schema that accepts what both accept; keywords that cannot be merged stay in its `allOf`. Annotations are those of the first. */
export function merged(one, other) {
  if (one === false || other === false) return false;
  if (one === READ_ONLY || other === READ_ONLY) return READ_ONLY;
  if (!isObject(one)) return other;
  if (!isObject(other)) return one;
  if (one.$ref !== undefined || other.$ref !== undefined) return isDeepStrictEqual(one, other) ? one : { allOf: [one, other] };
  const result = new Map(Object.entries(one));
  const rest = [];
  for (const [keyword, value] of Object.entries(other)) {
    if (!result.has(keyword)) result.set(keyword, value);
    else if (keyword === "allOf") rest.push(...value);
    else if (!isDeepStrictEqual(result.get(keyword), value)) {
      const both = Object.hasOwn(RULES, keyword) ? RULES[keyword](result.get(keyword), value) : undefined;
      if (both === undefined) rest.push(Object.fromEntries([[keyword, value]]));
      else result.set(keyword, both);
    }
  }
  if (rest.length > 0) result.set("allOf", [...(result.get("allOf") ?? []), ...rest]);
  return Object.fromEntries(result);
}

const nonEmpty = (list) => (list.length > 0 ? list : undefined);

function types(one, other) {
  const both = asList(one).flatMap((type) => {
    if (asList(other).includes(type)) return [type];
    if (type === "number" && asList(other).includes("integer")) return ["integer"];
    return type === "integer" && asList(other).includes("number") ? ["integer"] : [];
  });
  return both.length > 1 ? both : both[0];
}

function byName(one, other) {
  const result = new Map(Object.entries(one));
  for (const [name, schema] of Object.entries(other)) result.set(name, result.has(name) ? merged(result.get(name), schema) : schema);
  return Object.fromEntries(result);
}
