// The sample samples/report: a call of minutes, which goes on without its client and survives the end of the runtime.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import * as oauth from "oauth4webapi";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { freePort } from "./support/commands.mjs";
import { exchange, flow, options } from "./support/oauth-client.mjs";
import { KEY, REDIRECT } from "./support/sign-in-server.mjs";
import { BINDINGS, CANARY, MCP, start } from "./support/worker.mjs";

const ALL = 200;
/** The page whose response never comes while the runtime is to be ended. */
const FATAL = 57;

let service, requests, onPage, holds;
let storage, worker;
before(async () => {
  storage = mkdtempSync(join(tmpdir(), "report-"));
  // A page has as many words as its number.
  service = createServer((request, response) => {
    const page = Number(request.url.slice(1));
    requests.push(page);
    onPage(page);
    if (!(holds && page === FATAL)) response.end("word ".repeat(page));
  });
  await new Promise((resolve) => service.listen(0, "127.0.0.1", resolve));
});
after(async () => {
  await worker?.close();
  service.closeAllConnections();
  service.close();
  rmSync(storage, { recursive: true });
});

const varsOf = () => ({ PAGES_URL: `http://127.0.0.1:${service.address().port}`, STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes` });
const run = async () => {
  worker = await start(BINDINGS, { vars: varsOf(), storage });
};

/** Resolves when this page is requested. */
const requested = (page) => new Promise((resolve) => (onPage = (now) => now === page && resolve()));

/** The status, when it is final. */
async function ended(path, { address } = worker, headers = {}) {
  for (;;) {
    const task = await (await fetch(`${address}${path}`, { headers })).json();
    if (!["working", "input_required"].includes(task.status)) return task;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test("MC81 a report goes on where it was when the runtime was killed, and loses nothing", async () => {
  await run();
  [requests, holds] = [[], true];
  const fatal = requested(FATAL);
  const headers = { "content-type": "application/json", prefer: "respond-async" };
  const body = JSON.stringify({ pages: ALL, pause_seconds: 0 });
  const begun = await fetch(`${worker.address}/rest/Report_Words`, { method: "POST", headers, body });
  assert.equal(begun.status, 202, await begun.clone().text());
  const path = begun.headers.get("location");
  await fatal;
  const running = await (await fetch(`${worker.address}${path}`)).json();
  assert.equal(running.message, "50 of 200: pages are read");
  await worker.kill();

  holds = false;
  const last = requested(ALL);
  await run();
  // No client asks for it: the stored alarm goes on.
  await last;
  const done = await ended(path);
  assert.deepEqual(done.value, { pages: ALL, words: (ALL * (ALL + 1)) / 2, longest: ALL, missing: [] });
  const times = (page) => requests.filter((one) => one === page).length;
  for (let page = 1; page <= ALL; page += 1) {
    const isOfBrokenStep = page > 50 && page <= FATAL;
    assert.equal(times(page), isOfBrokenStep ? 2 : 1, `page ${page}: steps before and after it do not run again`);
  }
});

test("MC81 a task that is cancelled in a step stays cancelled when the step ends", async () => {
  [requests, holds] = [[], true];
  const fatal = requested(FATAL);
  const headers = { "content-type": "application/json", prefer: "respond-async" };
  const body = JSON.stringify({ pages: ALL, pause_seconds: 0 });
  const begun = await fetch(`${worker.address}/rest/Report_Words`, { method: "POST", headers, body });
  const path = begun.headers.get("location");
  await fatal;
  const cancelled = await fetch(`${worker.address}${path}`, { method: "DELETE" });
  assert.equal(cancelled.status, 204);
  const last = requested(60);
  // The connection breaks off, and the step goes on to its last page.
  service.closeAllConnections();
  await last;
  assert.equal((await ended(path)).status, "cancelled");
});

test("MC83 a task ends before its next step when the client that began it is disconnected", async (t) => {
  const port = await freePort();
  const API_KEYS = JSON.stringify([entryOf(KEY, "Ada", ["*"])]);
  const signedIn = await start(BINDINGS, { port, vars: { ...varsOf(), AUTH: "sign-in, api-key", API_KEYS, PUBLIC_URL: `http://127.0.0.1:${port}` } });
  t.after(() => signedIn.close());
  const { address } = signedIn;
  const connect = async () => {
    const one = await flow(address, { redirect: REDIRECT, key: KEY, scope: "offline_access" });
    const tokens = await exchange(one, await one.agree());
    return { one, tokens, bearer: { authorization: `Bearer ${tokens.access_token}` } };
  };
  const [first, second] = [await connect(), await connect()];
  [requests, holds] = [[], true];
  const fatal = requested(FATAL);
  const headers = { ...first.bearer, "content-type": "application/json", prefer: "respond-async" };
  const begun = await fetch(`${address}/rest/Report_Words`, { method: "POST", headers, body: JSON.stringify({ pages: ALL, pause_seconds: 0 }) });
  assert.equal(begun.status, 202, await begun.clone().text());
  // In its second step.
  await fatal;
  await oauth.processRevocationResponse(await oauth.revocationRequest(first.one.as, first.one.client, oauth.None(), first.tokens.refresh_token, options));
  service.closeAllConnections();
  // The person sees by another client what has become of it.
  const { value, problem } = await ended(begun.headers.get("location"), signedIn, second.bearer);
  assert.equal(value, undefined);
  assert.match(problem.detail, /the client was disconnected/);
  assert.ok(Math.max(...requests) <= 100, "the step that ran ends, and no other begins");
});

test("the client in TypeScript waits for the end of a call that is a task only", async (t) => {
  const jobs = await start(MCP, { vars: varsOf() });
  t.after(() => jobs.close());
  const file = join(storage, "client.ts");
  writeFileSync(file, await (await fetch(`${jobs.address}/client.ts`)).text());
  const { Client } = await import(pathToFileURL(file));
  await assert.rejects(new Client({ address: jobs.address }).call("failing_job", {}), (error) => error.problem.detail === "The job failed");
});
