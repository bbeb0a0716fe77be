// What `toolbooth test` runs on workerd: the examples of tools with bindings, and their tests in JavaScript. tutorial.test.mjs
// runs the command.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { root, run } from "./support/commands.mjs";
import { BINDINGS, NOTES } from "./support/worker.mjs";

const scratch = mkdtempSync(join(tmpdir(), "toolbooth-"));
after(() => rmSync(scratch, { recursive: true }));
const sources = join(root, "packages/toolbooth/src");
const sample = join(root, "samples/notes");

test("all examples and tests of the sample Notes pass", async () => {
  const command = `node --test ${sources}/examples.js notes/notes.test.mjs`;
  const { code, out, err } = await run(command, { cwd: sample, env: { TOOLBOOTH_TEST_WORKER: join(root, NOTES) } });
  assert.equal(code, 0, out + err);
  const definitions = readdirSync(join(sample, "notes")).filter((file) => /@.*\.json$/.test(file));
  assert.ok(definitions.length > 5);
  const examples = definitions.flatMap((file) => {
    const { id, examples } = JSON.parse(readFileSync(join(sample, "notes", file), "utf8"));
    return examples.map(({ title, input }) => `${id}: ${title ?? JSON.stringify(input)}`);
  });
  const own = [...readFileSync(join(sample, "notes/notes.test.mjs"), "utf8").matchAll(/^test\("(.*)"/gm)].map(([, name]) => name);
  const passed = [...out.matchAll(/^✔ (.*) \([\d.]+ms\)$/gm)].map(([, name]) => name);
  assert.deepEqual(passed.sort(), [...examples, ...own].sort());
});

/** Runs files with a built Worker as `toolbooth test` does; without files, the examples of the definitions. */
async function runTests(bundle, { configuration, definitions = [], files = {} }) {
  const folder = mkdtempSync(join(scratch, "project-"));
  mkdirSync(join(folder, "tools/toolkit"), { recursive: true });
  for (const [index, definition] of definitions.entries()) {
    writeFileSync(join(folder, `tools/toolkit/Tool${index}@1.0.0.json`), JSON.stringify({ version: "1.0.0", ...definition }));
  }
  writeFileSync(join(folder, "wrangler.toml"), configuration);
  // A developer's own secrets.
  writeFileSync(join(folder, ".dev.vars"), "PLATFORM_KEY=theirs\nAUTH=none\n");
  cpSync(join(sample, "migrations"), join(folder, "migrations"), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const tests = Object.keys(files).filter((name) => name.endsWith(".test.mjs"));
  const given = tests.length > 0 ? tests.join(" ") : join(sources, "examples.js");
  const { code, out, err } = await run(`node --test ${given}`, { cwd: folder, env: { TOOLBOOTH_TEST_WORKER: join(root, bundle) } });
  return { code, out: out + err };
}

const NOTES_TOML = readFileSync(join(sample, "wrangler.toml"), "utf8");
const PLATFORM_TOML = readFileSync(join(root, "tests/bindings/wrangler.toml"), "utf8");
const MINIMAL = 'name = "a"\ncompatibility_date = "2026-10-01"\n[[kv_namespaces]]\nbinding = "KV"\n';

const search = (...examples) => ({ id: "Notes.Search@1.0.0", name: "Notes_Search", bindings: [{ name: "NOTES", kind: "d1" }], examples });
const note = { tool: "Notes.Create", input: { title: "a", text: "b" } };
const NOTHING = { notes: [] };
const ONE = { notes: [{ id: "1", title: "a", snippet: "b", created: "2026" }] };
const VARIES = ["/notes/0/id", "/notes/0/created"];

const FAILING = [
  ["another value", NOTES_TOML, { input: {}, value: ONE }, [/^ +input: \{\}\n +value\.notes\[0\]\n +expected: \{"id":"1",.*"created":"2026"\}\n +got: +nothing\n +log: empty$/m]],
  ["a value instead of an error", NOTES_TOML, { input: {}, error: { message: "The query has no words" } }, [/^ +expected: \{"error":\{"message":"The query has no words"\}\}\n +got: +\{"value":\{"notes":\[\]\}\}$/m]],
  ["an error instead of a value", NOTES_TOML, { input: { query: "**" }, value: NOTHING }, [/^ +expected: \{"value":\{"notes":\[\]\}\}\n +got: +\{"error":\{"message":"The query has no words"\}\}$/m]],
  ["an input that is rejected", NOTES_TOML, { input: { query: 1 }, value: NOTHING }, [/^ +got: .*"query":"Must be a string"/m]],
  ["a setup that fails", NOTES_TOML, { setup: [{ tool: "Notes.Delete", input: { id: "x" } }], input: {}, value: NOTHING }, [/Notes\.Delete: expected a value, got .*There is no such note/]],
  ["a value that varies without saying so", NOTES_TOML, { setup: [note], input: {}, value: ONE }, [/^ +value\.notes\[0\]\.created\n +expected: "2026"\n +got: +"20/m]],
  ["a value that differs where it does not vary", NOTES_TOML, { setup: [note], input: {}, value: ONE, varies: [...VARIES, "/notes/1/id"].slice(0, 1) }, [/^ +value\.notes\[0\]\.created\n +expected: "2026"\n +got: +"20/m]],
  ["no migrations", NOTES_TOML.replace(/^database_name = .*$/m, '$&\nmigrations_dir = "none"'), { input: {}, value: NOTHING }, [/no such table: notes/]],
  ["a missing binding", MINIMAL, { input: {}, value: NOTHING }, [/Tool 'Notes_Search' is not configured/, /NOTES is not bound; it disables Notes\.Attach@1\.0\.0/]],
];
for (const configuration of new Set(FAILING.map(([, configuration]) => configuration))) {
  const rows = FAILING.filter((row) => row[1] === configuration);
  test("examples fail, with the tool, both values and the log", async (t) => {
    const examples = rows.map(([title, , example]) => ({ title, ...example }));
    const { code, out } = await runTests(NOTES, { configuration, definitions: [search(...examples)] });
    assert.equal(code, 1, out);
    assert.doesNotMatch(out, /^ +at .*:\d+:\d+\)?$/m, "no stack");
    const parts = out.split(/^(?=✖)/m);
    for (const [what, , , expected] of rows) {
      await t.test(what, () => {
        const own = parts.filter((part) => part.startsWith(`✖ Notes.Search@1.0.0: ${what} `)).join("");
        assert.notEqual(own, "", out);
        for (const pattern of expected) assert.match(own, pattern);
      });
    }
  });
}

test("each example begins with empty tables, after its own setup", async () => {
  const examples = [
    { title: "set up", setup: [note], input: {}, value: ONE, varies: VARIES },
    { title: "empty", input: {}, value: NOTHING },
  ];
  const { code, out } = await runTests(NOTES, { configuration: NOTES_TOML, definitions: [search(...examples)] });
  assert.equal(code, 0, out);
  assert.match(out, /^ℹ pass 2$/m);
});

const SEND = { id: "Platform.Send@1.0.0", name: "Platform_Send", bindings: [{ name: "KV", kind: "kv" }], examples: [{ input: {}, value: "pong" }] };

test("services that these tools call have fakes, and secrets are made up", async () => {
  const services = `export default ({ method, url, headers }) => {
    const got = [method, url, headers.get("authorization")].join(" ");
    return Response.json(got === "GET https://service.example/ping Bearer example-PLATFORM_KEY" ? "pong" : got);
  };`;
  const { code, out } = await runTests(BINDINGS, { configuration: PLATFORM_TOML, definitions: [SEND], files: { "tools/services.mjs": services } });
  assert.equal(code, 0, out);
  const without = await runTests(BINDINGS, { configuration: PLATFORM_TOML, definitions: [SEND] });
  assert.equal(without.code, 1);
  assert.match(without.out, /^ +log: [^]*^ +the test has no response to GET https:\/\/service\.example\/ping$/m);
});

test("the examples of a tool whose binding is not simulated are skipped, by name", async () => {
  const definitions = [{ ...SEND, bindings: [{ name: "MODELS", kind: "ai" }] }];
  const { code, out } = await runTests(BINDINGS, { configuration: PLATFORM_TOML, definitions });
  assert.equal(code, 0, out);
  assert.match(out, /^﹣ Platform\.Send@1\.0\.0: \{\} .*# MODELS is not simulated on this machine$/m);
});

test("an example of questions", async () => {
  const name = "test_input_required_result_elicitation";
  const asking = (asks) => ({ id: "test.input_required_result_elicitation@1.0.0", name, bindings: [{ name: "KV", kind: "kv" }], examples: [{ input: {}, asks }] });
  const right = await runTests("target/mcp", { configuration: MINIMAL, definitions: [asking(["user_name"])] });
  assert.equal(right.code, 0, right.out);
  const wrong = await runTests("target/mcp", { configuration: MINIMAL, definitions: [asking(["name"])] });
  assert.equal(wrong.code, 1);
  assert.match(wrong.out, /^ +asks\[0\]\n +expected: "name"\n +got: +"user_name"$/m);
});

test("ToolTest: scopes, users, variables, requests, bindings, and the example in docs/TOOLS.md", async () => {
  const head = `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { ToolTest } from "${sources}/testing.js";\n`;
  const notes = `${head}
test("scopes and users", async (t) => {
  const reader = await ToolTest.start(t, { scopes: ["notes:read"] });
  assert.deepEqual(await reader.value("Notes.Search", {}), { notes: [] });
  const { rejected } = await reader.call("Notes.Create", { title: "a", text: "b" });
  assert.equal(rejected.status, 403);
  await assert.rejects(reader.error("Notes.Search", {}), /Notes\\.Search: expected an error of the tool, got {"value":{"notes":\\[\\]}}/);
  const carl = await ToolTest.start(t, { user: "carl" });
  await carl.value("Notes.Create", { title: "a", text: "b" });
  const { owner } = await (await carl.env()).NOTES.prepare("SELECT owner FROM notes").first();
  assert.deepEqual(JSON.parse(owner), ["key", "test", "carl"]);
});`;
  const platform = `${head}
test("variables, requests and bindings", async (t) => {
  const tools = await ToolTest.start(t, { variables: { PLATFORM_KEY: "mine" }, upstream: () => new Response("{", { status: 502 }) });
  assert.equal((await tools.error("Platform.Send")).message, "The service returned 502");
  const [{ method, url, headers, body }, ...more] = tools.requests;
  assert.deepEqual([method, url, headers.authorization, body, more], ["GET", "https://service.example/ping", "Bearer mine", "", []]);
  await tools.value("Platform.Cache", { key: "a", value: "b" });
  assert.equal(await (await tools.env()).CACHE.get("a"), "b");
  assert.equal((await tools.error("Platform.Mistaken")).message, "A service that the tool uses failed");
  assert.match(tools.log(), /cannot be cast to the type D1Database/);
});`;
  const unbound = `${head}
test("what the configuration lacks is in the log before the first call", async (t) => {
  assert.match((await ToolTest.start(t)).log(), /NOTES is not bound; it disables Notes\\.Attach@1\\.0\\.0/);
});`;
  const [, shown] = /^```js\n(import[^]*?)^```$/m.exec(readFileSync(join(root, "docs/TOOLS.md"), "utf8"));
  const documented = shown.replace('"toolbooth/testing"', `"${sources}/testing.js"`);
  for (const [bundle, configuration, text] of [[NOTES, NOTES_TOML, notes], [NOTES, MINIMAL, unbound], [NOTES, NOTES_TOML, documented], [BINDINGS, PLATFORM_TOML, platform]]) {
    const { code, out } = await runTests(bundle, { configuration, files: { "a.test.mjs": text } });
    assert.equal(code, 0, out);
  }
});
