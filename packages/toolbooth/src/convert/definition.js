// The definition of a tool that was described in another form.
import { isObject, own } from "../import/nodes.js";
import { MAX_DESCRIPTION, clean, shorten } from "../import/text.js";
import { sampleOf } from "./samples.js";
import { convertSchema } from "./schemas.js";

/** The error of a function that is still to be written, and so of its first example. */
export const UNWRITTEN = "This tool is not written yet";
const TODO = "TODO: what the tool does, and when to use it.";
/** Hints of MCP, with the annotations that mean the same. */
const HINTS = { readOnlyHint: "read_only", destructiveHint: "destructive", idempotentHint: "idempotent", openWorldHint: "open_world" };
/** Members of other forms that are read, or that say only which form it is. */
const READ = new Set([
  ...["annotations", "description", "function", "inputSchema", "input_examples", "input_schema", "name", "outputSchema", "parameters", "parametersJsonSchema"],
  ...["parameters_json_schema", "response", "responseJsonSchema", "response_json_schema", "title", "type"],
]);
/** The name of a tool, as the build accepts it. */
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/**
 * The definition of a tool, as `toolsOf` has found it, with the id `toolkit`.`tool`@`version`. `note(place, text)` gets what has changed.
 * References of schemas may lead into the `document`.
 */
export function definitionFrom({ form, name, value, input, output, examples }, [toolkit, tool, version], note, document) {
  const schema = (it, place) => convertSchema(it, place, note, document);
  if (form === "definition") {
    const inputSchema = objectOf(schema(input, "input_schema"), note);
    const isTested = value.examples !== undefined || value.http !== undefined;
    return { ...value, input_schema: inputSchema, ...(isObject(output) && { output_schema: schema(output, "output_schema") }), ...(!isTested && { examples: examplesOf(undefined, inputSchema) }) };
  }
  for (const member of Object.keys(value).filter((member) => !READ.has(member))) note(member, "is left out: definitions have no such member");
  const described = clean(value.description);
  const description = described === "" ? TODO : shorten(described, MAX_DESCRIPTION);
  if (described === "") note("description", "is missing: it is now a TODO");
  else if (description !== described) note("description", `is cut after ${MAX_DESCRIPTION} characters`);
  const hints = own(value, "annotations");
  const title = [value.title, own(hints, "title")].find((it) => typeof it === "string" && it.trim() !== "");
  const annotations = Object.entries(HINTS).filter(([hint]) => typeof own(hints, hint) === "boolean").map(([hint, member]) => [member, hints[hint]]);
  const inputSchema = input === undefined ? { type: "object", properties: {}, additionalProperties: false } : objectOf(schema(input, "input_schema"), note);
  return {
    id: `${toolkit}.${tool}@${version}`,
    name: nameOf(name, toolkit, tool, note),
    ...(title !== undefined && { title }),
    description,
    version,
    input_schema: inputSchema,
    output_schema: isObject(output) ? schema(output, "output_schema") : {},
    ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations) }),
    examples: examplesOf(examples, inputSchema),
  };
}

function nameOf(name, toolkit, tool, note) {
  if (NAME.test(name)) return name;
  note("name", `is now ${toolkit}_${tool}: names have up to 64 letters, digits, _ and -`);
  return `${toolkit}_${tool}`;
}

/** The schema of an input, which is an object. */
function objectOf(schema, note) {
  if (!isObject(schema)) return { type: "object" };
  if (schema.type === "object" || schema.$ref !== undefined) return schema;
  const types = [schema.type ?? "object"].flat();
  if (!types.includes("object")) return schema;
  note("input_schema.type", 'is now "object"');
  const { type: _, ...rest } = schema;
  return { type: "object", ...rest };
}

/** What the tests call: the inputs that are given, or one. */
function examplesOf(inputs, schema) {
  const given = Array.isArray(inputs) ? inputs.filter(isObject) : [];
  return (given.length > 0 ? given : [sampleOf(schema)]).map((input) => ({ input, error: { message: UNWRITTEN } }));
}
