// Makes values of schemas: inputs that are meant to be valid. The import proves with them that a tool can be called, and `make parity` calls it.
import { validate } from "@cfworker/json-schema";
import { merged } from "./merge.js";
import { isObject } from "./nodes.js";
import { isSafe, textsOf } from "./patterns.js";

/** How deep optional properties are filled in. */
const DEPTH = 3;
/** The deepest value. */
const MAX_DEPTH = 60;
/** How many schemas are read for one value: alternatives that contain alternatives would be tried exponentially often. */
const MAX_STEPS = 5000;
/** The longest text, and the most items or members, that a schema can ask for. */
const MAX_COUNT = 1000;
const FORMATS = {
  date: "2026-11-26",
  "date-time": "2026-11-26T12:30:00Z",
  time: "12:30:00Z",
  duration: "P1DT2H",
  uuid: "123e4567-e89b-12d3-a456-426614174000",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  "json-pointer": "/a/b",
};
/** Characters that have to be encoded somewhere: in a path, a query, a form, a part or JSON. */
const TEXTS = ["plain", "a b/ü&=?#+%41", '"quoted", {x}'];
/** The schemas that references in a schema lead to, as the validator reads them. `definitions`: its `$defs`. */
export const referencesOf = (definitions) => Object.assign(Object.create(null), Object.fromEntries(Object.entries(definitions).map(([name, schema]) => [`#/$defs/${name}`, schema])));

/** Whether a value is valid against a schema whose references are those of `referencesOf`. */
export const isValid = (value, schema, references) => validate(value, schema, "2020-12", references).valid;

/** Makes values of a schema. `seed` selects texts, and alternatives; `isFull` fills in optional members. */
class Maker {
  #steps = 0;

  constructor(references, seed, isFull) {
    Object.assign(this, { references, seed, isFull });
  }

  value(schema, depth = 0) {
    this.#steps += 1;
    if (!isObject(schema) || depth > MAX_DEPTH || this.#steps > MAX_STEPS) return TEXTS[0];
    const { anyOf, oneOf, ...rest } = this.#flat(schema);
    if (oneOf ?? anyOf) return this.#alternative(oneOf ?? anyOf, oneOf && anyOf ? { ...rest, anyOf } : rest, schema, depth);
    if ("const" in rest) return rest.const;
    if (rest.enum) return rest.enum[this.seed % rest.enum.length];
    const type = [rest.type ?? typeOf(rest)].flat().find((one) => one !== "null") ?? "null";
    return this[type](rest, depth);
  }

  /** The value of the first alternative that is valid; that of the alternative which `seed` selects comes first. */
  #alternative(all, rest, schema, depth) {
    const isNull = (one) => isObject(one) && one.type === "null";
    const real = all.filter((one) => !isNull(one) && one !== false);
    const found = real.length > 0 ? real : all;
    let first;
    for (let at = 0; at < found.length; at += 1) {
      const value = this.value(merged(rest, this.#flat(found[(this.seed + at) % found.length])), depth + 1);
      if (isValid(value, schema, this.references)) return value;
      if (at === 0) first = value;
    }
    return isValid(null, schema, this.references) ? null : first;
  }

  /** A schema without references and `allOf`, as far as these can be merged. */
  #flat(schema, hops = 0) {
    if (!isObject(schema) || hops > MAX_DEPTH) return schema;
    const { $ref, allOf = [], ...rest } = schema;
    const parts = [...($ref === undefined ? [] : [this.references[$ref]]), ...allOf];
    return parts.map((part) => this.#flat(part, hops + 1)).reduce((all, part) => withoutLists(merged(all, part)), rest);
  }

  null() {
    return null;
  }

  boolean() {
    return this.seed % 2 === 0;
  }

  integer(schema) {
    const { multipleOf: step = 1, minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity, exclusiveMaximum = Infinity } = schema;
    const least = Math.max(minimum, Math.floor(exclusiveMinimum) + 1);
    const most = Math.min(maximum, Math.ceil(exclusiveMaximum) - 1);
    const first = least > -Infinity ? least : Math.min(1, most);
    const wanted = (Math.ceil(first / step) + this.seed) * step;
    return wanted <= most ? wanted : Math.floor(most / step) * step;
  }

  number(schema) {
    const { multipleOf, minimum, exclusiveMinimum, maximum, exclusiveMaximum } = schema;
    const limits = [minimum, exclusiveMinimum, maximum, exclusiveMaximum];
    if (limits.every((limit) => limit === undefined)) return multipleOf ?? 1.5;
    const whole = this.integer(schema);
    const least = Math.max(minimum ?? -Infinity, exclusiveMinimum ?? -Infinity);
    const most = Math.min(maximum ?? Infinity, exclusiveMaximum ?? Infinity);
    // Between limits such as 0 and 1 there may be no whole number.
    const isWithin = whole >= (minimum ?? -Infinity) && whole > (exclusiveMinimum ?? -Infinity) && whole <= (maximum ?? Infinity) && whole < (exclusiveMaximum ?? Infinity);
    return isWithin || !Number.isFinite(least + most) ? whole : (least + most) / 2;
  }

  string({ format, examples, minLength = 0, maxLength = Infinity, pattern }) {
    if (pattern === undefined && FORMATS[format] !== undefined) return FORMATS[format];
    const sized = (text) => [...text.padEnd(Math.min(minLength, MAX_COUNT), "x")].slice(0, maxLength).join("");
    const plain = this.seed < TEXTS.length ? TEXTS[this.seed] : `${TEXTS[0]} ${this.seed}`;
    if (pattern === undefined) return sized(plain);
    const isSized = (text) => typeof text === "string" && [...text].length >= minLength && [...text].length <= maxLength;
    if (!isSafe(pattern)) return [...textsOf(pattern)].find(isSized) ?? sized(plain);
    const expression = new RegExp(pattern, "u");
    const isFitting = (text) => isSized(text) && expression.test(text);
    const known = [...(examples ?? []), FORMATS[format], FORMATS[format]?.toUpperCase(), sized(plain)].find(isFitting);
    if (known !== undefined) return known;
    for (const text of textsOf(pattern)) for (const one of [text, sized(text)]) if (isFitting(one)) return one;
    return sized(plain);
  }

  array({ items, prefixItems = [], contains, minItems = 0, maxItems = Infinity, minContains = 1, uniqueItems }, depth) {
    const wanted = Math.max(minItems, prefixItems.length, contains === undefined ? 0 : minContains, this.isFull && depth < DEPTH && !uniqueItems ? 2 : 1);
    const count = Math.min(wanted, maxItems, MAX_COUNT);
    return Array.from({ length: count }, (_, at) => {
      const item = prefixItems[at] ?? (contains === undefined ? items : merged(this.#flat(items ?? {}), this.#flat(contains)));
      return this.#next(at).value(item ?? { type: "string" }, depth + 1);
    });
  }

  #next(at) {
    const next = new Maker(this.references, this.seed + at, this.isFull);
    next.#steps = this.#steps;
    return next;
  }

  object({ properties = {}, required = [], additionalProperties, patternProperties = {}, minProperties = 0, dependentRequired = {} }, depth) {
    const isFile = properties.data?.contentEncoding === "base64" && Object.keys(properties).length === 3 && properties.name && properties.type;
    if (isFile) return { ...(this.isFull && { name: "a.txt", type: "text/plain" }), data: "cGxhaW4=" };
    const isChosen = (name) => required.includes(name) || (this.isFull && depth < DEPTH);
    const possible = Object.keys(properties).filter((name) => properties[name] !== false);
    const chosen = new Set([...required, ...possible.filter(isChosen)]);
    for (const name of possible) if (chosen.size < minProperties) chosen.add(name);
    for (const name of chosen) for (const other of Object.hasOwn(dependentRequired, name) ? dependentRequired[name] : []) chosen.add(other);
    const made = [...chosen].map((name) => [name, this.value(Object.hasOwn(properties, name) ? properties[name] : (additionalProperties ?? {}), depth + 1)]);
    const isMap = made.length === 0 && isObject(additionalProperties) && this.isFull;
    const [[pattern, named] = []] = Object.entries(patternProperties);
    const more = Math.min(Math.max(minProperties - made.length, isMap ? 1 : 0), MAX_COUNT);
    for (let at = 0; at < more; at += 1) {
      const name = additionalProperties === false && pattern !== undefined ? this.string({ pattern }) : at === 0 ? "key" : `key${at}`;
      made.push([name, this.value((additionalProperties === false ? named : additionalProperties) ?? {}, depth + 1)]);
    }
    return Object.fromEntries(made);
  }
}

/** What the keywords of a schema without a type are about. */
function typeOf(schema) {
  if (["properties", "required", "additionalProperties", "patternProperties", "minProperties"].some((keyword) => keyword in schema)) return "object";
  if (["items", "prefixItems", "minItems", "contains"].some((keyword) => keyword in schema)) return "array";
  return ["minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"].some((keyword) => keyword in schema) ? "number" : "string";
}

/** A schema whose lists of `allOf`, which hold what cannot be merged, are left to the validator. */
const withoutLists = (schema) => {
  if (!isObject(schema)) return schema;
  const { allOf = [], ...rest } = schema;
  // An alternative that is left over is one that a value can be made of.
  const [either] = rest.anyOf || rest.oneOf ? [] : allOf.filter((one) => isObject(one) && (one.anyOf || one.oneOf));
  return { ...rest, ...either };
};

/** A value of a schema, or of one of its references; `seed` and `isFull` as in `samples`. */
export const sample = (schema, references, seed, isFull) => new Maker(references, seed, isFull).value(schema);

/** Inputs that are meant to be valid: with what is required, and with everything. */
export function samples({ $defs = {}, ...schema }) {
  const references = referencesOf($defs);
  return [[0, false], [0, true], [1, true]].map(([seed, isFull]) => sample(schema, references, seed, isFull));
}
