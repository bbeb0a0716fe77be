// What a tool can do other than return a value (docs/TOOLS.md), over HTTP, with the fixtures of MCP's
// conformance suite. docs/PROTOCOLS.md lists the clauses.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { events } from "./support/contract.mjs";
import * as mcp from "./support/mcp.mjs";
import { CANARY, start } from "./support/worker.mjs";

let worker, keyless;
before(async () => {
  const vars = { STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes` };
  [worker, keyless] = await Promise.all([start("target/mcp", { vars }), start("target/mcp")]);
});
after(() => Promise.all([worker.close(), keyless.close()]));

const STREAM = { accept: "application/json, text/event-stream" };
const LEVEL = "io.modelcontextprotocol/logLevel";
const ALL = { elicitation: {}, sampling: {}, roots: {} };
const tool = (name, more) => ({ name: `test_${name}`, arguments: {}, ...more });
const call = (name, more, options) => mcp.modern(worker, "tools/call", tool(name, more), options);

/** The notifications in a response, and its reply. */
function parse(reply) {
  if (reply.headers["content-type"] === "application/json") return { notes: [], reply: reply.json };
  assert.equal(reply.headers["x-accel-buffering"], "no");
  const notes = events(reply.text);
  return { reply: notes.pop(), notes: notes.map(({ method, params }) => [method, params.progress ?? params.data]) };
}

const PROGRESS = [0, 50, 100].map((done) => ["notifications/progress", done]);
const NOTES = ["Tool execution started", "Tool processing data", "Tool execution completed"].map((note) => ["notifications/message", note]);

for (const [what, era, name, _meta, headers, notes] of [
  ["requested progress", mcp.modern, "tool_with_progress", { progressToken: "p" }, STREAM, PROGRESS],
  ["requested progress", mcp.legacy, "tool_with_progress", { progressToken: 7 }, STREAM, PROGRESS],
  ["progress that was not requested", mcp.modern, "tool_with_progress", {}, STREAM, []],
  ["progress for a client that accepts no stream", mcp.modern, "tool_with_progress", { progressToken: "p" }, {}, []],
  ["requested log messages", mcp.modern, "tool_with_logging", { [LEVEL]: "info" }, STREAM, NOTES],
  ["log messages below the requested level", mcp.modern, "tool_with_logging", { [LEVEL]: "warning" }, STREAM, []],
  ["log messages that were not requested", mcp.modern, "logging_tool", {}, STREAM, []],
  ["log messages", mcp.legacy, "tool_with_logging", {}, STREAM, NOTES],
  ["log messages for a client that accepts no stream", mcp.legacy, "tool_with_logging", {}, {}, []],
]) {
  test(`MC50 ${era.name}: ${what}`, async () => {
    const answer = parse(await era(worker, "tools/call", tool(name, { _meta }), { headers }));
    assert.deepEqual(answer.notes, notes);
    assert.equal(answer.reply.result.content.length, 1);
  });
}

const text = (words) => [{ type: "text", text: words }];
const sampled = (words) => ({ role: "assistant", content: { type: "text", text: words }, model: "m" });
const form = (content) => ({ action: "accept", content });
const ROOTS = { roots: [{ uri: "file:///a" }, { uri: "file:///b" }] };

for (const [name, answers, words] of [
  ["elicitation", { user_name: form({ name: "Ada" }) }, "Hello, Ada!"],
  ["sampling", { capital_question: sampled("Paris") }, "Paris"],
  ["list_roots", { client_roots: ROOTS }, "Roots: file:///a, file:///b"],
  ["request_state", { confirm: form({ ok: true }) }, "asked: state-ok, confirmed: true"],
  [
    "multiple_inputs",
    { user_name: form({ name: "Ada" }), greeting: sampled("Hi"), client_roots: ROOTS },
    "Hi, Ada! Roots: file:///a, file:///b",
  ],
]) {
  test(`MC52 a tool asks and gets a response: ${name}`, async () => {
    const ask = (more) => call(`input_required_result_${name}`, more, { can: ALL });
    const { inputRequests, requestState } = (await ask()).json.result;
    assert.deepEqual(Object.keys(inputRequests).sort(), Object.keys(answers).sort());
    const { result } = (await ask({ inputResponses: answers, requestState })).json;
    assert.deepEqual([result.resultType, result.content], ["complete", text(words)]);
  });
}

test("MC52 a tool asks in rounds, reports progress, and a user may decline", async () => {
  const rounds = (more) => call("input_required_result_multi_round", more, { can: ALL });
  const first = (await rounds()).json.result;
  const step1 = { inputResponses: { step1: form({ name: "Ada" }) }, requestState: first.requestState };
  const second = (await rounds(step1)).json.result;
  assert.notEqual(second.requestState, first.requestState);
  const step2 = { inputResponses: { step2: form({ color: "red" }) }, requestState: second.requestState };
  assert.deepEqual((await rounds(step2)).json.result.content, text("Ada: red"));
  const streamed = await call("streaming_elicitation", { _meta: { progressToken: 1 } }, { can: ALL, headers: STREAM });
  const { notes, reply } = parse(streamed);
  assert.deepEqual([notes, reply.result.resultType], [[["notifications/progress", 1]], "input_required"]);
  const declined = await call("input_required_result_elicitation", { inputResponses: { user_name: { action: "decline" } } }, { can: ALL });
  assert.deepEqual([declined.json.result.isError, declined.json.result.content], [true, text("The user declined to answer")]);
});

for (const [what, can, required] of [
  ["no forms", { elicitation: { url: {} } }, { elicitation: { form: {} } }],
  ["nothing", {}, { elicitation: { form: {} } }],
]) {
  test(`MC52 a client that supports ${what} learns what it lacks`, async () => {
    const { status, json } = await call("input_required_result_elicitation", {}, { can });
    assert.deepEqual([status, json.error.code, json.error.data], [400, -32021, { requiredCapabilities: required }]);
  });
}

test("MC53 a state is accepted for the same call only, and needs a key", async () => {
  const ask = (more, name = "request_state") => call(`input_required_result_${name}`, more, { can: ALL });
  const { requestState } = (await ask()).json.result;
  const inputResponses = { confirm: form({ ok: true }) };
  for (const [state, name] of [[`${requestState}x`], [requestState, "tampered_state"], ["a.b"]]) {
    assert.equal((await ask({ inputResponses, requestState: state }, name)).json.error.code, -32602);
  }
  const without = await mcp.modern(keyless, "tools/call", tool("input_required_result_request_state"), { can: ALL });
  assert.deepEqual([without.status, without.json.error.code], [503, -32603]);
  const stateless = await mcp.modern(keyless, "tools/call", tool("input_required_result_elicitation"), { can: ALL });
  assert.equal(stateless.json.result.resultType, "input_required", "a question without state needs no key");
});

for (const [name, types] of [
  ["simple_text", ["text"]],
  ["image_content", ["image"]],
  ["audio_content", ["audio"]],
  ["embedded_resource", ["resource"]],
  ["multiple_content_types", ["text", "image", "resource"]],
]) {
  test(`MC54 content: ${name}`, async () => {
    for (const era of [mcp.legacy, mcp.modern]) {
      const { result } = (await era(worker, "tools/call", tool(name))).json;
      assert.deepEqual(result.content.map(({ type }) => type), types);
      assert.equal(result.structuredContent, undefined);
    }
    const { tools } = (await mcp.modern(worker, "tools/list")).json.result;
    assert.equal(tools.find((one) => one.name === `test_${name}`).outputSchema, undefined);
  });
}

test("MC55 prompts: a tool provides their messages, and may ask first", async () => {
  for (const era of [mcp.legacy, mcp.modern]) {
    const { prompts } = (await era(worker, "prompts/list")).json.result;
    assert.ok(prompts.some(({ name }) => name === "test_prompt_with_image"));
    const get = async (name, args, can) => (await era(worker, "prompts/get", { name, arguments: args }, { can })).json;
    const types = ({ result }) => result.messages.map(({ role, content }) => [role, content.type]);
    assert.deepEqual(types(await get("test_prompt_with_image", {})), [["user", "image"], ["user", "text"]]);
    const resourceUri = "test://a";
    assert.deepEqual(types(await get("test_prompt_with_embedded_resource", { resourceUri })), [["user", "resource"], ["user", "text"]]);
    assert.equal((await get("test_prompt_with_embedded_resource", {})).error.code, -32602);
  }
  const name = "test_input_required_result_prompt";
  const ask = (more) => mcp.modern(worker, "prompts/get", { name, ...more }, { can: ALL });
  assert.equal((await ask()).json.result.resultType, "input_required");
  const { result } = (await ask({ inputResponses: { user_context: form({ context: "here" }) } })).json;
  assert.deepEqual(result.messages[0].content, text("The context is: here")[0]);
});

test("MC56 resources: text, bytes, and the value of a tool for a URI", async () => {
  for (const era of [mcp.legacy, mcp.modern]) {
    const read = async (uri) => (await era(worker, "resources/read", { uri })).json;
    for (const [uri, mimeType, member] of [
      ["test://static-text", "text/plain", "text"],
      ["test://static-binary", "image/png", "blob"],
      ["test://template/12/data", "application/json", "text"],
      ["test://files/text/a/b%20c/d", "application/json", "text"],
    ]) {
      const [one] = (await read(uri)).result.contents;
      assert.deepEqual([one.uri, one.mimeType, typeof one[member]], [uri, mimeType, "string"]);
    }
    const made = (await read("test://template/12/data")).result;
    assert.equal(JSON.parse(made.contents[0].text).id, "12");
    if (era === mcp.modern) assert.deepEqual([made.ttlMs, made.cacheScope], [0, "private"], "a value is not cached");
    assert.equal(JSON.parse((await read("test://files/text/a/b%20c/d")).result.contents[0].text).id, "a/b c/d", "{+id} is the rest");
    for (const uri of ["test://template//data", "test://template/1/2/data", "test://files/text/", "test://files/other/a", "test://none"]) {
      assert.deepEqual((await read(uri)).error.data, { uri });
    }
    const { resources } = (await era(worker, "resources/list")).json.result;
    assert.ok(resources.some(({ uri }) => uri === "test://static-binary"));
    const { resourceTemplates } = (await era(worker, "resources/templates/list")).json.result;
    assert.ok(resourceTemplates.some(({ uriTemplate }) => uriTemplate === "test://template/{id}/data"));
  }
});

test("MC69 completion: the values of a template's parameter, or what a tool finds", async () => {
  const complete = async (era, name, value, args) => {
    const params = { ref: { type: "ref/resource", uri: "test://files/{kind}/{+id}" }, argument: { name, value }, ...(args && { context: { arguments: args } }) };
    return (await era(worker, "completion/complete", params)).json.result.completion.values;
  };
  for (const era of [mcp.legacy, mcp.modern]) {
    assert.deepEqual(await complete(era, "kind", "I"), ["image"]);
    assert.deepEqual(await complete(era, "id", "x", { kind: "text", other: "y" }), ["text/x/1", "text/x/2"]);
    assert.deepEqual(await complete(era, "id", "x"), [], "the tool needs the kind first");
  }
});

test("MC57 in other protocols: blocks are JSON, log messages are dropped, and questions are rejected", async () => {
  const value = async (id) => (await worker.call(`test.${id}`, {})).json.value;
  assert.deepEqual(await value("simple_text"), text("This is a simple text response for testing."));
  assert.deepEqual(await value("tool_with_progress"), text("All steps are done."));
  const asks = await worker.call("test.input_required_result_elicitation", {});
  assert.equal(asks.status, 400, asks.text);
  const legacy = await mcp.legacy(worker, "tools/call", tool("input_required_result_elicitation"));
  assert.equal(legacy.json.result.isError, true);
});
