// The parts of `toolbooth dev` that need no build of a project: dev.test.mjs has the rest.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { dependencies, replaceWorker } from "../packages/toolbooth/src/build.js";
import { missing } from "../packages/toolbooth/src/bundle-errors.js";
import { Failure } from "../packages/toolbooth/src/process.js";
import { failing, rebuild } from "../packages/toolbooth/src/rebuild.js";
import { advice, bindings, health, keepRunning, reconfigure, startFailure } from "../packages/toolbooth/src/runtime.js";
import { withSources } from "../packages/toolbooth/src/stacks.js";
import { freePort, root, run } from "./support/commands.mjs";
import { start } from "./support/worker.mjs";

const scratch = mkdtempSync(join(tmpdir(), "toolbooth-"));
after(() => rmSync(scratch, { recursive: true }));
const read = (...path) => readFileSync(join(...path), "utf8");

/** A Worker of wrangler that answers each configuration with these events. */
function worker(...events) {
  const raw = new EventEmitter();
  // As wrangler has one.
  raw.on("error", () => {});
  const patches = [];
  const patchConfig = async (patch) => {
    patches.push(patch);
    for (const [name, event] of events) raw.emit(name, event);
  };
  return { raw, patches, patchConfig };
}

test("without an account, the Worker has no Workers AI: when it starts, and after each change", async (t) => {
  const { AI } = process.env;
  t.after(() => (AI === undefined ? delete process.env.AI : (process.env.AI = AI)));
  const LOG = { type: "secret_text", value: "off" };
  for (const [set, expected] of [["", { LOG, AI: { type: "plain_text", value: "" } }], ["1", { LOG }]]) {
    process.env.AI = set;
    assert.deepEqual(bindings({ LOG: "off" }), expected);
    const changed = worker(["reloadComplete"]);
    await reconfigure(changed, { LOG: "off" });
    assert.deepEqual(changed.patches, [{ bindings: expected }]);
  }
});

test("a configuration that wrangler or workerd refuses is an error with the reason, and nothing waits for it", async () => {
  const event = { type: "error", reason: "Error resolving config", cause: new Error("There is no folder x") };
  const outdated = { type: "error", reason: "Failed to rebuild the Worker", cause: new Error("Could not resolve") };
  for (const [events, reason] of [
    [[["reloadComplete"]], undefined],
    [[["error", event]], "There is no folder x"],
    [[["error", new Error("The value is too large")]], "The value is too large"],
    [[["error", { reason: "Error reloading" }]], "Error reloading"],
    [[["buildFailed", event]], "There is no folder x"],
    // The bundle that is replaced says nothing about the new one.
    [[["buildFailed", outdated], ["reloadComplete"]], undefined],
    [[["buildFailed", outdated], ["buildFailed", event]], "There is no folder x"],
  ]) {
    const changed = worker(...events);
    const applied = reconfigure(changed, {});
    if (reason === undefined) await applied;
    else await assert.rejects(applied, (error) => error instanceof Failure && error.message === reason);
    assert.deepEqual(["reloadComplete", "buildFailed", "error"].map((name) => changed.raw.listenerCount(name)), [0, 0, 1], "no listener stays");
  }
});

test("a Worker that is not loaded yet, or whose runtime starts again, is asked again, but not without a pause", async () => {
  const answers = [(response) => response.end('{"error":"build_failed"}'), (response) => response.destroy(), (response) => response.end("<h1>Not ready</h1>")];
  const asked = [];
  const server = createServer((_, response) => {
    asked.push(performance.now());
    const answer = answers.shift();
    if (answer) answer(response);
    else response.end('{"status":"OK"}');
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const address = `http://127.0.0.1:${server.address().port}`;
    assert.equal(await health(address, {}, () => true), undefined, "it failed to start");
    assert.deepEqual(await health(address, {}), { status: "OK" });
    assert.equal(asked.length, 4);
    // Timers are exact to a millisecond.
    for (const [at, time] of asked.slice(1).entries()) assert.ok(time - asked[at] >= 99, `${asked}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("a page that Rust includes is compiled, and any other only bundled", async () => {
  const [out, source] = ["out", "source"].map((name) => join(scratch, name));
  mkdirSync(source);
  const write = (name, text) => writeFileSync(join(source, name), text);
  for (const name of ["mod.rs", "included.html", "view.html"]) write(name, "1");
  let compiled = 0;
  const builds = rebuild([source], out, async () => {
    compiled += 1;
    return { includes: new Set([join(source, "included.html")]), bundle: () => replaceWorker(out, readFileSync(join(source, "view.html"), "utf8")) };
  });
  const next = async () => [(await builds.next()).value, compiled, readFileSync(join(out, "worker.js"), "utf8")];
  assert.deepEqual(await next(), [true, 1, "1"]);
  write("view.html", "22");
  assert.deepEqual(await next(), [true, 1, "22"]);
  write("included.html", "22");
  assert.deepEqual(await next(), [true, 2, "22"]);
  await builds.return();
});

test("Cargo says which files Rust includes", async () => {
  const folder = join(scratch, "a crate");
  mkdirSync(folder);
  writeFileSync(join(folder, "Cargo.toml"), '[package]\nname = "a-page"\nversion = "0.1.0"\nedition = "2024"\n[lib]\npath = "lib.rs"\ncrate-type = ["cdylib"]\n[workspace]\n');
  writeFileSync(join(folder, "lib.rs"), 'pub static PAGE: &str = include_str!("the page.html");\n');
  for (const name of ["the page.html", "other.html"]) writeFileSync(join(folder, name), "");
  const { code, err } = await run("cargo build --quiet --target wasm32-unknown-unknown", { cwd: folder, env: { CARGO_TARGET_DIR: join(folder, "target") } });
  assert.equal(code, 0, err);
  const included = dependencies(join(folder, "target/wasm32-unknown-unknown/debug/a_page.wasm"));
  assert.deepEqual([...included].sort(), ["lib.rs", "the page.html"].map((name) => join(folder, name)));
});

test("a failed build is the response to every request, as text or JSON", async () => {
  // `wrangler dev` starts no Worker that lacks a class of its Durable Objects.
  const bound = [...read(root, "template/wrangler.toml").matchAll(/^class_name = "(.*)"$/gm)].map(([, name]) => name);
  const exported = [...failing("").matchAll(/^export class (\w+) extends DurableObject\b/gm)].map(([, name]) => name);
  assert.deepEqual([...new Set(bound)], exported);
  const bundle = join(scratch, "failed");
  replaceWorker(bundle, failing('error: `"${x}"` is wrong'));
  const worker = await start(bundle);
  try {
    const { origin } = new URL(worker.address);
    const text = await fetch(`${origin}/tools`);
    assert.deepEqual([text.status, await text.text()], [503, 'error: `"${x}"` is wrong']);
    const headers = { "content-type": "application/json" };
    const json = await fetch(`${origin}/mcp`, { method: "POST", headers, body: "{}" });
    assert.deepEqual([json.status, await json.json()], [503, { error: "build_failed", message: 'error: `"${x}"` is wrong' }]);
  } finally {
    await worker.close();
  }
});

test("a change is built, during a build too, and a failed build replaces the Worker", async () => {
  const [out, source] = ["rebuilt", "tools"].map((name) => join(scratch, name));
  const file = join(source, "tools.rs");
  mkdirSync(source);
  writeFileSync(file, "1");
  const seen = [];
  const builds = rebuild([source, join(scratch, "missing")], out, async () => {
    const text = read(file);
    seen.push(text);
    if (text === "broken") throw new Failure("\u001b[31mit is broken\u001b[0m");
    if (text === "2, and longer") writeFileSync(file, "broken");
    return { includes: new Set(), bundle: () => replaceWorker(out, text) };
  });
  await builds.next();
  assert.equal(read(out, "worker.js"), "1");
  writeFileSync(file, "2, and longer");
  await builds.next();
  assert.equal(read(out, "worker.js"), "2, and longer");
  await builds.next();
  assert.match(read(out, "worker.js"), /const message = "it is broken"/);
  await builds.return();
  assert.deepEqual(seen, ["1", "2, and longer", "broken"]);
});

test("a change of TypeScript or of a view is bundled without a compilation", async () => {
  const [out, source] = ["bundled", "scripts"].map((name) => join(scratch, name));
  mkdirSync(source);
  const write = (name, text) => writeFileSync(join(source, name), text);
  write("mod.rs", "1");
  write("hello.ts", "a");
  for (const name of ["chart.tsx", "chart.css", "page.html"]) write(name, "a");
  let compiled = 0;
  const builds = rebuild([source], out, async () => {
    compiled += 1;
    return { includes: new Set(), bundle: () => replaceWorker(out, read(source, "hello.ts")) };
  });
  const next = async () => [(await builds.next()).value, compiled, read(out, "worker.js")];
  assert.deepEqual(await next(), [true, 1, "a"]);
  write("hello.ts", "longer");
  assert.deepEqual(await next(), [true, 1, "longer"]);
  for (const name of ["chart.tsx", "chart.css", "page.html"]) {
    write(name, "changed");
    assert.deepEqual(await next(), [true, 1, "longer"]);
  }
  // A function may have moved to Rust or to TypeScript.
  write("other.ts", "");
  assert.deepEqual(await next(), [true, 2, "longer"]);
  write("hello.types.ts", "generated");
  write("mod.rs", "22");
  assert.deepEqual(await next(), [true, 3, "longer"]);
  await builds.return();
});

test("what is bundled is watched wherever it is, and so is what was not found", async () => {
  const [out, source, shared] = ["inputs", "functions", "shared"].map((name) => join(scratch, name));
  for (const folder of [source, shared, join(source, "queries")]) mkdirSync(folder);
  const write = (path, text) => writeFileSync(path, text);
  const [query, part] = [join(source, "queries/all.sql"), join(shared, "part.ts")];
  write(join(source, "hello.ts"), "1");
  write(query, "1");
  let compiled = 0;
  const builds = rebuild([source], out, async () => {
    compiled += 1;
    const bundle = () => {
      if (!existsSync(part)) throw Object.assign(new Failure("there is no part"), { inputs: [part] });
      replaceWorker(out, read(part) + read(query));
      return { inputs: [query, part] };
    };
    return { includes: new Set(), bundle };
  });
  const next = async () => [(await builds.next()).value, compiled, read(out, "worker.js")];
  assert.deepEqual((await next()).slice(0, 2), [false, 1]);
  write(part, "a");
  assert.deepEqual(await next(), [true, 1, "a1"]);
  write(part, "longer");
  assert.deepEqual(await next(), [true, 1, "longer1"]);
  write(query, "22");
  assert.deepEqual(await next(), [true, 1, "longer22"]);
  rmSync(part);
  assert.deepEqual((await next()).slice(0, 2), [false, 1]);
  await builds.return();
});

test("an import that fails says which paths would make it possible", async () => {
  const file = join(scratch, "imports", "it.ts");
  mkdirSync(dirname(file));
  writeFileSync(file, 'import "./gone.js"; import "../lib/gone.ts"; import "absent/deep"; import "@scope/absent";');
  const { errors } = await build({ entryPoints: [file], bundle: true, write: false, logLevel: "silent" }).catch((error) => error);
  const found = missing(errors);
  for (const path of ["imports/gone.js", "imports", "lib/gone.ts", "imports/node_modules/absent", "node_modules/absent", "node_modules/@scope/absent"]) {
    assert.ok(found.includes(join(scratch, path)), path);
  }
});

test("a line of the log that says why the Worker does not start is recognized", () => {
  const problem = "SyntaxError: Unexpected end of JSON input\n    at tools/bar/it.ts:1:16";
  for (const [line, expected] of [
    ["service core:user:tools: Uncaught Error: no\n  at tools/it.ts:5:9", "The Worker does not start:\nUncaught Error: no\n  at tools/it.ts:5:9"],
    [JSON.stringify({ event: "module_failed", module: "bar/it", problem }), `The function bar/it does not start:\n${problem}`],
    [JSON.stringify({ event: "tool_crashed", tool: "Bar.It@1.0.0", problem }), undefined],
    ["Uncaught Error: later", undefined],
    ['{"event":"module_failed" is what a tool wrote', undefined],
  ]) {
    assert.equal(startFailure(line), expected, line);
  }
});

test("places in a bundle are shown as those in its sources", async () => {
  const file = join(scratch, "mapped", "it.ts");
  const bundle = join(scratch, "mapped out", "worker.js");
  mkdirSync(dirname(file));
  writeFileSync(file, 'type A = string;\n\nexport const it = (text: A) => {\n  throw new Error(text);\n};\n');
  await build({ entryPoints: [file], bundle: true, format: "esm", outfile: bundle, sourcemap: "linked", sourcesContent: false, minify: true });
  const { it } = await import(pathToFileURL(bundle));
  const { stack } = await new Promise(() => it("x")).catch((error) => error);
  assert.match(withSources(JSON.stringify({ stack })), new RegExp(`Error: x\\\\n +at .*${relative(".", file)}:4:9\\)`));
  // As Cloudflare names it.
  const deployed = stack.replaceAll(`${pathToFileURL(bundle)}`, "worker.js");
  assert.match(withSources(deployed, bundle), new RegExp(`\\(${relative(".", file)}:4:9\\)`));
  assert.equal(withSources(deployed), deployed, "of which deployment?");
  const other = "at file:///no/such/worker.js:1:2";
  assert.equal(withSources(other), other);
});

test("an error of D1 in the log is followed by what to do", () => {
  const migrate = () => ["npx wrangler d1 migrations apply DB --local"];
  for (const [message, expected] of [
    ["D1_ERROR: no such table: notes: SQLITE_ERROR", /^There is no table notes\. Apply the migrations that create it:\n {2}npx wrangler d1 migrations apply DB --local$/],
    ["D1_ERROR: no such column: done at offset 7: SQLITE_ERROR", /^There is no column done\. If a migration adds it, apply it:\n {2}npx/],
    ["D1_TYPE_ERROR: Type 'bigint' not supported for value '99'", /^D1 does not accept 64-bit integers\. Bind the number as `\(value as f64\)\.into\(\)`/],
    ["D1_ERROR: UNIQUE constraint failed: notes.title", undefined],
  ]) {
    const got = advice(message, migrate);
    if (expected === undefined) assert.equal(got, undefined, message);
    else assert.match(got, expected);
  }
});

test("if workerd ends and does not start again, that is an error", async () => {
  const program = join(scratch, "workerd");
  writeFileSync(program, "#!/bin/sh\nread line\nexit 3\n", { mode: 0o755 });
  let updates = 0;
  const running = keepRunning(`http://localhost:${await freePort()}`, () => (updates += 1), 1);
  // One that wrangler stops counts as stopped.
  const stopped = spawn(program);
  stopped.kill("SIGKILL");
  await once(stopped, "exit");
  assert.equal(updates, 0);
  spawn(program).stdin.end("\n");
  await assert.rejects(running, /does not start again/);
  assert.ok(updates > 1);
});
