// Anthropic: its endpoints and its answers. crates/toolbooth-gateway/stand-ins has what it rejects.
import { pathOf, pieces } from "./stand-in.mjs";

const chat = {
  rules: "anthropic",
  only: "messages",

  reply(turn, { body, state }) {
    const content = [];
    if (turn.thinking !== undefined) {
      const signature = Buffer.from(`signature of ${turn.seed}`).toString("base64");
      const thinking = body.thinking?.display === "omitted" ? "" : turn.thinking;
      state.issued.set(signature, thinking);
      content.push({ type: "thinking", thinking, signature });
    }
    if (turn.redacted !== undefined) content.push({ type: "redacted_thinking", data: turn.redacted });
    if (turn.text.length > 0) content.push({ type: "text", text: turn.text.join(""), citations: null });
    for (const { id, name, input = {} } of turn.calls) content.push({ type: "tool_use", id: `toolu_${id}`, name, input, caller: { type: "direct" } });
    const stop_reason = turn.finish ?? (turn.calls.length > 0 ? "tool_use" : "end_turn");
    const cache = { cache_creation_input_tokens: 3, cache_read_input_tokens: 4, cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 0 } };
    const usage = { input_tokens: 10, ...cache, output_tokens: 5, output_tokens_details: null, server_tool_use: null, service_tier: "standard", inference_geo: null, ...turn.usage };
    const ending = { stop_reason, stop_sequence: null, stop_details: null, container: null };
    const message = { id: `msg_${turn.seed}`, type: "message", role: "assistant", model: body.model, content, ...ending, usage };
    return body.stream ? { stream: true, events: events(message, turn) } : { body: message };
  },

  failure: (message) => ({ event: "error", data: JSON.stringify({ type: "error", error: { type: "overloaded_error", message } }) }),
};

function* events({ content, usage, ...message }, turn) {
  const event = (type, rest) => ({ event: type, data: JSON.stringify({ type, ...rest }) });
  const { output_tokens, ...input } = usage;
  const { stop_reason, stop_sequence, stop_details, container } = message;
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
  const { service_tier: _, inference_geo: __, cache_creation: ___, ...counts } = input;
  yield event("message_delta", { delta: { stop_reason, stop_sequence, stop_details, container }, usage: { ...counts, output_tokens } });
  yield event("message_stop", {});
}

const count = {
  rules: "anthropic",
  only: "count_tokens",
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
