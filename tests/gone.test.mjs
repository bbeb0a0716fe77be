// Requests whose clients go while they wait: nothing of them stays in memory.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listen } from "./support/server.mjs";
import { BINDINGS, CANARY, start } from "./support/worker.mjs";

// Locally, only a Worker can end a request to another one as the network does. This one answers with the size of the memory of
// WebAssembly, which it learns when that grows. `/arrived` responds when the request that waits has reached the service.
const AROUND = `
import { Tasks as Real } from "./worker.js";
export class Tasks extends Real {
  async admit(given) {
    const isAdmitted = await super.admit(given);
    if (isHeld) await fetch(this.env.SERVICE + "/held");
    return isAdmitted;
  }
}
let isHeld = false;
const buffer = Object.getOwnPropertyDescriptor(WebAssembly.Memory.prototype, "buffer");
let memory;
Object.defineProperty(WebAssembly.Memory.prototype, "buffer", { ...buffer, get() { memory = this; return buffer.get.call(this); } });
export default { async fetch(request, env, context) {
  const { pathname } = new URL(request.url);
  if (!pathname.startsWith("/cut/")) return Worker.fetch(request, env, context);
  const client = new AbortController();
  isHeld = true;
  const answer = env.SELF.fetch("http://worker" + pathname.slice(4), { method: "POST", headers: request.headers, body: request.body, signal: client.signal });
  await fetch(env.SERVICE + "/arrived");
  isHeld = false;
  client.abort();
  await answer.catch(() => {});
  await fetch(env.SERVICE + "/release");
  return Response.json(memory?.buffer.byteLength ?? 0);
} };`;

let service, worker;
before(async () => {
  let arrived = Promise.withResolvers();
  let held;
  service = await listen(async ({ url }, response) => {
    if (url === "/arrived") {
      await arrived.promise;
      arrived = Promise.withResolvers();
    } else if (url === "/release") held?.end();
    else {
      if (url === "/held") held = response;
      return arrived.resolve();
    }
    response.end();
  });
  const vars = { SERVICE: service.base, STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`, MAX_TASKS: "1" };
  worker = await start(BINDINGS, { around: AROUND, vars, bindings: { SELF: { type: "worker", worker: "worker" } } });
});
after(async () => {
  await worker.close();
  await service.close();
});

test("requests whose clients go while a service is slow leave nothing behind", async () => {
  const input = { do: "fetch", any: { url: `${service.base}/slow`, method: "POST", body: "x".repeat(200_000), timeout: 60_000 } };
  const call = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ tool_id: "Script.Probe", input }) };
  const cut = async () => (await fetch(`${worker.address}/cut/tools/call`, call)).json();
  for (let times = 0; times < 20; times += 1) await cut();
  const early = await cut();
  for (let times = 0; times < 40; times += 1) await cut();
  const grown = (await cut()) - early;
  assert.ok(grown < 10 * 200_000, `40 requests left ${grown} bytes`);
  assert.equal((await worker.call("Script.Greet", { name: "Ada" })).json.value, "Hello, Ada");
  assert.deepEqual((await worker.logs()).filter(({ message }) => !message.includes('"configuration"')), []);
});

test("a task whose client goes while it is counted takes no place for long", { timeout: 300_000 }, async () => {
  const begin = (path) => {
    const headers = { "content-type": "application/json", prefer: "respond-async" };
    return fetch(`${worker.address}${path}`, { method: "POST", headers, body: JSON.stringify({ steps: 1 }) });
  };
  await begin("/cut/rest/Script_Steps");
  // Only one task may run. The first one is stored, and ends.
  while ((await begin("/rest/Script_Steps")).status !== 202);
});
