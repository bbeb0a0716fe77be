// The conversations of the playground's chat, against a server that is a list of responses.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Conversation } from "../site/src/playground/conversation.ts";
import { setCredential } from "../site/src/credential.ts";

const CHAT = "/v1/chat/completions";
const CALL = "/providers/openai/call";
const TOOLS = "/providers/openai/tools?skip_incompatible=true";
const TOOL = { type: "function", function: { name: "GitHub_CreateIssue" } };

const stream = (...data) => new Response(data.map((one) => `data: ${one}\n\n`).join(""));
const chunk = (delta) => JSON.stringify({ choices: [{ delta }] });
const says = (content) => stream(chunk({ content }), "[DONE]");
const calls = (...ids) => stream(chunk({ tool_calls: ids.map((id, index) => ({ index, id, function: { name: "GitHub_CreateIssue", arguments: "{}" } })) }), "[DONE]");
const cutOff = () => stream(chunk({ content: "The issue" }));
const result = (id) => ({ role: "tool", tool_call_id: id, content: `result of ${id}` });
const rejection = (status) => Response.json({ error: { message: "Too many requests" } }, { status });
const question = (content) => ({ role: "user", content });
const asks = (...ids) => ({ role: "assistant", content: null, tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "GitHub_CreateIssue", arguments: "{}" } })) });

/**
 * A conversation with a server whose model answers with `answers`. `tools` are its responses with the list of tools. Every call has a
 * result. `requests` has the path and the body of each request.
 */
function conversation(context, { answers, tools = () => Response.json([TOOL]), approve = async () => true }) {
  const requests = [];
  context.mock.method(globalThis, "fetch", async (path, { body, signal } = {}) => {
    signal?.throwIfAborted();
    const json = body && JSON.parse(body);
    requests.push({ path, json });
    if (path === TOOLS) return tools();
    if (path === CHAT) return answers.shift()();
    return Response.json({ messages: json.tool_calls.map(({ id }) => result(id)) });
  });
  const sent = (path) => requests.filter((request) => request.path === path).map(({ json }) => json);
  return { chat: new Conversation(() => {}, approve), sent };
}

const controller = () => new AbortController();

test("what a call did stays in the conversation when the answer to it breaks off", async (context) => {
  for (const broken of [cutOff, () => rejection(429)]) {
    const { chat, sent } = conversation(context, { answers: [() => calls("1"), broken, () => says("It exists.")] });
    await assert.rejects(chat.ask("model", "Create an issue", controller().signal));
    await chat.ask("model", "continue", controller().signal);
    assert.deepEqual(sent(CHAT).at(-1).messages, [question("Create an issue"), asks("1"), result("1"), question("continue")]);
    assert.equal(sent(CALL).length, 1);
    context.mock.reset();
  }
});

test("an answer has its tokens, and its cost if the gateway says it", async (context) => {
  const report = (more) => stream(chunk({ content: "Hello" }), JSON.stringify({ choices: [{ delta: {}, finish_reason: "stop" }], _2api: more }), "[DONE]");
  for (const [more, expected] of [
    [{ usage: { input_tokens: 12, output_tokens: 3 }, cost: 0.5 }, { model: "model", tokens: { input: 12, output: 3 }, cost: 0.5 }],
    [{ usage: { input_tokens: 12, output_tokens: 3 } }, { model: "model", tokens: { input: 12, output: 3 } }],
    [{}, { model: "model" }],
    [undefined, { model: "model" }],
  ]) {
    const { chat } = conversation(context, { answers: [() => report(more)] });
    await chat.ask("model", "Hello", controller().signal);
    const { duration, ...took } = chat.turns.at(-1).took;
    assert.ok(duration >= 0);
    assert.deepEqual(took, expected);
    context.mock.reset();
  }
});

test("a model that calls tools in every round is stopped, and its calls stay in the conversation", async (context) => {
  const rounds = Array.from({ length: 8 }, (_, index) => () => calls(`${index}`));
  const { chat, sent } = conversation(context, { answers: [...rounds, () => says("Done.")] });
  await assert.rejects(chat.ask("model", "Create issues", controller().signal), /after 8 rounds/);
  await chat.ask("model", "continue", controller().signal);
  assert.equal(sent(CHAT).at(-1).messages.filter(({ role }) => role === "tool").length, 8);
});

test("the calls of a round that was stopped: the model learns which of them ran", async (context) => {
  const asked = Promise.withResolvers();
  const decisions = [true, false];
  const approve = async () => decisions.shift() ?? new Promise(asked.resolve);
  const { chat, sent } = conversation(context, { answers: [() => calls("1", "2", "3", "4"), () => says("Only one.")], approve });
  const stop = controller();
  const answer = chat.ask("model", "Create issues", stop.signal);
  await asked.promise;
  stop.abort();
  await assert.rejects(answer, { name: "AbortError" });
  assert.deepEqual(chat.turns.at(-1).calls.map(({ state }) => state), ["done", "rejected", "stopped", "stopped"]);
  await chat.ask("model", "continue", controller().signal);
  const results = sent(CHAT).at(-1).messages.filter(({ role }) => role === "tool");
  assert.deepEqual(results.map(({ tool_call_id }) => tool_call_id), ["1", "2", "3", "4"]);
  assert.deepEqual(results[0], result("1"));
  assert.match(results[1].content, /^Error: the user rejected/);
  for (const { content } of results.slice(2)) assert.match(content, /^Error: .*before it ran/);
});

test("two calls with the same id: each runs only if the user approves it", async (context) => {
  const decisions = [true, false];
  const { chat, sent } = conversation(context, { answers: [() => calls("1", "1"), () => says("One.")], approve: async () => decisions.shift() });
  await chat.ask("model", "Create an issue", controller().signal);
  assert.deepEqual(sent(CALL).map(({ tool_calls }) => tool_calls), [asks("1").tool_calls]);
  assert.deepEqual(chat.turns.at(-2).calls.map(({ state }) => state), ["done", "rejected"]);
});

test("a call without a response may have run, and the model learns that", async (context) => {
  const { chat, sent } = conversation(context, { answers: [() => calls("1"), () => says("I cannot tell.")] });
  const { fetch } = globalThis;
  context.mock.method(globalThis, "fetch", (path, init) => (path === CALL ? Promise.reject(new TypeError("Failed to fetch")) : fetch(path, init)));
  await assert.rejects(chat.ask("model", "Create an issue", controller().signal), /Failed to fetch/);
  await chat.ask("model", "continue", controller().signal);
  assert.match(sent(CHAT).at(-1).messages[2].content, /^Error: .*may have run/);
});

test("a question without an answer is not in the conversation", async (context) => {
  const { chat, sent } = conversation(context, { answers: [cutOff, () => says("Hello.")] });
  await assert.rejects(chat.ask("model", "Hi", controller().signal), /cut off/);
  await chat.ask("model", "Hello?", controller().signal);
  assert.deepEqual(sent(CHAT).at(-1).messages, [question("Hello?")]);
});

test("stopping a chat while a call waits for approval: the tool does not run", async (context) => {
  const asked = Promise.withResolvers();
  const approval = Promise.withResolvers();
  const approve = () => {
    asked.resolve();
    return approval.promise;
  };
  const { chat, sent } = conversation(context, { answers: [() => calls("1")], approve });
  const stop = controller();
  const answer = chat.ask("model", "What is 1 + 1?", stop.signal);
  await asked.promise;
  stop.abort();
  await assert.rejects(answer, { name: "AbortError" });
  assert.equal(chat.turns.at(-1).calls[0].state, "stopped");
  approval.resolve(true);
  await new Promise((later) => setTimeout(later, 20));
  assert.deepEqual(sent(CALL), []);
});

test("without the list of tools nothing is asked, and the next question asks for it again", async (context) => {
  const lists = [() => rejection(429), () => Response.json([TOOL])];
  const { chat, sent } = conversation(context, { answers: [() => says("Hello.")], tools: () => lists.shift()() });
  await assert.rejects(chat.ask("model", "Hi", controller().signal), { message: "Too many requests" });
  assert.deepEqual(sent(CHAT), []);
  assert.equal(chat.turns[0].text, "Hi");
  await chat.ask("model", "Hi", controller().signal);
  assert.deepEqual(sent(CHAT).map(({ messages, tools }) => [messages, tools]), [[[question("Hi")], [TOOL]]]);
});

test("the list of tools is that of the current key", async (context) => {
  const lists = [[TOOL], []];
  const answers = Array.from({ length: 3 }, () => () => says("Hello."));
  const { chat, sent } = conversation(context, { answers, tools: () => Response.json(lists.shift()) });
  await chat.ask("model", "Hi", controller().signal);
  await chat.ask("model", "Hi", controller().signal);
  setCredential({ secret: "canary-of-another-key" });
  await chat.ask("model", "Hi", controller().signal);
  assert.deepEqual(sent(CHAT).map(({ tools }) => tools), [[TOOL], [TOOL], undefined]);
  assert.equal(sent(TOOLS).length, 2);
});
