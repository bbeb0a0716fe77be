// The kinds of a schema with a discriminator, and the value of the discriminator's property that each of them has. A discriminator is a hint: what
// a kind itself allows decides, then the mapping, then the kind's name.
import { child, isObject, items, members, own, Unsupported } from "./nodes.js";

/** The most kinds of one schema. */
const MAX_KINDS = 200;
/** The most values of a mapping. */
const MAX_MAPPED = 1000;
/** How deep an `allOf` may be in an `allOf`. */
const MAX_PARTS_DEPTH = 4;

/** The property of a discriminator, which is a text in Swagger 2; undefined if a schema has none. */
export function propertyOf({ value }) {
  const discriminator = own(value, "discriminator");
  const property = typeof discriminator === "string" ? discriminator : own(discriminator, "propertyName");
  return typeof property === "string" ? property : undefined;
}

/** What a schema says about its own value: Azure's documents have it there. */
const ownValueOf = (value) => ["x-ms-discriminator-value", "x-discriminator-value"].map((name) => own(value, name)).find((one) => ["string", "number", "boolean"].includes(typeof one));

/** The discriminators of a document. */
export class Kinds {
  #byBase;

  constructor(documents) {
    this.documents = documents;
  }

  /** References to the kinds of a base: those in its `mapping`, and those that have it in their `allOf`. `isCut` if there are too many. */
  of(base) {
    const discriminator = own(base.value, "discriminator");
    const mapped = [...mappingOf(discriminator), ...defaultOf(discriminator)].map(([, target]) => this.#reference(base, target));
    const known = new Set();
    const kinds = [];
    const add = (node) => {
      const place = this.placesOf(node).at(-1);
      if (place === undefined || known.has(place)) return false;
      known.add(place);
      kinds.push(node);
      return true;
    };
    mapped.forEach(add);
    const waiting = [this.documents.place(base)];
    const seen = new Set(waiting);
    for (const place of waiting) {
      for (const kind of this.#bases().get(place) ?? []) {
        const at = this.documents.place(kind);
        if (seen.has(at)) continue;
        seen.add(at);
        add({ ...base, value: { $ref: `${kind.url === base.url ? "" : kind.url}#${encodeURI(kind.pointer)}` } });
        // A kind with a discriminator of its own brings its own kinds.
        if (propertyOf(kind) === undefined) waiting.push(at);
      }
    }
    return { kinds, isCut: kinds.length > MAX_KINDS };
  }

  /** The places that a node leads to, reference by reference; none if it leads nowhere. */
  placesOf(node) {
    const places = [];
    try {
      let current = node;
      const last = this.documents.follow(node);
      while (typeof own(current.value, "$ref") === "string") {
        current = this.documents.target(current);
        places.push(this.documents.place(current));
      }
      // An `allOf` of one reference is a different name for it, unless that is a base.
      const [part, ...more] = items(child(last, "allOf"));
      const isAlias = typeof own(part?.value, "$ref") === "string" && more.length === 0 && !isObject(last.value.properties);
      const target = isAlias ? this.documents.follow(part) : undefined;
      if (target && propertyOf(target) === undefined) places.push(this.documents.place(target));
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
    }
    return places;
  }

  /**
   * What the document says about the kinds in `alternatives` of a node: for each `{ values, name, isDefault }`. `values`: those of its
   * mapping, or else its own; `name`: that of its schema.
   */
  hints(node, alternatives) {
    const discriminator = own(node.value, "discriminator");
    const read = (pairs) => pairs.map(([value, target]) => ({ value, places: this.placesOf(this.#reference(node, target)), last: lastOf(target) }));
    const mapping = read(mappingOf(discriminator));
    const defaults = read(defaultOf(discriminator));
    return alternatives.map((alternative) => {
      const reference = own(alternative.value, "$ref");
      const places = this.placesOf(alternative);
      const matching = (all) => {
        const exact = all.filter((one) => one.places.length > 0 && one.places[0] === places[0]);
        const same = exact.length > 0 ? exact : all.filter((one) => one.places.some((place) => places.includes(place)));
        // A file that was not read, such as the address at which the document itself is published.
        return same.length > 0 || typeof reference !== "string" ? same : all.filter((one) => one.places.length === 0 && one.last === lastOf(reference));
      };
      const values = matching(mapping).map(({ value }) => value);
      const own_ = places.length > 0 ? ownValueOf(this.documents.follow(alternative).value) : ownValueOf(alternative.value);
      return {
        values: values.length > 0 || own_ === undefined ? values : [own_],
        name: typeof reference === "string" ? decoded(lastOf(reference)) : undefined,
        isDefault: matching(defaults).length > 0,
      };
    });
  }

  /** Whether a schema with a name has a base, which has a discriminator, in its `allOf`: it is one of the kinds, and not the base. */
  isKindOf(node, base) {
    const places = this.placesOf(base);
    return places.some((place) => (this.#bases().get(place) ?? []).some((kind) => this.documents.place(kind) === this.documents.place(node))) && this.#isBase(base);
  }

  #isBase(node) {
    return propertyOf(this.documents.follow(node)) !== undefined;
  }

  /** The value that a base has itself, if it says one. */
  ownValue(node) {
    return ownValueOf(node.value);
  }

  /** A node with the reference that a target of a mapping is: the name of a schema, or an address. */
  #reference(node, target) {
    const isName = own(this.documents.schemas.value, target) !== undefined || !/[#/]|\.(?:json|ya?ml)$/i.test(target);
    return { ...node, value: { $ref: isName ? `#${this.documents.schemas.pointer}/${encodeURIComponent(target.replaceAll("~", "~0").replaceAll("/", "~1"))}` : target }, url: isName ? this.documents.address : node.url };
  }

  /** The schemas that have a schema in their `allOf`, by the place of that schema. */
  #bases() {
    if (this.#byBase) return this.#byBase;
    this.#byBase = new Map();
    const partsOf = (schema, depth = 0) => items(child(schema, "allOf")).flatMap((part) => (typeof own(part.value, "$ref") === "string" ? this.placesOf(part) : depth < MAX_PARTS_DEPTH ? partsOf(part, depth + 1) : []));
    for (const schema of this.documents.everySchema()) {
      for (const place of partsOf(schema)) this.#byBase.set(place, [...(this.#byBase.get(place) ?? []), schema]);
    }
    return this.#byBase;
  }
}

const mappingOf = (discriminator) => (isObject(own(discriminator, "mapping")) ? Object.entries(discriminator.mapping).filter(([, target]) => typeof target === "string").slice(0, MAX_MAPPED) : []);
const defaultOf = (discriminator) => (typeof own(discriminator, "defaultMapping") === "string" ? [[undefined, discriminator.defaultMapping]] : []);
const lastOf = (reference) => reference.split(/[/#]/).at(-1);
const decoded = (text) => {
  try {
    return decodeURIComponent(text).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return text;
  }
};

/** What converted schemas say about a property. `definitions`: the schemas of references, by name. */
export class Allowed {
  #known = { objects: new WeakMap(), values: new WeakMap(), required: new WeakMap(), types: new WeakMap(), own: new WeakMap() };

  constructor(definitions, property) {
    this.definitions = definitions;
    this.property = property;
  }

  /** The values of the property in objects of a schema; undefined if it may be any. */
  in(schema) {
    return this.#ask("objects", schema, () => this.#all(schema, (one) => this.in(one), this.#values(own(schema.properties, this.property))));
  }

  /** Whether a schema requires the property. */
  isRequired(schema) {
    return this.#ask("required", schema, () => {
      if (schema.required?.includes(this.property) || this.#parts(schema).some((one) => this.isRequired(one))) return true;
      return ["anyOf", "oneOf"].some((keyword) => schema[keyword]?.length > 0 && schema[keyword].every((one) => this.isRequired(one)));
    });
  }

  /** The types of a schema; undefined if it does not say. */
  types(schema) {
    return this.#ask("types", schema, () => (schema.type === undefined ? firstOf(this.#parts(schema), (one) => this.types(one)) : [schema.type].flat()));
  }

  /** The types of the property. */
  typesOfProperty(schema) {
    return this.#ask("own", schema, () => this.types(own(schema.properties, this.property)) ?? firstOf(this.#parts(schema), (one) => this.typesOfProperty(one)));
  }

  #values(schema) {
    return this.#ask("values", schema, () => this.#all(schema, (one) => this.#values(one), both(schema.const === undefined ? undefined : [schema.const], schema.enum)));
  }

  /** The values that all parts of a schema allow, and one of its alternatives. */
  #all(schema, of, first) {
    let values = first;
    for (const one of this.#parts(schema)) values = both(values, of(one));
    for (const keyword of ["anyOf", "oneOf"]) {
      const each = (schema[keyword] ?? []).map(of);
      if (each.length > 0 && each.every((one) => one !== undefined)) values = both(values, [...new Set(each.flat())]);
    }
    return values;
  }

  /** An answer about a schema, which is found once: references may lead to the same schema in exponentially many ways. */
  #ask(question, schema, find) {
    if (!isObject(schema)) return undefined;
    const known = this.#known[question];
    if (!known.has(schema)) {
      known.set(schema, undefined);
      known.set(schema, find());
    }
    return known.get(schema);
  }

  #parts({ $ref, allOf = [] }) {
    const target = typeof $ref === "string" ? this.definitions.get($ref.replace("#/$defs/", "")) : undefined;
    return target === undefined ? allOf : [target, ...allOf];
  }
}

/** The first answer that is one. */
function firstOf(list, ask) {
  for (const one of list) {
    const answer = ask(one);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

const both = (one, other) => (one === undefined ? other : other === undefined ? one : one.filter((value) => other.includes(value)));

/** The value of each kind of a list: a list of values, or undefined if nothing says one that the kind allows. `types`: those of the property. */
export function valuesOf(kinds) {
  return kinds.map(({ allowed, hints: { values: given, name }, types }, at) => {
    const fitting = (values) => values.map((value) => (types === undefined ? value : types.map((type) => typed(value, type)).find((one) => one !== undefined))).filter((value) => value !== undefined);
    const hints = [...new Set(fitting(given))];
    if (allowed === undefined) {
      if (given.length > 0) return hints.length > 0 ? hints : undefined;
      const named = name === undefined ? [] : fitting([name]);
      return named.length > 0 ? named : undefined;
    }
    if (allowed.length === 0) return undefined;
    // Values that no other kind allows are its own. Others come from a base that all have.
    const isOwn = kinds.every((other, index) => index === at || other.allowed === undefined || !other.allowed.some((value) => allowed.includes(value)));
    if (isOwn) return allowed;
    const chosen = [hints, name === undefined ? [] : fitting([name])].map((values) => values.filter((value) => allowed.includes(value))).find((values) => values.length > 0);
    return chosen ?? undefined;
  });
}

/** A value of a discriminator, which is a text in a mapping, in the type of its property; undefined if it cannot be of that type. */
function typed(value, type) {
  const text = String(value);
  if (type === "string") return text;
  if ((type === "integer" || type === "number") && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  if (type === "boolean" && ["true", "false"].includes(text)) return text === "true";
  return undefined;
}
