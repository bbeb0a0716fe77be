// What a form needs to know about a JSON Schema. The server validates: keywords that are missing here only make the form
// less specific.
import { ExactNumber, type Json, isEqual, isObject, own, stringify } from "./json.ts";

export interface Schema {
  type?: string | string[];
  title?: string;
  description?: string;
  default?: Json;
  examples?: Json[];
  enum?: Json[];
  const?: Json;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  items?: Schema | boolean;
  prefixItems?: Schema[];
  properties?: Record<string, Schema | boolean>;
  additionalProperties?: Schema | boolean;
  patternProperties?: Record<string, Schema | boolean>;
  required?: string[];
  anyOf?: (Schema | boolean)[];
  oneOf?: (Schema | boolean)[];
  allOf?: (Schema | boolean)[];
}

/** How a form edits the values of a schema. */
export type Kind =
  | { is: "text"; input: "text" | "date" | "time" | "datetime" | "email" | "url" | "lines" }
  | { is: "number" }
  | { is: "boolean" }
  | { is: "constant"; value: Json }
  | { is: "choice"; values: Json[] }
  | { is: "list"; first: Schema[]; rest: Schema | undefined }
  | { is: "object"; properties: Property[]; rest: Schema | undefined }
  | { is: "union"; variants: Variant[] }
  | { is: "json" };

export interface Property {
  name: string;
  schema: Schema;
  required: boolean;
}

export interface Variant {
  label: string;
  schema: Schema;
}

/** Texts of this length are edited in several lines. */
const LONG = 500;

const FORMATS: Record<string, "date" | "time" | "datetime" | "email" | "url"> = {
  date: "date",
  time: "time",
  "date-time": "datetime",
  email: "email",
  uri: "url",
};

const schemaOf = (schema: Schema | boolean | undefined): Schema => (typeof schema === "object" ? schema : {});

export function kindOf(schema: Schema): Kind {
  if (schema.allOf) return kindOf(flat(schema));
  const { anyOf, oneOf, ...base } = schema;
  if (schema.const !== undefined) return { is: "constant", value: schema.const };
  if (schema.enum) return schema.enum.length === 1 ? { is: "constant", value: schema.enum[0] ?? null } : { is: "choice", values: schema.enum };
  const variants = oneOf ?? anyOf;
  if (variants) return union(variants.map((variant) => merged(base, schemaOf(variant))));
  if (Array.isArray(schema.type)) {
    const [only, ...others] = schema.type;
    return others.length === 0 ? kindOf({ ...base, ...(only !== undefined && { type: only }) }) : union(schema.type.map((type) => ({ ...base, type })));
  }
  switch (schema.type) {
    case "string":
      return { is: "text", input: own(FORMATS, schema.format ?? "") ?? ((schema.maxLength ?? 0) >= LONG ? "lines" : "text") };
    case "number":
    case "integer":
      return { is: "number" };
    case "boolean":
      return { is: "boolean" };
    case "null":
      return { is: "constant", value: null };
    case "array":
      return { is: "list", first: schema.prefixItems ?? [], rest: schema.items === false ? undefined : schemaOf(schema.items) };
    default:
      return schema.type === "object" || schema.properties ? object(schema) : { is: "json" };
  }
}

function object(schema: Schema): Kind {
  const required = new Set(schema.required);
  const properties = Object.entries(schema.properties ?? {})
    .filter(([, property]) => property !== false)
    .map(([name, property]) => ({ name, schema: schemaOf(property), required: required.has(name) }));
  // Lists are sorted by name. People begin with what they must fill in.
  properties.sort((one, other) => Number(other.required) - Number(one.required));
  const rest = restOf(schema);
  // Without properties, the entries are all there is; with them, they are hardly ever meant.
  const open = typeof rest === "object" || (properties.length === 0 && rest !== false);
  return { is: "object", properties, rest: open ? schemaOf(rest) : undefined };
}

/** The schema of members that are not properties. The server checks which pattern a name matches. */
function restOf({ additionalProperties, patternProperties = {} }: Schema): Schema | boolean | undefined {
  const [pattern, ...others] = Object.values(patternProperties);
  if (pattern === undefined) return additionalProperties;
  return others.length === 0 && additionalProperties === false ? schemaOf(pattern) : {};
}

function union(schemas: Schema[]): Kind {
  const flat = schemas.flatMap((schema) => {
    const kind = kindOf(schema);
    return kind.is === "union" ? kind.variants.map((variant) => variant.schema) : [schema];
  });
  // Constants without titles are a choice; titles label variants.
  const constants = flat.map((schema) => schema.const);
  if (constants.every((value) => value !== undefined) && flat.every(({ title }) => title === undefined)) {
    return { is: "choice", values: constants as Json[] };
  }
  return { is: "union", variants: flat.map((schema) => ({ label: label(schema), schema })) };
}

/** What a variant is called in a list of them. */
function label(schema: Schema): string {
  if (schema.title) return schema.title;
  const kind = kindOf(schema);
  switch (kind.is) {
    case "constant":
      return kind.value === null ? "null" : stringify(kind.value);
    case "object": {
      const tag = kind.properties.find(({ schema: { const: value } }) => typeof value === "string");
      if (tag) return String(tag.schema.const);
      return kind.properties.map(({ name }) => name).join(", ") || "object";
    }
    case "text":
      return schema.format ?? "text";
    case "list":
      return "list";
    case "number":
      return schema.type === "integer" ? "integer" : "number";
    case "choice":
    case "boolean":
    case "union":
    case "json":
      return kind.is;
  }
}

/** The schema with the keywords of its `allOf`. */
export function flat({ allOf, ...schema }: Schema): Schema {
  return allOf ? flat(allOf.map(schemaOf).reduce(merged, schema)) : schema;
}

/** A schema with the keywords of both. */
function merged(one: Schema, other: Schema): Schema {
  const both = { ...one, ...other };
  if (one.properties && other.properties) {
    const [first, second] = [one.properties, other.properties];
    const merging = Object.entries(second).map(([name, property]) => [name, merged(schemaOf(own(first, name)), schemaOf(property))] as const);
    both.properties = { ...first, ...Object.fromEntries(merging) };
  }
  if (one.required && other.required) both.required = [...new Set([...one.required, ...other.required])];
  return both;
}

/** Whether a value looks like one of the schema: good enough to choose a variant. */
export function fits(schema: Schema, value: Json): boolean {
  const kind = kindOf(schema);
  switch (kind.is) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number" || value instanceof ExactNumber;
    case "boolean":
      return typeof value === "boolean";
    case "constant":
      return isEqual(kind.value, value);
    case "choice":
      return kind.values.some((choice) => isEqual(choice, value));
    case "list":
      return Array.isArray(value) && value.every((item, index) => kind.rest === undefined || index < kind.first.length || fits(kind.rest, item));
    case "object":
      return (
        isObject(value) &&
        kind.properties.every(({ name, schema, required }) => {
          const member = own(value, name);
          return member === undefined ? !required : fits(schema, member);
        }) &&
        (kind.rest !== undefined || Object.keys(value).every((name) => kind.properties.some((property) => property.name === name)))
      );
    case "union":
      return kind.variants.some((variant) => fits(variant.schema, value));
    case "json":
      return true;
  }
}

/** The most items that a new value begins with. */
const MOST_ITEMS = 100;

/** What a new value begins with: constants, and objects and lists that need members. Undefined if it must be filled in. */
export function initial(schema: Schema, most = MOST_ITEMS): Json | undefined {
  const kind = kindOf(schema);
  switch (kind.is) {
    case "constant":
      return kind.value;
    case "object": {
      const required = kind.properties.filter((property) => property.required);
      const members = required.map(({ name, schema }) => [name, initial(schema, most)] as const);
      return Object.fromEntries(members.filter((member): member is readonly [string, Json] => member[1] !== undefined));
    }
    case "list": {
      const length = Math.min(Math.max(schema.minItems ?? 0, kind.first.length), most);
      return Array.from({ length }, (_, index) => initial(kind.first[index] ?? kind.rest ?? {}, Math.floor(most / length)) ?? null);
    }
    case "boolean":
      return false;
    case "text":
    case "number":
    case "choice":
    case "union":
    case "json":
      return undefined;
  }
}

/** The limits of a value in a few words, such as "1 to 100 characters". */
export function limits(schema: Schema): string {
  const parts: string[] = [];
  const range = (from: number | undefined, to: number | undefined, unit: (count: number) => string) => {
    if (from !== undefined && to !== undefined) parts.push(from === to ? `exactly ${from}${unit(from)}` : `${from} to ${to}${unit(to)}`);
    else if (from !== undefined) parts.push(`at least ${from}${unit(from)}`);
    else if (to !== undefined) parts.push(`at most ${to}${unit(to)}`);
  };
  const counted = (noun: string) => (count: number) => ` ${noun}${count === 1 ? "" : "s"}`;
  range(schema.minLength || undefined, schema.maxLength, counted("character"));
  range(schema.minimum, schema.maximum, () => "");
  if (schema.exclusiveMinimum !== undefined) parts.push(`above ${schema.exclusiveMinimum}`);
  if (schema.exclusiveMaximum !== undefined) parts.push(`below ${schema.exclusiveMaximum}`);
  if (schema.multipleOf !== undefined) parts.push(`a multiple of ${schema.multipleOf}`);
  range(schema.minItems || undefined, schema.maxItems, counted("item"));
  return parts.join(", ");
}
