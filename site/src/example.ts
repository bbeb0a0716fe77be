// A first call of a server: a tool that the visitor may use, with an input that it accepts.
import { type Json, stringify } from "./json.ts";
import { type Schema, fits, flat, initial, kindOf } from "./schema.ts";
import type { Details, Tool } from "./server.ts";
import { newestOf } from "./tools.ts";

export interface Example {
  tool: Tool;
  input: Json;
}

/**
 * The call to show first: if possible, of a tool that needs no user or credentials, changes nothing and has an example.
 * Undefined if there is no tool whose input is known.
 */
export function firstCall(tools: Tool[], details: Map<string, Details>): Example | undefined {
  const current = newestOf(tools);
  const rank = ({ name, requirements = {} }: Tool): number => {
    const found = details.get(name);
    const { authorization = [], secrets = [], user_id } = requirements;
    const isPersonal = authorization.length > 0 || secrets.length > 0 || user_id;
    return (isPersonal ? 8 : 0) + (found?.deprecated ? 4 : 0) + (found?.readOnly ? 0 : 2) + (found?.examples.some(({ succeeds }) => succeeds) ? 0 : 1);
  };
  for (const tool of current.toSorted((one, other) => rank(one) - rank(other))) {
    const examples = details.get(tool.name)?.examples ?? [];
    const example = examples.find(({ succeeds }) => succeeds) ?? examples[0];
    const input = example ? example.input : valueOf(tool.input_schema);
    if (input !== undefined) return { tool, input };
  }
  return undefined;
}

const TEXTS: Record<string, string> = {
  date: "2026-11-22",
  time: "12:30:00Z",
  "date-time": "2026-11-22T12:30:00Z",
  email: "ada@example.com",
  uri: "https://example.com/",
  uuid: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
};

/** A short value that a schema accepts. Undefined if none is found, such as for a pattern or different items. */
export function valueOf(original: Schema): Json | undefined {
  const schema = flat(original);
  const given = [schema.examples?.[0], schema.default].find((value) => value !== undefined);
  if (given !== undefined) return given;
  const kind = kindOf(schema);
  switch (kind.is) {
    case "constant":
    case "boolean":
      return initial(schema);
    case "choice":
      return kind.values[0];
    case "text":
      return text(schema);
    case "number":
      return number(schema);
    case "list": {
      const items = (initial(schema) as Json[]).map((_, index) => valueOf(kind.first[index] ?? kind.rest ?? {}));
      const isPossible = !schema.uniqueItems || new Set(items.map((item) => stringify(item ?? null))).size === items.length;
      return isPossible && items.every((item) => item !== undefined) ? items : undefined;
    }
    case "object": {
      const members = kind.properties.filter(({ required }) => required).map(({ name, schema }) => [name, valueOf(schema)] as const);
      return members.every((member): member is readonly [string, Json] => member[1] !== undefined) ? Object.fromEntries(members) : undefined;
    }
    case "union":
      return kind.variants.map((variant) => valueOf(variant.schema)).find((value) => value !== undefined && fits(schema, value));
    case "json":
      return "text";
  }
}

function text({ format = "", minLength = 0, maxLength = Infinity, pattern }: Schema): string | undefined {
  const value = Object.hasOwn(TEXTS, format) ? TEXTS[format] : "text".slice(0, maxLength).padEnd(minLength, "x");
  const isPossible = value !== undefined && value.length >= minLength && value.length <= maxLength;
  return isPossible && (pattern === undefined || matches(pattern, value)) ? value : undefined;
}

function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, "u").test(value);
  } catch {
    return false;
  }
}

function number(schema: Schema): number | undefined {
  const limit = (value: number | undefined, otherwise: number) => (value === undefined ? otherwise : Number(value));
  const [low, high] = [limit(schema.minimum, -Infinity), limit(schema.maximum, Infinity)];
  const [above, below] = [limit(schema.exclusiveMinimum, -Infinity), limit(schema.exclusiveMaximum, Infinity)];
  const step = limit(schema.multipleOf, schema.type === "integer" ? 1 : 0);
  const isPossible = (value: number) =>
    Number.isFinite(value) && value >= low && value <= high && value > above && value < below && (step === 0 || Number.isInteger(value / step));
  const middle = (Math.max(low, above) + Math.min(high, below)) / 2;
  return [1, low, high, Math.ceil(Math.max(low, above + step) / step) * step, above + 1, below - 1, middle, step].find(isPossible);
}
