// Proves that an input can be valid: for each of its schemas there is a sample that the validator accepts. Where none is found, a wider
// schema takes the place, so that no tool is impossible to call.
import { WITH_LIST } from "./keywords.js";
import { isObject } from "./nodes.js";
import { isValid, referencesOf, sample } from "./samples.js";
import { isSafe } from "./patterns.js";
import { inner, mapped } from "./size.js";
import { joined, shorten } from "./text.js";

/** How many samples are made of a schema before it counts as impossible. */
const SEEDS = 4;
/** Keywords that cannot contradict anything, each with a value or without one. */
const HARMLESS = new Set(["type", "description", "deprecated", "examples", "contentEncoding", "contentMediaType", "items", "properties", "minItems", "maxItems", "additionalProperties"]);
/** Keywords that are left out, one group after the other, until a sample is found. */
const NARROWING = [
  ["pattern", "format"],
  ["not", "if", "then", "else", "dependentRequired", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems"],
  ["additionalProperties", "patternProperties"],
  ["allOf"],
  ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "contains", "minProperties", "maxProperties", "propertyNames"],
  ["enum", "const"],
  ["required"],
  ["anyOf", "oneOf"],
];

/** Whether schemas have a value, with the `definitions` that they refer to, by name. */
export class Proof {
  #references;
  #known = new WeakMap();
  #runnable = new WeakMap();

  constructor(definitions) {
    this.#references = referencesOf(definitions);
    for (const [name, schema] of Object.entries(definitions)) this.define(name, schema);
  }

  /** Adds or replaces a definition. */
  define(name, schema) {
    this.#references[`#/$defs/${name}`] = this.#safe(schema);
  }

  /** Whether a sample of a schema is valid. */
  isPossible(schema) {
    if (!isObject(schema)) return schema !== false;
    if (!this.#known.has(schema)) this.#known.set(schema, isPlain(schema) || this.#hasSample(this.#safe(schema)));
    return this.#known.get(schema);
  }

  /** A schema without patterns that must not run here: the Worker, whose engine never goes back, checks them. */
  #safe(schema) {
    if (!isObject(schema)) return schema;
    if (!this.#runnable.has(schema)) {
      const own = without(schema, [
        ...(schema.pattern === undefined || isSafe(schema.pattern) ? [] : ["pattern"]),
        ...(Object.keys(schema.patternProperties ?? {}).every(isSafe) ? [] : ["patternProperties", "additionalProperties"]),
      ]);
      const parts = mapped(own, (_, part) => this.#safe(part));
      const isSame = Object.keys(own).length === Object.keys(schema).length && [...inner(own)].every((part) => this.#safe(part) === part);
      this.#runnable.set(schema, isSame ? schema : parts);
    }
    return this.#runnable.get(schema);
  }

  #hasSample(schema) {
    for (let seed = 0; seed < SEEDS; seed += 1) {
      if ([false, true].some((isFull) => isValid(sample(schema, this.#references, seed, isFull), schema, this.#references))) return true;
    }
    return false;
  }
}

/** Whether a schema says little enough that any value of its type is valid. */
function isPlain(schema) {
  return typeof schema.type === "string" && schema.required === undefined && (schema.minItems ?? 0) === 0 && Object.keys(schema).every((keyword) => HARMLESS.has(keyword));
}

/**
 * An input schema in which every schema has a value. `note` is called with the place of each one that had none: the names that lead to it,
 * such as `filter.kinds[]`.
 */
export const proven = (schema, note) => new Widening(schema.$defs ?? {}, note).root(schema);

/** Replaces the schemas of an input that have no value. */
class Widening {
  #done = new Map();
  /** What took the place of a schema. */
  #wider = new Set();

  constructor(definitions, note) {
    this.definitions = definitions;
    this.note = note;
    this.proof = new Proof(definitions);
  }

  root({ $defs: _, ...schema }) {
    const widened = this.#parts(schema, "");
    if (this.#done.size === 0) return widened;
    return { ...widened, $defs: Object.fromEntries(Object.keys(this.definitions).map((name) => [name, this.#done.get(name) ?? this.definitions[name]])) };
  }

  #schema(schema, place) {
    if (!isObject(schema)) return schema;
    const widened = this.#parts(schema, place);
    if (this.proof.isPossible(widened)) return widened;
    this.note(place);
    const wider = widest(widened, this.proof);
    this.#wider.add(wider);
    return wider;
  }

  /** The definition of a reference, if it is not done yet. Those of an import never contain themselves. */
  #define(reference, place) {
    const name = reference.replace("#/$defs/", "");
    if (this.#done.has(name) || !Object.hasOwn(this.definitions, name)) return;
    this.#done.set(name, this.definitions[name]);
    const schema = this.#schema(this.definitions[name], place);
    this.#done.set(name, schema);
    this.proof.define(name, schema);
  }

  /** A schema whose parts have values. It is the same object if all of them had one. */
  #parts(schema, place) {
    if (typeof schema.$ref === "string") this.#define(schema.$ref, place);
    const parts = Object.entries(schema).map(([keyword, value]) => [keyword, this.#part(keyword, value, place)]);
    if (parts.every(([keyword, value]) => value === schema[keyword])) return schema;
    const changed = Object.fromEntries(parts);
    // What is wider accepts more, so more than one alternative may match.
    if (!changed.oneOf?.some((one) => this.#wider.has(one))) return changed;
    const { oneOf, ...rest } = changed;
    return rest.anyOf === undefined ? { ...rest, anyOf: oneOf } : { ...rest, allOf: [...(rest.allOf ?? []), { anyOf: oneOf }] };
  }

  #part(keyword, value, place) {
    if (keyword === "items" || keyword === "contains") return this.#schema(value, `${place}[]`);
    if (keyword === "additionalProperties" || keyword === "unevaluatedProperties") return this.#schema(value, `${place}.*`);
    if (WITH_LIST.includes(keyword) || keyword === "allOf") return this.#each(value, () => place);
    if (keyword === "properties" || keyword === "patternProperties") {
      const names = Object.keys(value);
      const schemas = Object.values(value);
      const changed = this.#each(schemas, (at) => (place ? `${place}.${names[at]}` : names[at]));
      return changed === schemas ? value : Object.fromEntries(names.map((name, at) => [name, changed[at]]));
    }
    // What is only a condition may have no value.
    for (const one of inner({ [keyword]: value })) for (const reference of referencesIn(one)) this.#define(reference, place);
    return value;
  }

  #each(schemas, placeAt) {
    const changed = schemas.map((one, at) => this.#schema(one, placeAt(at)));
    return changed.every((one, at) => one === schemas[at]) ? schemas : changed;
  }
}

function* referencesIn(schema) {
  if (typeof schema?.$ref === "string") yield schema.$ref;
  for (const one of inner(schema)) yield* referencesIn(one);
}

/** A schema without what contradicts the rest: as little of it as possible. */
function widest(schema, proof) {
  let left = schema;
  const groups = NARROWING.filter((group) => group.some((keyword) => keyword in schema));
  const alone = groups.map((group) => without(schema, group));
  const together = groups.map((group) => (left = without(left, group)));
  const found = [united(schema), ...alone, ...together].find((one) => proof.isPossible(one)) ?? Object.fromEntries(["type", "description"].filter((keyword) => keyword in schema).map((keyword) => [keyword, schema[keyword]]));
  const pattern = schema.pattern !== undefined && found.pattern === undefined ? `Pattern: ${schema.pattern}` : "";
  return pattern ? { ...found, description: shorten(joined(found.description, pattern)) } : found;
}

/** A schema whose lists of values in `allOf` exclude each other, with all of these values: a kind overrides the value of its base. */
function united({ allOf = [], ...schema }) {
  const valuesIn = (one) => (Object.hasOwn(one, "const") ? [one.const] : (one.enum ?? []));
  const isList = (one) => isObject(one) && Object.keys(one).every((keyword) => keyword === "const" || keyword === "enum");
  const values = [schema, ...allOf.filter(isList)].flatMap(valuesIn);
  const rest = allOf.filter((one) => !isList(one));
  return { ...without(schema, ["const"]), ...(values.length > 0 && { enum: [...new Set(values)] }), ...(rest.length > 0 && { allOf: rest }) };
}

const without = (schema, keywords) => Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword)));
