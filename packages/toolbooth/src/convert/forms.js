// The forms in which other servers and programs describe tools.
import { isObject, own } from "../import/nodes.js";
import { Failure } from "../process.js";

/** What a file may contain, for messages. */
export const EXPECTED = "definitions of this project, the result of MCP's tools/list, or tools as requests to OpenAI, Anthropic, Gemini or Bedrock have them";
/** The members under which lists of tools are. */
const LISTS = ["tools", "functions", "items", "functionDeclarations", "function_declarations"];
/** The members around a tool, or around an object that has a list. */
const AROUND = ["result", "function", "toolSpec", "toolConfig"];
const MAX_TOOLS = 1000;
const ID = /^([A-Za-z][A-Za-z0-9_]*)\.([A-Za-z][A-Za-z0-9_]*)@(\d+\.\d+\.\d+)$/;

/**
 * The tools in what a file has: `{ form, name, place, value, input, output, examples }`, where `output` is undefined if nothing says what
 * the tool returns, and `[toolkit, tool, version]` as `id` of definitions. `left` has what is none: `{ place, reason }`.
 */
export function toolsOf(document) {
  const [tools, left] = [[], []];
  collect(document, "", tools, left, 0);
  if (tools.length > MAX_TOOLS) throw new Failure(`There are more than ${MAX_TOOLS} tools: split the file`);
  return { tools, left };
}

function collect(value, place, tools, left, depth) {
  if (tools.length > MAX_TOOLS || depth > 8) return;
  if (Array.isArray(value)) {
    value.forEach((one, at) => collect(one, `${place}[${at}]`, tools, left, depth + 1));
    return;
  }
  const found = isObject(value) ? toolOf(value) : undefined;
  if (found) {
    tools.push({ ...found, place, value });
    return;
  }
  const lists = LISTS.filter((member) => Array.isArray(own(value, member)));
  const around = AROUND.filter((member) => isObject(own(value, member)));
  for (const member of lists.length > 0 ? lists : around) collect(value[member], place ? `${place}.${member}` : member, tools, left, depth + 1);
  if (lists.length + around.length > 0) return;
  const isOfProvider = typeof own(value, "type") === "string" && !isObject(own(value, "properties"));
  left.push({ place: place || "the file", reason: isOfProvider ? `is a tool of the provider itself (${JSON.stringify(value.type).slice(0, 60)})` : `is no tool; expected ${EXPECTED}` });
}

function toolOf(value) {
  const name = own(value, "name");
  if (typeof name !== "string") return undefined;
  const id = ID.exec(own(value, "id") ?? "")?.slice(1);
  if (id && isObject(value.input_schema)) return { form: "definition", name, id, input: value.input_schema, output: value.output_schema };
  if (isObject(value.inputSchema)) {
    const { json } = value.inputSchema;
    if (isObject(json)) return { form: "Bedrock", name, input: json };
    return { form: "MCP", name, input: value.inputSchema, output: value.outputSchema };
  }
  if (isObject(value.input_schema)) return { form: "Anthropic", name, input: value.input_schema, examples: value.input_examples };
  const ofGemini = ["parametersJsonSchema", "parameters_json_schema"].find((member) => isObject(own(value, member)));
  if (ofGemini) return { form: "Gemini", name, input: value[ofGemini], output: value.responseJsonSchema ?? value.response_json_schema };
  if (isObject(value.parameters)) return { form: "function", name, input: value.parameters, output: value.response };
  // A function without parameters. Tools of providers have a type of their own.
  const isFunction = typeof value.description === "string" && [undefined, "function"].includes(value.type);
  return isFunction && !LISTS.some((list) => list in value) ? { form: "function", name } : undefined;
}
