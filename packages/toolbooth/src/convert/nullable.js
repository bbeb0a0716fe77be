// `nullable`, which OpenAPI 3.0 and Gemini have, as 2020-12 writes it.
import { own } from "../import/nodes.js";

/** Whether `$schema` names a draft in which keywords beside `$ref` are ignored. */
export const isDraft7 = (draft) => /draft-0[3-7]\b/.test(`${draft}`);

const isNullable = (value) => own(value, "nullable") === true || own(value, "x-nullable") === true;
/** Keywords that reject null, whatever `type` has. */
const REJECTING = ["$ref", "$recursiveRef", "$dynamicRef", "allOf", "anyOf", "oneOf", "const", "not", "if", "extends", "disallow"];
/** What stays outside of the alternatives. */
const OUTSIDE = ["$anchor", "$comment", "$defs", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"];

/** Whether a nullable schema becomes an alternative beside null. */
export const wrapsNull = (value) => isNullable(value) && REJECTING.some((keyword) => Object.hasOwn(value, keyword));

/** The converted `schema` of `value`, which changes, with null if that is nullable. */
export function withNull(value, schema, isWrapped, note) {
  if (!isNullable(value)) return schema;
  if (isWrapped) {
    note('is now one of anyOf, beside "type": "null", instead of nullable');
    const outside = {};
    for (const keyword of Object.keys(schema).filter((keyword) => OUTSIDE.includes(keyword))) {
      outside[keyword] = schema[keyword];
      delete schema[keyword];
    }
    return { ...outside, anyOf: [schema, { type: "null" }] };
  }
  if (schema.type === undefined && schema.enum === undefined) return schema;
  note(schema.type === undefined ? "has null in enum instead of nullable" : 'has "null" in type instead of nullable');
  if (schema.type !== undefined) schema.type = [...new Set([schema.type, "null"].flat())];
  if (Array.isArray(schema.enum) && !schema.enum.includes(null)) schema.enum = [...schema.enum, null];
  return schema;
}
