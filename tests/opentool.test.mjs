// OpenTool 1.0: the responses (OT1 to OT41), and how its clients read them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { entryOf } from "../scripts/credentials.mjs";
import * as clients from "./support/opentool.mjs";
import { BOOTH, CANARY, FIXTURES, start } from "./support/worker.mjs";

const KEY = `${CANARY}-key`;
const KEYED = { vars: { AUTH: "api-key", API_KEYS: JSON.stringify([entryOf(KEY, "tests", [])]) }, limit: 1 };

let booth, fixtures, keyed;
before(async () => ([booth, fixtures, keyed] = await Promise.all([start(BOOTH), start(FIXTURES), start(BOOTH, KEYED)])));
after(() => Promise.all([booth.close(), fixtures.close(), keyed.close()]));

const CALL = "/opentool/call";
const STREAM = "/opentool/streamCall";
const request = (method, params, id = "call_7") => ({ jsonrpc: "2.0", method, params, id });
const ask = (worker, body, path = CALL) => worker.post(body, { path });
const ADD = request("Calculator_Add", { a: 1, b: 2 });

for (const path of ["/opentool/version", "/version"]) {
  test(`OT1 GET ${path} returns a version x.y.z`, async () => {
    const reply = await booth.get(path);
    assert.equal(reply.status, 200);
    assert.deepEqual(Object.keys(reply.json), ["version"]);
    assert.match(reply.json.version, /^\d+\.\d+\.\d+$/);
    assert.equal((await booth.request("HEAD", path)).text, "");
    assert.equal((await booth.get(path, { "if-none-match": reply.headers.etag })).status, 304);
  });
}

for (const authorization of [`Bearer ${CANARY}`, `bearer ${CANARY}`, CANARY, "Bearer ", ""]) {
  test(`OT4 no keys are configured: "Authorization: ${authorization}" is not checked`, async () => {
    for (const path of ["/opentool/version", "/opentool/load"]) {
      assert.equal((await booth.get(path, { authorization })).status, 200);
    }
    const reply = await booth.post(ADD, { path: CALL, headers: { authorization } });
    assert.deepEqual(reply.json.result, { result: 3 });
  });
}

for (const [method, path, status, allow] of [
  ["GET", "/opentool", 404],
  ["GET", "/opentool/", 404],
  ["GET", "/opentool/Version", 404],
  ["POST", "/opentool/calls", 404],
  ["POST", "/opentool/opentool/call", 404],
  ["POST", "/opentool/call/", 404],
  ["GET", "/opentool/call", 405, "POST, OPTIONS"],
  ["PUT", "/opentool/streamCall", 405, "POST, OPTIONS"],
  ["GET", "/opentool/stop", 404],
  ["POST", "/opentool/version", 405, "GET, HEAD, OPTIONS"],
  ["POST", "/opentool/load", 405, "GET, HEAD, OPTIONS"],
]) {
  test(`OT5 ${method} ${path} is ${status} with a JSON-RPC error`, async () => {
    const reply = await booth.request(method, path);
    assert.equal(reply.status, status);
    assert.equal(reply.json.error.code, -32600);
    assert.equal(reply.headers.allow, allow);
  });
}

test("OPTIONS lists the methods of each path", async () => {
  for (const [path, allow] of [[CALL, "POST, OPTIONS"], [STREAM, "POST, OPTIONS"], ["/opentool/load", "GET, HEAD, OPTIONS"],
    ["/opentool/stop", "OPTIONS"]]) {
    const reply = await booth.request("OPTIONS", path);
    assert.equal(reply.status, 204);
    assert.equal(reply.headers.allow, allow);
  }
});

test("OT41 POST /opentool/stop is 404 and stops nothing", async () => {
  for (const body of ["", "{}"]) {
    const reply = await booth.post(body, { path: "/opentool/stop" });
    assert.equal(reply.status, 404);
    assert.equal(reply.json.error.message, "This server is hosted; nothing is stopped here");
    assert.equal((await ask(booth, ADD)).json.result.result, 3);
  }
});

// Requests, their responses, and how each client reads them: the exceptions of section 6.
const C = (message) => ({ exception: "OpenToolServerCallException", message });
const N = { exception: "OpenToolServerNoAccessException" };
const U = { exception: "OpenToolServerUnauthorizedException" };
const everyone = (outcome) => ({ typescript: outcome, java: outcome, dart: outcome });
const PRIVATE = /^The tool needs the token "mail", the secret "KEY", a user id, which this protocol cannot send/;
for (const [name, worker, body, error, outcome] of [
  ["OT10 an object", () => booth, request("Doorbell_Ring", { doorbell_id: "doorbell42" }), undefined,
    everyone({ result: { doorbell_id: "doorbell42", rung: true } })],
  ["OT10 a number, wrapped", () => booth, ADD, undefined, everyone({ result: { result: 3 } })],
  ["OT10 nothing", () => fixtures, request("Fixture_Silent", {}), undefined, everyone({ result: {} })],
  ["OT10 an object from a tool that may return anything", () => fixtures, request("Fixture_Echo", { any: [1, null] }), undefined,
    everyone({ result: { any: [1, null] } })],
  ["OT6 the version 2.0.0", () => booth, { ...ADD, jsonrpc: "2.0.0" }, undefined, everyone({ result: { result: 3 } })],
  ["OT7 no params", () => fixtures, request("Fixture_Silent"), undefined, everyone({ result: {} })],
  ["OT36 a version by its name", () => booth, request("Text_Slugify__1_0_0", { text: "A b" }), undefined,
    everyone({ result: { result: "a-b" } })],
  ["OT36 a version by its id", () => booth, request("Text.Slugify@1.0.0", { text: "A b" }), undefined,
    everyone({ result: { result: "a-b" } })],
  ["OT12 an unknown function", () => booth, request("zzz", {}), -32601, everyone(C("Tool 'zzz' was not found"))],
  ["OT12 an unknown version", () => booth, request("Text.Slugify@9", {}), -32601,
    everyone(C("Tool 'Text_Slugify' has no version 9.0.0"))],
  ["OT12 OT13 bad arguments", () => booth, request("Calculator_Add", { a: CANARY }), -32602,
    everyone(C("Some parameters are invalid. b: Is required; a: Must be a number"))],
  ["OT20 arguments by position", () => booth, request("Calculator_Add", [1, 2]), -32602,
    everyone(C("Some parameters are invalid. input: Must be an object"))],
  ["OT12 a failing tool", () => booth, request("Doorbell_Ring", { doorbell_id: CANARY }), 500,
    everyone(C("Doorbell ID not found"))],
  ["OT14 a faulty tool", () => fixtures, request("Fixture_BadOutput", {}), 500, everyone(C("The tool failed"))],
  ["requirements", () => fixtures, request("Fixture_Private", {}), -32001, everyone(C(PRIVATE))],
  ["OT19 no version", () => booth, { ...ADD, jsonrpc: undefined }, -32600,
    everyone(C('Invalid request: jsonrpc must be "2.0"'))],
  ["no method", () => booth, { ...ADD, method: undefined }, -32600, everyone(C("Invalid request: method must be a string"))],
]) {
  test(`${name}: 200, id echoed, and the clients' outcome`, async () => {
    const reply = await ask(worker(), body);
    assert.equal(reply.status, 200);
    const { jsonrpc, result, id, ...rest } = reply.json;
    assert.deepEqual([jsonrpc, id], ["2.0", "call_7"], "OT6 OT8");
    if (error === undefined) assert.deepEqual(rest, {}, "OT10 no error");
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
    { typescript: N, java: HTTP, dart: C(/^HTTP 400 .*The body is not valid JSON/) }],
  ["OT24 another content type", () => booth.post(ADD, { path: CALL, headers: { "content-type": "text/plain" } }), 400, -32600,
    { typescript: N, java: HTTP, dart: C(/^HTTP 400 .*Content-Type: application\/json/) }],
  ["OT23 a body beyond the limit", () => booth.post("x".repeat(262145), { path: CALL }), 413, -32600,
    { typescript: N, java: HTTP, dart: C(/^HTTP 413 .*at most 262144 bytes/) }],
  ["OT5 another address", () => booth.post(ADD, { path: "/opentool/nothing" }), 404, -32600,
    { typescript: N, java: N, dart: C(/^HTTP 404 .*There is nothing at this address/) }],
  ["OT3 a call without key", () => ask(keyed, ADD), 401, -32002, everyone(U)],
  ["OT3 a call with another key", () => withKey(`${KEY}-other`), 401, -32002, everyone(U)],
  ["OT24 one call too many", tooMany, 429, -32003,
    { typescript: N, java: HTTP, dart: C(/^HTTP 429 .*Too many calls; try again after 60 seconds/) }],
  ["OT14 a tool that crashes", () => ask(fixtures, request("Fixture_Panic", {})), 503, -32603,
    { typescript: N, java: HTTP, dart: C(/^HTTP 503 .*The tool server failed/) }],
  ["OT15 a numeric id", () => ask(booth, request("zzz", {}, 7)), 200, -32601,
    { typescript: C("Tool 'zzz' was not found"), java: C("Tool 'zzz' was not found"), dart: { exception: "TypeError" } }],
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

for (const id of ["", "0", "call_abc", "ключ \u2028 🔑", 'a"b\\c\n', "x".repeat(1000)]) {
  test(`OT8 the id ${JSON.stringify(id).slice(0, 30)} is echoed on success and error`, async () => {
    assert.equal((await ask(booth, { ...ADD, id })).json.id, id);
    assert.equal((await ask(booth, request("zzz", {}, id))).json.id, id);
  });
}

for (const id of [0, 1, -1, 1.5, 9007199254740991, null]) {
  test(`OT15 OT21 the id ${id} keeps its type, and its error has no result`, async () => {
    assert.deepEqual((await ask(booth, { ...ADD, id })).json, { jsonrpc: "2.0", result: { result: 3 }, id });
    const { json } = await ask(booth, request("zzz", {}, id));
    assert.deepEqual([json.id, "result" in json, json.error.code], [id, false, -32601]);
  });
}

for (const [name, body, expected] of [
  ["empty", [], -32600],
  ["too long", Array(21).fill(ADD), -32600],
  ["an invalid member", [1], [[null, -32600]]],
  ["two calls, a notification and an error", [ADD, { ...ADD, id: undefined }, request("zzz", {}, "b"), { ...ADD, id: 3 }],
    [["call_7", undefined], ["b", -32601], [3, undefined]]],
]) {
  test(`OT17 a batch: ${name}`, async () => {
    const { status, json } = await ask(booth, body);
    assert.equal(status, 200);
    const got = Array.isArray(json) ? json.map(({ id, error }) => [id, error?.code]) : json.error.code;
    assert.deepEqual(got, expected);
    for (const one of [json].flat()) assert.ok(!("error" in one && "result" in one), "strict");
  });
}

test("OT16 OT17 notifications: 204 without a body", async () => {
  for (const body of [{ ...ADD, id: undefined }, [{ ...ADD, id: undefined }, { ...request("zzz"), id: undefined }]]) {
    const reply = await ask(booth, body);
    assert.deepEqual([reply.status, reply.text], [204, ""]);
  }
});

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

test("at the root a call with jsonrpc is an OpenTool call", async () => {
  // Sent without checking the contract of /call, which is OXP's.
  const post = async (body) => {
    const headers = { "content-type": "application/json" };
    const reply = await fetch(`${booth.address}/call`, { method: "POST", headers, body: JSON.stringify(body) });
    assert.equal(reply.status, 200);
    return reply.json();
  };
  assert.deepEqual(await post(ADD), { jsonrpc: "2.0", result: { result: 3 }, id: "call_7" });
  assert.deepEqual((await post([{ ...ADD, id: 1 }])).map(({ id }) => id), [1]);
  assert.equal((await post({ tool_id: "Calculator.Add", input: { a: 1, b: 2 } })).value, 3);
});

test("OT23 a body above 100 kB works", async () => {
  const any = "x".repeat(200_000);
  assert.deepEqual((await ask(fixtures, request("Fixture_Echo", { any }))).json.result, { any });
});

test("the data of an error, for clients that read it", async () => {
  const { json } = await ask(booth, request("Doorbell_Ring", { doorbell_id: "x" }));
  assert.deepEqual(json.error.data, {
    additional_prompt_content: "ids: doorbell42,doorbell84",
    can_retry: true,
    developer_message: "The doorbell with ID 'x' does not exist.",
    retry_after_ms: 500,
  });
  const invalid = await ask(booth, request("Calculator_Add", {}));
  assert.deepEqual(invalid.json.error.data, { parameter_errors: { a: "Is required", b: "Is required" } });
  const lacking = await ask(fixtures, request("Fixture_Private", {}));
  assert.deepEqual(lacking.json.error.data, {
    missing_requirements: { authorization: ["mail"], secrets: ["KEY"], user_id: true },
  });
});

test("many calls at once keep their ids and inputs apart", async () => {
  const ids = Array.from({ length: 50 }, (_, at) => at);
  const replies = await Promise.all(ids.map((at) => ask(booth, request("Calculator_Add", { a: at, b: 0 }, `call_${at}`))));
  assert.deepEqual(replies.map(({ json }) => [json.id, json.result.result]), ids.map((at) => [`call_${at}`, at]));
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

test("OT10 the document says how a result is wrapped", async () => {
  const { functions } = (await booth.get("/opentool/load")).json;
  const result = (name) => functions.find((one) => one.name === name).return.schema;
  assert.deepEqual(result("Calculator_Add").required, ["result"]);
  assert.equal(result("Calculator_Add").properties.result.type, "number");
  assert.deepEqual(Object.keys(result("Doorbell_Ring").properties).sort(), ["doorbell_id", "rung"]);
});

test("the document omits tools that may not be called", async () => {
  const worker = await start(BOOTH, { vars: { TOOL_ALLOWLIST: "Calculator.*" } });
  try {
    assert.deepEqual(clients.load((await worker.get("/opentool/load")).json), ["Calculator_Add"]);
    const { json } = await ask(worker, request("Doorbell_Ring", { doorbell_id: "doorbell42" }));
    assert.deepEqual([json.error.code, json.error.message], [-32601, "Tool 'Doorbell_Ring' may not be called"]);
  } finally {
    await worker.close();
  }
});

// Streams.

const RESULT = { jsonrpc: "2.0", result: { result: 3 }, id: "call_7" };
for (const [name, body, expected] of [
  ["a value", ADD, [["start", { start: "Calculator_Add" }], ["data", RESULT], ["done", { done: "Calculator_Add" }]]],
  ["the version 2.0.0", { ...ADD, jsonrpc: "2.0.0" },
    [["start", { start: "Calculator_Add" }], ["data", RESULT], ["done", { done: "Calculator_Add" }]]],
  ["an unknown function", request("zzz", {}), [["start", { start: "zzz" }], ["error", -32601]]],
  ["bad arguments", request("Calculator_Add", {}), [["start", { start: "Calculator_Add" }], ["error", -32602]]],
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

test("OT37 line breaks in an event's data do not hide it from the client", async () => {
  const any = "a\r\nb\u2028c\u2029d\u0085e";
  const reply = await ask(fixtures, request("Fixture_Echo", { any }), STREAM);
  const [, [, data]] = clients.events(reply.text);
  assert.deepEqual(data.result, { any });
});

for (const [name, body] of [
  ["a numeric id", { ...ADD, id: 1 }],
  ["no id", { ...ADD, id: undefined }],
  ["a batch", [ADD]],
  ["no method", { ...ADD, method: undefined }],
  ["no JSON", "{"],
]) {
  test(`${name} starts no stream: 400 with a JSON-RPC error`, async () => {
    const reply = await ask(booth, body, STREAM);
    assert.equal(reply.status, 400);
    assert.equal(reply.json.error.code, name === "no JSON" ? -32700 : -32600);
  });
}
