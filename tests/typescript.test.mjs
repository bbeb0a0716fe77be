// Tools in TypeScript (tests/bindings/script): the same pipeline as for those in Rust, and the members of their context.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { pathSegment, ToolError } from "../packages/toolbooth/src/tools.js";
import { events } from "./support/contract.mjs";
import * as mcp from "./support/mcp.mjs";
import { BINDINGS, CANARY, start } from "./support/worker.mjs";

let worker, deployed, service, url;
const vars = { PLATFORM_KEY: `${CANARY}-key`, SCRIPT_CITY: "Oslo", STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes` };
before(async () => {
  service = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => service.once("listening", resolve));
  url = `http://127.0.0.1:${service.address().port}`;
  [worker, deployed] = await Promise.all([start(BINDINGS, { vars: { ...vars, DEVELOPMENT: "true" } }), start(BINDINGS, { vars, kv: "failing" })]);
});
after(async () => {
  service.closeAllConnections();
  service.close();
  await Promise.all([worker.close(), deployed.close()]);
});

/** A service; `/slow` does not answer. */
function answer(request, response) {
  const { pathname } = new URL(request.url, "http://service");
  if (pathname === "/slow") return;
  if (pathname === "/moved") response.writeHead(302, { location: "/" });
  if (pathname === "/empty") response.writeHead(204);
  if (pathname === "/broken") return response.socket.destroy();
  response.end(pathname === "/long" ? "x".repeat(2000) : pathname === "/empty" ? undefined : `${request.method} ${request.headers.traceparent ?? "untraced"}`);
}

const outcome = ({ status, json }) => (status === 200 && json.success ? json.value : (json.error ?? { status, ...json }));
const probe = async (action, any, on = worker, rest) => outcome(await on.call("Script.Probe", { do: action, ...(any !== undefined && { any }) }, rest));

for (const [tool, input, expected] of [
  ["Greet", { name: "Ada" }, "Hello, Ada"],
  ["Greet", { name: "Ada", greeting: "Good morning", marks: 2 }, "Good morning, Ada!!"],
  ["Probe", { do: "return", any: [1, "é\n", null, { a: 1.5 }] }, [1, "é\n", null, { a: 1.5 }]],
  ["Probe", { do: "return at once", any: "x" }, "x"],
  ["Probe", { do: "nothing" }, null],
  // Neither tokens nor secrets.
  ["Probe", { do: "show context" }, "{}"],
  ["Probe", { do: "odd notes" }, "done"],
  // What is not Unicode becomes the replacement character, as in every text that leaves JavaScript.
  ["Probe", { do: "half a pair" }, { "\ufffd": ["\ufffd", "\ufffd\ufffdb", "\\ud83d", "\\\ufffd", "😀"] }],
  ["Probe", { do: "half a pair in an error" }, { message: "a\ufffd", can_retry: true, additional_prompt_content: "\ufffd" }],
]) {
  test(`a value: ${tool} ${JSON.stringify(input)}`, async () => {
    assert.deepEqual(outcome(await worker.call(`Script.${tool}`, input)), expected);
  });
}

test("a function runs in steps, as a task or within the call", async () => {
  const body = JSON.stringify({ steps: 5 });
  const post = (headers) => fetch(`${worker.address}/rest/Script_Steps`, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });
  assert.deepEqual(await (await post({})).json(), [0, 1, 2, 3, 4]);
  const begun = await post({ prefer: "respond-async" });
  assert.equal(begun.status, 202);
  let task = await begun.json();
  while (task.status === "working") task = await (await fetch(`${worker.address}/tasks/${task.id}`)).json();
  assert.deepEqual([task.status, task.value, task.message], ["completed", [0, 1, 2, 3, 4], "5 of 5"]);
});

test("the input is validated before the function runs", async () => {
  const { json } = await worker.call("Script.Greet", { name: "Ada", marks: 4 });
  assert.deepEqual(json.parameter_errors, { marks: "Must be at most 3" });
});

for (const [options, expected] of [
  [undefined, { message: "It does not work", can_retry: false }],
  [{ prompt: "Use 1" }, { message: "It does not work", can_retry: true, additional_prompt_content: "Use 1" }],
  [{ retryAfter: 1500 }, { message: "It does not work", can_retry: true, retry_after_ms: 1500 }],
  [{ retryAfter: null, detail: 0 }, { message: "It does not work", can_retry: false, developer_message: "0" }],
  [{ retryable: true, detail: "d" }, { message: "It does not work", can_retry: true, developer_message: "d" }],
  [{ prompt: 7, retryAfter: "soon" }, { message: "It does not work", can_retry: true, additional_prompt_content: "7" }],
]) {
  test(`a ToolError with ${JSON.stringify(options)}`, async () => assert.deepEqual(await probe("error", options), expected));
}

test("what a function throws is a crash: its text is neither in the response nor, deployed, in the log", async () => {
  const error = {
    message: "The tool failed",
    developer_message: "Script.Probe@1.0.0: it crashed; the server's log has the details",
    can_retry: false,
  };
  for (const action of ["throw", "throw at once", "recurse", "number", "circular state"]) {
    const { status, json } = await deployed.call("Script.Probe", { do: action, any: "s3cret" });
    assert.deepEqual([status, json.success, json.error], [200, false, error], action);
  }
  const lines = (await deployed.logs()).filter(({ message }) => message.includes("tool_crashed"));
  assert.deepEqual(lines.map(({ level }) => level), Array(5).fill("error"));
  const problems = lines.map(({ message }) => JSON.parse(message).problem);
  assert.match(problems[0], /^RangeError\n\s+at /);
  assert.equal(problems[1], "a value of type string was thrown");
  assert.ok(!problems.join().includes("s3cret"));
  assert.ok(!problems.join().includes("wasm"), "the frames of the server say nothing about the tool");
});

test("a developer sees the text of a crash in the log", async () => {
  await probe("throw", "x");
  const [{ message }] = (await worker.logs()).filter(({ message }) => message.includes("tool_crashed"));
  assert.match(JSON.parse(message).problem, /^RangeError: the input is x\n\s+at (?:(?!wasm).)*$/s);
});

test("a function that ends the process or never returns fails its own call, and the server goes on", async (t) => {
  const limited = await start(BINDINGS, { vars: { ...vars, TOOL_TIMEOUT_MS: "50" } });
  t.after(() => limited.close());
  for (const [action, message] of [
    ["exit", "The tool failed"],
    ["exit later", "The tool failed"],
    ["never", "The tool did not respond in time"],
  ]) {
    const [failed, other] = await Promise.all([probe(action, undefined, limited), probe("return", action, limited)]);
    assert.deepEqual([failed.message, other], [message, action]);
    assert.equal((await limited.get("/health")).status, 200);
  }
  const events = (await limited.logs()).map(({ message }) => JSON.parse(message)).filter(({ tool }) => tool);
  assert.deepEqual(events.map(({ event }) => event), ["tool_crashed", "tool_crashed", "tool_timeout"]);
});

test("a segment of a path stays one", () => {
  assert.equal(pathSegment("a/../b?c#d"), "a%2F..%2Fb%3Fc%23d");
  for (const text of ["", ".", ".."]) assert.throws(() => pathSegment(text), ToolError);
});

test("other calls survive a crash, and what a function left behind", async () => {
  const slow = probe("fetch", { url: `${url}/slow`, timeout: 1000 });
  assert.equal((await probe("throw", "x")).message, "The tool failed");
  assert.equal(await probe("forget"), "forgotten");
  assert.equal((await slow).message, "The service did not respond in time");
});

for (const [path, init, expected] of [
  ["/", {}, { status: 200, type: null, text: "GET untraced" }],
  ["/", { method: "POST", body: "a" }, { status: 200, type: null, text: "POST untraced" }],
  ["/long", { method: "HEAD", maxBytes: 1999 }, { status: 200, type: null, text: "" }],
  ["/empty", {}, { status: 204, type: null, text: "" }],
  ["/moved", {}, { status: 302, type: null, text: "GET untraced" }],
  ["/moved", { redirect: "follow" }, { status: 302, type: null, text: "GET untraced" }],
  ["/long", { maxBytes: 1999 }, { message: "The service's response was too large", can_retry: false }],
  ["/slow", { timeout: 50 }, { message: "The service did not respond in time", can_retry: false }],
  ["/broken", {}, { message: "The service could not be reached", can_retry: false }],
]) {
  test(`fetch ${path} ${JSON.stringify(init)}`, async () => assert.deepEqual(await probe("fetch", { url: url + path, ...init }), expected));
}

test("a request belongs to the trace of the call", async () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const input = { do: "fetch", any: { url } };
  const { json } = await worker.post({ tool_id: "Script.Probe", input }, { headers: { traceparent } });
  assert.match(json.value.text, /^GET 00-0af7651916cd43dd8448eb211c80319c-/);
});

test("the store has the keys of the toolkit", async () => {
  const store = (method, ...args) => probe("store", { method, args });
  assert.equal(await store("get", "a"), null);
  const value = { text: "é\n", list: [1.5, null] };
  assert.equal(await store("put", "b:1", value), null);
  const before = Date.now() / 1000;
  await store("put", "b:2", 2, { expirationTtl: 1 });
  assert.deepEqual(await store("get", "b:1"), value);
  const kv = await worker.namespace("KV");
  assert.deepEqual(await kv.get("tool:Script:b:1", "json"), value);
  const { keys } = await kv.list({ prefix: "tool:Script:b:2" });
  assert.ok(keys[0].expiration > before + 50);
  assert.deepEqual(await store("list", "b:"), { keys: ["b:1", "b:2"] });
  await store("delete", "b:1");
  assert.deepEqual(await store("list"), { keys: ["b:2"] });
  await kv.put("tool:Script:bad", "{");
  const failed = { message: "The tool's storage failed", can_retry: true };
  assert.deepEqual(await store("get", "bad"), failed);
  assert.deepEqual(await probe("store", { method: "get", args: ["a"] }, deployed), failed);
  const [{ message }] = (await deployed.logs()).filter(({ message }) => message.includes('"store"'));
  assert.equal(JSON.parse(message).problem, "KV GET failed: 500 Internal Server Error");
});

test("tokens, secrets, variables and the user of the call, and no other's", async () => {
  const context = {
    user_id: "ada",
    authorization: [{ id: "github", token: `${CANARY}-token` }, { id: "mail", token: CANARY }],
    secrets: [{ id: "PIN", value: `${CANARY}-pin` }, { id: "PLATFORM_KEY", value: "forged" }],
  };
  const call = (input) => worker.call("Script.Private", input, { context });
  const expected = { user: "ada", token: `${CANARY}-token`, secrets: [`${CANARY}-pin`, `${CANARY}-key`], city: "Oslo" };
  assert.deepEqual(outcome(await call({})), expected);
  assert.equal((await worker.call("Script.Private", {})).status, 400);
  const refused = await call({ refuse: true });
  assert.notEqual(refused.status, 200);
  assert.match(refused.text, /github/);
  // Nothing that the definition does not list.
  assert.equal((await probe("secret", "PLATFORM_KEY", worker, { context })).message, "The tool failed");
  assert.equal(await probe("user"), null);
});

test("the environment of the Worker", async () => {
  assert.equal(await probe("env", "KV"), "object");
});

test("progress and log messages for the client, warnings for the operator", async () => {
  const _meta = { progressToken: "p", "io.modelcontextprotocol/logLevel": "info" };
  const headers = { accept: "application/json, text/event-stream" };
  const reply = await mcp.modern(worker, "tools/call", { name: "Script_Probe", arguments: { do: "notify" }, _meta }, { headers });
  const notes = events(reply.text).slice(0, -1).map(({ params }) => [params.progress ?? params.level, params.message ?? params.data]);
  assert.deepEqual(notes, [[1, "step 1"], [2, "step 2"], ["warning", "careful"]]);
  const [{ level, message }] = (await worker.logs()).filter(({ message }) => message.includes('"slow"'));
  assert.deepEqual([level, JSON.parse(message)], ["warn", { event: "slow", tool: "Script.Probe@1.0.0", service: "orders" }]);
});

test("questions, answers and the state between them", async () => {
  const call = async (more, can = { elicitation: { form: {} } }) =>
    (await mcp.modern(worker, "tools/call", { name: "Script_Probe", arguments: { do: "ask" }, ...more }, { can })).json;
  const { inputRequests, requestState } = (await call()).result;
  assert.deepEqual(Object.keys(inputRequests), ["name"]);
  assert.equal(inputRequests.name.params.message, "Who is it?");
  const answer = (response) => call({ requestState, inputResponses: { name: response } });
  const { result } = await answer({ action: "accept", content: { name: "Ada" } });
  assert.deepEqual(JSON.parse(result.content[0].text), { name: "Ada", state: { round: 1 }, can: true });
  const declined = (await answer({ action: "decline" })).result;
  assert.equal(declined.isError, true);
  assert.match(declined.content[0].text, /^The user declined to answer/);
  assert.equal((await call({}, {})).error.code, -32021);
});
