// The chat gateway: who may chat, which models a request goes to, its errors, and what it logs (2api.ai's page
// "Tool Calling", and the gateway's own rules). gateway-cases.test.mjs has the translation between formats.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tool, user, WEATHER } from "./support/gateway/ask.mjs";
import { body, FALLBACK, gateway, post, problem, served, upstream, using } from "./support/gateway/served.mjs";
import { authorization, model } from "./support/gateway/worker.mjs";

const ROME = { name: "weather", input: { city: "canary-Rome" } };
const tools = [WEATHER];

test("it answers at /v1 and at /2api/v1", async () => {
  for (const path of ["/v1/chat/completions", "/2api/v1/chat/completions"]) {
    upstream.anthropic.script({ text: "Sunny" });
    const reply = await post(served.worker, body("anthropic"), { path });
    assert.equal(reply.status, 200);
    assert.equal(reply.json.choices[0].message.content, "Sunny");
    assert.equal(reply.headers["x-2api-provider"], "anthropic");
    assert.equal(reply.headers["x-2api-model"], "claude-sonnet-4-5");
    assert.equal(reply.headers["x-2api-attempts"], "1");
  }
  for (const path of ["/v1/models", "/2api/v1/models"]) {
    const { status, json } = await served.worker.get(path, { authorization });
    assert.equal(status, 200);
    assert.equal(json.object, "list");
  }
});

test("google/ and gemini/ are the same provider", async () => {
  for (const id of ["google", "gemini"]) {
    upstream.gemini.script({ text: "Sunny" });
    const reply = await post(served.worker, body("gemini", { model: `${id}/gemini-2.5-flash` }));
    assert.equal(reply.status, 200);
    assert.match(upstream.gemini.last.path, /\/models\/gemini-2\.5-flash:generateContent$/);
  }
});

test("callers need credentials, and the scope gateway", async () => {
  const without = await post(served.worker, body("openai"), { headers: {} });
  assert.deepEqual(problem(without), [401, "authentication_error", without.json.error.code]);
  await using({ entry: { scopes: ["github:read"] } }, async (_, worker) => {
    assert.deepEqual(problem(await post(worker, body("openai"))), [403, "permission_error", "missing_scope"]);
  });
  await using({ entry: { scopes: ["gateway"] } }, async (_, worker) => {
    upstream.openai.script({ text: "Sunny" });
    assert.equal((await post(worker, body("openai"))).status, 200);
  });
});

test("without a provider it says what to set, and everything else works", async () => {
  const nothing = Object.fromEntries(["OPENAI", "ANTHROPIC", "GEMINI"].flatMap((id) => [`${id}_API_KEY`, `${id}_BASE_URL`]).map((name) => [name, undefined]));
  await using({ vars: nothing }, async (_, worker) => {
    const reply = await post(worker, body("openai"));
    assert.deepEqual(problem(reply), [503, "server_error", "gateway_not_configured"]);
    assert.match(reply.json.error.message, /OPENAI_API_KEY/);
    assert.equal((await worker.get("/health")).status, 200);
    const { json } = await worker.post({ tool_id: "Calculator.Add", input: { a: 1, b: 2 } }, { headers: { authorization } });
    assert.equal(json.value, 3);
  });
});

test("AUTH=none with the key of a provider is a configuration problem", async () => {
  await using({ vars: { AUTH: "none", API_KEYS: undefined, ANONYMOUS_SCOPES: "*" } }, async (_, worker) => {
    assert.equal((await worker.get("/health")).status, 503);
    assert.match(JSON.stringify(await worker.logs()), /none/);
    upstream.openai.script({ text: "Sunny" });
    const reply = await post(worker, body("openai"), { headers: {} });
    assert.ok(reply.status >= 400, `${reply.status}`);
    assert.equal(upstream.openai.journal.length, 0);
  });
});

test("callers without credentials may chat on this machine if DEVELOPMENT is true", async () => {
  await using({ vars: { AUTH: "none", API_KEYS: undefined, ANONYMOUS_SCOPES: "*", DEVELOPMENT: "true" } }, async (_, worker) => {
    assert.equal((await worker.get("/health")).status, 200);
    upstream.openai.script({ text: "Sunny" });
    assert.equal((await post(worker, body("openai"), { headers: {} })).status, 200);
    const foreign = await post(worker, body("openai"), { headers: { host: "tools.example" } });
    assert.equal(foreign.status, 403);
  });
});

for (const [what, request, param] of [
  ["JSON that is not an object", [1], null],
  ["no model", { model: undefined }, "model"],
  ["no messages", { messages: undefined }, "messages"],
  ["an empty list of messages", { messages: [] }, "messages"],
  ["a message without a role", { messages: [{ content: "x" }] }, undefined],
  ["a result without its call", { messages: [user(), { role: "tool", tool_call_id: "x", content: "1" }] }, undefined],
  ["a call without its result", { messages: [user(), { role: "assistant", content: null, tool_calls: [{ id: "a", type: "function", function: { name: "weather", arguments: "{}" } }] }, user()] }, undefined],
]) {
  test(`it rejects ${what}`, async () => {
    upstream.openai.script({ text: "Sunny" });
    upstream.anthropic.script({ text: "Sunny" });
    const reply = await post(served.worker, Array.isArray(request) ? request : body("anthropic", request));
    assert.deepEqual(problem(reply), [400, "invalid_request_error", "invalid_request"], reply.text);
    if (param !== undefined) assert.equal(reply.json.error.param, param);
    assert.equal(upstream.anthropic.journal.length, 0);
  });
}

test("a request may have several megabytes", async () => {
  const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(4 << 20)}` } };
  upstream.anthropic.script({ text: "A picture" });
  const reply = await post(served.worker, body("anthropic", { messages: [{ role: "user", content: [image] }] }));
  assert.equal(reply.status, 200, reply.text);
  assert.ok(JSON.stringify(upstream.anthropic.last.body).length > 4 << 20);
});

test("embeddings pass to a provider with OpenAI's format", async () => {
  upstream.openai.script({ text: "" });
  const reply = await post(served.worker, { model: "openai/text-embedding-3-small", input: ["a"] }, { path: "/v1/embeddings" });
  assert.equal(reply.status, 200, reply.text);
  assert.deepEqual(reply.json.data.map(({ embedding }) => embedding), [[0.5, -0.25]]);
  assert.equal(upstream.openai.last.body.model, "text-embedding-3-small");
});

test("it rejects models and providers that do not exist", async () => {
  for (const name of ["gpt-4.1", "nobody/gpt-4.1", "openai/", "/x", ""]) {
    const reply = await post(served.worker, body("openai", { model: name }));
    assert.ok([400, 404].includes(reply.status), reply.text);
    if (reply.status === 404) assert.deepEqual(problem(reply), [404, "invalid_request_error", "model_not_found"]);
  }
});

// Which error of a provider gives which error of the gateway.
const ERRORS = [
  [{ status: 400, message: "No." }, 400, "provider_error"],
  [{ status: 401, message: "The key sk-canary is wrong." }, 502, "provider_auth_error"],
  [{ status: 403 }, 502, "provider_auth_error"],
  [{ status: 404 }, 404, "provider_error"],
  [{ status: 413 }, 413, "provider_error"],
  [{ status: 429, headers: { "retry-after": "7" } }, 429, "rate_limited"],
  [{ status: 429, headers: { "retry-after-ms": "1500" } }, 429, "rate_limited"],
  [{ status: 500 }, 502, "provider_error"],
  [{ status: 503 }, 503, "provider_overloaded"],
  [{ status: 529 }, 503, "provider_overloaded"],
  [{ raw: "" }, 502, "provider_bad_response"],
  [{ raw: "<html>canary</html>", type: "text/html" }, 502, "provider_bad_response"],
  [{ raw: "{}" }, 502, "provider_bad_response"],
  [{ status: 502, body: "canary" }, 502, "provider_error"],
];
for (const provider of ["openai", "anthropic", "gemini"]) {
  test(`${provider}: each error has a status and a code, streamed or not`, async () => {
    for (const [turn, status, code] of ERRORS) {
      for (const stream of [false, true]) {
        upstream[provider].script(turn);
        const reply = await post(served.worker, body(provider, { stream }));
        assert.deepEqual([reply.status, reply.json.error.code], [status, code], `${JSON.stringify(turn)} ${reply.text}`);
        const retry = { 7: "7" }[turn.headers?.["retry-after"]] ?? (turn.headers && "2");
        assert.equal(reply.headers["retry-after"], retry);
        if (code === "provider_auth_error") assert.doesNotMatch(reply.text, /canary/);
      }
    }
  });

  test(`${provider}: a wrong key is the operator's problem, not the caller's`, async () => {
    await using({ vars: { [`${provider.toUpperCase()}_API_KEY`]: "wrong-canary-key" } }, async (gateway, worker) => {
      for (const stream of [false, true]) {
        upstream[provider].script({ text: "Sunny" });
        assert.deepEqual(problem(await post(worker, body(provider, { stream }))), [502, "server_error", "provider_auth_error"]);
      }
    });
  });

  test(`${provider}: a provider that hangs or cannot be reached`, async () => {
    await using({ vars: { GATEWAY_TIMEOUT_MS: "300" } }, async (_, worker) => {
      for (const stream of [false, true]) {
        upstream[provider].script({ hang: true });
        assert.deepEqual(problem(await post(worker, body(provider, { stream }))), [504, "server_error", "provider_timeout"]);
      }
    });
    await using({ vars: { [`${provider.toUpperCase()}_BASE_URL`]: "http://127.0.0.1:9" } }, async (_, worker) => {
      assert.deepEqual(problem(await post(worker, body(provider))), [502, "server_error", "provider_unreachable"]);
    });
  });
}

test("further providers have OpenAI's format", async () => {
  const vars = { PROVIDERS: "groq,my-vllm", GROQ_BASE_URL: `${upstream.openai.base}/v1`, GROQ_API_KEY: upstream.openai.key, MY_VLLM_BASE_URL: `${upstream.openai.base}/v1` };
  await using({ vars }, async (_, worker) => {
    upstream.openai.script({ text: "Sunny" });
    const reply = await post(worker, body("openai", { model: "groq/openai/gpt-oss" }));
    assert.equal(reply.status, 200);
    assert.equal(upstream.openai.last.body.model, "openai/gpt-oss");
    assert.equal(reply.json._2api.provider, "groq");
    // The other one has no key, which the stand-in rejects.
    assert.deepEqual(problem(await post(worker, body("openai", { model: "my-vllm/m" }))), [502, "server_error", "provider_auth_error"]);
    assert.equal(upstream.openai.last.headers.authorization, undefined);
  });
});

test("an alias falls back to the next model, unless the request is at fault", async () => {
  const vars = { MODELS: JSON.stringify({ smart: FALLBACK, patient: { ...FALLBACK, retry: { attempts: 3 } }, picky: { ...FALLBACK, retry: { status_codes: [418] } } }) };
  await using({ vars }, async (_, worker) => {
    const ask = async (name, turns, more = {}) => {
      upstream.openai.script(...turns);
      upstream.anthropic.script({ text: "Sunny" });
      const reply = await post(worker, body("openai", { model: name, ...more }));
      return { reply, attempts: reply.json?._2api?.attempts?.map(({ provider, status }) => `${provider} ${status}`) };
    };
    for (const status of [408, 409, 429, 500, 503, 529]) {
      assert.deepEqual((await ask("smart", [{ status }])).attempts, [`openai ${status}`, "anthropic 200"]);
    }
    for (const status of [400, 401, 403, 404, 422]) {
      const { reply } = await ask("smart", [{ status }]);
      assert.ok(reply.status >= 400, `${status} ${reply.text}`);
      assert.equal(upstream.anthropic.journal.length, 0);
    }
    assert.deepEqual((await ask("patient", [{ status: 500 }, { status: 500 }, { text: "Rainy" }])).attempts, ["openai 500", "openai 500", "openai 200"]);
    assert.equal((await ask("picky", [{ status: 500 }])).reply.status, 502);
    assert.deepEqual((await ask("picky", [{ status: 418 }])).attempts, ["openai 418", "anthropic 200"]);
    assert.deepEqual((await worker.get("/v1/models", { authorization })).json.data.map(({ id }) => id).filter((id) => !id.includes("/")).sort(), ["patient", "picky", "smart"]);
  });
});

test("a stream falls back before its first event, and never after it", async () => {
  await using({ vars: { MODELS: JSON.stringify({ smart: FALLBACK }) } }, async (gateway) => {
    const ask = (turn) => {
      upstream.openai.script(turn);
      upstream.anthropic.script({ text: "Sunny" });
      return gateway.stream(undefined, { model: "smart" });
    };
    for (const turn of [{ status: 529 }, { text: "Rainy", fail: [0, "Overloaded"] }, { text: "Rainy", end: 0 }, { text: "Rainy", cut: 0 }]) {
      const { message, errors, finishes } = await ask(turn);
      assert.deepEqual([message?.content, errors, finishes], ["Sunny", [], ["stop"]], JSON.stringify(turn));
    }
    const late = await ask({ text: "Rainy", fail: [3, "Overloaded"] });
    assert.equal(late.errors.length, 1);
    assert.equal(upstream.anthropic.journal.length, 0);
  });
});

test("an alias can spread its load by weight", async () => {
  const targets = [{ provider: "openai", model: "gpt", weight: 1 }, { provider: "anthropic", model: "claude", weight: 1 }];
  await using({ vars: { MODELS: JSON.stringify({ both: { mode: "loadbalance", targets } }) } }, async (_, worker) => {
    upstream.openai.script({ text: "Sunny" });
    upstream.anthropic.script({ text: "Sunny" });
    const seen = new Set();
    // Both in a thousand requests, unless chance is 2^-999 against it; it usually takes three.
    for (let left = 1000; left > 0 && seen.size < 2; left--) seen.add((await post(worker, body("openai", { model: "both" }))).json._2api.provider);
    assert.deepEqual([...seen].sort(), ["anthropic", "openai"]);
  });
});

test("callers may bring their own key, if the operator allows it", async () => {
  const headers = { authorization, "x-provider-key": upstream.openai.key };
  assert.deepEqual(problem(await post(served.worker, body("openai"), { headers })), [403, "permission_error", "provider_key_not_allowed"]);
  await using({ vars: { GATEWAY_CALLER_KEYS: "true", OPENAI_API_KEY: undefined } }, async (_, worker) => {
    upstream.openai.script({ text: "Sunny" });
    assert.equal((await post(worker, body("openai"), { headers })).status, 200);
    const wrong = await post(worker, body("openai"), { headers: { ...headers, "x-provider-key": "wrong-canary-key" } });
    assert.deepEqual(problem(wrong), [502, "server_error", "provider_auth_error"]);
  });
});

test("2api 5.1: required without a call is an error, also at the end of a stream", async () => {
  for (const provider of ["openai", "anthropic", "gemini"]) {
    upstream[provider].script({ text: "Sunny" });
    const reply = await post(served.worker, body(provider, { tools, tool_choice: "required" }));
    assert.deepEqual(problem(reply), [502, "server_error", "tool_call_required"]);
    upstream[provider].script({ text: "Sunny" });
    const { errors, finishes, done } = await gateway.stream(provider, { tools, tool_choice: "required" });
    assert.deepEqual([errors[0]?.code, finishes, done], ["tool_call_required", [], false]);
  }
});

test("2api 5.1: tools that are empty or null mean no tool calling", async () => {
  for (const provider of ["openai", "anthropic", "gemini"]) {
    for (const none of [[], null]) {
      upstream[provider].script({ text: "Sunny" });
      assert.equal((await post(served.worker, body(provider, { tools: none }))).status, 200);
      assert.equal(upstream[provider].last.body.tools, undefined);
    }
  }
});

test("2api 5.2 and 5.5: an answer with calls has the warning, and a list with index", async () => {
  const warning = "Response contains tool_calls. Client must execute tools and send results to continue conversation.";
  for (const provider of ["openai", "anthropic", "gemini"]) {
    for (const streamed of [false, true]) {
      upstream[provider].script({ calls: [ROME, ROME] });
      const { _2api, calls, message } = await gateway.either(streamed, provider, { tools });
      assert.equal(_2api.warning, warning);
      if (!streamed) assert.deepEqual(message.tool_calls.map(({ index }) => index), [0, 1]);
      assert.equal(calls.length, 2);
      upstream[provider].script({ text: "Sunny" });
      assert.equal((await gateway.either(streamed, provider, { tools }))._2api.warning, undefined);
    }
  }
});

test("2api 4.1: the client's tools are never run, even if they have the name of one of the server's", async () => {
  upstream.openai.script({ calls: [{ name: "Calculator_Add", input: { a: 1, b: 2 } }] });
  const { message } = await gateway.choice("openai", { tools: [tool("Calculator_Add")] });
  assert.equal(message.tool_calls[0].function.name, "Calculator_Add");
  assert.equal(upstream.openai.journal.length, 1);
});

test("one line of log per request says who used what, and nothing of what was said", async () => {
  await using({}, async (gateway, worker) => {
    upstream.anthropic.script({ text: "canary-answer" }, { thinking: "canary-thought", calls: [ROME] }, { status: 400, message: "canary-message" });
    for (const stream of [false, true, false]) await (await gateway.send("anthropic", { messages: [user("canary-question")], tools, stream })).text();
    const lines = (await worker.events()).filter(({ event }) => event === "chat");
    assert.equal(lines.length, 3);
    const { duration_ms, ...line } = lines[1];
    assert.ok(duration_ms >= 0);
    assert.deepEqual(line, {
      level: "log",
      audit: 1,
      event: "chat",
      outcome: "done",
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "anthropic",
      "gen_ai.request.model": "claude-sonnet-4-5",
      caller: "key:tests",
      "http.response.status_code": 200,
      "gen_ai.usage.input_tokens": 17,
      "gen_ai.usage.output_tokens": 5,
      "gen_ai.usage.cache_read.input_tokens": 4,
      tool_calls: 1,
      rounds: 1,
      attempts: 1,
    });
    assert.deepEqual([lines[2].level, lines[2]["http.response.status_code"]], ["warn", 400]);
    // worker.close() searches everything that was printed for the word canary, which keys, prompts and answers have.
  });
});

test("_2api has provider, model, attempts and usage", async () => {
  for (const provider of ["openai", "anthropic", "gemini"]) {
    for (const streamed of [false, true]) {
      upstream[provider].script({ calls: [ROME] });
      const { _2api } = await gateway.either(streamed, provider, { tools });
      const { attempts: [{ ms, ...attempt }], usage } = _2api;
      assert.equal(`${_2api.provider}/${_2api.model}`, model(provider));
      assert.deepEqual(attempt, { provider: _2api.provider, status: 200 });
      assert.equal(typeof ms, "number");
      assert.deepEqual([usage.cached_tokens, usage.tool_calls, usage.rounds], [4, 1, 1]);
      assert.ok(usage.input_tokens >= 10 && usage.output_tokens >= 5);
    }
  }
});

test("what a request leaves out does not reach OpenAI, and everything else does", async () => {
  upstream.openai.script({ text: "Sunny" });
  const rest = { seed: 7, logit_bias: { 5: 1 }, metadata: { a: "b" }, user: "someone", verbosity: "low", store: false };
  await gateway.choice("openai", { ...rest, request_options: { validate_tool_arguments: true } });
  const { model: _, messages, max_tokens, ...arrived } = gateway.arrived("openai");
  assert.deepEqual(arrived, rest);
});

test("bodies that are too large, not JSON, or of another type", async () => {
  const path = "/v1/chat/completions";
  await using({ vars: { GATEWAY_MAX_BODY_BYTES: "200000" } }, async (_, worker) => {
    const large = await post(worker, body("openai", { messages: [user("x".repeat(300_000))] }));
    assert.deepEqual([large.status, large.json.error.type], [413, "invalid_request_error"]);
  });
  assert.equal((await served.worker.post('{"model":', { path, headers: { authorization } })).status, 400);
  assert.equal((await served.worker.post("x", { path, headers: { authorization, "content-type": "text/plain" } })).status, 415);
});
