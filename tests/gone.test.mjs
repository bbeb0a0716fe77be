// Requests whose clients go while they wait: nothing of them stays in memory.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listen } from "./support/server.mjs";
import { BINDINGS, start } from "./support/worker.mjs";

// Locally, only a Worker can end a request to another one as the network does. This one answers with the size of the memory of
// WebAssembly, which it learns when that grows. `/arrived` responds when the request that waits has reached the service.
const AROUND = `
const buffer = Object.getOwnPropertyDescriptor(WebAssembly.Memory.prototype, "buffer");
let memory;
Object.defineProperty(WebAssembly.Memory.prototype, "buffer", { ...buffer, get() { memory = this; return buffer.get.call(this); } });
export default { async fetch(request, env, context) {
  if (new URL(request.url).pathname !== "/cut") return Worker.fetch(request, env, context);
  const client = new AbortController();
  const answer = env.SELF.fetch("http://worker/tools/call", { method: "POST", headers: request.headers, body: request.body, signal: client.signal });
  await fetch(env.SERVICE + "/arrived");
  client.abort();
  await answer.catch(() => {});
  return Response.json(memory?.buffer.byteLength ?? 0);
} };`;

let service, worker;
before(async () => {
  let arrived = Promise.withResolvers();
  service = await listen(async ({ url }, response) => {
    if (url !== "/arrived") return arrived.resolve();
    await arrived.promise;
    arrived = Promise.withResolvers();
    response.end();
  });
  worker = await start(BINDINGS, { around: AROUND, vars: { SERVICE: service.base }, bindings: { SELF: { type: "worker", worker: "worker" } } });
});
after(async () => {
  await worker.close();
  await service.close();
});

test("requests whose clients go while a service is slow leave nothing behind", async () => {
  const input = { do: "fetch", any: { url: `${service.base}/slow`, method: "POST", body: "x".repeat(200_000), timeout: 60_000 } };
  const call = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ tool_id: "Script.Probe", input }) };
  const cut = async () => (await fetch(`${worker.address}/cut`, call)).json();
  for (let times = 0; times < 20; times += 1) await cut();
  const early = await cut();
  for (let times = 0; times < 40; times += 1) await cut();
  const grown = (await cut()) - early;
  assert.ok(grown < 10 * 200_000, `40 requests left ${grown} bytes`);
  assert.equal((await worker.call("Script.Greet", { name: "Ada" })).json.value, "Hello, Ada");
  assert.deepEqual((await worker.logs()).filter(({ message }) => !message.includes('"configuration"')), []);
});
