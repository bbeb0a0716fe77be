// Anthropic: its endpoints, which requests to Messages it rejects, and its answers.
import { extra, messages, tools } from "./anthropic-input.mjs";
import { members, must, pathOf, pieces } from "./stand-in.mjs";

const REQUEST = `model messages max_tokens system metadata stop_sequences stream temperature top_k top_p tools tool_choice thinking
 output_config output_format cache_control container context_management inference_geo mcp_servers service_tier speed`.replaceAll(/\s+/g, " ");
const COUNTED = "model messages system tools tool_choice thinking output_config cache_control context_management mcp_servers";
// Members that need a beta, and the beginning of its name.
const BETAS = { context_management: "context-management-", mcp_servers: "mcp-client-", output_format: "structured-outputs-", speed: "fast-mode-" };
// The newer version rejects the sampling parameters.
const VERSIONS = { "2023-06-01": [], "2026-10-21": ["temperature", "top_p", "top_k"] };

const chat = {
  validate(body, { headers, state }) {
    shared(body, REQUEST, headers);
    must(Number.isInteger(body.max_tokens) && body.max_tokens > 0, "max_tokens: Field required");
    must(body.temperature === undefined || (body.temperature >= 0 && body.temperature <= 1), "temperature: range: 0..1");
    must(body.stop_sequences === undefined || Array.isArray(body.stop_sequences), "stop_sequences: Input should be a valid list");
    if (body.stop_sequences) must(body.stop_sequences.every((one) => one.trim()), "stop_sequences: each stop sequence must contain non-whitespace");
    thinking(body);
    messages(body, state);
  },

  reply(turn, { body, state }) {
    const content = [];
    if (turn.thinking !== undefined) {
      const signature = Buffer.from(`signature of ${turn.seed}`).toString("base64");
      const thinking = body.thinking?.display === "omitted" ? "" : turn.thinking;
      state.issued.set(signature, thinking);
      content.push({ type: "thinking", thinking, signature });
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

/** What holds for chats and for the counting of their tokens. */
function shared(body, known, headers) {
  const version = headers["anthropic-version"];
  must(version in VERSIONS, version ? `anthropic-version: "${version}" is not a valid version` : "anthropic-version: header is required");
  const betas = (headers["anthropic-beta"] ?? "").split(",").filter(Boolean).map((one) => one.trim());
  for (const one of betas) must(/^[a-z0-9-]+-20\d\d-?\d\d-?\d\d$/.test(one), `Unexpected value(s) \`${one}\` for the \`anthropic-beta\` header.`);
  for (const name of VERSIONS[version]) must(!(name in body), `${name}: not permitted in version ${version}`);
  members(body, known, extra(""));
  for (const [name, beta] of Object.entries(BETAS)) must(!(name in body) || betas.some((one) => one.startsWith(beta)), extra("")(name));
  must(typeof body.model === "string", "model: Field required");
  if (body.system !== undefined && typeof body.system !== "string") {
    must(Array.isArray(body.system) && body.system.every(({ type, text }) => type === "text" && text), "system: text content blocks must be non-empty");
  }
  const marks = [body, body.system, body.tools, body.messages].reduce((sum, part) => sum + marked(part), 0);
  must(marks <= 4, `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`);
  tools(body);
}

/** How many blocks in `value` have `cache_control`. */
function marked(value) {
  if (Array.isArray(value)) return value.reduce((sum, one) => sum + marked(one), 0);
  if (value === null || typeof value !== "object") return 0;
  return (value.cache_control ? 1 : 0) + (value.role || value.type === "tool_result" ? marked(value.content) : 0);
}

function thinking({ thinking, max_tokens, temperature, tool_choice }) {
  const known = { enabled: "type budget_tokens display", adaptive: "type display", between_tools: "type", disabled: "type" };
  if (thinking === undefined) return;
  must(thinking?.type in known, "thinking: Input tag does not match any of the expected tags");
  members(thinking, known[thinking.type], extra(`thinking.${thinking.type}.`));
  if (thinking.type !== "enabled") return;
  must(thinking.budget_tokens >= 1024 && thinking.budget_tokens < max_tokens, "thinking.budget_tokens: must be at least 1024 and less than max_tokens");
  must(temperature === undefined || temperature === 1, "temperature: may only be set to 1 when thinking is enabled");
  must(!["any", "tool"].includes(tool_choice?.type), "Thinking may not be enabled when tool_choice forces tool use.");
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

const count = {
  validate(body, { headers, state }) {
    shared(body, COUNTED, headers);
    messages(body, state);
  },
  answer: ({ body }) => ({ input_tokens: Math.ceil(JSON.stringify(body).length / 4) }),
};

const models = {
  answer({ models }) {
    const about = { type: "model", lifecycle: "active", line: null, created_at: "2025-09-29T00:00:00Z", deprecated_at: null, retires_at: null, capabilities: null };
    const data = models.map((id) => ({ ...about, id, display_name: id, max_input_tokens: 200000, max_tokens: 64000 }));
    return { data, has_more: false, first_id: models[0], last_id: models.at(-1) };
  },
};

const ENDPOINTS = { "POST /v1/messages": chat, "POST /v1/messages/count_tokens": count, "GET /v1/models": models };

export const anthropic = {
  models: ["claude-sonnet-4-5", "claude-opus-4-6"],

  route: (method, url) => ENDPOINTS[`${method} ${pathOf(url)}`],

  unauthorized: (headers, _, key) =>
    headers["x-api-key"] === key || headers.authorization === `Bearer ${key}` ? undefined : [401, "invalid x-api-key"],

  error(status, message) {
    const types = { 401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error" };
    const type = types[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
    return { type: "error", error: { type, message }, request_id: "req_1" };
  },
};
