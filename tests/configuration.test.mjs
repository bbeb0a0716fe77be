// Invalid variables and a failing store: /health reports that the server is not ready (X2), the log and
// callers with valid credentials get the reason, calls are rejected if necessary (X16), the list is always
// served. Also valid variables (X1).
import assert from "node:assert/strict";
import { test } from "node:test";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { addresses, pathOf } from "./support/protocols.mjs";
import { SAMPLES, CANARY, deployed, start } from "./support/worker.mjs";

const ADD = ["Calculator.Add", { a: 1, b: 2 }];

/** A Worker for one test. */
async function using(options, use) {
  const worker = await start(SAMPLES, options);
  try {
    await use(worker);
  } finally {
    await worker.close();
  }
}

for (const [name, vars] of [
  ["no variable at all", {}],
  ["the variables of wrangler.toml", deployed.vars],
  ["values with surrounding spaces", { ALLOWED_ORIGINS: " https://a.example ,http://localhost:1 , " }],
  ["the largest limit", { MAX_BODY_BYTES: "8388608" }],
  ["a variable that nothing reads", { UNRELATED: "x" }],
]) {
  test(`X1 with ${name} /health is 200 and calls are served`, () =>
    using({ vars }, async (worker) => {
      const health = await worker.get("/health");
      assert.equal(health.status, 200);
      assert.deepEqual(health.json, { status: "OK" });
      assert.equal((await worker.call(...ADD)).json.value, 3);
      assert.deepEqual(await worker.logs(), []);
    }));
}

const BYTES = "must be a whole number of bytes from 1 to 8388608";
const ORIGINS = "must be * or a list of origins such as https://app.example, without path";
const ADDRESS = "must be an http or https URL without query or trailing slash";
const WEATHER = "it disables Weather.Current@1.0.0, Weather.Forecast@1.0.0";

for (const [vars, problems] of [
  [{ MAX_BODY_BYTES: "abc" }, [`MAX_BODY_BYTES ${BYTES}`]],
  [{ ALLOWED_ORIGINS: "https://a.example, *" }, [`ALLOWED_ORIGINS ${ORIGINS}`]],
  [
    { MAX_BODY_BYTES: "abc", ALLOWED_ORIGINS: "foo", WEATHER_FORECAST_URL: "x", WEATHER_GEOCODING_URL: "y" },
    [
      `ALLOWED_ORIGINS ${ORIGINS}`,
      `MAX_BODY_BYTES ${BYTES}`,
      `WEATHER_FORECAST_URL ${ADDRESS}; ${WEATHER}`,
      `WEATHER_GEOCODING_URL ${ADDRESS}; ${WEATHER}`,
    ],
  ],
]) {
  test(`X2 X16 ${JSON.stringify(vars)}: /health is 503, the log names it, calls are 400, the list is served`, () =>
    using({ vars }, async (worker) => {
      for (const path of ["/health", "/oxp/health"]) {
        const health = await worker.get(path);
        assert.equal(health.status, 503);
        assert.deepEqual(health.json, { status: "unavailable" });
      }
      for (const [tool_id, input] of [ADD, ["No.Tool", {}]]) {
        const call = await worker.call(tool_id, input);
        assert.equal(call.status, 400);
        assert.deepEqual(call.json, {
          message: "The tool server is temporarily unavailable",
          developer_message: "its configuration is invalid; its log has the details",
        });
      }
      assert.equal((await worker.get("/tools")).status, 200);
      // The log has each problem once, however many requests there were.
      const logged = (await worker.logs()).map(({ level, message }) => ({ level, ...JSON.parse(message) }));
      const expected = problems.map((problem) => ({ level: "error", event: "configuration", problem }));
      const sorted = (lines) => lines.map((line) => JSON.stringify(line, ["level", "event", "problem"])).sort();
      assert.deepEqual(sorted(logged), sorted(expected));
    }));
}

test("an invalid variable of a tool disables only the tools that read it", () => {
  const key = `${CANARY}-key`;
  const vars = { AUTH: "none,api-key", API_KEYS: JSON.stringify([entryOf(key, "one", ["*"])]), WEATHER_FORECAST_URL: "x" };
  return using({ vars }, async (worker) => {
    const health = await worker.get("/health", { "oxp-api-key": key });
    assert.deepEqual([health.status, health.json.status], [200, "OK"]);
    assert.ok(health.json.warnings.includes(`WEATHER_FORECAST_URL ${ADDRESS}; ${WEATHER}`), health.text);
    const { status, json } = await worker.call("Weather.Current", { city: "Berlin" });
    assert.deepEqual([status, json.message], [400, "Tool 'Weather_Current' is not configured"]);
    assert.equal((await worker.call(...ADD)).json.success, true);
    await worker.logs();
  });
});

test("a tool whose provider is not configured: the log and /health say what to set, and a page what to send", () => {
  const key = `${CANARY}-key`;
  const vars = { AUTH: "none,api-key", ANONYMOUS_SCOPES: "", API_KEYS: JSON.stringify([entryOf(key, "one", ["*"])]) };
  return using({ vars }, async (worker) => {
    const warning =
      'OAUTH_PROVIDERS does not include "github", which GitHub_CreateIssue and 1 more require: users cannot grant access, so clients must send tokens';
    const headers = { "oxp-api-key": key };
    assert.deepEqual((await worker.get("/health", headers)).json, { status: "OK", warnings: [warning] });
    assert.deepEqual((await worker.get("/health")).json, { status: "OK" });
    const [{ level, message }, ...more] = await worker.logs({ warnings: true });
    assert.deepEqual([level, JSON.parse(message), more], ["warn", { event: "configuration", warning }, []]);
    const list = { tool_id: "GitHub.ListIssues", input: { owner: "a", repository: "b" } };
    const { status, json } = await worker.post(list, { headers });
    const [{ id, url, ...rest }] = json.missing_requirements.authorization;
    assert.deepEqual([status, id, rest], [400, "github", {}]);
    const { pathname, protocol } = new URL(url);
    assert.deepEqual([pathname, protocol], ["/auth/help/github", "http:"]);
    const page = await worker.get(pathname);
    assert.equal(page.status, 200);
    assert.match(page.text, /<pre>"context": \{"authorization": \[\{"id": &quot;github&quot;/);
    assert.equal((await worker.get("/auth/help/mail")).status, 404);
  });
});

test("T2 XB10 MC12 a wrong variable: calls of every protocol are rejected in its form", () =>
  using({ vars: { MAX_BODY_BYTES: "abc" } }, async (worker) => {
    for (const { method, path: template, protocol, form } of await addresses(worker)) {
      const path = pathOf(template, "Calculator_Add");
      if (method === "GET") continue;
      const reply = await worker.post(form.body("Calculator_Add", { a: 1, b: 2 }), { path });
      const status = { root: 400, oxp: 400, "oxp-envelope": 400, otc: 400, langchain: 400, opentool: 200, jsonrpc: 200 }[protocol] ?? 503;
      assert.equal(reply.status, status, `${path}: ${reply.text}`);
      assert.match(reply.text, /configuration is invalid/, path);
    }
  }));

test("a number, an array or a table in wrangler.toml is the same as its JSON", () => {
  const MODELS = { fast: { targets: [{ provider: "openai", model: "m" }] } };
  return using({ vars: { MAX_BODY_BYTES: 100, OPENAI_API_KEY: "k", MODELS, ANONYMOUS_SCOPES: "gateway", DEVELOPMENT: true } }, async (worker) => {
    assert.equal((await worker.get("/health")).status, 200);
    assert.equal((await worker.call(...ADD, { trace_id: "x".repeat(100) })).status, 413);
    assert.deepEqual((await worker.get("/v1/models")).json.data.map(({ id }) => id), ["fast", "openai/m"]);
  });
});

for (const [name, kv] of [
  ["no KV namespace is bound", false],
  ["the KV namespace fails", "failing"],
]) {
  test(`X2 ${name}: /health is 503, and tools that need no store are served`, () =>
    using({ kv }, async (worker) => {
      const health = await worker.get("/health");
      assert.equal(health.status, 503);
      assert.deepEqual(health.json, { status: "unavailable" });
      assert.equal((await worker.request("HEAD", "/health")).status, 503);
      assert.equal((await worker.call(...ADD)).json.value, 3);
      assert.equal((await worker.get("/tools")).status, 200);
      const [{ level, message }] = await worker.logs();
      assert.deepEqual([level, JSON.parse(message).event], ["error", "store"]);
    }));
}

test("X2 a wrong variable and a missing store are both reported: details to the operator, names to callers with a key", () => {
  const [key, other] = [`${CANARY}-key`, `${CANARY}-other`];
  const keys = [entryOf(key, "one", ["*"]), entryOf(other, "two", [])];
  const vars = { AUTH: "none,api-key", API_KEYS: JSON.stringify(keys), MAX_BODY_BYTES: "abc" };
  return using({ kv: false, vars }, async (worker) => {
    const scope = 'ANONYMOUS_SCOPES includes the scope "fixture:private", which no tool requires';
    for (const [headers, problems, warnings] of [
      [{ "oxp-api-key": key }, [`MAX_BODY_BYTES ${BYTES}`, "the KV namespace does not answer"], [scope]],
      [{ "oxp-api-key": other }, ["MAX_BODY_BYTES: details are in the log", "the KV namespace does not answer"], ["ANONYMOUS_SCOPES: details are in the log"]],
      [{ "oxp-api-key": `${key}s` }, undefined],
      [{}, undefined],
    ]) {
      const reply = await worker.get("/health", headers);
      assert.deepEqual([reply.status, reply.headers["cache-control"]], [503, "no-store"]);
      assert.deepEqual(reply.json, { status: "unavailable", ...(problems && { problems, warnings }) });
    }
  });
});

test("X16 a server that is not ready reports an unsupported version too", () =>
  using({ kv: false, vars: { MAX_BODY_BYTES: "abc" } }, async (worker) => {
    assert.equal((await worker.get("/health", { "oxp-version": "2.0" })).status, 400);
  }));
