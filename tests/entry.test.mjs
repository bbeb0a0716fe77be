// The fetch handler, with an instance of WebAssembly that does what a test says.
import assert from "node:assert/strict";
import { registerHooks } from "node:module";
import { test } from "node:test";

// What only the runtime and the bundle have.
const MODULES = {
  wasm: "export const { __wbg_reset_state, answer, cancel, failed, log_warnings, run_step } = globalThis.instance;",
  "cloudflare:workers": "export class DurableObject {}",
};
registerHooks({
  resolve: (name, context, next) => (name in MODULES ? { url: `data:text/javascript,${encodeURIComponent(MODULES[name])}`, shortCircuit: true } : next(name, context)),
});
/** The ids of the requests that reached the instance, of those that were ended, and what answers the next. */
const [answered, cancelled, answers] = [[], [], []];
globalThis.instance = {
  __wbg_reset_state() {},
  answer: (id, method, url, headers, body, reader) => (answered.push(id), answers.shift()(reader)),
  cancel: (id) => void cancelled.push(id),
  failed: () => new Response("failed", { status: 500 }),
  log_warnings() {},
  run_step() {},
};
globalThis.__worker_init_state = { criticalError: false };
globalThis.addEventListener = () => {};
globalThis.scheduler = { wait: async () => {} };
const { default: worker } = await import("../crates/toolbooth-worker/js/entry.js");

const fetch = (init) => worker.fetch(new Request("https://worker.example/tools/call", { method: "POST", duplex: "half", ...init }), {}, { waitUntil() {} });
const waiting = (promise) => () => promise;

test("a request that begins again after a crash of another one has the same number", async (t) => {
  const log = t.mock.method(console, "error", () => {});
  const body = new ReadableStream({ pull: () => new Promise(() => {}) });
  answers.push((reader) => (reader.read(100), new Promise(() => {})));
  const arriving = fetch({ body });
  answers.push(() => {
    throw new Error("a crash");
  });
  answers.push(waiting(Promise.resolve(new Response("served"))));
  const crashed = await fetch();
  assert.deepEqual([crashed.status, await (await arriving).text()], [500, "served"]);
  const [first, other, again] = answered.splice(0);
  assert.equal(first, again);
  assert.notEqual(first, other);
  assert.equal(log.mock.callCount(), 1);
});

test("a request whose client goes ends in the instance, but only while it waits", async () => {
  const clients = Array.from({ length: 3 }, () => new AbortController());
  const { promise, resolve } = Promise.withResolvers();
  answers.push(waiting(promise), waiting(new Promise(() => {})), () => new Response());
  const [served] = clients.map(({ signal }) => fetch({ signal }));
  resolve(new Response("served"));
  assert.equal(await (await served).text(), "served");
  for (const client of clients) client.abort();
  assert.deepEqual(cancelled, [answered[1]]);
});
