// The limits of the chat gateway, for all and for one key: of requests, of answers, of models, and which tools they may have.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tool, WEATHER } from "./support/gateway/ask.mjs";
import { body, FALLBACK, gateway, post, problem, served, upstream, using } from "./support/gateway/served.mjs";
import { authorization, model } from "./support/gateway/worker.mjs";

const ROME = { name: "weather", input: { city: "canary-Rome" } };
const tools = [WEATHER];

const nested = (levels) => (levels === 0 ? { type: "string" } : { type: "object", properties: { a: nested(levels - 1) }, required: ["a"], additionalProperties: false });

test("2api 7.1: limits of requests", async () => {
  for (const [what, request, code] of [
    ["129 tools", { tools: Array.from({ length: 129 }, (_, at) => tool(`t${at}`)) }, "too_many_tools"],
    ["a name of 129 characters", { tools: [tool("x".repeat(129))] }, "invalid_tool_name"],
    ["a name with a dot", { tools: [tool("a.b")] }, "invalid_tool_name"],
    ["a description of 1025 characters", { tools: [{ type: "function", function: { ...WEATHER.function, description: "x".repeat(1025) } }] }, "tool_description_too_long"],
    ["eleven levels of schema", { tools: [tool("deep", nested(11))] }, "tool_schema_incompatible"],
  ]) {
    for (const provider of ["openai", "anthropic", "gemini"]) {
      upstream[provider].script({ text: "Sunny" });
      const reply = await post(served.worker, body(provider, request));
      assert.equal(reply.status, 400, what);
      assert.equal(reply.json.error.code, code, reply.text);
      assert.equal(upstream[provider].journal.length, 0);
    }
  }
  upstream.openai.script({ text: "Sunny" });
  assert.equal((await post(served.worker, body("openai", { tools: Array.from({ length: 128 }, (_, at) => tool(`t${at}`)) }))).status, 200);
});

test("2api 7.1: limits of answers, for all and for one key", async () => {
  const many = { calls: Array.from({ length: 21 }, () => ROME) };
  const large = { calls: [{ name: "weather", input: { city: "x".repeat(65_536) } }] };
  const check = async (gateway, turn, code) => {
    for (const provider of ["openai", "anthropic", "gemini"]) {
      upstream[provider].script(turn);
      const unary = await gateway.chat(provider, { tools });
      assert.deepEqual([unary.status, unary.json.error?.code], code ? [502, code] : [200, undefined], unary.text.slice(0, 300));
      upstream[provider].script(turn);
      const { errors, finishes } = await gateway.stream(provider, { tools });
      assert.deepEqual([errors[0]?.code, finishes], code ? [code, []] : [undefined, ["tool_calls"]]);
    }
  };
  await check(gateway, many, "too_many_tool_calls");
  await check(gateway, large, "arguments_too_large");
  await using({ entry: { gateway: { max_tool_calls: 50, max_argument_bytes: 262_144, max_tool_description: 4096 } } }, async (gateway) => {
    await check(gateway, many);
    await check(gateway, large);
    upstream.anthropic.script({ text: "Sunny" });
    await gateway.choice("anthropic", { tools: [{ type: "function", function: { ...WEATHER.function, description: "x".repeat(4096) } }] });
  });
});

test("2api 7.2: an allowlist of tools, for all and for one key", async () => {
  const ask = async (gateway) => {
    upstream.openai.script({ text: "Sunny" });
    const reply = await gateway.chat("openai", { tools: [WEATHER, tool("clock")] });
    return [reply.status, reply.json.error?.code, JSON.stringify(reply.json._2api?.warnings ?? []).includes("clock")];
  };
  for (const [mode, expected] of [["enforce", [400, "tool_not_allowed", false]], ["warn", [200, undefined, true]], ["off", [200, undefined, false]], [undefined, [400, "tool_not_allowed", false]]]) {
    await using({ vars: { GATEWAY_TOOL_ALLOWLIST: "weather", GATEWAY_TOOL_ALLOWLIST_MODE: mode } }, async (gateway) => assert.deepEqual(await ask(gateway), expected));
    const own = { tool_allowlist: ["weather"], ...(mode && { tool_allowlist_mode: mode }) };
    await using({ entry: { gateway: own } }, async (gateway) => assert.deepEqual(await ask(gateway), expected));
  }
});

test("the models, tokens and tiers of a key", async () => {
  const vars = { MODELS: JSON.stringify({ smart: FALLBACK, other: FALLBACK }) };
  const gpt = model("openai");
  for (const [entry, usable] of [
    [{}, ["smart", "other"]],
    [{ gateway: { models: ["smart", gpt], max_output_tokens: 50, service_tiers: ["flex"] } }, ["smart", gpt]],
  ]) {
    await using({ vars, entry }, async (_, worker) => {
      const ask = async (request) => {
        upstream.openai.script({ text: "Sunny" });
        const reply = await post(worker, body("openai", request));
        assert.equal(upstream.openai.journal.length, reply.status === 200 ? 1 : 0);
        return reply;
      };
      for (const name of ["smart", "other", gpt]) {
        const reply = await ask({ model: name });
        if (usable.includes(name)) assert.equal(reply.status, 200, reply.text);
        else assert.deepEqual(problem(reply), [403, "permission_error", "model_not_allowed"]);
      }
      assert.deepEqual((await worker.get("/v1/models", { authorization })).json.data.map(({ id }) => id).sort(), usable.toSorted());
      assert.equal((await ask({ model: "smart", service_tier: "priority" })).json.error.param, "service_tier");
      if (!entry.gateway) return;
      assert.equal((await ask({ model: "smart", service_tier: "flex" })).status, 200);
      assert.equal(upstream.openai.last.body.max_completion_tokens, 50);
      assert.equal((await ask({ model: "smart", max_tokens: 51 })).json.error.param, "max_tokens");
    });
  }
});

test("only what the gateway knows arrives, and tools of the provider if the operator names their type", async () => {
  const search = { type: "web_search" };
  upstream.openai.script({ text: "Sunny" });
  const { json } = await gateway.chat("openai", { plugins: [{ id: "web" }], seed: 7 });
  assert.deepEqual([json._2api.dropped, gateway.arrived("openai").plugins, gateway.arrived("openai").seed], [["plugins"], undefined, 7]);
  for (const [request, code, param] of [
    [{ tools: [search] }, "tool_not_allowed", "tools[0].type"],
    [{ tools: [{ type: "mcp", server_label: "x", server_url: "https://a.example/mcp" }] }, "tool_not_allowed", "tools[0].type"],
    [{ web_search_options: {} }, "tool_not_allowed", "web_search_options"],
    [{ functions: [WEATHER.function] }, "invalid_request", "functions"],
  ]) {
    upstream.openai.script({ text: "Sunny" });
    const { status, json } = await gateway.chat("openai", request);
    assert.deepEqual([status, json.error.code, json.error.param], [400, code, param]);
    assert.equal(upstream.openai.journal.length, 0);
  }
  await using({ vars: { GATEWAY_TOOL_ALLOWLIST: "web_search_options" } }, async (gateway) => {
    upstream.openai.script({ text: "Sunny" });
    await gateway.choice("openai", { web_search_options: {} });
    assert.deepEqual(gateway.arrived("openai").web_search_options, {});
  });
});

test("2api 7.4: five calls in an answer count five", async () => {
  await using({ limiters: { TOOL_CALL_LIMITER: 7 } }, async (gateway) => {
    const five = { calls: Array.from({ length: 5 }, () => ROME) };
    upstream.openai.script(five);
    assert.equal((await gateway.chat("openai", { tools })).status, 200);
    upstream.openai.script({ text: "Sunny" });
    assert.equal((await gateway.chat("openai", { tools })).status, 200, "answers without calls do not count");
    upstream.openai.script(five);
    // The count restarts at the full minute, so that one more may be allowed.
    let reply;
    for (let answers = 0; answers < 2 && reply?.status !== 429; answers += 1) reply = await gateway.chat("openai", { tools });
    assert.deepEqual([reply.status, reply.json.error?.code], [429, "rate_limited"]);
    assert.ok(Number(reply.headers.get("retry-after")) > 0);
  });
});
