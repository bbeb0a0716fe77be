// Envelopes: OTC 1.0 at /otc (T1 to T44) and OXP 1.0 as published at /oxp/1.0 (XM1 to XM4). The clauses are those
// of docs/PROTOCOLS.md; the tables of versions and shapes are native (protocol::envelope::tests, server::envelope).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SAMPLES, FIXTURES, start } from "./support/worker.mjs";

let booth, fixtures;
before(async () => ([booth, fixtures] = await Promise.all([start(SAMPLES), start(FIXTURES)])));
after(() => Promise.all([booth.close(), fixtures.close()]));

const OTC = "otc://1.0";
const OXP = "urn:oxp:1.0";
const PUBLISHED = "https://github.com/OpenToolCalling/Specification/tree/main/spec/http/1.0/openapi.json";
const CALL = { tool_id: "Calculator.Add", call_id: "7", input: { a: 1, b: 2 } };

// The examples of OTC's call page, verbatim.
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
  for (const path of ["/otc/tools/call", "/call"]) {
    test(`seed of OTC: ${name} at ${path}`, async () => {
      const headers = { authorization: "Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9..." };
      const reply = await booth.post(`{ "$schema": "otc://1.0", "request": ${request} }`, { path, headers });
      assert.equal(reply.status, status);
      assert.equal(reply.headers["content-type"], "application/json");
      assert.equal(withoutDuration(reply.text), withoutDuration(JSON.stringify(JSON.parse(response))));
    });
  }
}

for (const path of ["/oxp/1.0/tools/call", "/oxp/1.0/call", "/otc/tools/call", "/otc/call", "/tools/call", "/call"]) {
  test(`XM1 XM2 XM3 XM4 T7 T8 T9 ${path}: the response names the version of the call`, async () => {
    for (const $schema of [undefined, OXP, OTC, PUBLISHED]) {
      const { status, json, headers } = await booth.post({ $schema, request: CALL }, { path });
      assert.equal(status, 200);
      assert.deepEqual([json.$schema, json.result.value], [$schema ?? (path.startsWith("/otc") ? OTC : OXP), 3]);
      // The root always sends its own version, the paths of envelopes never do.
      assert.equal(headers["oxp-version"], path.startsWith("/o") ? undefined : "1.0");
    }
    for (const [$schema, request, status] of [["otc://2.0", CALL, 400], [OXP, { ...CALL, input: {} }, 422]]) {
      assert.equal((await booth.post({ $schema, request }, { path })).status, status);
    }
  });
}

test("XM4 T10 T15 T32 the lists have the definitions of OXP", async () => {
  for (const worker of [booth, fixtures]) {
    const { items } = (await worker.get("/tools")).json;
    assert.deepEqual((await worker.get("/oxp/1.0/tools")).json, { $schema: OXP, items });
    const tools = items.map((item) => ({ ...item, input_schema: { parameters: item.input_schema } }));
    assert.deepEqual((await worker.get("/otc/tools")).json, { $schema: OTC, tools });
  }
});
