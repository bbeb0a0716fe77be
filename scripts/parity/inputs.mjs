// Inputs of a tool, made of its schema: valid ones, and ones with a mistake.

/** How deep optional properties are filled in. */
const DEPTH = 3;
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
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Makes values of a schema with the `definitions` that it refers to. `seed` selects texts, and alternatives. */
class Maker {
  constructor(definitions, seed, isFull) {
    Object.assign(this, { definitions, seed, isFull });
  }

  value(schema, depth = 0) {
    if (!isObject(schema) || depth > 12) return TEXTS[0];
    const { $ref, allOf, anyOf, oneOf, ...rest } = schema;
    if ($ref) return this.value({ ...this.definitions[$ref.replace("#/$defs/", "")], ...rest }, depth + 1);
    if (allOf) return this.value(allOf.reduce((all, one) => this.#both(all, one), rest), depth + 1);
    const alternatives = (oneOf ?? anyOf)?.filter((one) => !isObject(one) || one.type !== "null");
    if (alternatives?.length) return this.value(this.#both(rest, alternatives[this.seed % alternatives.length]), depth + 1);
    if ("const" in schema) return schema.const;
    if (schema.enum) return schema.enum[this.seed % schema.enum.length];
    const type = [schema.type ?? (schema.properties ? "object" : schema.items ? "array" : "string")].flat().find((one) => one !== "null") ?? "null";
    return this[type](schema, depth);
  }

  #both(one, other) {
    if (!isObject(other)) return one;
    const found = other.$ref ? { ...this.definitions[other.$ref.replace("#/$defs/", "")], ...other, $ref: undefined } : other;
    const [{ properties, required }, more] = [one, found];
    return { ...one, ...more, ...((properties || more.properties) && { properties: { ...properties, ...more.properties } }), ...((required || more.required) && { required: [...new Set([...(required ?? []), ...(more.required ?? [])])] }) };
  }

  null() {
    return null;
  }

  boolean() {
    return this.seed % 2 === 0;
  }

  integer({ minimum, exclusiveMinimum, maximum, multipleOf = 1 }) {
    const least = minimum ?? (exclusiveMinimum === undefined ? Math.min(this.seed + 1, maximum ?? Infinity) : exclusiveMinimum + 1);
    return Math.ceil(least / multipleOf) * multipleOf;
  }

  number(schema) {
    const { minimum, exclusiveMinimum, maximum } = schema;
    return minimum === undefined && exclusiveMinimum === undefined && maximum === undefined ? 1.5 : this.integer(schema);
  }

  string({ format, examples, minLength = 0, maxLength = Infinity, pattern }) {
    if (pattern !== undefined || FORMATS[format] === undefined) {
      if (pattern !== undefined && typeof examples?.[0] === "string") return examples[0];
      const text = pattern === undefined ? TEXTS[this.seed % TEXTS.length] : (CANDIDATES.find((one) => fits(pattern, one)) ?? TEXTS[0]);
      return [...text.padEnd(minLength, "x")].slice(0, maxLength).join("");
    }
    return FORMATS[format];
  }

  array({ items, minItems = 0, maxItems = Infinity, uniqueItems }, depth) {
    const count = Math.min(Math.max(minItems, this.isFull && depth < DEPTH && !uniqueItems ? 2 : 1), maxItems);
    return Array.from({ length: count }, (_, at) => new Maker(this.definitions, this.seed + at, this.isFull).value(items ?? { type: "string" }, depth + 1));
  }

  object({ properties = {}, required = [], additionalProperties }, depth) {
    if (properties.data?.contentEncoding === "base64") return { ...(this.isFull && { name: "a.txt", type: "text/plain" }), data: "cGxhaW4=" };
    const chosen = Object.entries(properties).filter(([name]) => required.includes(name) || (this.isFull && depth < DEPTH));
    const made = chosen.map(([name, schema]) => [name, this.value(schema, depth + 1)]);
    const isMap = chosen.length === 0 && isObject(additionalProperties) && this.isFull;
    return Object.fromEntries(isMap ? [["key", this.value(additionalProperties, depth + 1)]] : made);
  }
}

/** What patterns of identifiers often accept. */
const CANDIDATES = ["a", "A", "1", "abc", "ABC123", "abcdef0123456789abcdef0123456789abcdef01", "a-b", "a/b", "1.0.0", "+15550100", "12:30", "https://a.example/b", "a@b.example", "#aabbcc", "aabbcc", "2026-11-26", "2026-11-26T12:30:00Z"];
function fits(pattern, text) {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return false;
  }
}

/** Inputs that are meant to be valid: with what is required, and with everything. */
export function samples(schema) {
  const of = (seed, isFull) => new Maker(schema.$defs ?? {}, seed, isFull).value({ ...schema, $defs: undefined });
  return [of(0, false), of(0, true), of(1, true)];
}

/** Values that rarely fit where a different one does. */
const WRONG = [null, 12, -1, 0.5, 1e21, "", "nothing like this", "x".repeat(300), true, [], {}, [null], ["a", "a"], { unknown: 1 }];

/** Inputs with one mistake at most: a part is replaced, left out, or added. `random` returns a number below its argument. */
export function mutations(input, count, random) {
  return Array.from({ length: count }, () => {
    const changed = structuredClone(input);
    const places = [...placesOf(changed), { owner: changed, name: "unknown_member" }];
    const { owner, name } = places[random(places.length)];
    const kind = random(6);
    if (kind === 0 && isObject(owner)) delete owner[name];
    else if (kind === 1 && isObject(owner)) owner.unknown_member = 1;
    else if (kind === 2 && typeof owner[name] === "number") owner[name] = -owner[name] - 0.5;
    else if (kind === 3 && typeof owner[name] === "string") owner[name] = owner[name].slice(1);
    else owner[name] = structuredClone(WRONG[random(WRONG.length)]);
    return changed;
  });
}

function* placesOf(value) {
  for (const name of Object.keys(value)) {
    yield { owner: value, name };
    if (typeof value[name] === "object" && value[name] !== null) yield* placesOf(value[name]);
  }
}

/** Pseudo-random numbers, the same in each run (xorshift). */
export function randomOf(seed) {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
