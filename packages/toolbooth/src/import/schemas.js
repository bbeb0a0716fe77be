// Converts the schemas of OpenAPI into those of a definition: JSON Schema 2020-12 without recursion, with the parts that are
// used more than once, or by name, in `$defs`.
import { formatOf, isCheapPattern, isExact, patternOf, PLAIN, SILENT, TYPES, WITH_LIST, WITH_NAMES, WITH_SCHEMA } from "./keywords.js";
import { Allowed, propertyOf, valuesOf } from "./kinds.js";
import { merged, READ_ONLY, withoutReadOnly } from "./merge.js";
import { child, isObject, items, members, once, own, Unsupported } from "./nodes.js";
import { Proof } from "./proof.js";
import { isSmallEnough } from "./size.js";
import { clean, joined, sentence, shorten } from "./text.js";
import { FILE, isFile, isFileSchema } from "./uploads.js";
import { isScalar, isSmallValue, MAX_SAMPLE, ofType, sample } from "./values.js";
import { spellingOf } from "./yaml.js";

/** The deepest nesting of a schema, references included. */
const MAX_DEPTH = 50;
/** The most schemas that are converted for one tool. What is beyond is cut. */
const MAX_CONVERTED = 2000;
/** The most values in a list of allowed values. */
const MAX_VALUES = 2000;

/** The levels of a form, each with that of the members below it. Only a part can be a file: what is below is JSON. */
const BELOW = { form: "part", part: "none" };

/** Converts the schemas of one tool's input. */
export class Schemas {
  /** The `$defs` that conversions have filled, by name. */
  definitions = new Map();
  /** The names of definitions, by the place of what they convert. In the parts of a form, that may be a file. */
  #names = Object.fromEntries(["none", ...Object.keys(BELOW)].map((level) => [level, new Map()]));
  /** Where in a form the schema that is being converted is. */
  #level = "none";
  #proof = new Proof({});
  /** The places that are being converted. */
  #stack = [];
  #count = 0;

  constructor(documents, notes, kinds) {
    this.documents = documents;
    this.notes = notes;
    this.kinds = kinds;
  }

  /** The schema of a node. */
  convert(node, depth = 0) {
    const { value } = node;
    if (typeof value === "boolean") return value;
    if (!isObject(value)) return this.#nothing(node, "is not a schema, so any value is allowed");
    return this.#limit(node, depth) ?? (typeof own(value, "$ref") === "string" ? this.#reference(node, depth) : this.#object(node, depth));
  }

  /** What a schema becomes that is too deep, or one too many; undefined for any other. */
  #limit(node, depth) {
    this.#count += 1;
    if (depth > MAX_DEPTH) return this.#stub(node, "is nested too deeply: what is below is not described");
    return this.#count > MAX_CONVERTED ? this.#stub(node, "belongs to a schema that is too large: what is below is not described") : undefined;
  }

  /** The schema of a node without a reference at its root, so that it can be merged, or be read property by property. */
  inline(node, depth = 0, isBase = false) {
    if (!isObject(node.value)) return this.convert(node, depth);
    const cut = this.#limit(node, depth);
    if (cut) return cut;
    if (typeof own(node.value, "$ref") !== "string") return this.#object(node, depth, isBase);
    const convert = (target) => merged(this.#beside(node, depth), this.inline(target, depth + 1, isBase));
    // A kind of a schema with a discriminator is a part of it, and has it as its base.
    return this.#at(node, convert, isBase ? " as a base" : "");
  }

  /** The schema of a form with parts, in which files are objects. */
  form(node) {
    return this.#within("form", () => this.inline(node));
  }

  #within(level, convert) {
    const before = this.#level;
    this.#level = level;
    const converted = convert();
    this.#level = before;
    return converted;
  }

  get #below() {
    return BELOW[this.#level] ?? "none";
  }

  /** A file in a part of a form; undefined for any other node. */
  #file(node) {
    if (this.#level !== "part" || !isFile(this.documents, node)) return undefined;
    const { description } = this.#simple(node);
    const isNullable = [node.value.type].flat().includes("null");
    return { ...FILE, ...(isNullable && { type: ["object", "null"] }), ...(description && { description }) };
  }

  /** Calls `convert` with what a node refers to, unless that contains the node in the same `role`. */
  #at(node, convert, role = "") {
    let target;
    try {
      target = this.documents.follow(node);
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      return this.#nothing(node, `${error.message}, so any value is allowed`);
    }
    const key = `${this.documents.place(target)}${role}`;
    if (this.#stack.includes(key)) {
      const { type, description } = this.#simple(target);
      this.notes.add(this.documents.place(node), "refers to a schema that contains it: the reference is cut");
      return { ...(type && { type }), ...(description && { description }) };
    }
    this.#stack.push(key);
    const converted = convert(target, key);
    this.#stack.pop();
    return converted;
  }

  #reference(node, depth) {
    const known = this.#known(node);
    if (known !== undefined) return withReference(this.#beside(node, depth), known);
    return this.#at(node, (target, key) => {
      const schema = this.convert(target, depth + 1);
      const isSmall = !isObject(schema) || isFileSchema(schema) || Object.values(schema).every((value) => !isObject(value) && !(Array.isArray(value) && value.some(isObject)));
      const beside = this.#beside(node, depth);
      // A part with parts of its own has a name; a text or a number is written where it is used.
      if (isSmall) return isObject(schema) && Object.keys(beside).every((keyword) => keyword === "description") ? { ...schema, ...beside } : merged(beside, schema);
      const name = this.#nameOf(key);
      this.#names[this.#level].set(key, name);
      this.definitions.set(name, schema);
      this.#proof.define(name, schema);
      return withReference(beside, name);
    });
  }

  /** The name of the definition for what a node refers to, if there is one. */
  #known(node) {
    return this.#names[this.#level].get(this.#placeOf(node));
  }

  #nameOf(key) {
    const last = key.split("/").at(-1).replaceAll("~1", "_").replaceAll("~0", "_").replace(/[^A-Za-z0-9_.-]/g, "_").slice(0, 60) || "schema";
    let name = last;
    for (let next = 2; this.definitions.has(name); next += 1) name = `${last}_${next}`;
    return name;
  }

  /** The keywords next to a reference. OpenAPI 3.1 gives them a meaning; before, only descriptions are useful. */
  #beside(node, depth) {
    const { $ref, ...beside } = node.value;
    if (this.documents.isModern) return Object.keys(beside).length === 0 ? {} : this.#object({ ...node, value: beside }, depth);
    const description = clean(beside.description);
    return { ...(description && { description: shorten(description) }), ...(beside.deprecated === true && { deprecated: true }) };
  }

  #object(node, depth, isBase = false) {
    const file = this.#file(node);
    if (file) return this.#nullable(node, file);
    const alternatives = isBase ? undefined : this.#polymorphic(node, depth);
    if (alternatives !== undefined) return this.#nullable(node, alternatives);
    let schema = this.#keywords(isBase ? this.#withoutKinds(node) : node, depth);
    const parts = items(child(node, "allOf"));
    const isAlias = parts.length === 1 && !this.kinds.isKindOf(node, parts[0]) && Object.keys(schema).every((keyword) => keyword === "description" || keyword === "deprecated");
    if (isAlias && !isBase) schema = merged(schema, this.convert(parts[0], depth + 1));
    else for (const part of parts) schema = merged(schema, this.inline(part, depth + 1, true));
    // A list of `allOf` with a reference and descriptions only is that reference, described here.
    if (isObject(schema) && schema.allOf?.length === 2 && Object.keys(schema).length === 1 && schema.allOf[1]?.$ref) schema = { ...schema.allOf[0], ...schema.allOf[1] };
    return this.#nullable(node, isBase ? schema : withoutReadOnly(schema));
  }

  /** A base without the list of its kinds, if it is read for one of them: it would refer to what it is a part of. */
  #withoutKinds(node) {
    const isOpen = ({ value }) => typeof own(value, "$ref") === "string" && this.#stack.includes(this.#placeOf({ ...node, value }));
    const lists = ["oneOf", "anyOf"].filter((keyword) => items(child(node, keyword)).some(isOpen));
    return { ...node, value: Object.fromEntries(Object.entries(node.value).filter(([keyword]) => !lists.includes(keyword))) };
  }

  /** The place of what a node refers to; undefined if there is nothing. */
  #placeOf(node) {
    try {
      return this.documents.place(this.documents.follow(node));
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      return undefined;
    }
  }

  #keywords(node, depth) {
    const { value } = node;
    const schema = new Map();
    const format = formatOf(value.format);
    const type = this.#type(node);
    if (type !== undefined) schema.set("type", type);
    const pattern = patternOf(value.pattern);
    const isCostly = pattern !== undefined && !isCheapPattern(pattern);
    const described = [
      clean(value.description) || sentence(clean(value.title)),
      format.described && type !== "object" ? `Format: ${format.described}.` : "",
      isCostly && typeof pattern === "string" ? `Pattern: ${pattern.slice(0, MAX_SAMPLE)}` : "",
      sample("Default", ofType(value.default, type, spellingOf(value, "default"))),
    ];
    const description = shorten(joined(...described));
    if (description) schema.set("description", description);
    if (isCostly) this.notes.add(this.documents.place(node), "has a pattern that the Worker cannot check at little cost: it is only described");
    else if (pattern !== undefined) schema.set("pattern", pattern);
    if (format.format) schema.set("format", format.format);
    if (["byte", "base64"].includes(value.format)) schema.set("contentEncoding", "base64");
    this.#values(node, type, schema);
    const [holder, name] = value.example === undefined && Array.isArray(value.examples) ? [value.examples, 0] : [value, "example"];
    const example = ofType(holder[name], type, spellingOf(holder, name));
    if (isScalar(example) && typeof example !== "boolean" && !value.enum) schema.set("examples", [example]);
    for (const keyword of Object.keys(value)) this.#keyword(node, keyword, depth, schema);
    return this.#checked(node, schema);
  }

  #keyword(node, keyword, depth, schema) {
    const inner = child(node, keyword);
    const { value } = inner;
    if (Object.hasOwn(PLAIN, keyword)) {
      const isLimit = typeof value === "number" && !Number.isSafeInteger(value) && Number.isInteger(value);
      // The limits of 64-bit integers say nothing, and JavaScript rounds them.
      if (isLimit) return;
      if (PLAIN[keyword](value)) schema.set(keyword, Array.isArray(value) ? [...new Set(value)] : value);
      else if (typeof value !== "boolean") this.notes.add(this.documents.place(inner), `is not a valid value of ${keyword}, which is left out`);
    } else if (keyword === "items" && Array.isArray(value)) {
      schema.set("prefixItems", items(inner).map((item) => this.convert(item, depth + 1)));
    } else if (["not", "if", "then", "else"].includes(keyword) && !isExact(keyword === "not" ? value : node.value.if)) {
      // What is only described or cut accepts more, so this would reject more.
      this.notes.add(this.documents.place(inner), `${keyword} depends on what the Worker does not check: only the service applies it`);
    } else if (WITH_SCHEMA.includes(keyword)) {
      schema.set(keyword, this.#within(keyword === "additionalProperties" ? this.#below : this.#level, () => this.convert(inner, depth + 1)));
    } else if (WITH_LIST.includes(keyword)) {
      const list = items(inner).map((item) => this.convert(item, depth + 1));
      // Formats, patterns and cycles are only described, so more than one may match.
      const either = keyword === "oneOf" && node.value.anyOf !== undefined ? ["allOf", [{ anyOf: list }]] : [keyword === "oneOf" ? "anyOf" : keyword, list];
      if (list.length > 0) schema.set(...either);
    } else if (WITH_NAMES.includes(keyword)) {
      const named = members(inner).filter(([, one]) => keyword !== "properties" || isObject(one.value) || typeof one.value === "boolean");
      const convert = (one) => (keyword === "properties" && isReadOnly(this.documents, one) ? READ_ONLY : this.convert(one, depth + 1));
      schema.set(keyword, this.#within(this.#below, () => Object.fromEntries(named.map(([name, one]) => [name, convert(one)]))));
    } else if (keyword === "dependentRequired" && isObject(value)) {
      const valid = Object.entries(value).filter(([, names]) => PLAIN.required(names));
      schema.set(keyword, Object.fromEntries(valid));
    } else if (!SILENT.has(keyword) && !keyword.startsWith("x-")) {
      this.notes.add(this.documents.place(inner), `${keyword} is not a keyword of schemas that a tool can have, so it is left out`);
    }
  }

  /** Makes keywords fit to each other: the build refuses what could only be a mistake. */
  #checked(node, schema) {
    for (const [limit, exclusive] of [["minimum", "exclusiveMinimum"], ["maximum", "exclusiveMaximum"]]) {
      if (node.value[exclusive] === true && schema.has(limit)) {
        schema.set(exclusive, schema.get(limit));
        schema.delete(limit);
      }
    }
    // Values of a list that are no lists are those of the items.
    const type = schema.get("type");
    if (type === "array" && schema.get("enum")?.every((one) => !Array.isArray(one))) {
      const items = schema.get("items");
      const values = schema.get("enum").map((one) => ofType(one, items?.type));
      schema.set("items", merged({ enum: values }, items ?? {})).delete("enum");
    }
    if (schema.get("required")?.length === 0) schema.delete("required");
    for (const pattern of Object.keys(schema.get("patternProperties") ?? {}).filter((one) => !isCheapPattern(one))) {
      const { [pattern]: _, ...rest } = schema.get("patternProperties");
      schema.set("patternProperties", rest);
      this.notes.add(this.documents.place(node), "has a pattern for names that the Worker cannot check at little cost: it is left out");
      // Names that only the pattern allows must stay possible.
      schema.delete("additionalProperties");
    }
    if (schema.get("additionalProperties") === true) schema.delete("additionalProperties");
    return Object.fromEntries(schema);
  }

  #type(node) {
    const { type } = node.value;
    if (type === undefined) return isObject(node.value.properties) ? "object" : undefined;
    const given = (Array.isArray(type) ? type : [type]).filter((one, at, all) => all.indexOf(one) === at);
    const known = given.filter((one) => TYPES.includes(one));
    const unknown = given.filter((one) => !TYPES.includes(one) && one !== "any" && one !== "file");
    if (unknown.length > 0) this.notes.add(this.documents.place(node), `has the type ${JSON.stringify(unknown[0])}, which JSON does not have, so any value is allowed`);
    if (known.length < given.length) return undefined;
    return known.length > 1 ? known : known[0];
  }

  #values(node, type, schema) {
    const { enum: list, const: one } = node.value;
    if (one !== undefined && isSmallValue(one)) schema.set("const", ofType(one, type, spellingOf(node.value, "const")));
    if (!Array.isArray(list)) return;
    const place = this.documents.place(child(node, "enum"));
    if (list.length > MAX_VALUES || !list.every(isSmallValue)) return void this.notes.add(place, `has more than ${MAX_VALUES} values, or large ones: it is left out`);
    const fitting = list.map((value, at) => ofType(value, type, spellingOf(list, at)));
    const unique = fitting.filter((value, at) => fitting.findIndex((other) => JSON.stringify(other) === JSON.stringify(value)) === at);
    if (unique.length === 0) return void this.notes.add(place, "allows no value: it is left out");
    schema.set("enum", unique);
    if (type === "string" && unique.includes(null)) schema.set("type", ["string", "null"]);
  }

  /** The schema with `null`, if the node is nullable. */
  #nullable(node, schema) {
    if ((node.value.nullable !== true && node.value["x-nullable"] !== true) || !isObject(schema)) return schema;
    if (schema.type !== undefined) {
      const type = [...new Set([schema.type, "null"].flat())];
      const values = schema.enum && !schema.enum.includes(null) ? { enum: [...schema.enum, null] } : {};
      return { ...schema, type, ...values };
    }
    if (schema.$ref === undefined && !["allOf", "anyOf", "oneOf", "enum", "const"].some((keyword) => keyword in schema)) return schema;
    const { description, ...rest } = schema;
    return { ...(description && { description }), anyOf: [rest, { type: "null" }] };
  }

  /** A schema with a discriminator as the list of its kinds, each with its value of the property. */
  #polymorphic(node, depth) {
    const property = propertyOf(node);
    if (property === undefined) return undefined;
    const listed = ["oneOf", "anyOf"].find((keyword) => items(child(node, keyword)).length > 0);
    const found = listed ? { kinds: items(child(node, listed)) } : this.kinds.of(node);
    if (found.isCut) this.notes.add(this.documents.place(node), "has too many kinds: only what they have in common is described");
    if (found.isCut || found.kinds.length === 0) return undefined;
    const { [listed]: _, discriminator: __, ...rest } = node.value;
    const self = { ...node, value: rest };
    const hints = this.kinds.hints(node, found.kinds);
    const allowed = new Allowed(this.definitions, property);
    const read = (schema, hint) => {
      const types = allowed.types(schema);
      const isKind = isObject(schema) && (types === undefined || types.includes("object"));
      return { schema, hints: hint, isKind, allowed: allowed.in(schema), types: allowed.typesOfProperty(schema), isNullable: types?.includes("null") };
    };
    const isSelf = (kind) => this.kinds.placesOf(kind).includes(this.documents.place(node));
    const all = found.kinds.map((kind, at) => read(isSelf(kind) ? withoutReadOnly(this.#object(self, depth + 1, true)) : this.convert(kind, depth + 1), hints[at]));
    const base = listed || found.kinds.some(isSelf) ? undefined : this.#baseKind(self, depth, all, read);
    const kinds = base ? [...all, base] : all;
    const values = valuesOf(kinds);
    const schemas = kinds.map((kind, at) => (kind.hints.isDefault || !kind.isKind ? kind.schema : this.#withValues(kind, property, values[at], allowed)));
    const { description } = this.#simple(node);
    const common = listed ? this.#object(self, depth + 1, true) : {};
    // Without values of their own, more than one may match.
    const named = schemas.flatMap((schema) => allowed.in(schema) ?? []);
    const isExclusive = schemas.every((schema) => allowed.in(schema) !== undefined && allowed.isRequired(schema)) && new Set(named).size === named.length && !kinds.some(({ isNullable }) => isNullable);
    return withoutReadOnly(merged({ ...(description && { description }), [isExclusive ? "oneOf" : "anyOf"]: schemas }, common));
  }

  /** A base as a kind of itself, if it says a value of its own, or allows one that no kind has; undefined otherwise. */
  #baseKind(self, depth, kinds, read) {
    const own_ = this.kinds.ownValue(self);
    const schema = withoutReadOnly(this.#object(self, depth + 1, true));
    const base = read(schema, { values: own_ === undefined ? [] : [own_] });
    const values = valuesOf([...kinds, base]).slice(0, -1);
    const left = (base.allowed ?? []).filter((value) => values.every((one) => one && !one.includes(value)));
    if (own_ === undefined && left.length === 0) return undefined;
    return { ...base, hints: { values: own_ === undefined ? left : [own_, ...left] } };
  }

  /** A kind with its values of the property, unless it has them itself, or none of them fits the rest of it. */
  #withValues({ schema, allowed: own_ }, property, values, allowed) {
    const isOwn = schema.$ref === undefined && own_ !== undefined;
    if (values === undefined || (isOwn && values.length === own_.length)) return schema;
    const kind = values.length === 1 ? { const: values[0] } : { enum: values };
    const properties = new Map(Object.entries(schema.properties ?? {}));
    const before = properties.get(property);
    const { enum: _, const: __, ...described } = isObject(before) ? before : {};
    properties.set(property, schema.$ref === undefined ? { ...described, ...kind } : kind);
    const one = { ...schema, properties: Object.fromEntries(properties), required: [...new Set([...(schema.required ?? []), property])] };
    // A large schema would take too long: if its kinds contradict it, a wider one takes its place later.
    if (!isSmallEnough(one, this.definitions)) return one;
    return this.#proof.isPossible(one) || !this.#proof.isPossible(schema) ? one : schema;
  }

  /** A schema's type and description, without its parts. */
  #simple(node) {
    const type = isObject(node.value) ? this.#type(node) : undefined;
    const description = shorten(clean(own(node.value, "description")));
    return { type, description };
  }

  #stub(node, reason) {
    this.notes.add(this.documents.place(node), reason);
    const { type, description } = this.#simple(node);
    return { ...(type && { type }), ...(description && { description }) };
  }

  #nothing(node, reason) {
    this.notes.add(this.documents.place(node), reason);
    return {};
  }
}

/** Whether a property is for answers only: by itself, or by what it refers to or consists of. */
const isReadOnly = (documents, node) => (typeof own(node.value, "readOnly") === "boolean" ? node.value.readOnly : isMadeReadOnly(documents, node));
const isMadeReadOnly = once((documents, target) => {
  if (typeof target.value.readOnly === "boolean") return target.value.readOnly;
  const alternatives = ["oneOf", "anyOf"].flatMap((keyword) => items(child(target, keyword))).filter((one) => own(one.value, "type") !== "null");
  const isRead = (one) => isReadOnly(documents, one);
  return items(child(target, "allOf")).some(isRead) || (alternatives.length > 0 && alternatives.every(isRead));
});

function withReference(beside, name) {
  const reference = { $ref: `#/$defs/${name}` };
  return Object.keys(beside).length === 0 ? reference : { ...reference, ...beside };
}
