// The command `toolbooth` where that needs no build: its arguments, the tools that it creates, and the types that it checks.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, test } from "node:test";
import { build } from "esbuild";
import { errors, newWarnings, withProgress } from "../packages/toolbooth/src/build.js";
import { jsonOf, textOf } from "../packages/toolbooth/src/texts.js";
import { nodeModules } from "../packages/toolbooth/src/node-modules.js";
import { unused } from "../packages/toolbooth/src/scripts.js";
import { freePort, root, run } from "./support/commands.mjs";

const scratch = mkdtempSync(join(tmpdir(), "toolbooth-"));
after(() => rmSync(scratch, { recursive: true }));
const read = (...path) => readFileSync(join(...path), "utf8");
const create = (args) => run(`node ${root}/packages/create-toolbooth/bin/create.js ${args}`, { cwd: scratch });

test("the build of many definitions says how far it is", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolbooth-"));
  const printed = [];
  const { promise, resolve } = Promise.withResolvers();
  const result = await withProgress(folder, async ({ TOOLBOOTH_PROGRESS: file }) => {
    writeFileSync(file, "400 1000");
    await promise;
    return 7;
  }, (line) => resolve(printed.push(line)));
  assert.deepEqual([result, printed, readdirSync(folder)], [7, ["Checked 400 of 1,000 definitions"], []]);
  rmSync(folder, { recursive: true });
});

test("a function that no tool runs is named, and what its definition could be called", () => {
  const folder = mkdtempSync(join(scratch, "unused-"));
  const toolkit = join(folder, "tools/greeter");
  mkdirSync(toolkit, { recursive: true });
  const code = "export default tool<Input, Output>(() => 1);\n";
  const scripts = { "hello.ts": code, "say_bye.ts": code, "words.ts": "export const words = [];\n", "hello.test.ts": code, "hello.types.ts": code };
  for (const [name, text] of Object.entries(scripts)) writeFileSync(join(toolkit, name), text);
  assert.deepEqual(unused(folder, [join(toolkit, "hello.ts")]).map(({ file, definition }) => [basename(file), definition]), [["say_bye.ts", "SayBye@0.1.0.json"]]);
});

test("a package may import a module of Node without its prefix, and one that is installed comes first", async () => {
  const folder = mkdtempSync(join(scratch, "modules-"));
  mkdirSync(join(folder, "node_modules/events"), { recursive: true });
  writeFileSync(join(folder, "node_modules/events/index.js"), "export const installed = 1;\n");
  const contents = 'import "fs";\nimport "fs/promises";\nimport { installed } from "events";\nconsole.log(installed);\n';
  const options = { bundle: true, format: "esm", write: false, external: ["node:*"], plugins: [nodeModules] };
  const { outputFiles } = await build({ stdin: { contents, resolveDir: folder }, ...options });
  assert.deepEqual(outputFiles[0].text.match(/^(?:import|var).*$/gm), ['import "node:fs";', 'import "node:fs/promises";', "var installed = 1;"]);
});

test("of a failed build, only the errors are shown", () => {
  const warning = "warning: unused variable\n --> a.rs:1:1";
  const error = "error[E0425]: no such function\n --> b.rs:2:2\n\n  = help: there is none";
  assert.equal(errors(`${warning}\n\n${error}\n\n${warning}\n`), error);
  assert.equal(errors(warning), warning);
  const colored = "\u001b[1m\u001b[92m   Compiling\u001b[0m a v0.1.0 (/a)";
  assert.equal(errors(`   Compiling b v1.0.0\n${colored}\n${error}\n\n${warning}\n    Finished \`dev\` profile in 1s\n`), error);
  const ofDefinitions = "error: tools@0.1.0: tools/a/B@1.0.0.json: id: is missing\nerror: failed to run custom build command for `tools`\n\nCaused by:\n  exit status: 1\n";
  assert.equal(errors(`${warning}\n\n${ofDefinitions}`), "tools/a/B@1.0.0.json: id: is missing");
});

test("a byte order mark is not a part of a file", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "toolbooth-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "a.json");
  writeFileSync(file, '\u{feff}{"a":\r\n"\u{feff}"}');
  assert.equal(textOf(file), '{"a":\n"\u{feff}"}');
  assert.deepEqual(jsonOf(file), { a: "\u{feff}" });
});

test("each change prints the warnings of the build about definitions that the build before had not", () => {
  const [a, b] = ["tools/a/A@1.0.0.json: name: is long", "tools/a/B@1.0.0.json: input_schema: has x"];
  const cargo = (...found) => `   Compiling x v0.1.0\n${found.map((it) => `warning: x-tools@0.1.0: ${it}\n`).join("")}warning: unused variable\n    Finished in 1s\n`;
  for (const [folder, text, expected] of [
    ["one", cargo(a), [a]],
    ["one", cargo(a), []],
    ["one", cargo(a, b, b), [b]],
    ["two", cargo(`\u001b[33m${a}\u001b[0m`), [a]],
    ["one", cargo(), []],
    ["one", cargo(a), [a]],
  ]) {
    assert.deepEqual(newWarnings(folder, text), expected.map((it) => `warning: ${it}`));
  }
});

test("a tool without a function is a definition and variables", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "toolbooth-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "lib.rs"), "");
  const create = (given) => run(`node packages/toolbooth/bin/toolbooth.js tool --folder ${folder} --definition ${given}`);
  const read = (file) => JSON.parse(readFileSync(join(folder, "books", file), "utf8"));
  for (const [given, method, auth] of [
    ["Books.Get --read-only", "GET", undefined],
    ["Books.Add --secret BOOKS_KEY --scopes books:write", "POST", { secret: "BOOKS_KEY", in: "header", name: "Authorization", scheme: "Bearer" }],
  ]) {
    const { code, err, out } = await create(given);
    assert.equal(code, 0, err);
    assert.match(out, /BOOKS_URL=https/);
    const { http, examples, input_schema } = read(`${given.split(/[. ]/)[1]}@0.1.0.json`);
    assert.deepEqual([http.method, http.base, http.auth], [method, "BOOKS_URL", auth]);
    assert.deepEqual(Object.keys({ ...http.body?.properties, id: "id" }).sort(), Object.keys(input_schema.properties).sort());
    assert.equal(examples[0].request, `${method} https://books_url.example/items/7`);
  }
  assert.deepEqual(read("toolkit.json"), { variables: { BOOKS_URL: { kind: "base" }, BOOKS_KEY: { kind: "secret" } } });
  assert.match((await create("Books.Take --secret BOOKS_URL")).err, /BOOKS_URL is the variable with the service's address: choose a different name/);
  assert.match((await create("Books.Take --http")).err, /one of --definition, --http and --d1/);
  assert.match((await create("Books.Get")).err, /already exists/);
});

// A list with a space, text without quotes, and commands that take nothing.
const UNEXPECTED = [
  ["key ada github:read fetch:read", "fetch:read"],
  ["key --check keys.json ada", "ada"],
  ["tool X.Y --description Shortens a text.", "a"],
  ["import a.json b.json", "b\\.json"],
  ["registry a/b https://a.example Weather", "Weather"],
  ["registry --check a/b", "a/b"],
  ...["dev", "build", "types", "doctor"].map((name) => [`${name} x`, "x"]),
];
test("unknown commands, options and arguments are rejected", async () => {
  for (const [given, message] of [["fly", /^There is no command fly\.$/m], ["deplyo", /^There is no command deplyo: did you mean deploy\?$/m], ["build --fast", /^There is no option --fast\.\ntoolbooth build --help lists/], ["build --dev=1", /^--dev takes no value\.$/m], ["tool A.B --description", /^--description needs a value\.$/m], ["tool A.B --description --ts", /^--description needs a value\.$/m], ["tool", /^Name the tool, such as Greeter\.Hello$/m], ["registry a/b", /^Name the server and its address: /], ["tool Hello", /Toolkit\.Tool/], ["dev --port x", /^The port must be a number/], ["tool Greeter.Hello --scopes '*'", /scopes/], ...["LOG", "API_KEYS", "OAUTH_GITHUB_CLIENT_SECRET", "KV"].map((name) => [`tool A.B --http --secret ${name}`, new RegExp(`The Worker itself uses the name ${name}`)]), ["tool A.B --http --secret A_URL", /A_URL is the variable with the service's address/], ["tool OAuth.Token --http", /The Worker itself uses the name OAUTH_URL/], ...UNEXPECTED.map(([given, argument]) => [given, new RegExp(`^Unexpected argument: ${argument}\\. Write `)])]) {
    const { code, err } = await run(`node packages/toolbooth/bin/toolbooth.js ${given}`);
    assert.equal(code, 2, given);
    assert.match(err, message);
    assert.doesNotMatch(err, /^ +at /m, "no stack");
  }
});

test("doctor says how to get the programs that are missing, and other commands name it", async () => {
  const without = (command) => run(`PATH=${join(scratch, "nothing")} ${process.execPath} packages/toolbooth/bin/toolbooth.js ${command}`);
  const { code, out } = await without("doctor");
  assert.equal(code, 1);
  assert.match(out, /^MISSING Rust .*: install it from https:\/\/rustup\.rs$/m);
  assert.match(out, /^MISSING Rust's target wasm32-unknown-unknown: rustup target add/m);
  assert.match(out, /^MISSING A C compiler \(cc\), with which Rust links: (?:install one|xcode-select)/m);
  const { err } = await without("build");
  assert.match(err, /^cargo is not installed: npx toolbooth doctor says how to install it$/m);
});

test("dev without Rust, or without its target, ends and says how to get it", async () => {
  const folder = join(scratch, "programs");
  mkdirSync(folder);
  const programs = {
    rustc: '#!/bin/sh\ncase "$1" in --version) echo "rustc 999.0.0 (stand-in)";; *) echo /nowhere;; esac\n',
    cargo: '#!/bin/sh\necho "cargo 999.0.0"\n',
  };
  const port = await freePort();
  for (const [installed, message] of [
    [[], /^Rust .*\(none\) is needed: install it from https:\/\/rustup\.rs$/m],
    [["rustc"], /^Rust .*\(none\) is needed: install it from https:\/\/rustup\.rs$/m],
    [["rustc", "cargo"], /^Rust's target wasm32-unknown-unknown is needed: rustup target add wasm32-unknown-unknown$/m],
  ]) {
    for (const name of installed) writeFileSync(join(folder, name), programs[name], { mode: 0o755 });
    const { code, out, err } = await run(`PATH=${folder} ${process.execPath} packages/toolbooth/bin/toolbooth.js dev --port ${port}`);
    assert.equal(code, 1, out);
    assert.match(err, message);
    assert.doesNotMatch(out, /Building/);
  }
});

test("make gives values to commands without running any part of them", async () => {
  const touched = join(scratch, "touched");
  for (const command of ["key NAME", "key NAME=a SCOPES", "key NAME=a ONLY", "tool ID", "tool ID=A.B HTTP=1 SECRET", "tool ID=A.B SCOPES", "release VERSION", "project DIR", "registry NAME", "registry URL", "registry DESCRIPTION", "dev PORT", "dev PORT=none SAMPLE", "dev PORT=none FIXTURES"]) {
    const payload = [`x\`touch ${touched}\``, `"; touch ${touched}; "`, `'"'"'; touch ${touched}; '"'"'`].join("");
    await run(`make ${command}='${payload}'`);
    assert.ok(!existsSync(touched), command);
  }
  assert.match((await run("make tool ID='A B'")).err, /not "A B"/);
});

test("every command describes itself", async () => {
  for (const [command, described] of [
    ["dev", "--env"],
    ["build", "--crate"],
    ["test", "cargo test"],
    ["types", "TypeScript"],
    ["tool", "--scopes <a,b>"],
    ["import", "--include <a,b>"],
    ["key", "--rotate"],
    ["deploy", "--dry-run"],
    ["stack", "log.txt"],
    ["registry", "--check"],
    ["doctor", "Check"],
  ]) {
    for (const flag of ["--help", "-h"]) {
      const { code, out, err } = await run(`node packages/toolbooth/bin/toolbooth.js ${command} ${flag}`);
      assert.deepEqual([code, err], [0, ""], command);
      assert.ok(out.startsWith(`toolbooth ${command}`) && out.includes(described), out);
      assert.equal(out.match(/^toolbooth/gm).length, 1, "of no other command");
      assert.ok(out.split("\n").every((line) => line.length <= 120), "it fits into a terminal");
    }
  }
  const { version } = JSON.parse(read(root, "packages/toolbooth/package.json"));
  assert.equal((await run("node packages/toolbooth/bin/toolbooth.js --version")).out, `${version}\n`);
  const options = [...read(root, "packages/create-toolbooth/README.md").matchAll(/`(--[\w-]+)(?: <url>)?`/g)].map(([, option]) => option);
  for (const flag of ["--help", "-h"]) {
    const { code, out, err } = await create(flag);
    assert.deepEqual([code, err], [0, ""], flag);
    assert.deepEqual(out.match(/--[a-z-]+(?=.* {2}[A-Z])/g).filter((option) => option !== "--clone"), options.filter((option) => option !== "--"), "as in its README");
  }
});

test("toolbooth types checks what bindings have, and builds nothing for that", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolbooth-types-"));
  try {
    const file = (name, text) => {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    };
    const configuration = 'name = "a"\nmain = "built"\ncompatibility_date = "2026-10-01"\n[build]\ncommand = "touch built"\n[[d1_databases]]\nbinding = "DB"\ndatabase_name = "a"\n';
    const files = ["sql", "txt", "html", "md", "bin", "wasm"].map((kind) => `import ${kind === "txt" ? "text" : kind} from "./a.${kind}";\n`).join("");
    const code = (use) => `import { createHash } from "node:crypto";\n${files}import { tool } from "toolbooth";\nexport default tool<{ id: number }, string | null>(async ({ id }, { env }) => ${use});\n`;
    file("wrangler.toml", configuration);
    file("tsconfig.json", '{ "extends": "toolbooth/tsconfig.json", "include": ["tools/**/*.ts", "worker-configuration.d.ts"] }');
    file("tools/shelf/Find@1.0.0.json", "{}");
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(join(root, "packages/toolbooth"), join(folder, "node_modules/toolbooth"));
    for (const [use, error] of [
      ['env.DB.prepare("SELECT a FROM b WHERE id = ?1").bind(id).first<string>("a")', undefined],
      ['env.BD.prepare("")', "Property 'BD' does not exist on type 'Env'"],
      ["id", "Type 'number' is not assignable to type 'string'"],
      // What docs/TOOLS.md says that can be imported.
      ['createHash("md5").update(Buffer.from(process.env.A ?? `${id}`)).digest("hex")', undefined],
      ['[sql, text, html, md, new TextDecoder().decode(bin), new WebAssembly.Instance(wasm).exports].join()', undefined],
    ]) {
      file("tools/shelf/find.ts", code(use));
      const { code: status, out, err } = await run(`node ${root}/packages/toolbooth/bin/toolbooth.js types`, { cwd: folder });
      assert.equal(status, error ? 1 : 0, out + err);
      if (error) assert.ok(err.includes(error), err);
    }
    assert.ok(!existsSync(join(folder, "built")));
    assert.deepEqual(readdirSync(folder).filter((name) => name.startsWith(".types")), []);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
