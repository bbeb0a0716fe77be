// Budgets of callers, on workerd: exact with many requests at once, over several protocols, and if the ledger fails. What
// counts is how many calls run, and what arrives at the provider. ledger.test.mjs has the arithmetic of the ledger.
import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { standIns } from "./support/providers/stand-in.mjs";
import { CANARY, SAMPLES, start } from "./support/worker.mjs";

const KEYS = Object.fromEntries(["calls", "restarted", "few", "chats", "money", "free", "ada", "bob", "own"].map((name) => [name, `${CANARY}-key-of-${name}`]));
const entry = (name, budgets, scopes = ["gateway"]) => ({ ...entryOf(KEYS[name], name, scopes), ...(budgets && { budgets }) });
const as = (name) => ({ authorization: `Bearer ${KEYS[name]}` });
const MODELS = JSON.stringify({
  cheap: { targets: [{ provider: "openai", model: "gpt-4.1" }], price: { input: 1, output: 2, cached: 0.5 }, max_output_tokens: 100 },
  "fall-back": {
    targets: [
      { provider: "anthropic", model: "claude-sonnet-4-5", price: { input: 100, output: 100 } },
      { provider: "openai", model: "gpt-4.1" },
    ],
    price: { input: 1, output: 2 },
    max_output_tokens: 100,
  },
  unpriced: { targets: [{ provider: "openai", model: "gpt-x" }] },
});
const API_KEYS = JSON.stringify([
  entry("calls", [{ window: "30d", tool_calls: 100 }], []),
  entry("restarted", [{ window: "30d", tool_calls: 50 }], []),
  entry("few", [{ window: "30d", tool_calls: 7 }], []),
  entry("chats", [{ window: "30d", requests: 100 }]),
  entry("money", [{ window: "30d", usd: 0.01 }]),
  entry("free", undefined),
  entry("ada", undefined, []),
  entry("bob", undefined, ["usage:team"]),
  entry("own", [{ window: "30d", tool_calls: 3 }], []),
]);
const TEAMS = JSON.stringify([
  { name: "research", rules: ["key:ada", "key:bob"], budgets: [{ window: "30d", tool_calls: 100 }] },
  { name: "small", rules: ["key:own"], budgets: [{ window: "30d", tool_calls: 5 }] },
]);

// The ledger fails while the tests say so. An object that crashes takes its requests with it, like one whose machine fails.
const FAILING = `
import { Ledger as Real } from "./worker.js";
let failing = "";
const check = (operation) => { if (failing === operation) throw new Error("the disk is full"); };
export class Ledger extends Real {
  take(value) { check("take"); return super.take(value); }
  settle(value) { check("settle"); return super.settle(value); }
  crash() { this.ctx.abort("the machine has failed"); }
  expire() { return this.ctx.storage.sql.exec("UPDATE reserved SET expires = 0").toArray(); }
}
export default {
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    if (pathname === "/failing") return new Response(failing = await request.text());
    if (pathname === "/crash") return Response.json(await env.LEDGER.get(env.LEDGER.idFromName(await request.text())).crash().catch(String));
    if (pathname === "/expire") return Response.json(await env.LEDGER.get(env.LEDGER.idFromName(await request.text())).expire());
    return Worker.fetch(request, env, context);
  },
};`;

let upstream, worker;
before(async () => {
  upstream = await standIns();
  const vars = {
    AUTH: "api-key",
    API_KEYS,
    TEAMS,
    MODELS,
    OPENAI_API_KEY: upstream.openai.key,
    OPENAI_BASE_URL: `${upstream.openai.base}/v1`,
    ANTHROPIC_API_KEY: upstream.anthropic.key,
    ANTHROPIC_BASE_URL: upstream.anthropic.base,
  };
  worker = await start(SAMPLES, { vars, around: FAILING });
});
after(async () => {
  await worker.close();
  await upstream.close();
});

const control = (path, body) => fetch(`${worker.address}${path}`, { method: "POST", body });
afterEach(() => control("/failing", ""));

const ADD = { tool_id: "Calculator.Add", input: { a: 1, b: 2 } };
const oxp = (key) => worker.post(ADD, { headers: as(key) });
const rpc = (key) => worker.post({ jsonrpc: "2.0", id: 1, method: "Calculator_Add", params: ADD.input }, { path: "/jsonrpc", headers: as(key) });
const chat = (key, body = {}) => worker.post({ model: "cheap", messages: [{ role: "user", content: "canary" }], ...body }, { path: "/v1/chat/completions", headers: as(key) });
const counts = (replies) => replies.reduce((sum, { status }) => ({ ...sum, [status]: (sum[status] ?? 0) + 1 }), {});

describe("calls of tools", () => {
  it("lets exactly 100 of 1,000 pass, over two protocols", async () => {
    const replies = await Promise.all(Array.from({ length: 1_000 }, (_, at) => (at % 2 ? oxp : rpc)("calls")));
    assert.deepEqual(counts(replies), { 200: 100, 429: 900 });
    await worker.evict("account:key:calls");
    assert.equal((await oxp("calls")).status, 429);
  });

  it("lets no more pass if the object is restarted in between", async () => {
    const replies = [];
    for (let round = 0; round < 3; round += 1) {
      replies.push(...(await Promise.all(Array.from({ length: 10 }, () => rpc("restarted")))));
      await worker.evict("account:key:restarted");
    }
    assert.deepEqual(counts(replies), { 200: 30 });
  });

  it("lets no more pass if the object crashes while it is asked", async () => {
    const crash = async () => assert.match(await (await control("/crash", "account:key:restarted")).json(), /the machine has failed/);
    const replies = await Promise.all(Array.from({ length: 90 }, async (_, at) => (await Promise.all([rpc("restarted"), at % 9 === 4 && crash()]))[0]));
    // A call whose answers were lost may have been counted: then it is 503. None counts twice.
    const { 200: passed, 429: rejected = 0, 503: lost = 0 } = counts(replies);
    assert.equal(passed + rejected + lost, 90);
    assert.ok(passed > 0 && passed <= 20 && passed + lost >= 20, `${passed}, ${lost}`);
    assert.equal((await rpc("restarted")).status, 429);
    const { json } = await worker.get("/usage", as("restarted"));
    const [{ used, reserved }] = json.callers[0].budgets;
    assert.deepEqual([used, reserved], [50, 0]);
  });

  it("takes all calls of a request, or none", async () => {
    const batch = (count) => worker.post(Array.from({ length: count }, (_, id) => ({ jsonrpc: "2.0", id, method: "Calculator_Add", params: ADD.input })), { path: "/jsonrpc", headers: as("few") });
    assert.equal((await batch(5)).status, 200);
    const { status, json, headers } = await batch(3);
    assert.equal(status, 429);
    assert.match(json.error.message, /it is 7 calls of tools per 30d, of which 2 calls of tools are left, and the request needs 3 calls of tools\. It resets at 20\d\d-.*T00:00:00Z/);
    assert.ok(Number(headers["retry-after"]) > 0);
    assert.equal((await batch(2)).status, 200);
    assert.equal((await oxp("few")).status, 429);
  });

  it("is rejected if the ledger fails, and the others are served", async () => {
    await control("/failing", "take");
    assert.equal((await rpc("calls")).status, 503);
    assert.equal((await rpc("free")).status, 200);
    const [{ level, message }] = (await worker.logs()).slice(-1);
    assert.deepEqual([level, JSON.parse(message)], ["error", { event: "ledger", problem: "the disk is full" }]);
  });
});

describe("calls of a team", () => {
  it("lets exactly 100 of 1,000 of two members pass, over two protocols", async () => {
    const replies = await Promise.all(Array.from({ length: 1_000 }, (_, at) => (at % 4 < 2 ? oxp : rpc)(at % 2 ? "ada" : "bob")));
    assert.deepEqual(counts(replies), { 200: 100, 429: 900 });
    const { json } = await rpc("ada");
    assert.match(json.error.message, /The budget of the team 'research' does not cover the request/);
    // Bob may see what the team has used, and each of its keys: together no more, and no less. Ada sees her own, and what the team has left.
    const { json: seen } = await worker.get("/usage", as("bob"));
    const used = Object.fromEntries(seen.callers.map(({ kind, name, days }) => [`${kind}:${name}`, days.reduce((sum, day) => sum + day.tool_calls, 0)]));
    assert.deepEqual(Object.keys(used).sort(), ["key:ada", "key:bob", "team:research"]);
    assert.deepEqual([used["team:research"], used["key:ada"] + used["key:bob"]], [100, 100]);
    const { json: own } = await worker.get("/usage", as("ada"));
    assert.deepEqual(own.callers.map(({ kind, name }) => [kind, name]), [["key", "ada"], ["team", "research"]]);
    assert.deepEqual(own.callers[1].days, [], "what the others have used");
  });

  it("counts beside the budget of its own of a member", async () => {
    const replies = await Promise.all(Array.from({ length: 50 }, () => oxp("own")));
    assert.deepEqual(counts(replies), { 200: 3, 429: 47 });
    const { json } = await worker.get("/usage", as("own"));
    const [{ used, reserved }] = json.callers[0].budgets;
    assert.deepEqual([used, reserved], [3, 0]);
  });
});

describe("chats", () => {
  it("lets exactly 100 of 1,000 pass, and nothing else arrives at the provider", async () => {
    upstream.openai.script({ text: "Sunny" });
    const replies = await Promise.all(Array.from({ length: 1_000 }, () => chat("chats")));
    assert.deepEqual(counts(replies), { 200: 100, 429: 900 });
    assert.equal(upstream.openai.journal.length, 100);
    const { json, headers } = await chat("chats");
    assert.deepEqual([json.error.type, json.error.code], ["rate_limit_error", "budget_exceeded"]);
    assert.match(json.error.message, /^The caller's budget does not cover the request: it is 100 chat requests per 30d, of which 0 chat requests are left/);
    assert.ok(Number(headers["retry-after"]) > 0);
  });
});

describe("money", () => {
  // 0.01 USD are 10,000,000 nano-dollars. A token of input costs 1,000 of them, and one of output 2,000.
  const spent = async () => {
    const { json } = await worker.get("/usage", as("money"));
    const [{ used, reserved }] = json.callers[0].budgets;
    return [Math.round(used * 1e9), Math.round(reserved * 1e9)];
  };

  it("is settled by the tokens that the provider counts", async () => {
    for (const [body, usage, cost] of [
      [{}, { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150, prompt_tokens_details: { cached_tokens: 40 } }, 180_000],
      [{ stream: true }, { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, prompt_tokens_details: { cached_tokens: 0 } }, 20_000],
    ]) {
      const [before] = await spent();
      upstream.openai.script({ text: "Sunny", usage });
      // The client checks no contract of streams.
      const reply = await fetch(`${worker.address}/v1/chat/completions`, { method: "POST", headers: { "content-type": "application/json", ...as("money") }, body: JSON.stringify({ model: "cheap", messages: [{ role: "user", content: "canary" }], ...body }) });
      const text = await reply.text();
      assert.equal(reply.status, 200, text);
      assert.equal(upstream.openai.last.body.max_completion_tokens, 100);
      const [used, reserved] = await spent();
      assert.deepEqual([used - before, reserved], [cost, 0]);
    }
  });

  it("is not spent on a request that the provider rejects", async () => {
    const before = await spent();
    upstream.openai.script({ status: 400 });
    assert.equal((await chat("money")).status, 400);
    assert.deepEqual(await spent(), before);
  });

  it("is reserved at the price of the model that is asked", async () => {
    const [before] = await spent();
    upstream.anthropic.script({ text: "Sunny" });
    // It may cost more than is left; its fall-back may not.
    const reply = await chat("money", { model: "fall-back", max_tokens: 1 });
    assert.equal(reply.status, 429, reply.text);
    assert.equal(upstream.anthropic.journal.length, 0);
    assert.deepEqual(await spent(), [before, 0]);
  });

  it("counts what was reserved if the settlement fails, when its time is over", async () => {
    upstream.openai.script({ text: "Sunny" });
    const [before] = await spent();
    await control("/failing", "settle");
    assert.equal((await chat("money")).status, 200);
    await control("/failing", "");
    const [used, reserved] = await spent();
    assert.equal(used, before);
    assert.ok(reserved > 200_000, String(reserved));
    await worker.evict("account:key:money");
    assert.deepEqual(await spent(), [before, reserved]);
    await control("/expire", "account:key:money");
    assert.deepEqual(await spent(), [before + reserved, 0]);
    assert.equal((await worker.logs()).filter(({ message }) => message.includes("the disk is full")).length, 2);
  });

  it("is never spent beyond the budget, with many requests at once", async () => {
    upstream.openai.script({ text: "Sunny", usage: { prompt_tokens: 50, completion_tokens: 100, total_tokens: 150, prompt_tokens_details: { cached_tokens: 0 } } });
    const replies = await Promise.all(Array.from({ length: 300 }, () => chat("money")));
    const { 200: passed, 429: rejected } = counts(replies);
    assert.equal(passed + rejected, 300);
    assert.equal(upstream.openai.journal.length, passed);
    const [used, reserved] = await spent();
    assert.ok(used <= 10_000_000 && reserved === 0, `${used} ${reserved}`);
  });

  it("needs a price and a limit of the answer", async () => {
    const { status, json } = await chat("money", { model: "unpriced", max_tokens: 5 });
    assert.deepEqual([status, json.error.code], [403, "model_without_price"]);
    assert.match(json.error.message, /MODELS has no price for openai\/gpt-x/);
  });
});
