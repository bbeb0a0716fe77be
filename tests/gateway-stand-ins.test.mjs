// The stand-ins of model providers that the gateway's tests use: the providers' own SDKs understand their answers, and
// they reject what the providers reject. Otherwise the gateway's tests would prove nothing.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { standIns } from "./support/providers/stand-in.mjs";

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
    await assert.rejects(anthropic.messages.create({ ...body, messages: next }), /Invalid 'signature'/);
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

const post = async (provider, path, body, headers) => {
  const reply = await fetch(`${provider.base}${path}`, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });
  return { status: reply.status, text: await reply.text() };
};
const SEND = {
  openai: (body, path = "/v1/chat/completions") => post(providers.openai, path, { model: "m", messages: [{ role: "user", content: "?" }], ...body }, { authorization: `Bearer ${providers.openai.key}` }),
  anthropic: ({ version = "2023-06-01", ...body }) =>
    post(providers.anthropic, "/v1/messages", { model: "m", max_tokens: 9, messages: [{ role: "user", content: "?" }], ...body }, { "x-api-key": providers.anthropic.key, "anthropic-version": version }),
  gemini: (body, path = "/v1beta/models/gemini-3:generateContent") => post(providers.gemini, path, { contents: [{ role: "user", parts: [{ text: "?" }] }], ...body }, { "x-goog-api-key": providers.gemini.key }),
};
const user = { role: "user", content: "?" };
const called = (id) => ({ role: "assistant", content: null, tool_calls: [{ id, type: "function", function: { name: "weather", arguments: "{}" } }] });
const answered = (id) => ({ role: "tool", tool_call_id: id, content: "5" });
const used = { role: "assistant", content: [{ type: "tool_use", id: "a", name: "weather", input: {} }, { type: "tool_use", id: "b", name: "weather", input: {} }] };
const result = (id) => ({ type: "tool_result", tool_use_id: id, content: "5" });
const declared = { functionDeclarations: [{ name: "weather", parametersJsonSchema: parameters }] };
const content = (role, ...parts) => ({ role, parts });
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
  ["anthropic", "a plain request", {}, 200],
  ["anthropic", "no max_tokens", { max_tokens: undefined }, /max_tokens: Field required/],
  ["anthropic", "an unknown member", { n: 1 }, /n: Extra inputs are not permitted/],
  ["anthropic", "a temperature above 1", { temperature: 1.5 }, /temperature: range/],
  ["anthropic", "a temperature with the newer version", { temperature: 1, version: "2026-10-21" }, /temperature: not permitted/],
  ["anthropic", "the role system in a message", { messages: [{ role: "system", content: "x" }] }, /should be 'user' or 'assistant'/],
  ["anthropic", "both results in a message", { messages: [user, used, { role: "user", content: [result("a"), result("b")] }], tools: [{ name: "weather", input_schema: parameters }] }, 200],
  ["anthropic", "a result in a message of its own", { messages: [user, used, { role: "user", content: [result("a")] }, { role: "user", content: [result("b")] }], tools: [{ name: "weather", input_schema: parameters }] }, /without 'tool_result' blocks immediately after: b/],
  ["anthropic", "text before a result", { messages: [user, used, { role: "user", content: [{ type: "text", text: "x" }, result("a"), result("b")] }], tools: [{ name: "weather", input_schema: parameters }] }, /must come first/],
  ["anthropic", "an empty text", { messages: [{ role: "user", content: "" }] }, /must be non-empty/],
  ["gemini", "a plain request", {}, 200],
  ["gemini", "snake_case", { generation_config: { max_output_tokens: 5 } }, 200],
  ["gemini", "an unknown member", { max_tokens: 5 }, /Unknown name \\"maxTokens\\"/],
  ["gemini", "a call with its result", { contents: [asked, content("model", call), content("user", response("weather"))], tools: [declared] }, 200],
  ["gemini", "two calls with one result", { contents: [asked, content("model", call, call), content("user", response("weather"))] }, /number of function response parts/],
  ["gemini", "a result that is a list", { contents: [asked, content("model", call), content("user", response("weather", [1]))] }, /protobuf.Struct/],
  ["gemini", "a call without signature", { contents: [asked, content("model", { functionCall: call.functionCall }), content("user", response("weather"))] }, /missing a thought_signature/],
  ["gemini", "allowed names without ANY", { tools: [declared], toolConfig: { functionCallingConfig: { mode: "AUTO", allowedFunctionNames: ["weather"] } } }, /mode is ANY or VALIDATED/],
]) {
  test(`the stand-in ${provider}: ${what}`, async () => {
    const { status, text } = await SEND[provider](body);
    if (expected === 200) assert.equal(status, 200, text);
    else assert.ok(status === 400 && expected.test(text), text);
  });
}

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
