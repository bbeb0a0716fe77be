// Responses in the background, with OpenAI's own SDK in front of the stand-ins of each provider: the chat goes on without its
// client, and through the end of the runtime. This process has one runtime at a time: `kill` ends all that it has.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import OpenAI from "openai";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { KEY, model, startGateway, STATE_KEY } from "./support/gateway/worker.mjs";
import { standIns } from "./support/providers/stand-in.mjs";
import { CANARY, MCP } from "./support/worker.mjs";

const OTHER = `${CANARY}-key-of-another-caller`;
const PAYING = `${CANARY}-key-with-a-budget`;
// The last one is OpenAI once more, in the format of Responses.
const PROVIDERS = ["openai", "anthropic", "gemini", "responses"];
const MODELS = JSON.stringify({
  priced: { targets: [{ provider: "openai", model: "gpt-4.1" }], price: { input: 1, output: 2 }, max_output_tokens: 100 },
});
const API_KEYS = JSON.stringify([
  { ...entryOf(KEY, "tests", ["*"]), gateway: { models: PROVIDERS.map(model) } },
  { ...entryOf(OTHER, "other", ["*"]), gateway: { models: PROVIDERS.map(model) } },
  { ...entryOf(PAYING, "paying", ["*"]), budgets: [{ window: "30d", usd: 1 }, { window: "30d", requests: 100 }] },
]);
/** How many responses of one caller may be in work. */
const MOST = 2;
const TOOL = { type: "mcp", server_label: "own", server_url: "toolbooth", allowed_tools: ["test_simple_text"], require_approval: "never" };
const CALL = { calls: [{ name: "test_simple_text", input: {} }] };

let storage, upstream, served, client, other, paying;
before(async () => {
  storage = mkdtempSync(join(tmpdir(), "background-"));
  upstream = await standIns();
  await serve();
});
after(async () => {
  await served?.worker.close();
  await upstream.close();
  rmSync(storage, { recursive: true });
});

async function serve() {
  served = await startGateway({ bundle: MCP, upstream, storage, vars: { STATE_KEY, API_KEYS, MODELS, MAX_TASKS: `${MOST}` } });
  const as = (apiKey) => new OpenAI({ apiKey, baseURL: `${served.address}/v1`, maxRetries: 0 });
  [client, other, paying] = [KEY, OTHER, PAYING].map(as);
}

const at = (provider) => upstream[provider === "responses" ? "openai" : provider];
const begin = async (provider, more = {}, by = client) => {
  const response = await by.responses.create({ model: provider && model(provider), input: "What does the tool say?", background: true, ...more });
  assert.deepEqual([response.status, response.background, response.store, response.output], ["queued", true, true, []]);
  assert.match(response.id, /^resp_[0-9a-f]{32}$/);
  return response;
};

/** Calls a function until it returns something. */
async function until(find) {
  for (;;) {
    const found = await find();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
/** The response, when it has ended. */
const ended = ({ id }, by = client) =>
  until(async () => {
    const response = await by.responses.retrieve(id);
    return !["queued", "in_progress"].includes(response.status) && response;
  });
const asked = (provider, times = 1) => until(() => at(provider).journal.length >= times);
/** The line of a chat in the log that has ended with this error. */
const logged = (error) => until(async () => (await served.worker.events()).find((one) => one.event === "chat" && one["error.type"] === error));

for (const provider of PROVIDERS) {
  test(`${provider}: a chat with a compiled-in tool`, { timeout: 300_000 }, async () => {
    at(provider).script(CALL, { text: "It is simple." });
    const { id, created_at } = await begin(provider, { tools: [TOOL], instructions: "Be brief" });
    const response = await ended({ id });
    assert.deepEqual([response.status, response.id, response.created_at, response.instructions], ["completed", id, created_at, "Be brief"]);
    assert.equal(response.output_text, "It is simple.");
    assert.match(response.output.find(({ type }) => type === "mcp_call").output, /simple text response/);
    assert.ok(response.usage.total_tokens > 0);
    assert.equal(at(provider).journal.length, 2);
    assert.deepEqual(at(provider).rejections, []);
  });
}

test("a provider that fails, and what is wrong with a request", { timeout: 300_000 }, async () => {
  at("anthropic").script({ status: 429, message: "slow down" });
  const response = await ended(await begin("anthropic"));
  assert.deepEqual([response.status, response.error.code], ["failed", "rate_limit_exceeded"]);
  assert.match(response.error.message, /slow down/);
  const rejected = (more, param) => assert.rejects(client.responses.create({ model: model("openai"), input: "hi", background: true, ...more }), { status: 400, param });
  await rejected({ stream: true }, "stream");
  await rejected({ store: false }, "store");
  await assert.rejects(client.responses.retrieve(response.id, { stream: true }), { status: 400, param: "stream" });
});

test("a chat goes on when its client has gone, and ends with the runtime: it is not asked for twice", { timeout: 300_000 }, async () => {
  at("openai").script({ hang: true });
  const { id } = await begin("openai");
  await asked("openai");
  assert.equal((await client.responses.retrieve(id)).status, "in_progress");
  await served.worker.kill();
  at("openai").script({ text: "It was asked again." });
  await serve();
  const response = await ended({ id });
  assert.deepEqual([response.status, response.error.code], ["failed", "server_error"]);
  assert.match(response.error.message, /restarted/);
  assert.deepEqual(at("openai").journal, []);
});

test("a response that has ended is there after a restart", { timeout: 300_000 }, async () => {
  at("gemini").script({ text: "Kept" });
  const { id } = await begin("gemini");
  await ended({ id });
  await served.worker.kill();
  await serve();
  assert.equal((await client.responses.retrieve(id)).output_text, "Kept");
});

test("a chat that is cancelled asks no model and runs no tool afterwards", { timeout: 300_000 }, async () => {
  const held = Promise.withResolvers();
  at("anthropic").script(() => held.promise, { text: "It went on." });
  const { id } = await begin("anthropic", { tools: [TOOL] });
  await asked("anthropic");
  for (let time = 0; time < 2; time += 1) assert.equal((await client.responses.cancel(id)).status, "cancelled");
  held.resolve(CALL);
  await logged("client_closed_request");
  assert.equal(at("anthropic").journal.length, 1);
  const response = await client.responses.retrieve(id);
  assert.deepEqual([response.status, response.output], ["cancelled", []]);
  assert.deepEqual((await served.worker.events()).filter(({ event }) => event === "call"), []);
});

test("chats that are cancelled or deleted count until the provider has answered", { timeout: 300_000 }, async () => {
  const held = Promise.withResolvers();
  const hold = () => held.promise;
  at("openai").script(hold, hold, { text: "There is room again." });
  const stopped = [];
  for (let count = 1; count <= MOST; count += 1) {
    stopped.push(await begin("openai", {}, other));
    await asked("openai", count);
  }
  await other.responses.cancel(stopped[0].id);
  await other.responses.delete(stopped[1].id);
  const further = { model: model("openai"), input: "hi", background: true };
  await assert.rejects(other.responses.create(further), { status: 429 });
  held.resolve({ text: "Nobody waits for it." });
  const response = await until(() => other.responses.create(further).catch(({ status }) => assert.equal(status, 429)));
  assert.equal((await ended(response, other)).output_text, "There is room again.");
});

test("what has ended cannot be cancelled, and what is deleted is gone", { timeout: 300_000 }, async () => {
  at("openai").script({ text: "Done" });
  const { id } = await begin("openai");
  assert.equal((await ended({ id })).output_text, "Done");
  assert.equal((await client.responses.cancel(id)).status, "completed");
  await client.responses.delete(id);
  for (const operation of ["retrieve", "cancel", "delete"]) await assert.rejects(client.responses[operation](id), { status: 404 });
});

test("another caller finds nothing, as if there were nothing", { timeout: 300_000 }, async () => {
  at("openai").script({ text: "Of the first caller" });
  const { id } = await begin("openai");
  const unknown = `resp_${"0".repeat(32)}`;
  for (const operation of ["retrieve", "cancel", "delete"]) {
    const error = (id) => other.responses[operation](id).then(assert.fail, ({ status, error }) => ({ status, error }));
    assert.deepEqual(await error(id), await error(unknown));
    assert.equal((await error(id)).status, 404);
  }
  assert.equal((await ended({ id })).output_text, "Of the first caller");
});

test("a chat is paid for once, when it runs", { timeout: 300_000 }, async () => {
  const used = async () => {
    const { json } = await served.worker.get("/usage", { authorization: `Bearer ${PAYING}` });
    return json.callers[0].budgets.map(({ used, reserved }) => [used, reserved]);
  };
  at("openai").script({ text: "It costs." });
  const { id } = await begin(undefined, { model: "priced" }, paying);
  const { usage } = await ended({ id }, paying);
  await paying.responses.retrieve(id);
  await paying.responses.cancel(id);
  const usd = (usage.input_tokens + 2 * usage.output_tokens) / 1e6;
  assert.deepEqual(await used(), [[usd, 0], [1, 0]]);
});

test("its responses fulfil the contract", { timeout: 300_000 }, async () => {
  const authorization = { authorization: `Bearer ${KEY}` };
  at("openai").script({ text: "T" });
  const { json } = await served.worker.post({ model: model("openai"), input: "hi", background: true }, { path: "/v1/responses", headers: authorization });
  const path = `/v1/responses/${json.id}`;
  await until(async () => (await served.worker.get(path, authorization)).json.status === "completed");
  const statuses = [await served.worker.request("POST", `${path}/cancel`, { headers: authorization }), await served.worker.request("DELETE", path, { headers: authorization })];
  assert.deepEqual(statuses.map(({ status }) => status), [200, 200]);
  assert.equal((await served.worker.get(path, authorization)).status, 404);
});
