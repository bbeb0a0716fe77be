// The stand-ins of model providers that the gateway's tests use: the providers' own SDKs understand their answers, and
// they reject what the providers reject. Otherwise the gateway's tests would prove nothing.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { CHECKS } from "./support/providers/checks.mjs";
import { broken, FACTS, TABLES } from "./support/providers/rules.mjs";
import { standIns } from "./support/providers/stand-in.mjs";
import { SUBSETS } from "./support/schemas.mjs";

let providers, openai, anthropic, gemini;
before(async () => {
  providers = await standIns();
  openai = new OpenAI({ apiKey: providers.openai.key, baseURL: `${providers.openai.base}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: providers.anthropic.key, baseURL: providers.anthropic.base, maxRetries: 0 });
  gemini = new GoogleGenAI({ apiKey: providers.gemini.key, httpOptions: { baseUrl: providers.gemini.base } });
});
after(() => providers.close());
beforeEach(() => Object.values(providers).forEach((provider) => provider.script?.({ text: "Hello" })));

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const WEATHER = { type: "function", function: { name: "weather", description: "The weather.", parameters } };
const CALLS = [{ name: "weather", input: { city: "Rome" } }, { name: "weather", input: { city: "Oslo" } }];
const FRAMINGS = [{}, { eol: "\r\n", comments: true, split: 1 }, { space: "" }];

test("OpenAI's SDK understands unary answers and streams", async () => {
  const messages = [{ role: "user", content: "?" }];
  providers.openai.script({ text: "Hm.", calls: CALLS });
  const unary = await openai.chat.completions.create({ model: "m", messages, tools: [WEATHER] });
  assert.deepEqual(unary.choices[0].message.tool_calls.map(({ function: { arguments: text } }) => text), ['{"city":"Rome"}', '{"city":"Oslo"}']);
  for (const framing of FRAMINGS) {
    providers.openai.script({ text: "Hello, Größe!", calls: CALLS, ...framing });
    const body = { model: "m", messages, tools: [WEATHER], stream_options: { include_usage: true } };
    const final = await openai.chat.completions.stream(body).finalChatCompletion();
    assert.equal(final.choices[0].message.content, "Hello, Größe!");
    assert.equal(final.choices[0].message.tool_calls.length, 2);
    assert.equal(final.usage.total_tokens, 15);
  }
});

test("Anthropic's SDK understands unary answers and streams, and its signatures hold", async () => {
  const body = { model: "m", max_tokens: 2000, thinking: { type: "enabled", budget_tokens: 1024 }, tools: [{ name: "weather", input_schema: parameters }] };
  const messages = [{ role: "user", content: "?" }];
  const turn = { thinking: "Let me see", redacted: "xyz", text: "Hm.", calls: CALLS };
  for (const framing of FRAMINGS) {
    providers.anthropic.script({ ...turn, ...framing }, { text: "Sunny" });
    const final = await anthropic.messages.stream({ ...body, messages }).finalMessage();
    assert.deepEqual(final.content.map(({ type }) => type), ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"]);
    assert.deepEqual(final.content[4].input, { city: "Oslo" });
    const results = final.content.slice(3).map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "5" }));
    const next = [...messages, { role: "assistant", content: final.content }, { role: "user", content: results }];
    assert.equal((await anthropic.messages.create({ ...body, messages: next })).content[0].text, "Sunny");
    next[1].content[0].signature = "x";
    await assert.rejects(anthropic.messages.create({ ...body, messages: next }), /Invalid `signature`/);
  }
});

test("Google's SDK understands unary answers and streams, and its signatures hold", async () => {
  const config = { tools: [{ functionDeclarations: [{ name: "weather", parametersJsonSchema: parameters }] }] };
  const contents = [{ role: "user", parts: [{ text: "?" }] }];
  for (const framing of FRAMINGS) {
    providers.gemini.script({ thinking: "Let me see", text: "Hm.", calls: CALLS, ...framing }, { text: "Sunny" });
    const parts = [];
    for await (const chunk of await gemini.models.generateContentStream({ model: "gemini-3-pro", contents, config })) {
      parts.push(...(chunk.candidates[0].content?.parts ?? []));
    }
    const calls = parts.filter(({ functionCall }) => functionCall);
    assert.equal(calls.length, 2);
    const results = calls.map(({ functionCall: { id, name } }) => ({ functionResponse: { id, name, response: { output: 5 } } }));
    const next = [...contents, { role: "model", parts }, { role: "user", parts: results }];
    const answer = await gemini.models.generateContent({ model: "gemini-3-pro", contents: next, config });
    assert.equal(answer.text, "Sunny");
    delete calls[0].thoughtSignature;
    await assert.rejects(gemini.models.generateContent({ model: "gemini-3-pro", contents: next, config }), /missing a thought_signature/);
  }
});

test("OpenAI's SDK understands answers and streams of Responses, and what it gets back is accepted", async () => {
  const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
  const grammar = { type: "grammar", syntax: "lark", definition: "start: /.+/" };
  const tools = [
    { type: "function", name: "weather", parameters, strict: true },
    { type: "custom", name: "apply_patch", format: grammar },
    { type: "namespace", name: "mcp__booth", description: "Tools.", tools: [{ type: "function", name: "add", parameters, strict: true }] },
    { type: "tool_search", execution: "client", description: "Finds tools.", parameters },
  ];
  const calls = [...CALLS, { name: "apply_patch", text: "*** Begin" }, { name: "add", namespace: "mcp__booth", input: { city: "x" } }, { name: "tool_search", input: { city: "y" } }];
  const input = [{ role: "user", content: "?" }];
  const body = { model: "m", store: false, include: ["reasoning.encrypted_content"], tools };
  const types = ["reasoning", "message", "function_call", "function_call", "custom_tool_call", "function_call", "tool_search_call"];
  for (const framing of FRAMINGS) {
    providers.openai.script({ thinking: "Let me see", text: "Hm.", calls, ...framing }, { text: "Sunny" });
    const events = [];
    const stream = openai.responses.stream({ ...body, input }).on("event", (event) => events.push(event));
    const final = await stream.finalResponse();
    assert.deepEqual(final.output.map(({ type }) => type), types);
    assert.equal(final.output_text, "Hm.");
    assert.deepEqual(events.map(({ sequence_number }) => sequence_number), events.map((_, at) => at));
    const own = (type) => events.filter((event) => event.type === type).map(({ delta }) => delta).join("");
    assert.equal(own("response.custom_tool_call_input.delta"), "*** Begin");
    assert.equal(own("response.function_call_arguments.delta"), '{"city":"Rome"}{"city":"Oslo"}{"city":"x"}');
    const outputs = final.output.slice(2).map(({ type, call_id }) =>
      type === "tool_search_call" ? { type: "tool_search_output", call_id, execution: "client", tools: [] } : { type: `${type}_output`, call_id, output: "5" });
    const next = [...input, ...final.output.map(({ parsed, parsed_arguments, ...item }) => item), ...outputs];
    // What the SDK adds to the parts of a message is not sent back.
    next.find(({ type }) => type === "message").content = [{ type: "output_text", text: "Hm.", annotations: [] }];
    assert.equal((await openai.responses.create({ ...body, input: next })).output_text, "Sunny");
    next[1].encrypted_content = "x";
    await assert.rejects(openai.responses.create({ ...body, input: next }), /could not be verified/);
  }
  providers.openai.script({ text: "Cut", finish: "max_output_tokens" });
  const cut = await openai.responses.stream({ ...body, input }).finalResponse();
  assert.deepEqual([cut.status, cut.incomplete_details], ["incomplete", { reason: "max_output_tokens" }]);
  providers.openai.script({ calls: CALLS.slice(0, 1), deltas: false });
  const late = await openai.responses.create({ ...body, input, stream: true });
  const seen = [];
  for await (const { type } of late) seen.push(type);
  assert.ok(!seen.some((type) => type.endsWith(".delta")) && seen.at(-1) === "response.completed", `${seen}`);
});

test("the SDKs understand the lists of models, embeddings and counts of tokens", async () => {
  assert.deepEqual((await openai.models.list()).data.map(({ id }) => id), providers.openai.models);
  assert.deepEqual((await anthropic.models.list()).data.map(({ id }) => id), providers.anthropic.models);
  assert.deepEqual((await gemini.models.list()).page.map(({ name }) => name), providers.gemini.models.map((id) => `models/${id}`));
  const { data } = await openai.embeddings.create({ model: "e", input: ["a", "b"] });
  assert.deepEqual(data.map(({ embedding }) => [...embedding]), [[0.5, -0.25], [0.5, -0.25]]);
  const { input_tokens } = await anthropic.messages.countTokens({ model: "m", messages: [{ role: "user", content: "?" }] });
  assert.ok(input_tokens > 0);
});

const post = async (provider, path, body, headers) => {
  const reply = await fetch(`${provider.base}${path}`, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });
  return { status: reply.status, text: await reply.text() };
};
const SEND = {
  openai: (body, path = "/v1/chat/completions") => post(providers.openai, path, { model: "m", messages: [{ role: "user", content: "?" }], ...body }, { authorization: `Bearer ${providers.openai.key}` }),
  responses: (body) => post(providers.openai, "/v1/responses", { model: "m", input: "?", store: false, ...body }, { authorization: `Bearer ${providers.openai.key}` }),
  anthropic: ({ version = "2023-06-01", beta, ...body }) =>
    post(providers.anthropic, "/v1/messages?beta=true", { model: "m", max_tokens: 9, messages: [{ role: "user", content: "?" }], ...body }, {
      "x-api-key": providers.anthropic.key,
      "anthropic-version": version,
      ...(beta && { "anthropic-beta": beta }),
    }),
  ...Object.fromEntries(["deepseek", "qwen", "mistral", "compatible"].map((name) => [name, (body) =>
    post(providers[name], "/v1/chat/completions", { model: "m", messages: [{ role: "user", content: "?" }], ...body }, { authorization: `Bearer ${providers[name].key}` })])),
  gemini: (body, path = "/v1beta/models/gemini-3:generateContent") => post(providers.gemini, path, { contents: [{ role: "user", parts: [{ text: "?" }] }], ...body }, { "x-goog-api-key": providers.gemini.key }),
};
const user = { role: "user", content: "?" };
const called = (id) => ({ role: "assistant", content: null, tool_calls: [{ id, type: "function", function: { name: "weather", arguments: "{}" } }] });
const answered = (id) => ({ role: "tool", tool_call_id: id, content: "5" });
const used = { role: "assistant", content: [{ type: "tool_use", id: "a", name: "weather", input: {} }, { type: "tool_use", id: "b", name: "weather", input: {} }] };
const result = (id) => ({ type: "tool_result", tool_use_id: id, content: "5" });
const declared = { functionDeclarations: [{ name: "weather", parametersJsonSchema: parameters }] };
const content = (role, ...parts) => ({ role, parts });
const cached = (text) => ({ type: "text", text, cache_control: { type: "ephemeral" } });
const asking = { role: "user", content: "?" };
const functionCall = (call_id, name = "weather") => ({ type: "function_call", call_id, name, arguments: "{}" });
const functionOutput = (call_id) => ({ type: "function_call_output", call_id, output: "5" });
const asked = content("user", { text: "?" });
const call = { functionCall: { name: "weather", args: {} }, thoughtSignature: "skip_thought_signature_validator" };
const response = (name, response = { output: 1 }) => ({ functionResponse: { name, response } });

for (const [provider, what, body, expected] of [
  ["openai", "a plain request", {}, 200],
  ["openai", "an unknown member", { _2api: {} }, /Unrecognized request argument supplied: _2api/],
  ["openai", "an empty list of tools", { tools: [] }, /too short - 'tools'/],
  ["openai", "129 tools", { tools: Array.from({ length: 129 }, () => WEATHER) }, /array too long/],
  ["openai", "an id of 41 characters", { messages: [user, called("x".repeat(41)), answered("x".repeat(41))] }, /maximum length 40/],
  ["openai", "a call with its result", { messages: [user, called("a"), answered("a")] }, 200],
  ["openai", "a call without a result", { messages: [user, called("a"), user] }, /did not have response messages: a/],
  ["openai", "a result without a call", { messages: [user, answered("a")] }, /must be a response to a preceeding message/],
  ["openai", "a foreign member of a call", { messages: [user, { ...called("a"), tool_calls: [{ ...called("a").tool_calls[0], index: 0 }] }, answered("a")] }, /Unknown parameter/],
  ["openai", "a choice without tools", { tool_choice: "none" }, /only allowed when 'tools'/],
  ["openai", "stream_options without a stream", { stream_options: { include_usage: true } }, /only allowed when 'stream'/],
  ["responses", "a plain request", {}, 200],
  ["responses", "an unknown member", { max_tokens: 5 }, /Unknown parameter: 'max_tokens'/],
  ["responses", "the metadata that Codex sends", { client_metadata: { a: "b" }, prompt_cache_key: "k", text: { verbosity: "low" }, reasoning: { effort: "low" } }, 200],
  ["responses", "15 tokens", { max_output_tokens: 15 }, /Expected a value >= 16/],
  ["responses", "an earlier response", { previous_response_id: "resp_1" }, /'resp_1' not found/],
  ["responses", "an item of an unknown type", { input: [{ type: "function_result" }] }, /Invalid value: 'function_result'/],
  ["responses", "an unknown member of an item", { input: [{ ...asking, tool_calls: [] }] }, /Unknown parameter: 'input\[0\].tool_calls'/],
  ["responses", "a part of the user in an assistant's message", { input: [asking, { role: "assistant", content: [{ type: "input_text", text: "x" }] }] }, /Invalid value: 'input_text'/],
  ["responses", "a reference to an item", { input: [asking, { type: "item_reference", id: "rs_1" }] }, /Items are not persisted/],
  ["responses", "an id of another kind", { input: [{ ...asking, id: "chatcmpl-1" }] }, /Expected an ID that begins with 'msg'/],
  ["responses", "a call with its output", { input: [asking, functionCall("a"), functionOutput("a")] }, 200],
  ["responses", "a call without its output", { input: [asking, functionCall("a")] }, /No tool output found for function call a/],
  ["responses", "an output without its call", { input: [asking, functionOutput("a")] }, /No tool call found for function call output with call_id a/],
  ["responses", "the output of a custom tool for a function", { input: [asking, functionCall("a"), { ...functionOutput("a"), type: "custom_tool_call_output" }] }, /No tool call found for custom tool call output/],
  ["responses", "a call with a name of 65 characters", { input: [asking, functionCall("a", "x".repeat(65)), functionOutput("a")] }, /string too long/],
  ["responses", "foreign encrypted content", { input: [asking, { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "abc" }] }, /could not be verified/],
  ["responses", "a tool with a name of 65 characters", { tools: [{ type: "function", name: "x".repeat(65), parameters }] }, /longer than 64/],
  ["responses", "a tool in the form of Chat Completions", { tools: [WEATHER] }, /Unknown parameter: 'tools\[0\].function'/],
  ["responses", "a tool of an unknown type", { tools: [{ type: "toolbooth" }] }, /Invalid value: 'toolbooth'/],
  ["responses", "tools that an item adds", { input: [{ type: "additional_tools", role: "developer", tools: [{ type: "function", name: "weather", parameters, strict: false }] }, asking], tool_choice: { type: "function", name: "weather" } }, 200],
  ["anthropic", "a plain request", {}, 200],
  ["anthropic", "no max_tokens", { max_tokens: undefined }, /max_tokens: Field required/],
  ["anthropic", "an unknown member", { n: 1 }, /n: Extra inputs are not permitted/],
  ["anthropic", "a temperature above 1", { temperature: 1.5 }, /temperature: range/],
  ["anthropic", "a temperature with the newer version", { temperature: 1, version: "2026-10-21" }, /temperature: not permitted/],
  ["anthropic", "the role system in the first message", { messages: [{ role: "system", content: "x" }] }, /first message must use the \\"user\\" role/],
  ["anthropic", "the role system in a later message", { messages: [user, { role: "system", content: "x" }] }, 200],
  ["anthropic", "the role developer in a message", { messages: [user, { role: "developer", content: "x" }] }, /Input should be 'user'/],
  ["anthropic", "context_management without its beta", { context_management: { edits: [] } }, /context_management: Extra inputs/],
  ["anthropic", "context_management with its beta", { context_management: { edits: [] }, beta: "claude-code-20250219,context-management-2025-06-27" }, 200],
  ["anthropic", "five marks for the cache", { system: Array.from({ length: 3 }, () => cached("s")), messages: [{ role: "user", content: [cached("a"), cached("b")] }] }, /maximum of 4 blocks with cache_control/],
  ["anthropic", "four marks for the cache", { system: Array.from({ length: 2 }, () => cached("s")), messages: [{ role: "user", content: [cached("a"), cached("b")] }] }, 200],
  ["anthropic", "a tool of Anthropic's", { tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 2 }] }, 200],
  ["anthropic", "a tool of an unknown type", { tools: [{ type: "function", function: {} }] }, /Input tag 'function'/],
  ["anthropic", "only deferred tools", { tools: [{ name: "weather", input_schema: parameters, defer_loading: true }] }, /defer_loading=false/],
  ["anthropic", "an unknown form of thinking", { thinking: { type: "on" } }, /thinking: Input tag/],
  ["anthropic", "a thinking block of another's", { messages: [user, { role: "assistant", content: [{ type: "thinking", thinking: "x", signature: "y" }] }, user] }, /Invalid `signature`/],
  ["anthropic", "both results in a message", { messages: [user, used, { role: "user", content: [result("a"), result("b")] }], tools: [{ name: "weather", input_schema: parameters }] }, 200],
  ["anthropic", "a result in a message of its own", { messages: [user, used, { role: "user", content: [result("a")] }, { role: "user", content: [result("b")] }], tools: [{ name: "weather", input_schema: parameters }] }, /without `tool_result` blocks immediately after: b/],
  ["anthropic", "text before a result", { messages: [user, used, { role: "user", content: [{ type: "text", text: "x" }, result("a"), result("b")] }], tools: [{ name: "weather", input_schema: parameters }] }, /must come first/],
  ["anthropic", "an empty text", { messages: [{ role: "user", content: "" }] }, /must be non-empty/],
  ["gemini", "a plain request", {}, 200],
    ["gemini", "an unknown member", { max_tokens: 5 }, /Unknown name \\"maxTokens\\"/],
  ["gemini", "a call with its result", { contents: [asked, content("model", call), content("user", response("weather"))], tools: [declared] }, 200],
  ["gemini", "two calls with one result", { contents: [asked, content("model", call, call), content("user", response("weather"))] }, /number of function response parts/],
  ["gemini", "a result that is a list", { contents: [asked, content("model", call), content("user", response("weather", [1]))] }, /protobuf.Struct/],
  ["gemini", "a call without signature", { contents: [asked, content("model", { functionCall: call.functionCall }), content("user", response("weather"))] }, /missing a thought_signature/],
  ["gemini", "allowed names without ANY", { tools: [declared], toolConfig: { functionCallingConfig: { mode: "AUTO", allowedFunctionNames: ["weather"] } } }, /mode is ANY or VALIDATED/],
  ["openai", "tools with an effort for gpt-5.4", { model: "gpt-5.4", tools: [WEATHER], reasoning_effort: "low" }, /Function tools with reasoning_effort are not supported for gpt-5.4/],
  ["openai", "tools for gpt-5.4, which does not think by default", { model: "gpt-5.4", tools: [WEATHER] }, 200],
  ["openai", "tools for gpt-5.6, which does", { model: "gpt-5.6-sol", tools: [WEATHER] }, /use \/v1\/responses or set reasoning_effort to 'none'/],
  ["openai", "tools for gpt-5.6 without thinking", { model: "gpt-5.6-sol", tools: [WEATHER], reasoning_effort: "none" }, 200],
  ["openai", "a name of 65 characters", { tools: [{ type: "function", function: { name: "x".repeat(65) } }] }, /tools\[0\].function.name/],
  ["openai", "the role developer", { messages: [{ role: "developer", content: "x" }, user] }, 200],
  ["anthropic", "a temperature for Opus 4.8", { model: "claude-opus-4-8", temperature: 0.2 }, /`temperature` is deprecated for this model/],
  ["anthropic", "the default temperature for Opus 4.8", { model: "claude-opus-4-8", temperature: 1 }, 200],
  ["anthropic", "a temperature for Sonnet 4.6", { model: "claude-sonnet-4-6", temperature: 0.2 }, 200],
  ["anthropic", "top_k for Opus 5", { model: "claude-opus-5", top_k: 5 }, /`top_k` is deprecated/],
  ["anthropic", "no thinking for Fable 5", { model: "claude-fable-5", thinking: { type: "disabled" } }, /thinking.type.disabled/],
  ["anthropic", "a budget of thinking for Opus 4.7", { model: "claude-opus-4-7", max_tokens: 2000, thinking: { type: "enabled", budget_tokens: 1024 } }, /thinking.type.enabled/],
  ["anthropic", "adaptive thinking for Sonnet 4.5", { model: "claude-sonnet-4-5", thinking: { type: "adaptive" } }, /adaptive thinking is not supported/],
  ["anthropic", "the effort xhigh for Sonnet 4.6", { model: "claude-sonnet-4-6", output_config: { effort: "xhigh" } }, /does not support effort level 'xhigh'/],
  ["anthropic", "the effort max for Sonnet 4.6", { model: "claude-sonnet-4-6", output_config: { effort: "max" } }, 200],
  ["anthropic", "an effort for Sonnet 4.5", { model: "claude-sonnet-4-5", output_config: { effort: "low" } }, /does not support the effort parameter/],
  ["anthropic", "a prefill for Opus 5", { model: "claude-opus-5", messages: [user, { role: "assistant", content: "x" }] }, /assistant message prefill/],
  ["anthropic", "a prefill for Opus 4.5", { model: "claude-opus-4-5", messages: [user, { role: "assistant", content: "x" }] }, 200],
  ["anthropic", "forced calls for Mythos 5.1", { model: "claude-mythos-5-1", tools: [{ name: "weather", input_schema: parameters }], tool_choice: { type: "any" } }, /forcing tool use is not supported/],
  ["anthropic", "a text of white space", { messages: [{ role: "user", content: "\n" }] }, /must contain non-whitespace text/],
  ["anthropic", "white space beside a text", { messages: [{ role: "user", content: [{ type: "text", text: " " }, { type: "text", text: "x" }] }] }, 200],
  ["anthropic", "an id in two turns", { messages: [user, { role: "assistant", content: used.content.slice(0, 1) }, { role: "user", content: [result("a")] }, { role: "assistant", content: used.content.slice(0, 1) }, { role: "user", content: [result("a")] }] }, /ids must be unique/],
  ["anthropic", "an image of the type image/jpg", { messages: [{ role: "user", content: [{ type: "image", source: { type: "base64", media_type: "image/jpg", data: "x" } }] }] }, /Input should be 'image\/jpeg'/],
  ["anthropic", "a name of 128 characters", { tools: [{ name: "x".repeat(128), input_schema: parameters }] }, 200],
  ["gemini", "two contents of the model, the second with a call", { contents: [asked, content("model", { text: "x" }), content("model", call), content("user", response("weather"))] }, /comes immediately after a user turn/],
  ["gemini", "a call at the beginning", { contents: [content("model", call), content("user", response("weather"))] }, /comes immediately after a user turn/],
  ["gemini", "a member beside a reference", { tools: [{ functionDeclarations: [{ name: "a", parametersJsonSchema: { type: "object", properties: { b: { $ref: "#/$defs/c", title: "x" } }, $defs: { c: { type: "string" } } } }] }] }, /alongside unsupported fields/],
  ["gemini", "propertyNames", { tools: [{ functionDeclarations: [{ name: "a", parametersJsonSchema: { type: "object", propertyNames: { type: "string" } } }] }] }, /'propertyNames' is not permitted/],
  ["deepseek", "a plain request", {}, 200],
  ["deepseek", "the role developer", { messages: [{ role: "developer", content: "x" }, user] }, /unknown variant `developer`/],
  ["deepseek", "a call without reasoning", { model: "deepseek-v4-pro", messages: [user, called("a"), answered("a")] }, /`reasoning_content` in the thinking mode must be passed back/],
  ["deepseek", "a call with its reasoning", { model: "deepseek-v4-pro", messages: [user, { ...called("a"), reasoning_content: "x" }, answered("a")] }, 200],
  ["deepseek", "parameters without a type", { tools: [{ type: "function", function: { name: "a", parameters: { properties: {} } } }] }, /got 'type: null'/],
  ["deepseek", "forced calls", { model: "deepseek-v4-pro", tools: [WEATHER], tool_choice: "required" }, /Thinking mode does not support this tool_choice/],
  ["deepseek", "a schema of the answer", { response_format: { type: "json_schema", json_schema: { name: "a", schema: parameters } } }, /response_format type is unavailable/],
  ["deepseek", "a result in parts", { messages: [user, called("a"), { ...answered("a"), content: [{ type: "text", text: "5" }] }] }, /invalid type: sequence/],
  ["qwen", "a plain request", { messages: [{ role: "system", content: "x" }, user] }, 200],
  ["qwen", "a second system message", { messages: [{ role: "system", content: "x" }, { role: "system", content: "y" }, user] }, /System message must be at the beginning/],
  ["qwen", "a later system message", { messages: [user, { role: "system", content: "x" }, user] }, /System message must be at the beginning/],
  ["qwen", "the role developer", { messages: [{ role: "developer", content: "x" }, user] }, /Unexpected message role/],
  ["mistral", "a plain request", {}, 200],
  ["mistral", "an id that is not of nine characters", { messages: [user, called("call_1"), answered("call_1")] }, /Tool call id was call_1/],
  ["mistral", "a user after a result", { messages: [user, called("123456789"), answered("123456789"), user] }, /Unexpected role 'user' after role 'tool'/],
  ["compatible", "a plain request", {}, 200],
  ["compatible", "the role developer", { messages: [{ role: "developer", content: "x" }, user] }, /unknown role `developer`/],
]) {
  test(`the stand-in ${provider}: ${what}`, async () => {
    const { status, text } = await SEND[provider](body);
    if (expected === 200) assert.equal(status, 200, text);
    else assert.ok(status === 400 && expected.test(text), text);
  });
}

// Where a rule may come from: a thread, a page, a published document, or the types of a package.
const SOURCE = /^([\w.-]+\/[\w.-]+#\d+$|https:\/\/|OpenAPI document of (OpenAI|Anthropic), \w|discovery document of Gemini v1beta, \w|types of npm [\w@/-]+ \d+\.\d+\.\d+, \w|PyPI \w+ \d+\.\d+\.\d+, \w)/;

test("each rule says what it is, how the provider answers, and where that is written", () => {
  const rows = Object.entries(TABLES).flatMap(([table, { rules }]) => rules.map((rule) => ({ ...rule, table })));
  assert.ok(rows.length > 200);
  for (const { table, id, message, source, date, models, check, members, schema } of rows) {
    const row = `${table}: ${id}`;
    assert.ok(id && message && /^20\d\d(-\d\d){0,2}$/.test(date), row);
    assert.ok(source.length > 0 && source.every((one) => SOURCE.test(one)), `${row}: ${source}`);
    assert.equal([check, members, schema].filter((one) => one !== undefined).length, 1, row);
    assert.ok(check === undefined || check in CHECKS, `${row}: no check is named ${check}`);
    assert.ok(models === undefined || FACTS.some(({ fact }) => fact === models), `${row}: models.json lacks ${models}`);
  }
  const ids = rows.map(({ table, id }) => `${table}: ${id}`);
  assert.deepEqual(ids.filter((id, at) => ids.indexOf(id) !== at), []);
  const used = new Set(rows.map(({ check }) => check));
  assert.deepEqual(Object.keys(CHECKS).filter((check) => !used.has(check)), []);
  for (const { fact, models, source, date } of FACTS) assert.ok(fact && new RegExp(models) && source.every((one) => SOURCE.test(one)) && date, fact);
  for (const [name, { source }] of Object.entries(SUBSETS)) assert.ok(source.every((one) => SOURCE.test(one)), name);
});

test("a broken rule is answered as the provider writes it", async () => {
  const answers = await Promise.all([["openai", { _2api: {} }], ["anthropic", { n: 1 }], ["gemini", { n: 1 }], ["deepseek", { tools: [] }]].map(([name, body]) => SEND[name](body)));
  assert.deepEqual(answers.map(({ text }) => JSON.parse(text)), [
    { error: { message: "Unrecognized request argument supplied: _2api", type: "invalid_request_error", param: null, code: null } },
    { type: "error", error: { type: "invalid_request_error", message: "n: Extra inputs are not permitted" }, request_id: "req_1" },
    { error: { code: 400, message: 'Invalid JSON payload received. Unknown name "n": Cannot find field.', status: "INVALID_ARGUMENT" } },
    { error: { message: "[] is too short - 'tools'", type: "invalid_request_error", param: null, code: "invalid_request_error" } },
  ]);
  assert.equal(providers.deepseek.last.rule, "deepseek: a list of tools is not empty");
  assert.equal(broken("qwen", { messages: [{ role: "system", content: "x" }] }).id, "a user speaks");
});

test("the stand-ins reject another key in their own way", async () => {
  assert.equal((await post(providers.openai, "/v1/chat/completions", {}, { authorization: "Bearer other" })).status, 401);
  assert.match((await post(providers.anthropic, "/v1/messages", {}, { "x-api-key": "other" })).text, /authentication_error/);
  assert.match((await post(providers.gemini, "/v1/models/m:generateContent?key=other", {})).text, /API_KEY_INVALID/);
});

test("a stream of Gemini's without alt=sse is a JSON array", async () => {
  const { text } = await SEND.gemini({}, "/v1beta/models/gemini-3:streamGenerateContent");
  assert.ok(JSON.parse(text).length > 1);
});

test("a stream can be cut, and the journal knows when a client has gone", async () => {
  providers.openai.script({ text: "Hello", cut: 2 });
  await assert.rejects(async () => {
    for await (const _ of await openai.chat.completions.create({ model: "m", messages: [user], stream: true }));
  });
  providers.openai.script({ text: "Hello", hold: 2 });
  for await (const _ of await openai.chat.completions.create({ model: "m", messages: [user], stream: true })) break;
  assert.equal(await providers.openai.last.closed, "aborted");
});
