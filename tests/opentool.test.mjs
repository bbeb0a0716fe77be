// OpenTool 1.0 (OT1 to OT41) with its clients. The tables are native: protocol::opentool::tests.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import * as clients from "./support/opentool.mjs";
import { SAMPLES, CANARY, FIXTURES, start } from "./support/worker.mjs";

const KEY = `${CANARY}-key`;
const KEYED = { vars: { AUTH: "api-key", API_KEYS: JSON.stringify([entryOf(KEY, "tests", [])]) }, limit: 1 };

let booth, fixtures, keyed;
before(async () => ([booth, fixtures, keyed] = await Promise.all([start(SAMPLES), start(FIXTURES), start(SAMPLES, KEYED)])));
after(() => Promise.all([booth.close(), fixtures.close(), keyed.close()]));

const CALL = "/opentool/call";
const STREAM = "/opentool/streamCall";
const request = (method, params, id = "call_7") => ({ jsonrpc: "2.0", method, params, id });
const ask = (worker, body, path = CALL) => worker.post(body, { path });
const ADD = request("Calculator_Add", { a: 1, b: 2 });

// Requests, their responses, and how each client reads them: the exceptions of section 6.
const C = (message) => ({ exception: "OpenToolServerCallException", message });
const N = { exception: "OpenToolServerNoAccessException" };
const U = { exception: "OpenToolServerUnauthorizedException" };
const everyone = (outcome) => ({ typescript: outcome, java: outcome, dart: outcome });
for (const [name, worker, body, error, outcome] of [
  ["OT10 an object", () => booth, request("Doorbell_Ring", { doorbell_id: "doorbell42" }), undefined,
    everyone({ result: { doorbell_id: "doorbell42", rung: true } })],
  ["OT10 a number, wrapped", () => booth, ADD, undefined, everyone({ result: { result: 3 } })],
  ["OT10 nothing", () => fixtures, request("Fixture_Silent", {}), undefined, everyone({ result: {} })],
  ["OT12 an unknown function", () => booth, request("zzz", {}), -32601, everyone(C("Tool 'zzz' was not found: zzz is not a tool of this server"))],
  ["OT12 OT13 bad arguments", () => booth, request("Calculator_Add", { a: CANARY }), -32602,
    everyone(C("Some parameters are invalid. b: Is required; a: Must be a number"))],
  ["OT12 a failing tool", () => booth, request("Doorbell_Ring", { doorbell_id: CANARY }), 500,
    everyone(C("Doorbell ID not found. ids: doorbell42,doorbell84. Try again after 500 ms."))],
  ["OT14 a faulty tool", () => fixtures, request("Fixture_BadOutput", {}), 500, everyone(C("The tool failed"))],
]) {
  test(`${name}: 200, id echoed, and the clients' outcome`, async () => {
    const reply = await ask(worker(), body);
    assert.equal(reply.status, 200);
    const { jsonrpc, result, id, ...rest } = reply.json;
    assert.deepEqual([jsonrpc, id], ["2.0", "call_7"], "OT6 OT8");
    if (error === undefined) assert.deepEqual(rest, { error: null }, "OT10 no error");
    else assert.deepEqual([result, rest.error.code], [{}, error], "OT11");
    expectOutcomes(reply, outcome);
  });
}

function expectOutcomes(reply, outcomes) {
  for (const [client, expected] of Object.entries(outcomes)) {
    const { message, ...got } = clients.call[client](reply);
    const { message: words, ...rest } = expected;
    assert.deepEqual(got, rest, client);
    if (words instanceof RegExp) assert.match(message, words, client);
    else assert.equal(message, words, client);
  }
}

const withKey = (key) => keyed.post(ADD, { path: CALL, headers: { authorization: `Bearer ${key}` } });

/** Calls until the limit is reached; at the full minute one more call is allowed. */
async function tooMany() {
  let reply;
  for (let calls = 0; calls < 3 && reply?.status !== 429; calls += 1) reply = await withKey(KEY);
  return reply;
}

// Requests that no OpenTool client sends, or errors before a request is read: some exceptions lack detail.
const HTTP = C("HTTP error");
for (const [name, send, status, code, outcomes] of [
  ["OT18 no JSON", () => booth.post("{", { path: CALL }), 400, -32700,
    { typescript: N, java: HTTP, dart: C(/^HTTP 400 .*The request body is not valid JSON/) }],
  ["OT24 another content type", () => booth.post(ADD, { path: CALL, headers: { "content-type": "text/plain" } }), 400, -32600,
    { typescript: N, java: HTTP, dart: C(/^HTTP 400 .*Content-Type: application\/json/) }],
  ["OT23 a body beyond the limit", () => booth.post("x".repeat(262145), { path: CALL }), 413, -32600,
    { typescript: N, java: HTTP, dart: C(/^HTTP 413 .*at most 262144 bytes/) }],
  ["OT5 another address", () => booth.post(ADD, { path: "/opentool/nothing" }), 404, -32600,
    { typescript: N, java: N, dart: C(/^HTTP 404 .*There is nothing at this address/) }],
  ["OT3 a call without key", () => ask(keyed, ADD), 401, -32002, everyone(U)],
  ["OT3 a call with another key", () => withKey(`${KEY}-other`), 401, -32002, everyone(U)],
  ["OT24 one call too many", tooMany, 429, -32003,
    { typescript: N, java: HTTP, dart: C(/^HTTP 429 .*Too many requests: try again after 60 seconds/) }],
  ["OT14 a tool that crashes", () => ask(fixtures, request("Fixture_Panic", {})), 503, -32603,
    { typescript: N, java: HTTP, dart: C(/^HTTP 503 .*The tool server failed/) }],
  ["OT15 a numeric id", () => ask(booth, request("zzz", {}, 7)), 200, -32601,
    { typescript: C("Tool 'zzz' was not found: zzz is not a tool of this server"), java: C("Tool 'zzz' was not found: zzz is not a tool of this server"), dart: { exception: "TypeError" } }],
  ["OT16 a notification", () => ask(booth, { ...ADD, id: undefined }), 204, undefined,
    { typescript: { result: undefined }, java: { exception: "ResponseNullException" }, dart: { exception: "TypeError" } }],
]) {
  test(`${name} is ${status}, and the clients' outcome`, async () => {
    const reply = await send();
    assert.equal(reply.status, status);
    if (code !== undefined) assert.equal(reply.json.error.code, code);
    expectOutcomes(reply, outcomes);
  });
}

test("OT22 content types with a charset, gzip responses and UTF-8", async () => {
  const any = "Größe 尺寸 🧰";
  const reply = await fetch(`${fixtures.address}${CALL}`, {
    method: "POST",
    headers: { "content-type": "application/json; charset=utf-8", "accept-encoding": "gzip, deflate" },
    body: JSON.stringify(request("Fixture_Echo", { any })),
  });
  assert.equal(reply.headers.get("content-type"), "application/json", "OT9");
  assert.deepEqual((await reply.json()).result, { any });
});

test("OT23 a body above 100 kB works", async () => {
  const any = "x".repeat(200_000);
  assert.deepEqual((await ask(fixtures, request("Fixture_Echo", { any }))).json.result, { any });
});

// The document.

for (const [name, worker] of [["deployed tools", () => booth], ["unusual tools", () => fixtures]]) {
  test(`OT2 OT26 OT35 the document of the ${name} can be parsed by the strictest client`, async () => {
    const { json } = await worker().get("/opentool/load");
    assert.equal(json.opentool, "1.1.0");
    assert.ok(clients.load(json)?.length > 0);
    assert.deepEqual((await worker().get("/load")).json, json, "the same at the root");
  });

  test(`OT34 no string in the document of the ${name} is a number`, async () => {
    const { json } = await worker().get("/opentool/load");
    assert.deepEqual([...clients.texts(json)].filter((text) => /^-?\d+$/.test(text)), []);
  });

  test(`OT27 OT28 it lists the ${name} by plain name with all parameters`, async () => {
    const { functions } = (await worker().get("/opentool/load")).json;
    const { items } = (await worker().get("/tools")).json;
    const callable = items.filter(({ requirements }) => requirements === undefined);
    assert.deepEqual(new Set(functions.map((one) => one.name)), new Set(callable.map((one) => one.name)), "OT36");
    for (const { name, description, parameters } of functions) {
      const latest = callable.findLast((one) => one.name === name);
      assert.equal(description, latest.description);
      const { properties = {}, required = [] } = latest.input_schema;
      const expected = Object.keys(properties).map((key) => [key, required.includes(key)]);
      assert.deepEqual(new Map(parameters.map((one) => [one.name, one.required])), new Map(expected), name);
    }
  });

  test(`OT36 each function of the ${name} is a method`, async () => {
    const { functions } = (await worker().get("/opentool/load")).json;
    for (const { name } of functions) {
      // Rejected before it runs, so that misbehaving fixtures do not crash the server.
      const { json } = await ask(worker(), request(name, []));
      assert.equal(json.error.code, -32602, name);
    }
  });
}

// Streams.

const RESULT = { jsonrpc: "2.0", result: { result: 3 }, error: null, id: "call_7" };
for (const [name, body, expected] of [
  ["a value", ADD, [["start", { start: "Calculator_Add" }], ["data", RESULT], ["done", { done: "Calculator_Add" }]]],
  ["a failing tool", request("Doorbell_Ring", { doorbell_id: CANARY }), [["start", { start: "Doorbell_Ring" }], ["error", 500]]],
]) {
  test(`OT37 OT38 OT39 the client finds the events of ${name}`, async () => {
    const reply = await ask(booth, body, STREAM);
    assert.equal(reply.status, 200);
    assert.equal(reply.headers["content-type"], "text/event-stream");
    assert.equal(reply.headers["cache-control"], "no-store");
    const found = clients.events(reply.text).map(([event, data]) => {
      if (event !== "error") return [event, data];
      assert.deepEqual([data.jsonrpc, data.result, data.id], ["2.0", {}, "call_7"], "OT39");
      return [event, data.error.code];
    });
    assert.deepEqual(found, expected);
    assert.equal(reply.text.replace(/event:\w+\ndata:.*\n\n/g, ""), "", "OT37 nothing between");
  });
}
