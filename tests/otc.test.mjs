// OTC 1.0 at /otc: the list, calls in envelopes, the three classes of error, and the examples of
// its call page (T1 to T44; docs/PROTOCOLS.md lists the clauses).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import Ajv from "ajv/dist/2020.js";
import { BOOTH, CANARY, FIXTURES, start } from "./support/worker.mjs";

let booth, fixtures;
before(async () => ([booth, fixtures] = await Promise.all([start(BOOTH), start(FIXTURES)])));
after(() => Promise.all([booth.close(), fixtures.close()]));

const OTC = "otc://1.0";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const PATHS = ["/otc/tools/call", "/otc/call"];

const call = (tool_id, input, { worker = booth, path = PATHS[0], headers, ...rest } = {}) =>
  worker.post({ $schema: OTC, request: { tool_id, input, ...rest } }, { path, headers });

// The examples of the call page, verbatim.
const withoutDuration = (text) => text.replace(/"duration":\d+,/, '"duration":0,');
for (const [name, request, status, response] of [
  [
    "Successful Execution",
    `{ "call_id": "123e4567-e89b-12d3-a456-426614174000", "tool_id": "Calculator.Add@1.0.0",
       "input": { "a": 10, "b": 5 } }`,
    200,
    `{ "$schema": "otc://1.0", "result": { "call_id": "123e4567-e89b-12d3-a456-426614174000",
       "duration": 2, "success": true, "value": 15 } }`,
  ],
  [
    "Server Error",
    `{ "call_id": "123e4567-e89b-12d3-a456-426614174000", "tool_id": "Calculator.Add@2.0.0" }`,
    400,
    `{ "$schema": "otc://1.0", "message": "Tool 'Calculator_Add' was not found",
       "developer_message": "Calculator.Add version 2.0.0 is not available" }`,
  ],
  [
    "Input Validation Error",
    `{ "call_id": "123e4567-e89b-12d3-a456-426614174000", "tool_id": "Calculator.Add@1.0.0",
       "input": { "a": 10, "b": "infinity" } }`,
    422,
    `{ "$schema": "otc://1.0", "message": "Some input parameters are invalid",
       "parameter_errors": { "b": "Must be a number" } }`,
  ],
  [
    "Tool Execution Error",
    `{ "call_id": "723e4567-e89b-12d3-a456-426614174006", "tool_id": "Doorbell.Ring@0.1.0",
       "input": { "doorbell_id": "doorbell1" } }`,
    200,
    `{ "$schema": "otc://1.0", "result": { "call_id": "723e4567-e89b-12d3-a456-426614174006",
       "duration": 60, "success": false, "error": { "message": "Doorbell ID not found",
       "developer_message": "The doorbell with ID 'doorbell1' does not exist.", "can_retry": true,
       "additional_prompt_content": "ids: doorbell42,doorbell84", "retry_after_ms": 500 } } }`,
  ],
]) {
  for (const path of [...PATHS, "/tools/call", "/call"]) {
    test(`seed of OTC: ${name} at ${path}`, async () => {
      const headers = { authorization: "Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9..." };
      const reply = await booth.post(`{ "$schema": "otc://1.0", "request": ${request} }`, { path, headers });
      assert.equal(reply.status, status);
      assert.equal(reply.headers["content-type"], "application/json");
      assert.equal(withoutDuration(reply.text), withoutDuration(JSON.stringify(JSON.parse(response))));
    });
  }
}

test("T1 T3 /otc/health is 200 without credentials", async () => {
  const reply = await booth.get("/otc/health");
  assert.equal(reply.status, 200);
  assert.deepEqual(reply.json, { status: "OK" });
});

test("T2 /otc/health is 503 when calls cannot be served, and they are 400", async () => {
  const worker = await start(BOOTH, { kv: "failing", vars: { MAX_BODY_BYTES: "0" } });
  try {
    assert.equal((await worker.get("/otc/health")).status, 503);
    const reply = await call("Calculator.Add", { a: 1, b: 2 }, { worker });
    assert.equal(reply.status, 400);
    assert.equal(reply.json.$schema, OTC);
    assert.equal(reply.json.message, "The tool server is temporarily unavailable");
  } finally {
    await worker.close();
  }
});

for (const body of ["", '{"$schema":"otc://1.0"}', '{"$schema":"otc://9.0"}', "{}", "not JSON"]) {
  test(`T6 the list is served to a GET with the body ${body}`, async () => {
    const reply = await booth.request("GET", "/otc/tools", { body });
    assert.equal(reply.status, 200);
    assert.equal(reply.text, (await booth.get("/otc/tools")).text);
  });
}

test("T10 T15 the list has $schema and every version of each tool in tools", async () => {
  const { json } = await booth.get("/otc/tools");
  assert.deepEqual(Object.keys(json), ["$schema", "tools"]);
  assert.equal(json.$schema, OTC);
  const { items } = (await booth.get("/tools")).json;
  assert.deepEqual(json.tools.map(({ id }) => id), items.map(({ id }) => id));
  assert.ok(json.tools.filter(({ name }) => name === "Text_Slugify").length > 1);
});

test("T32 a definition is like that of OXP with its input schema in parameters", async () => {
  for (const worker of [booth, fixtures]) {
    const { tools } = (await worker.get("/otc/tools")).json;
    const { items } = (await worker.get("/tools")).json;
    for (const [at, { input_schema, ...rest }] of items.entries()) {
      assert.deepEqual(tools[at], { ...rest, input_schema: { parameters: input_schema } });
    }
  }
});

test("T29 T30 T31 ids are unique, names and versions have their form", async () => {
  const { tools } = (await booth.get("/otc/tools")).json;
  assert.equal(new Set(tools.map(({ id }) => id)).size, tools.length);
  for (const { id, name, version } of tools) {
    assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
    assert.match(version, /^\d+\.\d+\.\d+$/);
    assert.ok(id.endsWith(`@${version}`));
  }
});

test("T33 each parameter is valid JSON Schema and has a description", async () => {
  for (const worker of [booth, fixtures]) {
    const { tools } = (await worker.get("/otc/tools")).json;
    for (const { id, input_schema } of tools) {
      for (const [name, parameter] of Object.entries(input_schema.parameters.properties ?? {})) {
        new Ajv({ strict: true, strictTypes: false, formats: { date: true }, keywords: ["x-mcp-header"] }).compile(parameter);
        assert.ok(parameter.description?.length > 0, `${id}: ${name}`);
      }
    }
  }
});

test("T34 T35 output schemas may be null or {}, requirements may be there", async () => {
  const { tools } = (await fixtures.get("/otc/tools")).json;
  const tool = (name) => tools.find(({ id }) => id === `Fixture.${name}@1.0.0`);
  assert.equal(tool("Silent").output_schema, null);
  assert.deepEqual(tool("Echo").output_schema, {});
  assert.ok(!("requirements" in tool("Echo")));
  assert.deepEqual(tool("Private").requirements.secrets, [{ id: "KEY" }]);
});

// 1.0.0 has no separator, 1.1.0 drops non-ASCII characters, 2.0.0 keeps them and returns an object.
for (const [clause, tool_id, status, expected] of [
  ["T16", "Text.Slugify@1.1.0", 200, "cr_me_x"],
  ["T16", "Text.Slugify@1.0.0", 422, { separator: "Is not a known parameter" }],
  ["T17", "Text.Slugify@1", 422, { separator: "Is not a known parameter" }],
  ["T17", "Text.Slugify@2", 200, { slug: "crème_x", truncated: false }],
  ["T18", "Text.Slugify", 200, { slug: "crème_x", truncated: false }],
]) {
  test(`${clause} ${tool_id} means one version`, async () => {
    const reply = await call(tool_id, { text: "Crème x", separator: "_" });
    assert.equal(reply.status, status);
    assert.deepEqual(reply.json.result?.value ?? reply.json.parameter_errors, expected);
  });
}

for (const [name, tool_id, input, status, members] of [
  ["T13 T14 a call that succeeds", "Calculator.Add", { a: 1, b: 2 }, 200, ["result"]],
  ["T14 T26 a call that fails", "Doorbell.Ring", { doorbell_id: CANARY }, 200, ["result"]],
  ["T20 T21 T22 an unknown tool", "No.Tool", {}, 400, ["message", "developer_message"]],
  ["T20 an invalid tool id", "nothing", {}, 400, ["message", "developer_message"]],
  ["T20 an unknown version", "Calculator.Add@9", {}, 400, ["message", "developer_message"]],
  ["T20 an unknown version is reported before the input", "Calculator.Add@9", { a: [] }, 400, ["message", "developer_message"]],
  ["T23 T24 T25 an invalid input", "Calculator.Add", {}, 422, ["message", "parameter_errors"]],
  ["T24 an input that is not an object", "Calculator.Add", [1, 2], 422, ["message", "parameter_errors"]],
]) {
  for (const path of PATHS) {
    test(`T19 ${name} at ${path} is a ${status} in its own form`, async () => {
      const reply = await call(tool_id, input, { path });
      assert.equal(reply.status, status);
      assert.deepEqual(Object.keys(reply.json), ["$schema", ...members]);
      assert.equal(reply.json.$schema, OTC);
      assert.equal(reply.headers["cache-control"], "no-store");
      assert.equal(reply.headers["oxp-version"], undefined);
    });
  }
}

test("T23 input is validated before the tool runs", async () => {
  // The tool would panic, with a 500, if it ran.
  const reply = await call("Fixture.Panic", { unwanted: 1 }, { worker: fixtures });
  assert.equal(reply.status, 422);
  assert.deepEqual(reply.json.parameter_errors, { unwanted: "Is not a known parameter" });
});

test("T26 T44 a tool's error tells whether to retry", async () => {
  const failed = (await call("Calculator.Add", { a: 1e308, b: 1e308 })).json.result;
  assert.deepEqual(failed.error, { message: "The sum is too large for a number", can_retry: false });
  const { error } = (await call("Doorbell.Ring", { doorbell_id: CANARY })).json.result;
  assert.equal(error.can_retry, true);
  assert.equal(error.retry_after_ms, 500);
});

test("T27 call_id is echoed, and generated if absent", async () => {
  const sent = await call("Calculator.Add", { a: 1, b: 2 }, { call_id: "é 1", trace_id: "span" });
  assert.equal(sent.json.result.call_id, "é 1");
  const ids = await Promise.all([1, 2].map(() => call("Calculator.Add", { a: 1, b: 2 })));
  const [one, two] = ids.map(({ json }) => json.result.call_id);
  assert.match(one, UUID);
  assert.match(two, UUID);
  assert.notEqual(one, two);
});

test("T28 a value that breaks its output schema never leaves the server", async () => {
  const { status, json } = await call("Fixture.BadOutput", {}, { worker: fixtures });
  assert.equal(status, 200);
  assert.equal(json.result.success, false);
  assert.equal(json.result.error.message, "The tool failed");
});

test("T34 a tool that returns nothing has the value null", async () => {
  assert.equal((await call("Fixture.Silent", {}, { worker: fixtures })).json.result.value, null);
});

for (const headers of [{ authorization: "Bearer x" }, { authorization: "Basic dTpw" }, { "otc-api-key": CANARY }]) {
  test(`T36 ${JSON.stringify(headers)} is ignored while no method is configured`, async () => {
    assert.equal((await booth.get("/otc/health", headers)).status, 200);
    assert.equal((await booth.get("/otc/tools", headers)).status, 200);
    assert.equal((await call("Calculator.Add", { a: 1, b: 2 }, { headers })).json.result.value, 3);
  });
}

const TOKEN = { authorization: [{ id: "mail", token: `${CANARY}-token` }] };
const SECRET = { secrets: [{ id: "KEY", value: `${CANARY}-secret` }] };
const USER = { user_id: `${CANARY}-user` };
const privately = (context, input = {}) => call("Fixture.Private", input, { worker: fixtures, context });

test("T40 a tool without requirements needs no context", async () => {
  assert.equal((await call("Fixture.Silent", {}, { worker: fixtures })).status, 200);
});

for (const [name, context, message] of [
  ["T41 no token", { ...SECRET, ...USER }, "Authorization required"],
  ["T41 an empty token", { ...SECRET, ...USER, authorization: [{ id: "mail", token: "" }] }, "Authorization required"],
  ["T42 no secret", { ...TOKEN, ...USER }, "The call lacks a secret"],
  ["T42 another secret", { ...TOKEN, ...USER, secrets: [{ id: "key", value: CANARY }] }, "The call lacks a secret"],
  ["T20 no user", { ...TOKEN, ...SECRET }, "The call must say for which user it is"],
]) {
  test(`${name}: 400; T43 without missing_requirements`, async () => {
    const reply = await privately(context, { wrong: CANARY });
    assert.equal(reply.status, 400);
    assert.deepEqual(Object.keys(reply.json), ["$schema", "message", "developer_message"]);
    assert.equal(reply.json.message, message);
    assert.ok(!reply.text.includes(CANARY));
  });
}

test("T41 T42 with all requirements the tool runs and receives them", async () => {
  const { status, json } = await privately({ ...TOKEN, ...SECRET, ...USER });
  assert.equal(status, 200);
  assert.deepEqual(json.result.value, {
    user_id: `${CANARY}-user`,
    token: `${CANARY}-token`,
    secret: `${CANARY}-secret`,
  });
});
