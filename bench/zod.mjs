// Converts the benchmark's JSON Schemas to zod source code, because the JavaScript packages use zod.

const FORMATS = {
  date: "z.iso.date()",
  "date-time": "z.iso.datetime()",
  email: "z.email()",
  uri: "z.url()",
};
const BOUNDS = {
  minLength: "min",
  maxLength: "max",
  minItems: "min",
  maxItems: "max",
  minimum: "min",
  maximum: "max",
  exclusiveMinimum: "gt",
  multipleOf: "multipleOf",
};

const text = JSON.stringify;

/** The `z.…` expression, with the constraints and the description of the schema. */
export function zod(schema) {
  const bounds = Object.entries(BOUNDS)
    .filter(([keyword]) => keyword in schema)
    .map(([keyword, method]) => `.${method}(${schema[keyword]})`);
  const described = schema.description ? `.describe(${text(schema.description)})` : "";
  return `${kind(schema)}${bounds.join("")}${described}`;
}

function kind({ type, format, anyOf, enum: words, items, ...schema }) {
  if (anyOf) return `z.union([${anyOf.map(zod).join(", ")}])`;
  if (Array.isArray(type)) return `z.union([${type.map((one) => kind({ type: one, format })).join(", ")}])`;
  if (words) return `z.enum(${text(words)})`;
  switch (type) {
    case "array":
      return `z.array(${zod(items)})`;
    case "integer":
      return "z.int()";
    case "string":
      return FORMATS[format] ?? "z.string()";
    case "object":
      return object(schema);
    default:
      return `z.${type}()`;
  }
}

function object({ properties, required = [], additionalProperties }) {
  if (additionalProperties) return `z.record(z.string(), ${zod(additionalProperties)})`;
  const members = Object.entries(properties).map(
    ([name, schema]) => `${name}: ${zod(schema)}${required.includes(name) ? "" : ".optional()"}`,
  );
  return `z.strictObject({ ${members.join(", ")} })`;
}
