// Converts schemas of other drafts and dialects to JSON Schema 2020-12, as definitions have it.
import { isObject, own } from "../import/nodes.js";
import { Failure } from "../process.js";
import { References, token } from "./references.js";
import { isDraft7, withNull, wrapsNull } from "./nullable.js";
import { typesOf } from "./types.js";

/** The draft of definitions, as `$schema` names it. */
const IS_2020 = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema$/;
/** The deepest nesting of a schema, and the most schemas of a tool. */
const MAX_DEPTH = 100;
const MAX_SCHEMAS = 10_000;
/** The longest pattern that a description repeats. */
const MAX_PATTERN = 200;

/** Keywords with a schema, a list of schemas, and schemas by name. */
const ONE = ["additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"];
const LIST = ["allOf", "anyOf", "oneOf", "prefixItems"];
const NAMED = ["$defs", "dependentSchemas", "patternProperties", "properties"];
/** Keywords without schemas that stay as they are. */
const PLAIN = new Set([
  ...["$comment", "const", "contentEncoding", "contentMediaType", "default", "dependentRequired", "deprecated", "description", "enum", "exclusiveMaximum"],
  ...["exclusiveMinimum", "format", "maximum", "minimum", "multipleOf", "pattern", "readOnly", "required", "title", "uniqueItems", "writeOnly"],
]);
const COUNTS = ["maxContains", "maxItems", "maxLength", "maxProperties", "minContains", "minItems", "minLength", "minProperties"];
/** What stays beside `$ref` in drafts that ignore the rest. */
const ANNOTATIONS = ["$comment", "$defs", "definitions", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"];
/** Words of other dialects that say nothing about values. They are left out without a word. */
const SILENT = ["$schema", "$id", "id", "$recursiveAnchor", "externalDocs", "nullable", "propertyOrdering", "xml", "x-nullable"];

/**
 * The schema as JSON Schema 2020-12. `place` is where it is in the definition, and `note(place, text)` gets what has changed. References
 * may also lead to other places of the whole `document`.
 */
export function convertSchema(schema, place, note, document) {
  return new Conversion(schema, note, document).run(place);
}

class Conversion {
  #count = 0;

  constructor(root, note, document) {
    this.root = root;
    this.note = note;
    this.isDraft7 = isDraft7(own(root, "$schema"));
    this.references = new References(root, document);
  }

  run(place) {
    const draft = own(this.root, "$schema");
    if (draft !== undefined && !IS_2020.test(`${draft}`)) this.note(`${place}.$schema`, "is left out: the schema is now one of 2020-12");
    const converted = this.schema(this.root, place, "#", 0);
    const missing = (name, node) => this.schema(node, `${place}.$defs.${name}`, `#/$defs/${token(name)}`, 1);
    const added = this.references.finish(converted, missing, (at, text) => this.note(at, text));
    return added.size === 0 || !isObject(converted) ? converted : { ...converted, $defs: { ...converted.$defs, ...Object.fromEntries(added) } };
  }

  /** The schema at a `place` of the definition; `pointer` will lead to it. */
  schema(value, place, pointer, depth) {
    this.#count += 1;
    if (depth > MAX_DEPTH) throw new Failure(`${place.slice(0, MAX_PATTERN)} is nested more than ${MAX_DEPTH} schemas deep`);
    if (this.#count > MAX_SCHEMAS) throw new Failure(`${place.slice(0, MAX_PATTERN)} belongs to more than ${MAX_SCHEMAS} schemas`);
    if (typeof value === "boolean") return value;
    if (!isObject(value)) {
      this.note(place, "is not a schema: any value is allowed");
      return {};
    }
    this.references.add(value, pointer);
    const isWrapped = wrapsNull(value);
    const within = isWrapped ? `${pointer}/anyOf/0` : pointer;
    const schema = {};
    for (const [keyword, inner] of Object.entries(this.#inForce(value, place))) {
      // Definitions stay at the root.
      const isOutside = keyword === "$defs" || keyword === "definitions";
      this.#keyword({ value, keyword, inner, schema, depth, place: `${place}.${keyword}`, pointer: isOutside ? pointer : within });
    }
    this.#limits(value, schema, place);
    this.#required(value, schema, place);
    return withNull(value, schema, isWrapped, (text) => this.note(place, text));
  }

  /** The members of a schema that its draft does not ignore. */
  #inForce(value, place) {
    if (!this.isDraft7 || typeof value.$ref !== "string") return value;
    const ignored = Object.keys(value).filter((keyword) => keyword !== "$ref" && !ANNOTATIONS.includes(keyword) && !SILENT.includes(keyword));
    for (const keyword of ignored) this.note(`${place}.${keyword}`, "is left out: it stands beside $ref, where this draft ignores it");
    return Object.fromEntries(Object.entries(value).filter(([keyword]) => !ignored.includes(keyword)));
  }

  #keyword({ value, keyword, inner, schema, depth, place, pointer }) {
    const one = (name, at = place) => (schema[name] = this.schema(inner, at, `${pointer}/${name}`, depth + 1));
    const list = (name, values = inner) => (schema[name] = values.map((item, at) => this.schema(item, `${place}[${at}]`, `${pointer}/${name}/${at}`, depth + 1)));
    const named = (name, values = inner) => {
      const converted = Object.entries(values).map(([member, it]) => [member, this.schema(it, `${place}.${member}`, `${pointer}/${name}/${token(member)}`, depth + 1)]);
      schema[name] = { ...schema[name], ...Object.fromEntries(converted) };
    };
    const renamed = (name) => this.note(place, `is now ${name}`);
    if (keyword === "items" && Array.isArray(inner)) {
      list("prefixItems");
      renamed("prefixItems");
    } else if (keyword === "additionalItems") {
      if (Array.isArray(value.items)) one("items");
      this.note(place, Array.isArray(value.items) ? "is now items" : "is left out: it has no effect without a list of items");
    } else if (keyword === "definitions" && isObject(inner)) {
      named("$defs");
      renamed("$defs");
    } else if (keyword === "dependencies" && isObject(inner)) {
      const names = Object.entries(inner).filter(([, it]) => typeof it === "string" || Array.isArray(it));
      const schemas = Object.entries(inner).filter(([, it]) => typeof it !== "string" && !Array.isArray(it));
      if (names.length > 0) schema.dependentRequired = { ...schema.dependentRequired, ...Object.fromEntries(names.map(([name, it]) => [name, [it].flat()])) };
      if (schemas.length > 0) named("dependentSchemas", Object.fromEntries(schemas));
      renamed([names.length > 0 && "dependentRequired", schemas.length > 0 && "dependentSchemas"].filter(Boolean).join(" and ") || "absent, because it is empty");
    } else if (keyword === "$ref" || keyword === "$recursiveRef" || keyword === "$dynamicRef") {
      if (keyword !== "$ref") renamed("$ref");
      this.references.refer(schema, inner, value, place);
    } else if (keyword === "$anchor" || keyword === "$dynamicAnchor") {
      if (keyword !== "$anchor") renamed("$anchor");
      schema.$anchor = inner;
    } else if (keyword === "type") {
      this.#type(inner, schema, place, pointer, depth);
    } else if (keyword === "disallow") {
      schema.not = this.schema({ type: inner }, place, `${pointer}/not`, depth + 1);
      renamed("not");
    } else if (keyword === "extends") {
      list("allOf", [inner].flat());
      renamed("allOf");
    } else if (keyword === "divisibleBy") {
      schema.multipleOf = inner;
      renamed("multipleOf");
    } else if (keyword === "example" || (keyword === "examples" && !Array.isArray(inner))) {
      const values = keyword === "example" ? [inner] : Object.values(inner ?? {}).map((it) => own(it, "value") ?? it);
      schema.examples = [...(schema.examples ?? []), ...values];
      this.note(place, "is now the list examples");
    } else if (keyword === "pattern" && /\(\?(?:[=!]|<[=!])/.test(`${inner}`)) {
      schema.description = [value.description, `Pattern: ${`${inner}`.slice(0, MAX_PATTERN)}`].filter(Boolean).join(" ");
      this.note(place, "has look-around, which is not checked: it is a part of the description");
    } else if (keyword === "format" && inner === "enum") {
      this.note(place, "is left out: it says no more than enum");
    } else if (COUNTS.includes(keyword) && typeof inner === "string" && /^\d{1,15}$/.test(inner)) {
      schema[keyword] = Number(inner);
      this.note(place, "is now a number");
    } else if (ONE.includes(keyword)) {
      one(keyword);
    } else if (LIST.includes(keyword) && Array.isArray(inner)) {
      list(keyword);
    } else if (NAMED.includes(keyword) && isObject(inner)) {
      named(keyword);
    } else if (keyword === "description" || keyword === "examples") {
      // A pattern may have added to the one, `example` to the other.
      schema[keyword] = keyword === "examples" ? [...(schema.examples ?? []), ...inner] : (schema.description ?? inner);
    } else if (keyword === "$schema" && IS_2020.test(`${inner}`)) {
      schema.$schema = inner;
    } else if (PLAIN.has(keyword) || COUNTS.includes(keyword) || (keyword.startsWith("x-") && keyword !== "x-nullable")) {
      schema[keyword] = inner;
    } else if (keyword === "optional") {
      this.note(place, "is left out: required of the object has the names of what is not optional");
    } else if (!SILENT.includes(keyword)) {
      this.note(place, keyword === "discriminator" ? "is left out: the property needs a const in each schema of oneOf" : "is left out: it is not a keyword of 2020-12");
    } else if (keyword.endsWith("id") && /^#./.test(`${inner}`)) {
      // Draft 6 and 7.
      schema.$anchor = inner.slice(1);
      renamed("$anchor");
    } else if (keyword.endsWith("id")) {
      this.note(place, "is left out: references lead to places within the schema");
    }
  }

  #type(given, schema, place, pointer, depth) {
    const { types, schemas, changes } = typesOf(given);
    for (const text of changes) this.note(place, text);
    if (schemas.length > 0) {
      // Draft 3.
      const alternatives = [...types.map((type) => ({ type })), ...schemas];
      schema.anyOf = alternatives.map((it, at) => this.schema(it, `${place}[${at}]`, `${pointer}/anyOf/${at}`, depth + 1));
      this.note(place, "is now anyOf");
    } else if (types.length > 0) {
      schema.type = Array.isArray(given) ? types : types[0];
    }
  }

  /** Limits of draft 4, which are exclusive if a second keyword is true. */
  #limits(value, schema, place) {
    for (const [limit, exclusive] of [["minimum", "exclusiveMinimum"], ["maximum", "exclusiveMaximum"]]) {
      if (typeof value[exclusive] !== "boolean") continue;
      delete schema[exclusive];
      if (value[exclusive] && typeof value[limit] === "number") {
        schema[exclusive] = value[limit];
        delete schema[limit];
      }
      this.note(`${place}.${exclusive}`, value[exclusive] ? "is now the limit itself" : `is left out: ${limit} alone means the same`);
    }
  }

  /** `required` of properties themselves, as draft 3 and some dialects have it. */
  #required(value, schema, place) {
    if (schema.required !== undefined && !Array.isArray(schema.required)) {
      this.note(`${place}.required`, schema.required === true ? "is now in required of the object" : "is left out: it is no list of names");
      delete schema.required;
    }
    const properties = Object.entries(isObject(value.properties) ? value.properties : {});
    const names = properties.filter(([, it]) => it?.required === true || it?.optional === false).map(([name]) => name);
    if (names.length > 0) schema.required = [...new Set([...(schema.required ?? []), ...names])];
  }
}
