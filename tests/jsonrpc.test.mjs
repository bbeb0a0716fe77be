// JSON-RPC 2.0 with a client of it: json-rpc-2.0 from npm. The tables are native: protocol::jsonrpc::tests.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import jsonSchema from "@json-schema-tools/meta-schema";
import openRpcDocument from "@open-rpc/meta-schema";
import Ajv from "ajv";
import { JSONRPCClient, JSONRPCErrorException } from "json-rpc-2.0";
import { SAMPLES, start } from "./support/worker.mjs";

let booth;
before(async () => (booth = await start(SAMPLES)));
after(() => booth.close());

const STRICT = "/jsonrpc";

// OpenRPC's schema, and the schema of schemas that it refers to without the slash in its id. Both name a dialect of
// their own, which adds no keyword to draft 7.
const DIALECT = "https://meta.json-schema.tools";
const draft7 = ({ $schema: _, ...schema }) => JSON.parse(JSON.stringify(schema).replaceAll(`"${DIALECT}"`, `"${DIALECT}/"`));
const ajv = new Ajv({ strict: false, validateFormats: false, schemas: [draft7(jsonSchema.jsonSchema)] });
const openRpc = ajv.compile(draft7(openRpcDocument.openrpcDocument));

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
      assert.deepEqual([error.code, error.message, error.data.can_retry], [500, "Doorbell ID not found. ids: doorbell42,doorbell84. Try again after 500 ms.", true]);
      return true;
    });
    await assert.rejects(rpc.request("zzz", {}), { code: -32601 });
    await assert.rejects(rpc.request("Calculator_Add", [1, 2]), { code: -32602, message: "params must be an object: tools take their parameters by name" });
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

test("rpc.discover returns an OpenRPC document of the tools", async () => {
  const rpc = client(STRICT);
  const document = await rpc.request("rpc.discover");
  assert.ok(openRpc(document), JSON.stringify(openRpc.errors));
  const add = document.methods.find(({ name }) => name === "Calculator_Add");
  assert.deepEqual(add.params.map(({ name, required, schema }) => [name, required, schema.type]), [["a", true, "number"], ["b", true, "number"]]);
  assert.deepEqual([add.paramStructure, add.result.schema.type], ["by-name", "number"]);
  const named = document.methods.map(({ name }) => name);
  assert.equal(new Set(named).size, named.length);
  const { functions } = (await booth.get("/opentool/load")).json;
  for (const { name } of functions) assert.ok(named.includes(name), name);
});
