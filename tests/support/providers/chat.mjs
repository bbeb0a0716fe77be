// Answers of Chat Completions, as OpenAI and the providers in its format write them.
import { pieces } from "./stand-in.mjs";

// Where a provider has what its model thinks. OpenAI keeps it.
const REASONING = {
  none: { message: () => ({}), deltas: () => [], text: (content) => content },
  // DeepSeek's form, which most have.
  content: {
    message: (thinking) => ({ reasoning_content: thinking }),
    deltas: (thinking) => pieces(thinking).map((reasoning_content) => ({ content: null, reasoning_content })),
    text: (content) => content,
  },
  // Mistral's form: parts of the content.
  parts: {
    message: () => ({}),
    deltas: (thinking) => pieces(thinking).map((text) => ({ content: [{ type: "thinking", thinking: [{ type: "text", text }] }] })),
    text: (content, thinking) => (thinking === undefined ? content : [{ type: "thinking", thinking: [{ type: "text", text: thinking }] }, { type: "text", text: content }]),
  },
};

/** The endpoint. `rules` is the table of what it rejects; `reasoning` is where its answers have what the model thinks. */
export const completions = (rules, { reasoning = "none", id = (id) => `call_${id}`.slice(0, 40) } = {}) => ({
  rules,

  reply(turn, { body }) {
    const finish = turn.finish ?? (turn.calls.length > 0 ? "tool_calls" : "stop");
    const common = { id: `chatcmpl-${turn.seed}`, created: 1700000000, model: body.model, service_tier: "default", system_fingerprint: "fp_1" };
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
      ...turn.usage,
    };
    const calls = turn.calls.map(({ id: of, name, input, text }) => ({
      id: id(of),
      type: "function",
      function: { name, arguments: text ?? JSON.stringify(input ?? {}) },
    }));
    if (body.stream) return { stream: true, events: events({ ...common, object: "chat.completion.chunk" }, turn, calls, finish, usage, body, REASONING[reasoning]) };
    const own = REASONING[reasoning];
    const thinks = turn.thinking !== undefined ? own.message(turn.thinking) : {};
    const message = { role: "assistant", content: own.text(turn.text.join("") || null, turn.thinking), refusal: null, annotations: [], ...thinks };
    if (calls.length > 0) message.tool_calls = calls;
    const choice = { index: 0, message, logprobs: null, finish_reason: finish };
    return { body: { ...common, object: "chat.completion", choices: [choice], usage } };
  },

  // OpenRouter's form; OpenAI itself sends the error alone.
  failure: (message) => ({ data: JSON.stringify({ choices: [], error: { message, type: "server_error", code: "server_error", param: null } }) }),
});

function* events(common, turn, calls, finish, usage, body, reasoning) {
  const included = body.stream_options?.include_usage;
  const chunk = (delta, finish_reason = null) => ({
    data: JSON.stringify({ ...common, choices: [{ index: 0, delta, logprobs: null, finish_reason }], ...(included && { usage: null }) }),
  });
  yield chunk({ role: "assistant", content: calls.length > 0 ? null : "", refusal: null });
  if (turn.thinking !== undefined) for (const delta of reasoning.deltas(turn.thinking)) yield chunk(delta);
  for (const content of turn.text) yield chunk({ content });
  for (const [index, { id, type, function: { name, arguments: text } }] of calls.entries()) {
    yield chunk({ tool_calls: [{ index, id, type, function: { name, arguments: "" } }] });
    for (const part of pieces(text)) yield chunk({ tool_calls: [{ index, function: { arguments: part } }] });
  }
  yield chunk({}, finish);
  if (included) yield { data: JSON.stringify({ ...common, choices: [], usage }) };
  yield { data: "[DONE]" };
}
