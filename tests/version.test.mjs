// OXP-Version in requests and responses (X6 to X8).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BOOTH, start } from "./support/worker.mjs";

let worker;
before(async () => (worker = await start(BOOTH)));
after(() => worker.close());

const CALL = { tool_id: "Calculator.Add", input: { a: 1, b: 2 } };
const ENDPOINTS = [
  ["/tools/call", (headers) => worker.post(CALL, { headers })],
  ["/tools", (headers) => worker.get("/tools", headers)],
  ["/health", (headers) => worker.get("/health", headers)],
];

for (const [name, ask] of ENDPOINTS) {
  for (const [clause, version] of [
    ["X6", undefined],
    ["X6", ""],
    ["X7", "1"],
    ["X7", "1.0"],
    ["X7", "1.0.0"],
  ]) {
    test(`${clause} ${name} serves OXP-Version ${JSON.stringify(version) ?? "absent"}`, async () => {
      const reply = await ask(version === undefined ? {} : { "oxp-version": version });
      assert.equal(reply.status, 200);
      assert.equal(reply.headers["oxp-version"], "1.0");
    });
  }
  for (const version of ["2.0", "2", "0.9", "1.1", "1.0.1", "1.0.0.0", "x", "v1.0", "1.0, 1.0", "latest"]) {
    test(`X16 ${name} rejects OXP-Version ${version}`, async () => {
      const reply = await ask({ "oxp-version": version });
      assert.equal(reply.status, 400);
      assert.deepEqual(reply.json, {
        message: "This version of OXP is not supported",
        developer_message: "OXP-Version must be 1.0 or absent",
      });
      assert.equal(reply.headers["oxp-version"], "1.0");
    });
  }
}

// The check of every response cannot prove that these statuses were among them.
for (const [status, ask] of [
  [200, () => worker.post(CALL)],
  [304, () => worker.get("/tools", { "if-none-match": "*" })],
  [400, () => worker.call("Calculator.Add@2", {})],
  [404, () => worker.get("/nothing")],
  [405, () => worker.get("/tools/call")],
  [413, () => worker.post("x".repeat(262145))],
  [415, () => worker.post(CALL, { headers: { "content-type": "text/plain" } })],
  [422, () => worker.call("Calculator.Add", {})],
]) {
  test(`X8 a ${status} carries OXP-Version`, async () => {
    const reply = await ask();
    assert.equal(reply.status, status);
    assert.equal(reply.headers["oxp-version"], "1.0");
  });
}

test("X6 the version is checked before the call itself", async () => {
  const reply = await worker.post({ tool_id: 1 }, { headers: { "oxp-version": "3.0" } });
  assert.equal(reply.json.message, "This version of OXP is not supported");
});
