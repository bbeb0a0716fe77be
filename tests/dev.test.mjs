// `toolbooth dev` while it runs: variables change, workerd ends, and a table is missing. The other tests of the command are in
// project.test.mjs and tutorial.test.mjs.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { root, run, serve } from "./support/commands.mjs";

const sample = join(root, "samples/notes");
/** The folder of the configuration, with variables and storage of its own. */
const folder = mkdtempSync(join(tmpdir(), "toolbooth-"));
/** Output that never comes ends a test. */
const LIMITED = { timeout: 300_000 };
let dev, address;
before(async () => {
  for (const name of ["wrangler.toml", "migrations"]) cpSync(join(sample, name), join(folder, name), { recursive: true });
  dev = await serve((port) => `node ${root}/packages/toolbooth/bin/toolbooth.js dev --crate ${sample} --port ${port}`, /^Open http:.*$/m, { cwd: folder });
  address = `http://localhost:${dev.port}`;
});
after(async () => {
  await dev?.interrupt();
  // The runtime may still write there.
  rmSync(folder, { recursive: true, maxRetries: 10 });
});

afterEach((context) => context.passed || context.diagnostic(dev?.printed() ?? "No server has been started."));

const call = async (tool_id, headers = { authorization: "Bearer development-key" }) => {
  const body = JSON.stringify({ tool_id, input: {}, context: { user_id: "ada" } });
  const response = await fetch(`${address}/tools/call`, { method: "POST", headers: { ...headers, "content-type": "application/json" }, body });
  return { status: response.status, body: await response.json() };
};

/** Waits until `read` returns this: what the command prints may be about a file that is half saved. */
async function becomes(read, expected) {
  while (!isDeepStrictEqual(await read(), expected)) await sleep(100);
}
/** Waits until the Worker with its configuration answers. */
const answers = () => becomes(() => call("Notes.Search").then(({ body }) => body.value, () => undefined), { notes: [] });

test("the log of a call that lacks a table names the command that creates it", LIMITED, async () => {
  assert.equal((await call("Notes.Search")).body.success, false);
  await dev.until(/There is no table notes\. Apply the migrations that create it:\n {2}npx wrangler d1 migrations apply notes --local\n/);
  const { code, out, err } = await run(`${root}/node_modules/.bin/wrangler d1 migrations apply notes --local`, { cwd: folder, env: { CI: "1" } });
  assert.equal(code, 0, out + err);
  assert.deepEqual((await call("Notes.Search")).body.value, { notes: [] });
});

test("a saved .dev.vars or .env is read without a restart", LIMITED, async () => {
  const list = (headers) => fetch(`${address}/tools`, { headers }).then(({ status }) => status);
  assert.equal(await list({}), 401);
  writeFileSync(join(folder, ".env"), "AUTH=none\n");
  await dev.until(/^The configuration has changed\.$[^]*^Toolbooth is running on \S+ Anyone may call, because AUTH includes none\.$/m);
  await becomes(() => list({}), 200);
  // wrangler reads .env only if there is no .dev.vars.
  writeFileSync(join(folder, ".dev.vars"), "MAX_BODY_BYTES=lots\n");
  await dev.until(/^Configuration problem: MAX_BODY_BYTES must be/m);
  await becomes(() => list({}), 401);
  rmSync(join(folder, ".dev.vars"));
  rmSync(join(folder, ".env"));
  await dev.until(/^Configuration problem: MAX_BODY_BYTES[^]*^The configuration has changed\.$[^]*^Toolbooth is running on \S+ Calls need the development key/m);
  await becomes(() => list({ authorization: "Bearer development-key" }), 200);
});

test("a saved wrangler.toml is read when it is complete", LIMITED, async () => {
  const path = join(folder, "wrangler.toml");
  const saved = readFileSync(path, "utf8");
  const save = (text) => {
    // An editor that empties the file first.
    writeFileSync(path, "");
    writeFileSync(path, text);
  };
  const opened = () => /^Open http/m.test(dev.printed().split("Toolbooth is running on ").at(-1));
  for (const text of [saved.replace("2097152", "1048576"), saved.replace('SITE = "playground"', 'SITE = "off"'), saved]) {
    const changes = dev.printed().match(/^The configuration has changed\.$/gm).length + 1;
    save(text);
    await dev.until(new RegExp(`(^The configuration has changed\\.$[^]*){${changes}}^Toolbooth is running on `, "m"));
    await answers();
    await becomes(opened, !text.includes('SITE = "off"'));
  }
});

test("a wrangler.toml that wrangler refuses is not applied, and the next one is", LIMITED, async () => {
  const path = join(folder, "wrangler.toml");
  const saved = readFileSync(path, "utf8");
  const applied = () => dev.printed().match(/^The configuration has changed\.$/gm).length;
  const before = applied();
  for (const [text, reason] of [
    [saved.replace(/^directory = .*/m, 'directory = "nowhere"'), /The directory specified by the "assets\.directory" field [^]*nowhere/],
    ["[", /Invalid TOML/],
  ]) {
    writeFileSync(path, text);
    await dev.until(new RegExp(`^The configuration was not applied: [^]*${reason.source}`, "m"));
    await answers();
  }
  assert.equal(applied(), before);
  writeFileSync(path, saved);
  await dev.until(new RegExp(`(^The configuration has changed\\.$[^]*){${before + 1}}^Toolbooth is running on `, "m"));
  await answers();
});

test("a process of workerd that ends is started again, and the command says so", LIMITED, async () => {
  // That of the proxy, which listens on the port: wrangler starts it, but leaves it without a Worker.
  const { out } = await run(`pgrep -f '[w]orkerd serve .*:${dev.port}( |$)'`);
  assert.match(out, /^\d+\n$/);
  process.kill(Number(out), "SIGKILL");
  await dev.until(/^The Workers runtime \(workerd\) has ended: SIGKILL\. Starting it again$/m);
  await dev.until(/^The Workers runtime is running again on /m);
  await answers();
});
