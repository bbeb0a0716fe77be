// Anthropic's Messages: how a client writes a conversation, and reads answers and streams.
import assert from "node:assert/strict";
import { typed } from "./events.mjs";

// The reasons to stop of Anthropic's types, as Chat Completions have them.
const FINISH = { end_turn: "stop", stop_sequence: "stop", pause_turn: "length", max_tokens: "length", model_context_window_exceeded: "length", tool_use: "tool_calls", refusal: "content_filter" };
const CHOICE = { auto: "auto", none: "none", required: "any" };
/** Which deltas a block may have. */
const DELTAS = { mcp_tool_result: [], redacted_thinking: [], text: ["text_delta", "citations_delta"], thinking: ["thinking_delta", "signature_delta"], tool_use: ["input_json_delta"], mcp_tool_use: ["input_json_delta"] };

function request({ messages, tools, tool_choice, parallel_tool_calls, response_format, reasoning_effort, stop, max_tokens, stream_options: _, ...rest }) {
  const [first, ...others] = messages;
  const isSystem = ["system", "developer"].includes(first.role);
  const choice = tool_choice ?? (parallel_tool_calls === false ? "auto" : undefined);
  return {
    max_tokens,
    ...rest,
    ...(isSystem && { system: first.content }),
    messages: conversation(isSystem ? others : messages),
    ...(tools && { tools: tools.map(tool) }),
    ...(choice && { tool_choice: { ...(choice.function ? { type: "tool", name: choice.function.name } : { type: CHOICE[choice] }), ...(parallel_tool_calls === false && { disable_parallel_tool_use: true }) } }),
    ...(response_format && { output_config: { format: { type: "json_schema", schema: response_format.json_schema.schema } } }),
    ...(reasoning_effort && { thinking: { type: "enabled", budget_tokens: 1024 } }),
    ...(stop && { stop_sequences: [stop].flat() }),
  };
}

/** A tool in the form of Chat Completions is translated; others are as the check wrote them. */
const tool = ({ function: one, ...rest }) => (one ? { name: one.name, description: one.description, strict: one.strict, input_schema: one.parameters ?? { type: "object" } } : rest);

const part = ({ type, text, image_url }) => {
  if (type === "text") return { type, text };
  const [, media_type, data] = /^data:([^;]+);base64,(.*)$/.exec(image_url.url) ?? [];
  return { type: "image", source: data ? { type: "base64", media_type, data } : { type: "url", url: image_url.url } };
};
const content = (value) => (typeof value === "string" ? value : value.map(part));

function conversation(messages) {
  const turns = [];
  for (const { role, content: value, tool_calls = [], tool_call_id, native } of messages) {
    if (role === "tool") {
      const block = { type: "tool_result", tool_use_id: tool_call_id, content: content(value), ...(/^Error:/.test(value) && { is_error: true }) };
      if (turns.at(-1).results) turns.at(-1).content.push(block);
      else turns.push({ role: "user", content: [block], results: true });
    } else if (role === "assistant") {
      const calls = tool_calls.map(({ id, function: { name, arguments: text } }) => ({ type: "tool_use", id, name, input: JSON.parse(text || "{}") }));
      turns.push({ role, content: native ?? [...(value ? [{ type: "text", text: value }] : []), ...calls] });
    } else if (turns.at(-1)?.results && role === "user") {
      // Results and the text after them are one message of the user's.
      turns.at(-1).content.push(...[content(value)].flat().map((one) => (typeof one === "string" ? { type: "text", text: one } : one)));
      turns.at(-1).results = false;
    } else {
      turns.push({ role: role === "developer" ? "system" : role, content: content(value) });
    }
  }
  return turns.map(({ role, content }) => ({ role, content }));
}

/** A message of Anthropic's in the form of Chat Completions. `text` has the arguments of calls as they were streamed. */
function message(native, text = new Map()) {
  const texts = native.filter(({ type }) => type === "text").map((block) => block.text);
  const calls = native.filter(({ type }) => type === "tool_use").map(({ id, name, input }) => ({ id, type: "function", function: { name, arguments: text.get(id) || JSON.stringify(input) } }));
  return { role: "assistant", content: texts.length > 0 ? texts.join("") : null, ...(calls.length > 0 && { tool_calls: calls }), native };
}

/** Anthropic counts tokens that were read from the cache or written to it apart from the others. */
function usage({ input_tokens, cache_creation_input_tokens: written, cache_read_input_tokens: read, output_tokens }) {
  const prompt_tokens = input_tokens + (written ?? 0) + (read ?? 0);
  return { prompt_tokens, completion_tokens: output_tokens, total_tokens: prompt_tokens + output_tokens, prompt_tokens_details: { cached_tokens: read } };
}

function finish(reason) {
  assert.ok(reason in FINISH, `not a reason to stop: ${reason}`);
  return FINISH[reason];
}

function answer({ content, stop_reason, usage: counts, _2api }) {
  const folded = message(content);
  return { message: folded, calls: folded.tool_calls ?? [], finish: finish(stop_reason), usage: usage(counts), _2api };
}

function fold(text) {
  const folded = { finishes: [], errors: [], usages: [], done: false };
  const blocks = [];
  const inputs = new Map();
  let counts = {};
  for (const event of typed(text)) {
    const { type, index, delta } = event;
    if (type === "error") folded.errors.push(event.error);
    if (type === "message_start") counts = event.message.usage;
    if (type === "content_block_start") blocks[index] = { ...event.content_block };
    if (type === "content_block_delta") {
      if (delta.type === "text_delta") blocks[index].text += delta.text;
      if (delta.type === "thinking_delta") blocks[index].thinking += delta.thinking;
      if (delta.type === "signature_delta") blocks[index].signature = delta.signature;
      if (delta.type === "input_json_delta") inputs.set(blocks[index].id, (inputs.get(blocks[index].id) ?? "") + delta.partial_json);
    }
    if (type === "message_delta") {
      if (delta.stop_reason) folded.finishes.push(finish(delta.stop_reason));
      // Members without a value keep the earlier one.
      counts = { ...counts, ...Object.fromEntries(Object.entries(event.usage).filter(([, value]) => value !== null)) };
      folded._2api = event._2api ?? folded._2api;
    }
    if (type === "message_stop") folded.done = true;
  }
  for (const block of blocks) {
    const input = inputs.get(block.id);
    try {
      if (input) block.input = JSON.parse(input);
    } catch {
      // The arguments are malformed: the deltas show them.
    }
  }
  folded.message = message(blocks, inputs);
  return { ...folded, calls: folded.message.tool_calls ?? [], ...(folded.done && { usage: usage(counts) }) };
}

/** One start, blocks one after the other, each with deltas of its own kind, the reason to stop, the end. */
function grammar(text) {
  const events = typed(text).filter(({ type }) => type !== "ping");
  const [start, ...rest] = events;
  assert.equal(start.type, "message_start");
  const { content, stop_reason, stop_sequence, role, type, usage, id, model } = start.message;
  assert.deepEqual({ content, stop_reason, stop_sequence, role, type }, { content: [], stop_reason: null, stop_sequence: null, role: "assistant", type: "message" });
  assert.ok(id && model && Number.isInteger(usage.output_tokens), JSON.stringify(start.message));
  assert.ok(usage.input_tokens > 0, "the input tokens are estimated until they are known");
  let open;
  let next = 0;
  for (const { type, index, content_block, delta } of rest.slice(0, -2)) {
    if (type === "content_block_start") {
      assert.deepEqual([open, index], [undefined, next]);
      open = content_block.type;
      next += 1;
    } else if (type === "content_block_delta") {
      assert.equal(index, next - 1);
      assert.ok(DELTAS[open]?.includes(delta.type), `${delta.type} in a block of the type ${open}`);
    } else {
      assert.deepEqual([type, index, open !== undefined], ["content_block_stop", next - 1, true]);
      open = undefined;
    }
  }
  assert.equal(open, undefined);
  assert.deepEqual(rest.slice(-2).map(({ type }) => type), ["message_delta", "message_stop"]);
  const { delta, usage: last } = rest.at(-2);
  assert.ok(delta.stop_reason in FINISH && "stop_sequence" in delta, JSON.stringify(delta));
  assert.ok(Number.isInteger(last.output_tokens), JSON.stringify(last));
}

/** Members of a request that let the gateway run these tools: those of Anthropic's connector for MCP. The model may have to search for them. */
function compiledIn(allowed, search) {
  const configs = Object.fromEntries(allowed.map((name) => [name.replace(".", "_"), { enabled: true }]));
  const toolset = { type: "mcp_toolset", mcp_server_name: "toolbooth", default_config: { enabled: false, defer_loading: search }, configs, require_approval: "never" };
  return { mcp_servers: [{ type: "url", name: "toolbooth", url: "toolbooth" }], tools: [toolset] };
}

export const messages = {
  name: "messages",
  path: "/v1/messages",
  headers: { "anthropic-version": "2023-06-01" },
  request,
  answer,
  fold,
  grammar,
  compiledIn,
  error: ({ error }) => error,
};
