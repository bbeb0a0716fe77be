// Tools that use the Worker's bindings, and the store of tools. With them the crate `worker` is linked, which replaces
// our code for crashes.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { BINDINGS, CANARY, start } from "./support/worker.mjs";

const ECHO = `export default { fetch: (request) => new Response(new URL(request.url).pathname) };`;
/** Answers PUT by storing a thousand and one keys: from outside of the runtime, each would be a request. */
const FILL = `export default { async fetch(request, env, context) {
  if (request.method !== "PUT") return Worker.fetch(request, env, context);
  await Promise.all(Array.from({ length: 1001 }, (_, number) => env.KV.put("tool:Platform:many:" + number, "1")));
  return new Response();
} };`;
const BOUND = {
  CACHE: { type: "kv", id: "cache" },
  JOBS: { type: "queue", name: "jobs" },
  ECHO: { type: "worker", worker: "echo" },
};

let worker;
const vars = { AUTH: "api-key,none", API_KEYS: JSON.stringify([entryOf("operator-key", "operator", ["*"])]), PLATFORM_KEY: "k", SCRIPT_CITY: "Oslo" };
before(async () => (worker = await start(BINDINGS, { vars, bindings: BOUND, services: { echo: ECHO }, around: FILL })));
after(() => worker.close());

const call = async (tool, input = {}) => (await worker.call(`Platform.${tool}`, input)).json;

test("the types of the worker crate: KV, queues, other Workers", async () => {
  assert.equal((await call("Cache", { key: "a", value: "b" })).value, "b");
  assert.equal(await (await worker.namespace("CACHE")).get("a"), "b");
  assert.equal((await call("Enqueue", { any: [1, "x"] })).success, true);
  assert.equal((await call("Call")).value, "/hello");
  assert.equal((await call("Wait")).value, "waited");
  assert.deepEqual((await worker.logs()).filter(({ message }) => !/ABSENT|OTHER|PYTHON/.test(message)), []);
});

test("a missing binding disables only the tools that need it, and /health and the log say so", async () => {
  const { status, json } = await worker.call("Platform.Absent", {});
  assert.equal(status, 400);
  assert.match(json.message, /'Platform_Absent' is not configured/);
  assert.equal((await call("Optional")).value, false);
  const problem = "ABSENT is not bound; it disables Platform.Absent@1.0.0";
  const { warnings } = (await worker.get("/health", { accept: "application/json", authorization: "Bearer operator-key" })).json;
  assert.ok(warnings.includes(problem), `${warnings}`);
  assert.ok((await worker.logs()).some(({ level, message }) => level === "error" && message.includes(problem)));
});

test("a binding of another kind is the tool's error, and the log has the reason", async () => {
  const { error } = await call("Mistaken");
  assert.equal(error.message, "A service that the tool uses failed");
  const [{ level, message }] = (await worker.logs()).filter(({ message }) => message.includes('"platform"'));
  assert.equal(level, "warn");
  assert.match(JSON.parse(message).problem, /cannot be cast to the type D1Database from KvNamespace/);
});

test("the store: put, get, delete, list", async () => {
  const store = (operation, key, rest) => call("Store", { do: operation, key, ...rest });
  assert.equal((await store("get", "a")).value.value, null);
  const value = { text: "é\n", list: [1.5, null] };
  assert.equal((await store("put", "b:1", { value })).success, true);
  assert.equal((await store("put", "b:2", { value: 2, seconds: 3600 })).success, true);
  assert.deepEqual((await store("get", "b:1")).value.value, value);
  assert.deepEqual((await store("list", "b:")).value, { keys: ["b:1", "b:2"], cursor: null });

  const namespace = await worker.namespace("KV");
  const { keys } = await namespace.list({ prefix: "tool:Platform:" });
  assert.deepEqual(keys.map(({ name, expiration }) => [name, expiration > 0]), [["tool:Platform:b:1", false], ["tool:Platform:b:2", true]]);
  await store("delete", "b:1");
  assert.equal((await store("get", "b:1")).value.value, null);
  assert.equal(await namespace.get("tool:Platform:b:1"), null);

  assert.equal((await worker.fetch("http://worker/", { method: "PUT" })).status, 200);
  const first = (await store("list", "many:")).value;
  assert.equal(first.keys.length, 1000);
  const { value: second } = await store("list", "many:", { cursor: first.cursor });
  assert.equal(second.keys.length, 1);
  assert.equal(second.cursor, null);
});

test("the store: failures can be retried, and reach the log without keys and values", async () => {
  const long = await call("Store", { do: "put", key: `${CANARY}${"k".repeat(600)}`, value: CANARY });
  assert.deepEqual([long.error.message, long.error.can_retry], ["The tool's storage failed", true]);
  const [{ message }] = (await worker.logs()).filter(({ message }) => message.includes('"store"'));
  assert.match(JSON.parse(message).problem, /KV PUT failed/);
});

for (const [what, binding] of [
  ["a Durable Object", { type: "durable-object", worker: "worker", exportName: "Ledger" }],
  ["a variable", { type: "json", value: {} }],
]) {
  test(`the store: where ${what} is bound in its place, the call fails and the instance does not`, async () => {
    const mistaken = await start(BINDINGS, { vars, kv: false, bindings: { KV: binding } });
    try {
      const operations = ["get", "put", "delete", "list"];
      const waiting = mistaken.call("Platform.Wait", {});
      for (const operation of operations) {
        const { json } = await mistaken.call("Platform.Store", { do: operation, key: "a", ...(operation === "put" && { value: 1 }) });
        assert.deepEqual([json.error?.message, json.error?.can_retry], ["The tool's storage failed", true], operation);
      }
      assert.equal((await waiting).json.value, "waited");
      const problems = (await mistaken.logs()).map(({ message }) => message).filter((message) => !message.includes('"configuration"'));
      assert.deepEqual(problems.map((message) => JSON.parse(message).event), operations.map(() => "store"));
    } finally {
      await mistaken.close();
    }
  });
}

for (const tool of ["Panic", "LatePanic", "Overflow"]) {
  test(`${tool}: 500, the next request is served, and the log has an error`, async () => {
    const errors = async () => (await worker.logs()).filter(({ level }) => level === "error").length;
    const earlier = await errors();
    for (let times = 0; times < 3; times++) {
      const waiting = tool === "LatePanic" && worker.call("Platform.LatePanic", {});
      assert.equal((await worker.call(`Platform.${tool}`, {})).status, 500);
      if (waiting) assert.equal((await waiting).status, 500);
      assert.equal((await call("Call")).value, "/hello");
    }
    assert.ok((await errors()) > earlier);
  });
}
