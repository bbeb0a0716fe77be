// The messages and tools that Anthropic's Messages accept.
import { SUBSETS, taken } from "../schemas.mjs";
import { members, must } from "./stand-in.mjs";

const BLOCKS = {
  text: "type text cache_control citations",
  image: "type source cache_control",
  document: "type source cache_control citations context title",
  thinking: "type thinking signature",
  redacted_thinking: "type data",
  tool_use: "type id name input cache_control caller toolset_name",
  tool_result: "type tool_use_id content is_error cache_control toolset_name",
  tool_reference: "type tool_name cache_control",
  search_result: "type source title content citations cache_control",
  server_tool_use: "type id name input cache_control caller",
  web_search_tool_result: "type tool_use_id content cache_control caller",
  mcp_tool_use: "type id name input server_name cache_control",
  mcp_tool_result: "type tool_use_id content is_error cache_control",
};
const ASSISTANTS = "tool_use thinking redacted_thinking server_tool_use web_search_tool_result mcp_tool_use mcp_tool_result".split(" ");
const USERS = "image document tool_result search_result".split(" ");
const IN_RESULTS = "text image document search_result tool_reference".split(" ");
// Tools of Anthropic's own, with the date of their version. They have members of their own, which are not checked.
const TYPED = /^(bash|code_execution|computer|memory|text_editor|tool_search_tool_(bm25|regex)|web_fetch|web_search)_20\d{6}$/;

export const extra = (where) => (name) => `${where}${name}: Extra inputs are not permitted`;

export function tools({ tools, tool_choice, mcp_servers = [] }) {
  if (tool_choice !== undefined) {
    must(tools?.length > 0, "tool_choice: may only be specified while providing tools");
    const known = { auto: "type disable_parallel_tool_use", any: "type disable_parallel_tool_use", tool: "type name disable_parallel_tool_use", none: "type" };
    must(tool_choice?.type in known, "tool_choice: Input tag does not match any of the expected tags");
    members(tool_choice, known[tool_choice.type], extra("tool_choice."));
    if (tool_choice.type === "tool") must(tools.some(({ name }) => name === tool_choice.name), `tool_choice.name: Tool '${tool_choice.name}' not found in provided tools`);
  }
  must(!tools?.length || tools.some(({ defer_loading }) => !defer_loading), "tools: at least one tool must have defer_loading=false");
  const names = (tools ?? []).map((tool) => {
    if (tool.type === "mcp_toolset") {
      must(mcp_servers.some(({ name }) => name === tool.mcp_server_name), `tools: MCP server '${tool.mcp_server_name}' not found in mcp_servers`);
      return `mcp_toolset ${tool.mcp_server_name}`;
    }
    if (TYPED.test(tool.type)) return tool.name;
    must([undefined, null, "custom"].includes(tool.type), `tools: Input tag '${tool.type}' found using 'type' does not match any of the expected tags`);
    members(tool, "name description input_schema type strict cache_control eager_input_streaming input_examples defer_loading allowed_callers", extra("tools."));
    must(/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name), "tools.name: String should match pattern");
    must(tool.input_schema?.type === "object", "tools.input_schema.type: Field required");
    taken(SUBSETS[tool.strict ? "anthropic strict" : "anthropic"], tool.input_schema);
    return tool.name;
  });
  must(new Set(names).size === names.length, "tools: Tool names must be unique.");
}

export function messages({ messages, tools, thinking }, { issued }) {
  must(Array.isArray(messages) && messages.length > 0, "messages: at least one message is required");
  let calls = [];
  for (const [at, { role, content, ...rest }] of messages.entries()) {
    const where = `messages.${at}`;
    members(rest, "", extra(`${where}.`));
    // Neighbours of one role are merged, but the results of a turn must be in the next message.
    must(["user", "assistant", "system"].includes(role), `${where}.role: Input should be 'user', 'assistant' or 'system'`);
    must(at > 0 || role === "user", "messages: first message must use the user role");
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    must(blocks.length > 0, `${where}.content: must not be empty`);
    for (const block of blocks) blockRules(block, where, { issued, tools });
    must(role === "user" || blocks.every(({ type }) => !USERS.includes(type)), `${where}: only permitted for users`);
    must(role === "assistant" || blocks.every(({ type }) => !ASSISTANTS.includes(type)), `${where}: only permitted for assistants`);
    must(blocks.every(({ type }) => type !== "tool_reference"), `${where}: tool_reference is only permitted in tool_result`);
    const results = blocks.filter(({ type }) => type === "tool_result").map(({ tool_use_id }) => tool_use_id);
    const missing = calls.filter((id) => !results.includes(id));
    must(missing.length === 0, `${where}: 'tool_use' ids were found without 'tool_result' blocks immediately after: ${missing}`);
    must(results.every((id) => calls.includes(id)), `${where}: unexpected 'tool_use_id' found in 'tool_result' blocks`);
    must(new Set(results).size === results.length, `${where}: each tool_use must have a single result`);
    must(blocks.slice(0, results.length).every(({ type }) => type === "tool_result"), `${where}: 'tool_result' blocks must come first`);
    calls = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id);
    must(calls.length === 0 || tools?.length > 0, "tools: requests which include 'tool_use' blocks must define tools");
    const thought = ({ type }) => ["thinking", "redacted_thinking"].includes(type);
    if (blocks.some(thought)) must(thought(blocks[0]), `${where}: thinking blocks must come first`);
    const last = at >= messages.length - 2;
    if (thinking?.type === "enabled" && last && calls.length > 0) {
      must(thought(blocks[0]), `${where}: Expected 'thinking' or 'redacted_thinking', but found '${blocks[0].type}'.`);
    }
  }
  must(calls.length === 0, "messages: 'tool_use' ids were found without 'tool_result' blocks immediately after");
  const text = messages.at(-1).role === "assistant" && messages.at(-1).content;
  if (typeof text === "string") must(text.trimEnd() === text, "messages: final assistant content cannot end with trailing whitespace");
}

function blockRules(block, where, { issued, tools }) {
  must(block.type in BLOCKS, `${where}.content.type: Input tag '${block.type}' does not match any of the expected tags`);
  members(block, BLOCKS[block.type], extra(`${where}.content.`));
  if (block.type === "text") must(block.text?.trim(), `${where}: text content blocks must be non-empty`);
  if (block.type === "tool_use") {
    must(/^[a-zA-Z0-9_-]+$/.test(block.id), `${where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
    must(block.input !== null && typeof block.input === "object" && !Array.isArray(block.input), `${where}.tool_use.input: Input should be a valid dictionary`);
  }
  if (block.type === "thinking") must(issued.get(block.signature) === block.thinking, `${where}: Invalid 'signature' in 'thinking' block`);
  if (block.type === "tool_reference") must(tools?.some(({ name }) => name === block.tool_name), `${where}: Tool reference '${block.tool_name}' not found in available tools`);
  if (block.type === "image" && block.source?.type === "base64") must(/^image\/(png|jpeg|gif|webp)$/.test(block.source.media_type), `${where}.source.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`);
  if (block.type === "tool_result" && Array.isArray(block.content)) {
    must(block.content.every(({ type }) => IN_RESULTS.includes(type)), `${where}.tool_result.content: Input tag does not match any of the expected tags`);
    for (const part of block.content) blockRules(part, where, { issued, tools });
  }
}
