// The types of schemas, as other dialects write them.
import { TYPES } from "../import/keywords.js";
import { isObject } from "../import/nodes.js";

/** Names of types in other languages and dialects. */
const NAMES = { bool: "boolean", dict: "object", double: "number", float: "number", int: "integer", list: "array", long: "integer", none: "null", str: "string" };
/** Names that allow any type. */
const ANY = ["any", "type_unspecified"];

/** What `type` means: `{ types, schemas, changes }`. There are none if it allows any type. */
export function typesOf(given) {
  const [types, schemas, changes] = [new Set(), [], []];
  let isAny = false;
  for (const one of [given].flat()) {
    const name = typeof one === "string" ? one.toLowerCase() : undefined;
    const known = TYPES.includes(name) ? name : Object.hasOwn(NAMES, name ?? "") ? NAMES[name] : undefined;
    if (isObject(one)) schemas.push(one);
    else if (known !== undefined) {
      types.add(known);
      if (known !== one) changes.push(`is now ${JSON.stringify(known)}`);
    } else {
      isAny = true;
      changes.push(ANY.includes(name) ? "is left out: any type is allowed" : `is left out: ${JSON.stringify(one)?.slice(0, 40)} is not a type of JSON`);
    }
  }
  return isAny ? { types: [], schemas: [], changes } : { types: [...types], schemas, changes };
}
