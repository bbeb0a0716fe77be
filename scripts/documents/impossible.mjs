// Schemas that no value fits, as far as their types, constants and enumerations say so.
import { isDeepStrictEqual } from "node:util";

/** How deep references and alternatives are followed. */
const DEPTH = 8;
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const typeOf = (value) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);
const fitsType = (type, value) => [type].flat().some((one) => one === typeOf(value) || (one === "integer" && Number.isInteger(value)));

/** The place of a part of a schema that no value fits; undefined if there is none. */
export function impossible(schema) {
  const definitions = schema.$defs ?? {};
  const resolve = ({ $ref }) => definitions[$ref.replace("#/$defs/", "")] ?? true;
  const walk = (node, place) => {
    if (Array.isArray(node)) return first(node.map((one, at) => () => walk(one, `${place}[${at}]`)));
    if (!isObject(node)) return undefined;
    if (!isPossible(node, resolve)) return place || "the input";
    const parts = [
      ...["properties", "$defs", "patternProperties", "dependentSchemas"].flatMap((name) => Object.entries(isObject(node[name]) ? node[name] : {}).map(([key, one]) => [`${name}.${key}`, one])),
      ...["items", "additionalProperties", "anyOf", "oneOf", "allOf", "prefixItems"].map((name) => [name, node[name]]),
    ];
    return first(parts.map(([name, one]) => () => walk(one, place ? `${place}.${name}` : name)));
  };
  return walk(schema, "");
}

function first(tries) {
  for (const one of tries) {
    const found = one();
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a value may fit this schema and all of `others`. */
function isPossible(schema, resolve, depth = 0) {
  const all = conjuncts(schema, resolve, depth);
  if (all.includes(false)) return false;
  const objects = all.filter(isObject);
  const lists = objects.flatMap((one) => [...("const" in one ? [[one.const]] : []), ...(Array.isArray(one.enum) ? [one.enum] : [])]);
  const types = objects.filter(({ type }) => type !== undefined).map(({ type }) => type);
  if (lists.length > 0) {
    const [candidates, ...rest] = lists;
    return candidates.some((value) => rest.every((list) => list.some((one) => isDeepStrictEqual(one, value))) && types.every((type) => fitsType(type, value)));
  }
  const isCommon = (type) => types.every((one) => [one].flat().includes(type) || (type === "integer" && [one].flat().includes("number")));
  if (types.length > 0 && ![types].flat(2).some(isCommon)) return false;
  return depth > DEPTH || objects.every(({ anyOf, oneOf }) => [anyOf, oneOf].every((list) => !Array.isArray(list) || list.length === 0 || list.some((one) => isPossible({ allOf: [one, ...objects.map(plain)] }, resolve, depth + 1))));
}

/** What an alternative adds to: without the alternatives. */
const plain = ({ anyOf: _, oneOf: __, allOf: ___, $ref: ____, ...rest }) => rest;

/** The schemas that all must fit: through references and `allOf`. */
function conjuncts(schema, resolve, depth) {
  if (!isObject(schema)) return [schema];
  if (depth > DEPTH) return [];
  const more = [...(Array.isArray(schema.allOf) ? schema.allOf : []), ...(typeof schema.$ref === "string" ? [resolve(schema)] : [])];
  return [schema, ...more.flatMap((one) => conjuncts(one, resolve, depth + 1))];
}
