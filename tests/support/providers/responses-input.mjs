// The items of a conversation that OpenAI's Responses accept.
import { members, must } from "./stand-in.mjs";

const ITEMS = {
  message: "type role content id status phase",
  function_call: "type call_id name arguments id status namespace async caller",
  function_call_output: "type call_id output id status name namespace caller",
  custom_tool_call: "type call_id name input id status namespace async caller",
  custom_tool_call_output: "type call_id output id status name namespace caller",
  reasoning: "type id summary content encrypted_content status",
  tool_search_call: "type id call_id arguments execution status",
  tool_search_output: "type id call_id tools execution status",
  additional_tools: "type role tools id",
  local_shell_call: "type id call_id action status",
  local_shell_call_output: "type id call_id output status",
  shell_call: "type id call_id action status environment caller",
  shell_call_output: "type id call_id output max_output_length status caller",
  apply_patch_call: "type id call_id operation status caller",
  apply_patch_call_output: "type id call_id output status caller",
  mcp_list_tools: "type id server_label tools error",
  mcp_call: "type id server_label name arguments approval_request_id error output status",
  mcp_approval_request: "type id server_label name arguments",
  mcp_approval_response: "type id approval_request_id approve reason",
  compaction: "type id encrypted_content",
  item_reference: "type id",
};
// What an id begins with. Ids of items that the client makes may be left out.
const IDS = { message: "msg", function_call: "fc", custom_tool_call: "ctc", reasoning: "rs", mcp_call: "mcp", mcp_list_tools: "mcpl" };
const CALLS = Object.keys(ITEMS).filter((type) => /^(function|custom_tool|tool_search|local_shell|shell|apply_patch)(_call)$/.test(type));
const OUTPUT_OF = (type) => (type === "tool_search_call" ? "tool_search_output" : `${type}_output`);
const PARTS = {
  input_text: "type text prompt_cache_breakpoint",
  input_image: "type image_url file_id detail prompt_cache_breakpoint",
  input_file: "type file_data file_id file_url filename detail prompt_cache_breakpoint",
  output_text: "type text annotations logprobs",
  refusal: "type refusal",
};
const INPUT = ["input_text", "input_image", "input_file"];
const unknown = (where) => (name) => `Unknown parameter: '${where}${name}'.`;

/** Checks `input`. `tools` checks a list of tools. */
export function items({ input, instructions, store }, { issued }, tools) {
  if (typeof input === "string") return;
  must(input !== undefined || instructions, "Missing required parameter: 'input'.");
  must(Array.isArray(input) && input.length > 0, "Invalid type for 'input': expected one of an array of input items or a string.");
  const open = new Map();
  for (const [at, item] of input.entries()) {
    const where = `input[${at}]`;
    const { type = "message", id, call_id } = item;
    must(type in ITEMS, `Invalid value: '${type}'. Supported values are: ${Object.keys(ITEMS)}.`);
    members(item, ITEMS[type], unknown(`${where}.`));
    must(type !== "item_reference", `Item with id '${id}' not found.${store === false ? " Items are not persisted when `store` is set to false." : ""}`);
    if (id !== undefined && id !== null && type in IDS) must(id.startsWith(IDS[type]), `Invalid '${where}.id': '${id}'. Expected an ID that begins with '${IDS[type]}'.`);
    if (CALLS.includes(type)) {
      must(typeof call_id === "string" && call_id.length <= 64, `Invalid '${where}.call_id': expected a string with maximum length 64.`);
      must(!open.has(call_id), `Duplicate item found with id ${call_id}.`);
      open.set(call_id, OUTPUT_OF(type));
    } else if (call_id !== undefined) {
      must(open.get(call_id) === type, `No tool call found for ${type.replaceAll("_", " ")} with call_id ${call_id}.`);
      open.set(call_id, undefined);
    }
    CHECKS[type]?.(item, where, { issued, next: input[at + 1], tools });
  }
  for (const [call_id, missing] of open) must(missing === undefined, `No tool output found for ${missing?.replace("_output", "").replaceAll("_", " ")} ${call_id}.`);
}

const CHECKS = {
  message({ role, content }, where) {
    must(["user", "assistant", "system", "developer"].includes(role), `Invalid value: '${role}' at '${where}.role'.`);
    parts(content, `${where}.content`, role === "assistant" ? ["output_text", "refusal"] : INPUT);
  },
  function_call({ name, arguments: text }, where) {
    must(/^[a-zA-Z0-9_-]{1,64}$/.test(name), `Invalid '${where}.name': string too long, or does not match pattern.`);
    must(typeof text === "string", `Invalid type for '${where}.arguments': expected a string.`);
  },
  function_call_output: ({ output }, where) => parts(output, `${where}.output`, INPUT),
  custom_tool_call: ({ input }, where) => must(typeof input === "string", `Invalid type for '${where}.input': expected a string.`),
  custom_tool_call_output: ({ output }, where) => parts(output, `${where}.output`, INPUT),
  reasoning({ id, summary, encrypted_content }, where, { issued, next }) {
    must(Array.isArray(summary), `Missing required parameter: '${where}.summary'.`);
    must(encrypted_content, `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false.`);
    must(issued.has(encrypted_content), `The encrypted content for item ${id} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`);
    must(next && ["message", "reasoning", ...CALLS].includes(next.type) && (next.role ?? "assistant") === "assistant", `Item '${id}' of type 'reasoning' was provided without its required following item.`);
  },
  additional_tools({ role, tools: list }, where, { tools }) {
    must(role === "developer", `Invalid value: '${role}' at '${where}.role'.`);
    tools(list, `${where}.tools`);
  },
  tool_search_output: ({ tools: list }, where, { tools }) => tools(list, `${where}.tools`),
};

function parts(content, where, types) {
  if (typeof content === "string") return;
  must(Array.isArray(content), `Invalid type for '${where}'.`);
  for (const part of content) {
    must(types.includes(part.type), `Invalid value: '${part.type}'. Supported values are: ${types}.`);
    members(part, PARTS[part.type], unknown(`${where}[].`));
    if (/text$/.test(part.type)) must(typeof part.text === "string", `Missing required parameter: '${where}[].text'.`);
    if (part.type === "input_image") must(part.file_id || /^(https:|data:image\/)/.test(part.image_url), `Invalid '${where}[].image_url'.`);
  }
}
