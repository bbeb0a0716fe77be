// Envelopes: OXP 1.0 as published at /oxp/1.0 (XM1 to XM4), what both published forms have in
// common, and how the root tells them from flat bodies.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BOOTH, CANARY, FIXTURES, start } from "./support/worker.mjs";

let worker, fixtures;
before(async () => ([worker, fixtures] = await Promise.all([start(BOOTH), start(FIXTURES)])));
after(() => Promise.all([worker.close(), fixtures.close()]));

const OTC = "otc://1.0";
const OXP = "urn:oxp:1.0";
const PUBLISHED = [
  "https://github.com/OpenToolCalling/Specification/tree/main/spec/http/1.0/openapi.json",
  "https://github.com/OpenToolCalling/Specification/tree/main/specification/http/1.0/openapi.json",
  "https://github.com/ArcadeAI/OpenToolCalling/tree/main/specification/http/1.0/openapi.json",
];
const CALL = { tool_id: "Calculator.Add", call_id: "7", input: { a: 1, b: 2 } };
const MOUNTS = { "/otc": OTC, "/oxp/1.0": OXP };

test("XM4 the list of OXP as published: its version, and definitions in items", async () => {
  const { json } = await worker.get("/oxp/1.0/tools");
  assert.deepEqual(json, { $schema: OXP, ...(await worker.get("/tools")).json });
});

for (const path of ["/oxp/1.0/tools/call", "/oxp/1.0/call", "/otc/tools/call", "/otc/call", "/tools/call", "/call"]) {
  const unmarked = path.startsWith("/otc") ? OTC : OXP;

  for (const [clause, $schema] of [
    ["XM2 T9", undefined],
    ["XM3", OXP],
    ["T8", OTC],
    ...PUBLISHED.map((address) => ["XM1 T7", address]),
  ]) {
    test(`${clause} XM4 T12 T13 ${path} with $schema ${$schema ?? "absent"}: the answer names the same`, async () => {
      const named = { $schema: $schema ?? unmarked };
      const post = (request) => worker.post({ $schema, request }, { path });
      const ran = await post(CALL);
      assert.equal(ran.status, 200);
      const { duration, ...result } = ran.json.result;
      assert.deepEqual(ran.json, { ...named, result: { duration, ...result } });
      assert.deepEqual(result, { call_id: "7", success: true, value: 3 });
      const invalid = await post({ ...CALL, input: {} });
      assert.equal(invalid.status, 422);
      assert.equal(invalid.json.$schema, named.$schema);
      const refused = await post({ tool_id: "No.Tool" });
      assert.equal(refused.status, 400);
      assert.equal(refused.json.$schema, named.$schema);
      // The root carries its own version always, the mounts of envelopes never.
      const header = path.startsWith("/o") ? undefined : "1.0";
      for (const { headers } of [ran, invalid, refused]) assert.equal(headers["oxp-version"], header);
    });
  }

  for (const $schema of [
    "otc://2.0", "otc://1", "otc:1.0", "urn:oxp:2.0", "urn:oxp:1.0.0", "urn:oxp:", "https://example.com", "1.0", "", " ",
  ]) {
    test(`T20 XM1 ${path} with $schema ${JSON.stringify($schema)}: 400 that names the versions`, async () => {
      const reply = await worker.post({ $schema, request: CALL }, { path });
      assert.equal(reply.status, 400);
      // A marker of a protocol that is served is answered in that protocol.
      const [named] = [[OTC, "otc:"], [OXP, "urn:oxp:"]].find(([, start]) => $schema.startsWith(start)) ?? [unmarked];
      assert.deepEqual(reply.json, {
        $schema: named,
        message: "This version of the protocol is not supported",
        developer_message: "$schema must be otc://1.0, urn:oxp:1.0 or absent",
      });
    });
  }

  for (const [name, body, detail] of [
    ["$schema is no text", { $schema: 1, request: CALL }, "$schema must be a string"],
    ["request is null", { request: null }, "request must be an object with tool_id and input"],
    ["request is an array", { request: [CALL] }, "request must be an object with tool_id and input"],
    ["request and tool_id", { request: CALL, tool_id: "Calculator.Add" },
      "request and tool_id exclude each other; tool_id belongs inside request"],
    ["request is empty", { request: {} }, "in request: tool_id is missing; it must be a string"],
    ["D2 inputs", { request: { tool_id: "Calculator.Add", inputs: {} } },
      "in request: inputs is not a field; use input"],
    ["an unknown field", { request: { ...CALL, user_id: CANARY } },
      'in request: "user_id" is not a field of a call; the fields are tool_id, call_id, trace_id, input and context'],
    ["a context of another form", { request: { ...CALL, context: { secrets: [CANARY] } } },
      "in request: context.secrets must be an array of objects with the strings id and value"],
  ]) {
    test(`T20 XM4 ${path}: ${name} is 400`, async () => {
      const reply = await worker.post(body, { path });
      assert.equal(reply.status, 400);
      const message = "The request is malformed";
      assert.deepEqual(reply.json, { $schema: unmarked, message, developer_message: detail });
    });
  }

  test(`T12 ${path}: further fields beside request are ignored, for the envelope is open`, async () => {
    const reply = await worker.post({ request: CALL, result: 1, note: CANARY }, { path });
    assert.equal(reply.json.result.value, 3);
  });
}

for (const [mount, $schema] of Object.entries(MOUNTS)) {
  for (const [name, body, detail] of [
    ["a flat body", CALL, "tool_id belongs inside request; /oxp/tools/call accepts a call without envelope"],
    ["no request", {}, "request is missing; it must be an object with tool_id and input"],
    ["an array", [{ request: CALL }], "the body must be an object with request"],
    ["null", "null", "the body must be an object with request"],
  ]) {
    test(`T20 XM4 ${mount}/tools/call: ${name} is 400`, async () => {
      const reply = await worker.post(body, { path: `${mount}/tools/call` });
      assert.equal(reply.status, 400);
      const message = "The request is malformed";
      assert.deepEqual(reply.json, { $schema, message, developer_message: detail });
    });
  }

  for (const [status, name, method, path, options] of [
    [400, "no JSON", "POST", "/call", { body: "{" }],
    [404, "another address", "GET", "/nothing", {}],
    [405, "another method", "GET", "/tools/call", {}],
    [405, "another method", "DELETE", "/tools", {}],
    [413, "a large body", "POST", "/call", { body: " ".repeat(262145) }],
    [415, "another type", "POST", "/call", { body: "{}", type: "text/plain" }],
  ]) {
    test(`T20 ${mount}: ${name} (${method} ${path}) is ${status} in the form of the mount`, async () => {
      const { body, type = "application/json" } = options;
      const headers = body === undefined ? {} : { "content-type": type };
      const reply = await worker.request(method, `${mount}${path}`, { headers, body });
      assert.equal(reply.status, status);
      assert.equal(reply.json.$schema, $schema);
      assert.equal(reply.headers["oxp-version"], undefined);
    });
  }

  for (const [path, allow] of [["/tools", "GET, HEAD, OPTIONS"], ["/call", "POST, OPTIONS"]]) {
    test(`OPTIONS ${mount}${path} allows ${allow}`, async () => {
      const reply = await worker.request("OPTIONS", `${mount}${path}`);
      assert.equal(reply.status, 204);
      assert.equal(reply.headers.allow, allow);
    });
  }

  test(`${mount}: HEAD and entity tags as everywhere`, async () => {
    const { etag } = (await worker.get(`${mount}/tools`)).headers;
    const head = await worker.request("HEAD", `${mount}/tools`);
    assert.equal(head.headers.etag, etag);
    assert.equal(head.text, "");
    assert.equal((await worker.get(`${mount}/tools`, { "if-none-match": etag })).status, 304);
    assert.equal((await worker.request("HEAD", `${mount}/health`)).status, 200);
  });

  test(`${mount} knows no OXP-Version: another one changes nothing`, async () => {
    const headers = { "oxp-version": "2.0" };
    assert.equal((await worker.get(`${mount}/tools`, headers)).status, 200);
    const reply = await worker.post({ request: CALL }, { path: `${mount}/call`, headers });
    assert.equal(reply.json.result.value, 3);
  });

  test(`${mount}: a tool that crashes is a 500 as JSON, and the next call is served`, async () => {
    const path = `${mount}/call`;
    const crashed = await fixtures.post({ request: { tool_id: "Fixture.Panic" } }, { path });
    assert.equal(crashed.status, 500);
    const next = await fixtures.post({ request: { tool_id: "Fixture.Silent" } }, { path });
    assert.equal(next.json.result.value, null);
  });
}

test("XM4 missing_requirements is told to OXP also when it is posted to /otc, and to OTC nowhere", async () => {
  for (const path of ["/oxp/1.0/call", "/otc/call", "/call"]) {
    const ask = ($schema) => fixtures.post({ $schema, request: { tool_id: "Fixture.Private" } }, { path });
    const expected = { user_id: true, secrets: ["KEY"] };
    assert.deepEqual((await ask(OXP)).json.missing_requirements, expected, path);
    assert.equal((await ask(OTC)).json.missing_requirements, undefined, path);
  }
});

test("the root refuses another OXP-Version whatever the form of the body", async () => {
  const reply = await worker.post({ request: CALL }, { headers: { "oxp-version": "2.0" } });
  assert.equal(reply.status, 400);
  assert.equal(reply.json.developer_message, "OXP-Version must be 1.0 or absent");
});

for (const body of [{ $schema: OTC, tool_id: "Calculator.Add" }, { $schema: OTC }]) {
  test(`the root takes ${JSON.stringify(body)} for an envelope, and refuses it as one`, async () => {
    const reply = await worker.post(JSON.stringify(body));
    assert.equal(reply.status, 400);
    assert.deepEqual(Object.keys(reply.json), ["$schema", "message", "developer_message"]);
    assert.equal(reply.json.$schema, OTC);
  });
}

for (const body of [{}, [], [[]], null]) {
  test(`the root takes ${JSON.stringify(body)} for a flat body, and refuses it as one`, async () => {
    const reply = await worker.post(JSON.stringify(body));
    assert.equal(reply.status, 400);
    assert.deepEqual(Object.keys(reply.json), ["message", "developer_message"]);
  });
}
