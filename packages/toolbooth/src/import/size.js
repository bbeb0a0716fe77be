// Keeps schemas small enough for the build and for models: the build writes out every reference.
import { WITH_LIST, WITH_NAMES, WITH_SCHEMA } from "./keywords.js";
import { isObject } from "./nodes.js";

/** The most schemas of a tool's input, with references written out. The build allows 10,000, which no model could read. */
const MAX_SCHEMAS = 1000;
/** What the parts of one schema may count, so that no sum overflows. */
const MANY = 1e9;

/** The schemas in a schema. */
export function* inner(schema) {
  if (!isObject(schema)) return;
  for (const [keyword, value] of Object.entries(schema)) {
    if (WITH_SCHEMA.includes(keyword)) yield value;
    else if (WITH_LIST.includes(keyword) || keyword === "allOf") yield* value;
    else if (WITH_NAMES.includes(keyword)) yield* Object.values(value);
  }
}

const target = (schema) => (isObject(schema) && schema.$ref?.startsWith("#/$defs/") ? schema.$ref.slice("#/$defs/".length) : undefined);
const described = ({ type, description }) => ({ ...(type && { type }), ...(description && { description }) });

/**
 * The input schema with those `definitions` that it uses. If it would be too large, what is furthest from its root is cut, and
 * `note` is called.
 */
export function withDefinitions(schema, definitions, note) {
  let used = usedBy(schema, definitions);
  let root = schema;
  if (count(root, used) > MAX_SCHEMAS) {
    note();
    const deepest = Math.max(0, ...[...used.values()].map(({ level }) => level));
    for (let level = deepest - 1; level >= 0 && count(root, used) > MAX_SCHEMAS; level -= 1) {
      for (const one of used.values()) if (one.level > level) one.schema = described(one.schema);
    }
    // What is cut accepts more, so more than one may match.
    for (const one of used.values()) one.schema = loosened(one.schema);
    root = loosened(root);
    for (let depth = 6; depth >= 1 && count(root, used) > MAX_SCHEMAS; depth -= 1) root = cut(root, depth);
    used = usedBy(root, new Map([...used].map(([name, one]) => [name, one.schema])));
  }
  const $defs = Object.fromEntries([...used].map(([name, one]) => [name, one.schema]));
  return { schema: used.size > 0 ? { ...root, $defs } : root, isTooLarge: count(root, used) > MAX_SCHEMAS };
}

/** Whether a schema, with references written out, has few enough schemas for a tool. */
export function isSmallEnough(schema, definitions) {
  return count(schema, usedBy(schema, definitions)) <= MAX_SCHEMAS;
}

/** A schema with those `definitions` that it uses. */
export function withUsed(schema, definitions) {
  const $defs = Object.fromEntries([...usedBy(schema, definitions)].map(([name, one]) => [name, one.schema]));
  return Object.keys($defs).length > 0 ? { ...schema, $defs } : schema;
}

/** The definitions that a schema uses, with the number of references from its root to them. */
function usedBy(schema, definitions) {
  const used = new Map();
  let waiting = [schema];
  for (let level = 1; waiting.length > 0; level += 1) {
    const next = [];
    for (const one of waiting) {
      for (const name of referencesOf(one)) {
        if (used.has(name) || !definitions.has(name)) continue;
        used.set(name, { level, schema: definitions.get(name) });
        next.push(definitions.get(name));
      }
    }
    waiting = next;
  }
  return used;
}

function* referencesOf(schema) {
  const name = target(schema);
  if (name !== undefined) yield name;
  for (const one of inner(schema)) yield* referencesOf(one);
}

/** The number of schemas when each reference is replaced by what it refers to. */
function count(root, used) {
  const known = new Map();
  const of = (schema) => {
    let sum = 1;
    const name = target(schema);
    if (name !== undefined) {
      if (!known.has(name)) known.set(name, used.has(name) ? of(used.get(name).schema) : 0);
      sum += known.get(name);
    }
    for (const one of inner(schema)) sum = Math.min(sum + of(one), MANY);
    return sum;
  };
  return of(root);
}

/** A schema without what is deeper than `depth`. */
function cut(schema, depth) {
  if (!isObject(schema)) return schema;
  return depth === 0 ? described(schema) : mapped(schema, (_, part) => cut(part, depth - 1));
}

/** Keywords that reject more if the schemas in them accept more. */
const STRICTER = ["not", "if", "then", "else"];

/** A schema without what rejects more if its parts accept more. */
export function loosened(schema) {
  if (!isObject(schema)) return schema;
  const { oneOf, ...others } = schema;
  const rest = Object.fromEntries(Object.entries(others).filter(([keyword]) => !STRICTER.includes(keyword)));
  const either = oneOf === undefined ? {} : rest.anyOf === undefined ? { anyOf: oneOf } : { allOf: [...(rest.allOf ?? []), { anyOf: oneOf }] };
  return mapped({ ...rest, ...either }, (_, part) => loosened(part));
}

/** Finds required names without a property: the build refuses them, because they could only be a mistake. */
export class RequiredNames {
  /** The names of each definition: references to references would be read exponentially often. */
  #known = new Map();

  constructor(definitions) {
    this.definitions = definitions;
  }

  /** A schema with a property for each required name that has none, which changes no verdict. `outer`: the names around it. */
  complete(schema, outer = []) {
    if (!isObject(schema)) return schema;
    const known = new Set([...outer, ...this.#names(schema)]);
    const lacks = (schema.required ?? []).filter((name) => !known.has(name));
    const properties = lacks.length > 0 ? { properties: { ...schema.properties, ...Object.fromEntries(lacks.map((name) => [name, {}])) } } : {};
    const all = [...known, ...lacks];
    const inPlace = [...LISTS, ...SINGLE, "dependentSchemas"];
    return mapped({ ...schema, ...properties }, (keyword, one) => this.complete(one, inPlace.includes(keyword) ? all : []));
  }

  /** The names that `required` may have. */
  #names(schema) {
    if (!isObject(schema)) return new Set();
    const names = new Set(Object.keys(schema.properties ?? {}));
    const add = (more) => more.forEach((name) => names.add(name));
    const name = target(schema);
    if (name !== undefined) {
      if (!this.#known.has(name)) this.#known.set(name, this.#names(this.definitions.get(name)));
      add(this.#known.get(name));
    }
    for (const keyword of LISTS) for (const one of schema[keyword] ?? []) add(this.#names(one));
    for (const keyword of SINGLE) add(this.#names(schema[keyword]));
    return names;
  }
}

/** Keywords whose schemas apply to the same value. */
const LISTS = ["allOf", "anyOf", "oneOf"];
const SINGLE = ["if", "then", "else", "not"];

/** A schema whose parts are replaced by what `change` returns for the keyword and the part. */
export function mapped(schema, change) {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      const one = (part) => change(keyword, part);
      if (WITH_SCHEMA.includes(keyword)) return [keyword, one(value)];
      if (WITH_LIST.includes(keyword) || keyword === "allOf") return [keyword, value.map(one)];
      if (WITH_NAMES.includes(keyword)) return [keyword, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, one(part)]))];
      return [keyword, value];
    }),
  );
}
