// The values of a document's schemas: those that they allow, defaults and examples.

/** The longest example or default in a description. */
export const MAX_SAMPLE = 200;

/** Whether a value is one that a description can have. */
export const isScalar = (value) => ["string", "number", "boolean"].includes(typeof value) && String(value).length <= MAX_SAMPLE;
/**
 * A value in the type of its schema: YAML reads `[1.0, 2]` as numbers where texts are meant, with a `spelling`, and some documents quote numbers.
 */
export function ofType(value, given, spelling) {
  const types = [given].flat().filter((one) => one !== "null");
  const type = types.length === 1 ? types[0] : undefined;
  if (type === "string" && ["number", "boolean"].includes(typeof value)) return spelling ?? String(value);
  const isNumber = typeof value === "string" && /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/.test(value);
  if (isNumber && (type === "number" || (type === "integer" && Number.isInteger(Number(value))))) return Number(value);
  return type === "boolean" && ["true", "false"].includes(value) ? value === "true" : value;
}

/** Values of `enum` and `const` may be lists and objects, if they are small. */
export const isSmallValue = (value) => value === null || typeof value !== "object" ? String(value).length <= 1000 : Object.values(value).length <= 50 && Object.values(value).every((inner) => typeof inner !== "object" || inner === null);

/** A default is described, not set: the service has it anyway, and some reject it next to a different argument. */
export const sample = (label, value) => (isScalar(value) && value !== "" ? `${label}: ${value}.` : "");
