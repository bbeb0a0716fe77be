// The HTTP servers of providers that take every request and keep it: what the real ones reject, the checks of a report say. They answer in
// the format in which they were asked.
import { listen } from "../../server.mjs";
import { KEYS } from "../../providers/stand-in.mjs";

/** `compat` is a server with OpenAI's format that is not OpenAI's; `short` and `blank` are local ones, with the keys that those have. */
const OWN_KEYS = { ...KEYS, compat: "sk-canary-compat", short: "ollama", blank: "EMPTY" };

const usage = { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11, prompt_tokens_details: { cached_tokens: 0 } };
const parsed = ({ function: { name, arguments: text } }) => ({ name, args: JSON.parse(text) });
const data = (events) => events.map((event) => `${event.type ? `event: ${event.type}\n` : ""}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");

/** An answer in each format: `whole(message)` and `stream(message)`, where the message has the form of Chat Completions. */
const FORMATS = {
  chat: {
    whole: ({ finish, means: _, ...message }) => ({ id: "c1", object: "chat.completion", created: 1, model: "m", choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish ?? (message.tool_calls ? "tool_calls" : "stop") }], usage }),
    stream: ({ finish, deltas, tool_calls, means: _, ...message }) => {
      const called = tool_calls && { tool_calls: tool_calls.map((call, index) => ({ index, ...call })) };
      return [...chunks(...(deltas ?? [{ ...message, ...called }])), chunk({}, finish ?? (tool_calls ? "tool_calls" : "stop")), { ...chunk({}), choices: [], usage }, "[DONE]"];
    },
  },
  responses: {
    whole: (message) => response("completed", items(message)),
    stream: (message) => {
      const done = items(message);
      const events = [{ type: "response.created", response: response("in_progress", []) }];
      done.forEach((item, output_index) => events.push({ type: "response.output_item.added", output_index, item: { ...item, status: "in_progress", ...(item.content && { content: [] }), ...(item.arguments && { arguments: "" }) } }, ...inner(item, output_index), { type: "response.output_item.done", output_index, item }));
      return [...events, { type: "response.completed", response: response("completed", done) }].map((event, sequence_number) => ({ ...event, sequence_number }));
    },
  },
  messages: {
    whole: (message) => answer(blocks(message), message.tool_calls ? "tool_use" : "end_turn"),
    stream: (message) => [
      { type: "message_start", message: { ...answer([], null), usage: { input_tokens: 5, output_tokens: 1 } } },
      ...blocks(message).flatMap((block, index) => [
        { type: "content_block_start", index, content_block: { ...block, ...EMPTY[block.type] } },
        ...inDeltas(block).map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ]),
      { type: "message_delta", delta: { stop_reason: message.tool_calls ? "tool_use" : "end_turn", stop_sequence: null }, usage: { output_tokens: 6 } },
      { type: "message_stop" },
    ],
  },
  gemini: { whole: (message) => gemini(message), stream: (message) => [gemini(message)] },
};

const chunk = (delta, finish_reason = null) => ({ id: "c1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] });
const chunks = (first, ...rest) => [{ role: "assistant", ...first }, ...rest].map((delta) => chunk(delta));

const items = ({ content, tool_calls = [] }) => [
  ...(content ? [{ id: "msg_1", type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: content, annotations: [], logprobs: [] }] }] : []),
  ...tool_calls.map((call, at) => ({ id: `fc_${at}`, type: "function_call", status: "completed", call_id: call.id, name: call.function.name, arguments: call.function.arguments })),
];
function inner({ id: item_id, content: [part] = [], arguments: text }, output_index) {
  const of = { item_id, output_index };
  if (part === undefined) return [{ type: "response.function_call_arguments.delta", ...of, delta: text }, { type: "response.function_call_arguments.done", ...of, arguments: text }];
  const at = { ...of, content_index: 0 };
  return [
    { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
    { type: "response.output_text.delta", ...at, delta: part.text, logprobs: [] },
    { type: "response.output_text.done", ...at, text: part.text, logprobs: [] },
    { type: "response.content_part.done", ...at, part },
  ];
}
const response = (status, output) => ({
  ...{ id: "resp_1", object: "response", created_at: 1, status, model: "m", output, error: null, incomplete_details: null, instructions: null, metadata: {}, tools: [], tool_choice: "auto", parallel_tool_calls: true, temperature: 1, top_p: 1 },
  ...(status === "completed" && { usage: { input_tokens: 5, input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 }, output_tokens: 6, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 11 } }),
});
const blocks = ({ content, reasoning_content, tool_calls = [] }) => [...(reasoning_content ? [{ type: "thinking", thinking: reasoning_content, signature: "c2ln" }] : []), ...(content ? [{ type: "text", text: content }] : []), ...tool_calls.map((call) => ({ type: "tool_use", id: call.id, name: parsed(call).name, input: parsed(call).args }))];
const EMPTY = { text: { text: "" }, thinking: { thinking: "", signature: "" }, tool_use: { input: {} } };
function inDeltas({ type, text, thinking, signature, input }) {
  if (type === "text") return [{ type: "text_delta", text }];
  if (type === "thinking") return [{ type: "thinking_delta", thinking }, { type: "signature_delta", signature }];
  return [{ type: "input_json_delta", partial_json: JSON.stringify(input) }];
}
const answer = (content, stop_reason) => ({ id: "msg_1", type: "message", role: "assistant", model: "m", content, stop_reason, stop_sequence: null, usage: { input_tokens: 5, output_tokens: 6 } });
const gemini = ({ content, tool_calls = [], parts, finish = "STOP" }) => ({
  candidates: [{ index: 0, content: { role: "model", parts: parts ?? [...(content ? [{ text: content }] : []), ...tool_calls.map((call) => ({ functionCall: parsed(call), thoughtSignature: "c2ln" }))] }, finishReason: finish }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 6, totalTokenCount: 11 },
});

/** The format of a request, and whether its answer is a stream. */
function asked(path, body) {
  if (path.includes("generateContent") || path.includes("streamGenerateContent")) return ["gemini", path.includes("streamGenerateContent")];
  const format = path.endsWith("/messages") ? "messages" : path.endsWith("/responses") ? "responses" : "chat";
  return [format, body.stream === true];
}

/** The functions that a request offers. */
export const functions = (body) => (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? tool.function_declarations ?? [tool.function ?? tool]).map(({ name, ...rest }) => ({ name, schema: rest.parameters ?? rest.input_schema ?? rest.parametersJsonSchema ?? rest.parameters_json_schema, ...rest }));

/** The model calls the first function that it got. */
export const CALLS_THE_FIRST = (body) => ({ content: null, tool_calls: [{ id: "call_1", type: "function", function: { name: functions(body)[0].name, arguments: '{"city":"Rome"}' } }] });

/**
 * Starts the server of a provider. `script(...turns)` replaces the answers: a message in the form of Chat Completions, in which `deltas` are
 * those of its stream, `parts` Gemini's, and `finish` the provider's own reason; `{ status, message }`; or a function of the request's body
 * that returns one. `means` is the same message for those who ask in a format in which it has no faults. The last one stays. Without a
 * script, the model says "Done".
 */
async function recorder(provider, key) {
  const journal = [];
  let turns = [];
  const server = await listen(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const text = Buffer.concat(parts).toString();
    const entry = { path: request.url.split("?")[0], text, body: text ? JSON.parse(text) : undefined };
    // Some gateways ask for the list of models, too.
    if (request.method !== "POST") return response.writeHead(404).end();
    journal.push(entry);
    const turn = (turns.length > 1 ? turns.shift() : turns[0]) ?? { content: "Done" };
    const [format, isStream] = asked(entry.path, entry.body);
    const scripted = typeof turn === "function" ? turn(entry.body) : turn;
    const said = format !== "chat" && scripted.means ? scripted.means : scripted;
    const send = (status, body) => response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (said.status) return send(said.status, { type: "error", error: { type: said.type ?? "invalid_request_error", message: said.message } });
    if (!isStream) return send(200, FORMATS[format].whole(said));
    response.writeHead(200, { "content-type": "text/event-stream" }).end(data(FORMATS[format].stream(said)));
  });
  return {
    ...server,
    provider,
    key,
    journal,
    get last() {
      return journal.at(-1);
    },
    script(...next) {
      turns = next;
      journal.length = 0;
    },
  };
}

/** Starts all of them; `close` closes them. */
export async function recorders() {
  const all = Object.fromEntries(await Promise.all(Object.entries(OWN_KEYS).map(async ([provider, key]) => [provider, await recorder(provider, key)])));
  return Object.assign(all, { close: () => Promise.all(Object.values(all).map((one) => one.close?.())) });
}

/** The variables with which a Worker has the servers that are not the three makers' own. */
export const compatible = (upstream) => ({
  PROVIDERS: "answers,compat,short,blank",
  ...Object.fromEntries(["compat", "short", "blank"].flatMap((name) => [[`${name.toUpperCase()}_API_KEY`, upstream[name].key], [`${name.toUpperCase()}_BASE_URL`, `${upstream[name].base}/v1`]])),
});
