// The check of requests and answers with the types of the providers' SDKs finds what is wrong with them. Otherwise that all other
// tests pass it would prove nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answerProblems } from "./support/types/answers.mjs";
import { problems } from "./support/types/check.mjs";
import { requestProblems } from "./support/types/requests.mjs";

const user = { role: "user", content: "?" };
const NOTHING = {};
const BETA = { "anthropic-beta": "mcp-client-2025-11-20" };

for (const [rules, what, body, expected, headers = NOTHING] of [
  ["chat", "a request", { model: "m", messages: [user], tools: [{ type: "function", function: { name: "a", parameters: {} } }] }, []],
  ["chat", "a member of a message", { model: "m", messages: [{ ...user, reasoning: "x" }] }, [".messages[0].reasoning: ChatCompletionUserMessageParam has no such member"]],
  ["chat", "an effort", { model: "m", messages: [user], reasoning_effort: "most" }, ['.reasoning_effort: "most" is none of "high", "low", "max", "medium", "minimal", "none", "xhigh", null']],
  ["responses", "a request", { model: "m", input: [{ type: "function_call_output", call_id: "a", output: "5" }] }, []],
  ["responses", "a call without arguments", { model: "m", input: [{ type: "function_call", call_id: "a", name: "b" }] }, [".input[0].arguments: missing in ResponseFunctionToolCall"]],
  ["anthropic", "a request", { model: "m", max_tokens: 1, messages: [user], thinking: { type: "adaptive" } }, []],
  ["anthropic", "a number for a text", { model: "m", max_tokens: 1, messages: [{ role: "user", content: [{ type: "text", text: 5 }] }] }, [".messages[0].content[0].text: 5 is not a string"]],
  ["anthropic", "servers without the beta", { model: "m", max_tokens: 1, messages: [user], mcp_servers: [] }, [".mcp_servers: MessageCreateParamsNonStreaming has no such member"]],
  ["anthropic", "servers with the beta", { model: "m", max_tokens: 1, messages: [user], mcp_servers: [] }, [], BETA],
  ["gemini", "a request", { contents: [{ role: "user", parts: [{ text: "?" }] }], generationConfig: { maxOutputTokens: 5 } }, []],
  ["gemini", "a mode", { contents: [], toolConfig: { functionCallingConfig: { mode: "SOME" } } }, ['.toolConfig.functionCallingConfig.mode: "SOME" is none of "ANY", "AUTO", "MODE_UNSPECIFIED", "NONE", "VALIDATED"']],
  ["deepseek", "what has no SDK of its own", { anything: 1 }, []],
]) {
  test(`a request to ${rules}: ${what}`, () => assert.deepEqual(requestProblems(rules, body, headers), expected));
}

const completion = { id: "a", object: "chat.completion", created: 1, model: "m", choices: [{ index: 0, finish_reason: "stop", logprobs: null, message: { role: "assistant", content: "x", refusal: null } }] };
const event = (value) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
for (const [format, what, type, text, expected] of [
  ["chat", "an answer with a member of its own", "application/json", JSON.stringify({ ...completion, _2api: {} }), []],
  ["chat", "a reason to stop", "application/json", JSON.stringify({ ...completion, choices: [{ ...completion.choices[0], finish_reason: "done" }] }), ['.choices[0].finish_reason: "done" is none of "content_filter", "function_call", "length", "stop", "tool_calls"']],
  ["responses", "an event without its item", "text/event-stream", event({ type: "response.output_text.delta", delta: "x", content_index: 0, output_index: 0, sequence_number: 1, logprobs: [] }), ["response.output_text.delta .item_id: missing in ResponseTextDeltaEvent"]],
  ["messages", "a delta of a text", "text/event-stream", event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "x" } }), []],
  ["messages", "a delta without a text", "text/event-stream", event({ type: "content_block_delta", index: 0, delta: { type: "text_delta" } }), ["content_block_delta .delta.text: missing in TextDelta"]],
]) {
  test(`an answer of ${format}: ${what}`, () => assert.deepEqual(answerProblems(format, type, text), expected));
}

test("a name that is no type is an error", () => assert.throws(() => problems("nothing", {}), /no type is named nothing/));
