// Anthropic's Messages: which requests it rejects, and its answers.
import { SUBSETS, taken } from "../schemas.mjs";
import { members, must, pieces } from "./stand-in.mjs";

const REQUEST = `model messages max_tokens system metadata stop_sequences stream temperature top_k top_p tools tool_choice thinking
 output_config output_format cache_control container context_management inference_geo mcp_servers service_tier speed`.replaceAll(/\s+/g, " ");
// The newer version rejects the sampling parameters.
const VERSIONS = { "2023-06-01": [], "2026-10-21": ["temperature", "top_p", "top_k"] };
const BLOCKS = {
  text: "type text cache_control citations",
  image: "type source cache_control",
  document: "type source cache_control citations context title",
  thinking: "type thinking signature",
  redacted_thinking: "type data",
  tool_use: "type id name input cache_control caller",
  tool_result: "type tool_use_id content is_error cache_control",
};
const extra = (where) => (name) => `${where}${name}: Extra inputs are not permitted`;

export const anthropic = {
  route: (url) => /^\/v1\/messages$/.test(url) && {},

  unauthorized: (headers, _, key) =>
    headers["x-api-key"] === key || headers.authorization === `Bearer ${key}` ? undefined : [401, "invalid x-api-key"],

  error(status, message) {
    const types = { 401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error" };
    const type = types[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
    return { type: "error", error: { type, message }, request_id: "req_1" };
  },

  validate(body, { headers, state }) {
    const version = headers["anthropic-version"];
    must(version in VERSIONS, version ? `anthropic-version: "${version}" is not a valid version` : "anthropic-version: header is required");
    for (const name of VERSIONS[version]) must(!(name in body), `${name}: not permitted in version ${version}`);
    members(body, REQUEST, extra(""));
    must(typeof body.model === "string", "model: Field required");
    must(Number.isInteger(body.max_tokens) && body.max_tokens > 0, "max_tokens: Field required");
    must(body.temperature === undefined || (body.temperature >= 0 && body.temperature <= 1), "temperature: range: 0..1");
    must(body.stop_sequences === undefined || Array.isArray(body.stop_sequences), "stop_sequences: Input should be a valid list");
    if (body.stop_sequences) must(body.stop_sequences.every((one) => one.trim()), "stop_sequences: each stop sequence must contain non-whitespace");
    if (body.system !== undefined && typeof body.system !== "string") {
      must(Array.isArray(body.system) && body.system.every(({ type, text }) => type === "text" && text), "system: text content blocks must be non-empty");
    }
    tools(body);
    thinking(body);
    messages(body, state);
  },

  reply(turn, { body, state }) {
    const content = [];
    if (turn.thinking !== undefined) {
      const signature = Buffer.from(`signature of ${turn.seed}`).toString("base64");
      state.issued.set(signature, turn.thinking);
      content.push({ type: "thinking", thinking: turn.thinking, signature });
    }
    if (turn.redacted !== undefined) content.push({ type: "redacted_thinking", data: turn.redacted });
    if (turn.text.length > 0) content.push({ type: "text", text: turn.text.join("") });
    for (const { id, name, input = {} } of turn.calls) content.push({ type: "tool_use", id: `toolu_${id}`, name, input });
    const stop_reason = turn.finish ?? (turn.calls.length > 0 ? "tool_use" : "end_turn");
    const usage = { input_tokens: 10, cache_creation_input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 5, service_tier: "standard", ...turn.usage };
    const message = { id: `msg_${turn.seed}`, type: "message", role: "assistant", model: body.model, content, stop_reason, stop_sequence: null, usage };
    return body.stream ? { stream: true, events: events(message, turn) } : { body: message };
  },

  failure: (message) => ({ event: "error", data: JSON.stringify({ type: "error", error: { type: "overloaded_error", message } }) }),
};

function tools({ tools, tool_choice }) {
  if (tool_choice !== undefined) {
    must(tools?.length > 0, "tool_choice: may only be specified while providing tools");
    const known = { auto: "type disable_parallel_tool_use", any: "type disable_parallel_tool_use", tool: "type name disable_parallel_tool_use", none: "type" };
    must(tool_choice?.type in known, "tool_choice: Input tag does not match any of the expected tags");
    members(tool_choice, known[tool_choice.type], extra("tool_choice."));
    if (tool_choice.type === "tool") must(tools.some(({ name }) => name === tool_choice.name), `tool_choice.name: Tool '${tool_choice.name}' not found in provided tools`);
  }
  const names = (tools ?? []).map((tool) => {
    members(tool, "name description input_schema type strict cache_control eager_input_streaming input_examples defer_loading allowed_callers", extra("tools."));
    must(/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name), "tools.name: String should match pattern");
    must(tool.input_schema?.type === "object", "tools.input_schema.type: Field required");
    taken(SUBSETS[tool.strict ? "anthropic strict" : "anthropic"], tool.input_schema);
    return tool.name;
  });
  must(new Set(names).size === names.length, "tools: Tool names must be unique.");
}

function thinking({ thinking, max_tokens, temperature, tool_choice }) {
  if (thinking?.type !== "enabled") return;
  must(thinking.budget_tokens >= 1024 && thinking.budget_tokens < max_tokens, "thinking.budget_tokens: must be at least 1024 and less than max_tokens");
  must(temperature === undefined || temperature === 1, "temperature: may only be set to 1 when thinking is enabled");
  must(!["any", "tool"].includes(tool_choice?.type), "Thinking may not be enabled when tool_choice forces tool use.");
}

function messages({ messages, tools, thinking }, { issued }) {
  must(Array.isArray(messages) && messages.length > 0, "messages: at least one message is required");
  let calls = [];
  for (const [at, { role, content, ...rest }] of messages.entries()) {
    const where = `messages.${at}`;
    members(rest, "", extra(`${where}.`));
    // Neighbours of one role are merged, but the results of a turn must be in the next message.
    must(["user", "assistant"].includes(role), `${where}.role: Input should be 'user' or 'assistant'`);
    must(at > 0 || role === "user", "messages: first message must use the user role");
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    must(blocks.length > 0, `${where}.content: must not be empty`);
    for (const block of blocks) blockRules(block, where, issued);
    must(role === "user" || blocks.every(({ type }) => !["image", "tool_result"].includes(type)), `${where}: not permitted for assistants`);
    must(role === "assistant" || blocks.every(({ type }) => !["tool_use", "thinking", "redacted_thinking"].includes(type)), `${where}: not permitted for users`);
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

function blockRules(block, where, issued) {
  must(block.type in BLOCKS, `${where}.content.type: Input tag '${block.type}' does not match any of the expected tags`);
  members(block, BLOCKS[block.type], extra(`${where}.content.`));
  if (block.type === "text") must(block.text?.trim(), `${where}: text content blocks must be non-empty`);
  if (block.type === "tool_use") {
    must(/^[a-zA-Z0-9_-]+$/.test(block.id), `${where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
    must(block.input !== null && typeof block.input === "object" && !Array.isArray(block.input), `${where}.tool_use.input: Input should be a valid dictionary`);
  }
  if (block.type === "thinking") must(issued.get(block.signature) === block.thinking, `${where}: Invalid 'signature' in 'thinking' block`);
  if (block.type === "tool_result" && Array.isArray(block.content)) for (const part of block.content) blockRules(part, where, issued);
}

function* events({ content, stop_reason, usage, ...message }, turn) {
  const event = (type, rest) => ({ event: type, data: JSON.stringify({ type, ...rest }) });
  const { output_tokens, ...input } = usage;
  yield event("message_start", { message: { ...message, content: [], stop_reason: null, usage: { ...input, output_tokens: 1 } } });
  yield event("ping", {});
  for (const [index, block] of content.entries()) {
    const delta = (delta) => event("content_block_delta", { index, delta });
    const empty = { text: { text: "" }, thinking: { thinking: "", signature: "" }, tool_use: { input: {} }, redacted_thinking: {} };
    yield event("content_block_start", { index, content_block: { ...block, ...empty[block.type] } });
    if (block.type === "text") for (const text of turn.text) yield delta({ type: "text_delta", text });
    if (block.type === "thinking") {
      for (const thinking of pieces(block.thinking)) yield delta({ type: "thinking_delta", thinking });
      yield delta({ type: "signature_delta", signature: block.signature });
    }
    if (block.type === "tool_use") {
      // A call without arguments has no other delta than the empty one.
      yield delta({ type: "input_json_delta", partial_json: "" });
      const call = turn.calls.find(({ id }) => block.id === `toolu_${id}`);
      const text = call.text ?? (Object.keys(block.input).length > 0 ? JSON.stringify(block.input) : "");
      for (const partial_json of pieces(text)) yield delta({ type: "input_json_delta", partial_json });
    }
    yield event("content_block_stop", { index });
  }
  // The counts are cumulative; newer models repeat those of the input.
  yield event("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { ...input, output_tokens } });
  yield event("message_stop", {});
}
