// Parts of the commands that read and edit the files of a project.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { definitions, variablesOfTools } from "../packages/toolbooth/src/catalogue.js";
import { Failure } from "../packages/toolbooth/src/process.js";
import { wasmOpt } from "../packages/toolbooth/src/programs.js";
import { views } from "../packages/toolbooth/src/views.js";
import { environment, freePort, root, run } from "./support/commands.mjs";

const COMMAND = join(root, "packages/toolbooth/bin/toolbooth.js");
const scratch = mkdtempSync(join(tmpdir(), "toolbooth-"));
after(() => rmSync(scratch, { recursive: true }));

/** A folder with these files, by their paths. */
function folder(files) {
  const path = mkdtempSync(join(scratch, "project-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return path;
}

test("a file that is no JSON is named", async () => {
  for (const [file, read] of [
    ["tools/a/Get@1.0.0.json", definitions],
    ["tools/a/Get@1.0.0.json", views],
    ["tools/toolkits.json", definitions],
    ["tools/a/toolkit.json", variablesOfTools],
  ]) {
    const project = folder({ [file]: "{" });
    const isRight = (error) => error instanceof Failure && error.message.startsWith(`${join(project, file)} cannot be read as JSON: `);
    assert.throws(() => read(project), isRight, file);
  }
  const { code, err } = await run(`node ${COMMAND} registry --check`, { cwd: folder({ "tools/a/Get@1.0.0.json": "{" }) });
  assert.deepEqual([code, /^tools\/a\/Get@1\.0\.0\.json cannot be read as JSON: .*\n$/.test(err)], [1, true], err);
});

test("toolbooth dev says what is wrong with the configuration that it starts with", async () => {
  for (const [files, message] of [
    [{}, /^There is no wrangler\.toml in this folder/],
    [{ "wrangler.toml": "name = [" }, /^The configuration cannot be read: /],
  ]) {
    const { code, err } = await run(`node ${COMMAND} dev --port ${await freePort()}`, { cwd: folder(files) });
    assert.equal(code, 1);
    assert.match(err, message);
    assert.doesNotMatch(err, /^ +at /m);
  }
});

const LIBRARY = `//! Tools.

mod old;

use toolbooth::tool::Variable;

const VARIABLES: &[Variable] = &[
    old::URL, // The old one.
    old::KEY, // The last.
];
`;

test("a new tool with variables leaves the comments between the others", async () => {
  const project = folder({ "lib.rs": LIBRARY });
  const { code, err } = await run(`node ${COMMAND} tool Books.Get --http --secret BOOKS_KEY --folder ${project}`);
  assert.equal(code, 0, err);
  const [, list] = /&\[Variable\] = &\[(.*?)\];/s.exec(readFileSync(join(project, "lib.rs"), "utf8"));
  const names = list.replaceAll(/\/\/.*/g, "").split(",").map((name) => name.trim()).filter(Boolean);
  assert.deepEqual(names, ["books::SERVICE_URL", "books::BOOKS_KEY", "old::URL", "old::KEY"]);
  assert.match(list, /old::URL, \/\/ The old one\.\n\s+old::KEY, \/\/ The last\.\n/);
});

test("a second tool of a service shares its address, its secret and its fake", async () => {
  const fakes = "pub(crate) fn fake_services(request: &HttpRequest<'_>) -> Fake {\n    todo!()\n}\n";
  const project = folder({ "lib.rs": LIBRARY, "tests.rs": fakes });
  const create = (given) => run(`node ${COMMAND} tool ${given} --folder ${project}`);
  for (const given of ["Books.List --http --secret BOOKS_KEY", "Books.Get --http", "Books.Put --http --secret BOOKS_KEY"]) {
    const { code, err } = await create(given);
    assert.equal(code, 0, err);
  }
  const read = (name) => readFileSync(join(project, name), "utf8");
  for (const tool of ["List", "Get", "Put"]) assert.deepEqual(JSON.parse(read(`books/${tool}@0.1.0.json`)).variables, ["BOOKS_URL", "BOOKS_KEY"]);
  const code = read("books/mod.rs");
  for (const [part, count] of [["SERVICE_URL: Variable", 1], ["async fn send_request(", 1], ["fn fake_service(", 1], ['("/list/", ', 1], ['("/get/", ', 1], ['("/put/", ', 1], ["send_request(", 4]]) {
    assert.equal(code.split(part).length - 1, count, part);
  }
  assert.equal(read("tests.rs").split('starts_with("https://books.example/")').length, 2);
  assert.equal(read("lib.rs").split("books::SERVICE_URL").length, 2);
  const other = await create("Books.Move --http --secret OTHER_KEY");
  assert.notEqual(other.code, 0);
  assert.match(other.err, /send_request in .* sends the secret BOOKS_KEY: leave --secret out/);
  // A fake that somebody wrote for the same address stays the only one.
  const own = folder({ "lib.rs": LIBRARY, "tests.rs": fakes.replace("    todo", '    if request.url.starts_with("https://books.example/") {\n        return own(request);\n    }\n    todo') });
  const { out } = await run(`node ${COMMAND} tool Books.List --http --folder ${own}`);
  assert.match(out, /tests\.rs already answers requests to https:\/\/books\.example/);
  assert.equal(readFileSync(join(own, "tests.rs"), "utf8").split("starts_with").length, 2);
});

test("files whose lines end as on Windows are edited like others", async () => {
  const lines = (text) => text.replaceAll("\n", "\r\n");
  const files = {
    "lib.rs": LIBRARY,
    "old/mod.rs": "//! Old.\n\nuse toolbooth::{Context, ToolError};\n\nuse crate::types::old::get;\n",
    "tests.rs": "pub(crate) fn fake_services(request: &HttpRequest<'_>) -> Fake {\n    todo!()\n}\n",
    "Cargo.toml": '[dependencies]\ntoolbooth = "1"\n',
    "wrangler.toml": 'name = "a"\n\n[[d1_databases]]\nbinding = "SHELF"\ndatabase_name = "a"\n',
  };
  const projects = [files, Object.fromEntries(Object.entries(files).map(([name, text]) => [name, lines(text)]))].map(folder);
  for (const cwd of projects) {
    for (const given of ["New.Get --http", "Old.Put --http", "Old.Store --d1"]) {
      const { code, err } = await run(`node ${COMMAND} tool ${given} --folder .`, { cwd });
      assert.equal(code, 0, err);
    }
  }
  const [unix, windows] = projects.map((project) => Object.fromEntries(
    readdirSync(project, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [join(parentPath, name).slice(project.length), readFileSync(join(parentPath, name), "utf8").replaceAll("\r\n", "\n")]),
  ));
  assert.deepEqual(windows, unix);
  assert.match(unix["/old/mod.rs"], /d1\("SHELF"\)/);
});

test("wasm-opt of npm is run by Node, and another one by itself", (t) => {
  const { WASM_OPT_BIN } = process.env;
  t.after(() => (WASM_OPT_BIN === undefined ? delete process.env.WASM_OPT_BIN : (process.env.WASM_OPT_BIN = WASM_OPT_BIN)));
  delete process.env.WASM_OPT_BIN;
  const [program, file, ...rest] = wasmOpt();
  assert.deepEqual([program, existsSync(file), rest], [process.execPath, true, []]);
  process.env.WASM_OPT_BIN = "/usr/bin/wasm-opt";
  assert.deepEqual(wasmOpt(), ["/usr/bin/wasm-opt"]);
});

test("a version is set in a folder whose path has a space", async () => {
  const clone = join(scratch, "a clone");
  for (const file of ["scripts/version.mjs", "Cargo.toml", "packages/create-toolbooth/package.json", "packages/toolbooth/package.json", "template/Cargo.toml", "template/package.json"]) {
    cpSync(join(root, file), join(clone, file));
  }
  const { code, err } = await run("node scripts/version.mjs 98.76.54", { cwd: clone });
  assert.equal(code, 0, err);
  assert.match(readFileSync(join(clone, "Cargo.toml"), "utf8"), /^version = "98\.76\.54"$/m);
});

test("a command that a signal ends leaves neither programs nor files", { timeout: 300_000 }, async () => {
  for (const [signal, expected] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]]) {
    const cwd = folder({
      "wrangler.toml": 'name = "a"\ncompatibility_date = "2026-10-01"\n',
      "tsconfig.json": "{}",
      "tools/shelf/Find@1.0.0.json": "{}",
      "tools/shelf/find.ts": "export default 1;\n",
    });
    const child = spawn(process.execPath, [COMMAND, "types"], { cwd, env: environment(), stdio: "ignore" });
    const exited = once(child, "exit");
    const copies = () => readdirSync(cwd).filter((name) => name.startsWith(".types-"));
    const isRunning = async () => (await run(`pgrep -f '[.]types-${child.pid}[.]'`)).code === 0;
    while (child.exitCode === null && (copies().length === 0 || !(await isRunning()))) await sleep(10);
    child.kill(signal);
    assert.deepEqual(await exited, [expected, null], signal);
    assert.deepEqual(copies(), []);
    while (await isRunning()) await sleep(10);
  }
  const ignored = folder({ ".gitignore": readFileSync(join(root, "template/.gitignore"), "utf8"), ".types-7.wrangler.toml": "" });
  assert.equal((await run("git init --quiet && git status --porcelain", { cwd: ignored })).out, "?? .gitignore\n");
});
