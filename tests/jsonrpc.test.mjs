// JSON-RPC 2.0 by its own rules, over HTTP and with a client: json-rpc-2.0 from npm.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { JSONRPCClient, JSONRPCErrorException } from "json-rpc-2.0";
import { BOOTH, FIXTURES, start } from "./support/worker.mjs";

let booth, fixtures;
before(async () => ([booth, fixtures] = await Promise.all([start(BOOTH), start(FIXTURES)])));
after(() => Promise.all([booth.close(), fixtures.close()]));

const STRICT = "/jsonrpc";
const request = (method, params, id = 1) => ({ jsonrpc: "2.0", method, params, id });
const ADD = request("Calculator_Add", { a: 1, b: 2 });

for (const [name, body, expected] of [
  ["a number as is", ADD, { result: 3, id: 1 }],
  ["an object", request("Doorbell_Ring", { doorbell_id: "doorbell42" }), { result: { doorbell_id: "doorbell42", rung: true }, id: 1 }],
  ["a string id", { ...ADD, id: "1" }, { result: 3, id: "1" }],
  ["a null id", { ...ADD, id: null }, { result: 3, id: null }],
  ["no params", request("Calculator_Add", undefined), { code: -32602, id: 1 }],
  ["positional params", request("Calculator_Add", [1, 2]), { code: -32602, id: 1 }],
  ["an unknown method", request("zzz", {}, "a"), { code: -32601, id: "a" }],
  ["a failing tool", request("Doorbell_Ring", { doorbell_id: "x" }, "a"), { code: 500, id: "a" }],
  ["OpenTool's version", { ...ADD, jsonrpc: "2.0.0" }, { code: -32600, id: 1 }],
  ["no version", { ...ADD, jsonrpc: undefined }, { code: -32600, id: 1 }],
  ["an empty batch", [], { code: -32600, id: null }],
  ["a batch that is too long", Array(21).fill(ADD), { code: -32600, id: null }],
  ["a string", '"x"', { code: -32600, id: null }],
  ["a batch of an invalid member", [1], [{ code: -32600, id: null }]],
  ["a batch", [ADD, { ...ADD, id: undefined }, request("zzz", {}, "b")], [{ result: 3, id: 1 }, { code: -32601, id: "b" }]],
]) {
  test(`strict: ${name}`, async () => {
    const { status, json } = await booth.post(body, { path: STRICT });
    assert.equal(status, 200);
    const summary = ({ jsonrpc, error, ...rest }) => (error === undefined ? rest : { code: error.code, ...rest });
    assert.deepEqual(Array.isArray(json) ? json.map(summary) : summary(json), expected);
  });
}

test("strict: null is a result", async () => {
  const { json } = await fixtures.post(request("Fixture_Silent", {}), { path: STRICT });
  assert.deepEqual(json, { jsonrpc: "2.0", result: null, id: 1 });
});

test("strict: notifications run without a response", async () => {
  for (const body of [{ ...ADD, id: undefined }, [{ ...ADD, id: undefined }]]) {
    const reply = await booth.post(body, { path: STRICT });
    assert.deepEqual([reply.status, reply.text], [204, ""]);
  }
});

for (const [name, status, code, send] of [
  ["invalid JSON", 400, -32700, () => booth.post("[", { path: STRICT })],
  ["another content type", 400, -32600, () => booth.post(ADD, { path: STRICT, headers: { "content-type": "text/plain" } })],
  ["a body beyond the limit", 413, -32600, () => booth.post("x".repeat(262145), { path: STRICT })],
  ["GET", 405, -32600, () => booth.get(STRICT)],
  ["another address", 404, -32600, () => booth.post(ADD, { path: "/jsonrpc/call" })],
  ["a tool that crashes", 503, -32603, () => fixtures.post(request("Fixture_Panic", {}), { path: STRICT })],
]) {
  test(`before a request is read, or after a crash: ${name} is ${status}`, async () => {
    const { status: got, json } = await send();
    assert.deepEqual([got, json.error.code, json.id], [status, code, null]);
  });
}

test("with and without a trailing slash", async () => {
  for (const path of [STRICT, "/jsonrpc/"]) assert.equal((await booth.post(ADD, { path })).json.result, 3);
  assert.equal((await booth.request("OPTIONS", STRICT)).headers.allow, "POST, OPTIONS");
});

/** The client, set up as in its README, for one path of the Worker. */
function client(path) {
  // Its ids are numbers; a response with an id of another type would settle no promise.
  const rpc = new JSONRPCClient(async (body) => {
    const reply = await booth.post(body, { path });
    if (reply.status === 200) rpc.receive(reply.json);
    else if (reply.status !== 204) throw new Error(`HTTP ${reply.status}`);
  });
  return rpc;
}

for (const [path, sum] of [[STRICT, 3], ["/opentool/call", { result: 3 }]]) {
  test(`OT15 OT21 a strict client at ${path}: results, errors with code and data, notifications`, async () => {
    const rpc = client(path);
    assert.deepEqual(await rpc.request("Calculator_Add", { a: 1, b: 2 }), sum);
    await assert.rejects(rpc.request("Doorbell_Ring", { doorbell_id: "x" }), (error) => {
      assert.ok(error instanceof JSONRPCErrorException);
      assert.deepEqual([error.code, error.message, error.data.can_retry], [500, "Doorbell ID not found", true]);
      return true;
    });
    await assert.rejects(rpc.request("zzz", {}), { code: -32601 });
    await assert.rejects(rpc.request("Calculator_Add", [1, 2]), { code: -32602 });
    rpc.notify("Calculator_Add", { a: 1, b: 2 });
    assert.deepEqual(await rpc.request("Calculator_Add", { a: 2, b: 1 }), sum);
  });

  test(`OT17 a strict client's batch at ${path}`, async () => {
    const rpc = client(path);
    const replies = await rpc.requestAdvanced([
      { jsonrpc: "2.0", id: 1, method: "Calculator_Add", params: { a: 1, b: 2 } },
      { jsonrpc: "2.0", id: "b", method: "zzz" },
    ]);
    assert.deepEqual(replies.map(({ id, result, error }) => [id, result, error?.code]), [[1, sum, undefined], ["b", undefined, -32601]]);
  });
}

test("a strict client with string ids at the strict path", async () => {
  const rpc = client(STRICT);
  const reply = await rpc.requestAdvanced({ jsonrpc: "2.0", id: "call_7", method: "zzz" });
  assert.equal(reply.error.code, -32601);
  assert.ok(!("result" in reply));
});
