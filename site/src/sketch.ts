// The shape of a value, written like a type of TypeScript, with the descriptions of a schema as comments: what a reader wants to know
// before a call.
import { type Json, isObject, stringify } from "./json.ts";
import type { Schema } from "./schema.ts";

/** The deepest members that are written out, and the longest comment. */
const MOST_LEVELS = 6;
const MOST_COMMENT = 90;
const NAME = /^[A-Za-z_$][\w$]*$/;

/** The sketch of a schema; undefined if it allows any value. */
export function sketch(schema: Schema): string | undefined {
  const text = typeOf(schema, "", 0);
  return text === ANY ? undefined : text;
}

const ANY = "any";

function typeOf(schema: Schema | boolean | undefined, indent: string, level: number): string {
  if (typeof schema !== "object") return ANY;
  if (schema.const !== undefined) return stringify(schema.const);
  if (schema.enum) return schema.enum.map((value: Json) => stringify(value)).join(" | ");
  const variants = schema.oneOf ?? schema.anyOf;
  if (variants) return union(variants.map((variant) => typeOf(variant, indent, level)));
  if (schema.allOf?.length === 1) return typeOf(schema.allOf[0], indent, level);
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type }, indent, level)));
  if (schema.type === "array") return listOf(schema, indent, level);
  if (schema.type === "object" || schema.properties) return objectOf(schema, indent, level);
  return schema.type ?? ANY;
}

const union = (types: string[]): string => [...new Set(types)].join(" | ");

function listOf({ items, prefixItems }: Schema, indent: string, level: number): string {
  if (prefixItems) return `[${prefixItems.map((item) => typeOf(item, indent, level)).join(", ")}]`;
  const type = typeOf(items, indent, level);
  return / \| /.test(type) && !type.startsWith("{") ? `(${type})[]` : `${type}[]`;
}

function objectOf({ properties = {}, required = [], additionalProperties: rest }: Schema, indent: string, level: number): string {
  const members = Object.entries(properties).filter(([, property]) => property !== false);
  if (level === MOST_LEVELS || (members.length === 0 && typeof rest !== "object")) return "object";
  const inner = `${indent}  `;
  const lines = members.map(([name, property]) => {
    const key = `${NAME.test(name) ? name : stringify(name)}${required.includes(name) ? "" : "?"}`;
    return `${inner}${key}: ${typeOf(property, inner, level + 1)}${commentOf(property)}\n`;
  });
  if (typeof rest === "object") lines.push(`${inner}[name]: ${typeOf(rest, inner, level + 1)}${commentOf(rest)}\n`);
  return `{\n${lines.join("")}${indent}}`;
}

/** The beginning of a description, as a comment. */
function commentOf(schema: Schema | boolean): string {
  const text = isObject(schema as unknown as Json) ? ((schema as Schema).description ?? "").replaceAll(/\s+/g, " ").trim() : "";
  return text === "" ? "" : `  // ${text.length > MOST_COMMENT ? `${text.slice(0, MOST_COMMENT - 1)}…` : text}`;
}
