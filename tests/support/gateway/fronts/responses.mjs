// OpenAI's Responses: how a client writes a conversation, and reads answers and streams.
import assert from "node:assert/strict";
import { typed } from "./events.mjs";

const INCOMPLETE = { max_output_tokens: "length", content_filter: "content_filter" };
const CALLS = ["function_call", "custom_tool_call"];

function request({ messages, tools, tool_choice, response_format, reasoning_effort, max_tokens, stream_options: _, ...rest }) {
  const [first, ...others] = messages;
  const isSystem = ["system", "developer"].includes(first.role);
  return {
    ...rest,
    store: false,
    include: ["reasoning.encrypted_content"],
    ...(max_tokens && { max_output_tokens: max_tokens }),
    ...(isSystem && { instructions: first.content }),
    input: (isSystem ? others : messages).flatMap(items),
    ...(tools && { tools: tools.map(tool) }),
    ...(tool_choice && { tool_choice: tool_choice.function ? { type: "function", name: tool_choice.function.name } : tool_choice }),
    ...(response_format && { text: { format: { type: "json_schema", ...response_format.json_schema } } }),
    ...(reasoning_effort && { reasoning: { effort: reasoning_effort, summary: "auto" } }),
  };
}

/** A tool in the form of Chat Completions is translated; others are as the check wrote them. */
const tool = (one) => (one.function ? { type: "function", strict: false, parameters: null, ...one.function } : one);
const part = ({ type, text, image_url }) => (type === "text" ? { type: "input_text", text } : { type: "input_image", detail: "auto", image_url: image_url.url });
const content = (value) => (typeof value === "string" ? value : value.map(part));

function items({ role, content: value, tool_calls = [], tool_call_id, native }) {
  if (native) return native;
  if (role === "tool") return [{ type: "function_call_output", call_id: tool_call_id, output: content(value) }];
  if (role !== "assistant") return [{ role, content: content(value) }];
  const calls = tool_calls.map(({ id, function: { name, arguments: text } }) => ({ type: "function_call", call_id: id, name, arguments: text }));
  return [...(value ? [{ role, content: [{ type: "output_text", text: value, annotations: [] }] }] : []), ...calls];
}

/** Items of an answer as a message in the form of Chat Completions. */
function message(native) {
  const texts = native.filter(({ type }) => type === "message").flatMap(({ content }) => content.map(({ text, refusal }) => text ?? refusal));
  const calls = native.filter(({ type }) => CALLS.includes(type)).map(({ call_id, name, namespace, input, arguments: text = input }) => ({ id: call_id, type: "function", namespace, function: { name, arguments: text } }));
  return { role: "assistant", content: texts.length > 0 ? texts.join("") : null, ...(calls.length > 0 && { tool_calls: calls }), native };
}

function usage({ input_tokens, input_tokens_details, output_tokens, total_tokens }) {
  return { prompt_tokens: input_tokens, completion_tokens: output_tokens, total_tokens, prompt_tokens_details: { cached_tokens: input_tokens_details.cached_tokens } };
}

function answer({ status, output, incomplete_details, usage: counts, error, _2api }) {
  if (status === "failed") throw new Error(JSON.stringify(error));
  const folded = message(output);
  const calls = folded.tool_calls ?? [];
  const finish = status === "completed" ? (calls.length > 0 ? "tool_calls" : "stop") : INCOMPLETE[incomplete_details?.reason];
  assert.ok(finish, `neither completed nor incomplete: ${status} ${JSON.stringify(incomplete_details)}`);
  return { message: folded, calls, finish, usage: usage(counts), _2api };
}

// Codex takes items from `response.output_item.done`, and not from the deltas or the last event.
function fold(text) {
  const folded = { finishes: [], errors: [], usages: [], done: false };
  const native = [];
  for (const event of typed(text)) {
    const { type } = event;
    if (type === "error") folded.errors.push(event.error ?? event);
    if (type === "response.failed") folded.errors.push(event.response.error);
    if (type === "response.output_item.done") native.push(event.item);
    if (type === "response.completed" || type === "response.incomplete") {
      const { finish, usage, _2api } = answer({ ...event.response, output: native });
      Object.assign(folded, { usage, _2api, done: true });
      folded.finishes.push(finish);
    }
  }
  return { ...folded, message: message(native), calls: message(native).tool_calls ?? [] };
}

/** The events of each kind of item between `added` and `done`, in their order. Deltas may be missing, or be many. */
const INNER = {
  message: /^(content_part\.added (output_text\.delta )*output_text\.done content_part\.done )+$/,
  reasoning: /^(reasoning_summary_part\.added (reasoning_summary_text\.delta )*reasoning_summary_text\.done reasoning_summary_part\.done )*((content_part\.added )?(reasoning_text\.delta )*reasoning_text\.done (content_part\.done )?)*$/,
  function_call: /^(function_call_arguments\.delta )*function_call_arguments\.done $/,
  custom_tool_call: /^(custom_tool_call_input\.delta )*custom_tool_call_input\.done $/,
  tool_search_call: /^$/,
  mcp_list_tools: /^mcp_list_tools\.in_progress mcp_list_tools\.(completed|failed) $/,
  mcp_call: /^mcp_call\.in_progress (mcp_call_arguments\.delta )*mcp_call_arguments\.done mcp_call\.(completed|failed) $/,
};

/** Numbers without gaps, items one after the other and each whole, one last event with all of them. */
function grammar(text) {
  const events = typed(text);
  assert.deepEqual(events.map(({ sequence_number }) => sequence_number), events.map((_, at) => at));
  assert.deepEqual(events.slice(0, 2).map(({ type }) => type), ["response.created", "response.in_progress"]);
  const { type, response } = events.at(-1);
  assert.ok(["response.completed", "response.incomplete"].includes(type), type);
  const items = Map.groupBy(events.slice(2, -1), ({ output_index }) => output_index);
  assert.deepEqual([...items.keys()], response.output.map((_, at) => at));
  for (const [at, [added, ...rest]] of items) {
    const done = rest.pop();
    const { item } = done;
    assert.deepEqual([added.type, done.type, added.item.id], ["response.output_item.added", "response.output_item.done", item.id]);
    assert.deepEqual(item, response.output[at]);
    assert.match(rest.map(({ type }) => `${type.slice(9)} `).join(""), INNER[item.type], item.type);
    assert.ok(rest.every(({ item_id }) => item_id === item.id), "each event names its item");
    for (const { type, logprobs } of rest) if (/output_text\.(delta|done)$/.test(type)) assert.ok(Array.isArray(logprobs), type);
    // What the deltas add up to is what `done` has.
    const deltas = (name) => rest.filter(({ type }) => type === `response.${name}.delta`).map(({ delta }) => delta).join("");
    if (item.type === "message") assert.equal(deltas("output_text"), item.content.map(({ text }) => text).join(""));
    if (item.type === "function_call" && deltas("function_call_arguments")) assert.equal(deltas("function_call_arguments"), item.arguments);
    if (item.type === "custom_tool_call" && deltas("custom_tool_call_input")) assert.equal(deltas("custom_tool_call_input"), item.input);
  }
  const { input_tokens, output_tokens, total_tokens, input_tokens_details, output_tokens_details } = response.usage;
  const counts = [input_tokens, output_tokens, total_tokens, input_tokens_details.cached_tokens, input_tokens_details.cache_write_tokens, output_tokens_details.reasoning_tokens];
  assert.ok(counts.every(Number.isInteger), JSON.stringify(response.usage));
  for (const { response } of [events[0], events.at(-1)]) {
    for (const name of ["id", "object", "created_at", "model", "output", "parallel_tool_calls", "tool_choice", "tools", "status"]) assert.ok(name in response, name);
  }
}

export const responses = {
  name: "responses",
  path: "/v1/responses",
  request,
  answer,
  fold,
  grammar,
  compiledIn: (allowed, search) => ({ tools: [{ type: "mcp", server_label: "toolbooth", server_url: "toolbooth", allowed_tools: allowed, defer_loading: search, require_approval: "never" }] }),
  error: ({ error }) => error,
};
