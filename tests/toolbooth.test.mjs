// The command `toolbooth` where that needs no build, and what creates a project. `make prove` and tutorial.test.mjs do the rest.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { errors, replaceWorker, withProgress } from "../packages/toolbooth/src/build.js";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { remarks } from "../packages/toolbooth/src/directory.js";
import { nodeModules } from "../packages/toolbooth/src/node-modules.js";
import { Failure } from "../packages/toolbooth/src/process.js";
import { serviceOf, standIn } from "../packages/toolbooth/src/provider.js";
import { problems } from "../packages/toolbooth/src/registry.js";
import { failing, rebuild } from "../packages/toolbooth/src/rebuild.js";
import { advice, keepRunning } from "../packages/toolbooth/src/runtime.js";
import { unused } from "../packages/toolbooth/src/scripts.js";
import { buildSite } from "../site/build/index.js";
import { Browser, PUBLIC } from "./support/authorizing.mjs";
import { freePort, root, run } from "./support/commands.mjs";
import { CANARY, FIXTURES, start } from "./support/worker.mjs";

const scratch = mkdtempSync(join(tmpdir(), "toolbooth-"));
after(() => rmSync(scratch, { recursive: true }));
const read = (...path) => readFileSync(join(...path), "utf8");
/** The response to these bytes. */
async function raw(port, text) {
  const socket = connect(port, "127.0.0.1");
  socket.end(text);
  return (await socket.setEncoding("utf8").toArray()).join("");
}
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
  const [out, source] = ["rebuilt", "source"].map((name) => join(scratch, name));
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

test("of a failed build, only the errors are shown", () => {
  const warning = "warning: unused variable\n --> a.rs:1:1";
  const error = "error[E0425]: no such function\n --> b.rs:2:2\n\n  = help: there is none";
  assert.equal(errors(`${warning}\n\n${error}\n\n${warning}\n`), error);
  assert.equal(errors(warning), warning);
  const ofDefinitions = "error: tools@0.1.0: tools/a/B@1.0.0.json: id: is missing\nerror: failed to run custom build command for `tools`\n\nCaused by:\n  exit status: 1\n";
  assert.equal(errors(`${warning}\n\n${ofDefinitions}`), "tools/a/B@1.0.0.json: id: is missing");
});

test("the stand-in provider gives tokens to those who prove that they asked", async () => {
  const provider = await standIn(["github", "my-corp"], "http://localhost:8787");
  try {
    const { OAUTH_PROVIDERS, OAUTH_MY_CORP_TOKEN_URL: url, OAUTH_GITHUB_AUTHORIZE_URL: page } = provider.vars;
    assert.equal(OAUTH_PROVIDERS, "github,my-corp");
    const verifier = "a verifier";
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const redirect = "http://localhost:8787/auth/callback/github";
    const query = new URLSearchParams({ redirect_uri: redirect, state: "s&<", scope: '"<repo>', code_challenge: challenge });
    const html = await (await fetch(`${page}?${query}`)).text();
    assert.ok(html.includes("&quot;&lt;repo&gt;") && !html.includes("<repo>"));
    const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, link]) => new URL(link.replaceAll("&amp;", "&")));
    const [allow, deny] = links.map(({ searchParams }) => Object.fromEntries(searchParams));
    assert.deepEqual(deny, { error: "access_denied", state: "s&<" });
    assert.equal(allow.state, "s&<");
    const tokens = async (form) => {
      const response = await fetch(url, { method: "POST", body: new URLSearchParams(form) });
      const { access_token, refresh_token } = await response.json();
      return [response.status, access_token, refresh_token];
    };
    const code = { grant_type: "authorization_code", code: allow.code };
    const [status, token, renewal] = await tokens({ ...code, code_verifier: verifier });
    assert.equal(status, 200);
    assert.equal((await tokens({ ...code, code_verifier: verifier }))[0], 400, "a code works once");
    assert.equal((await tokens({ grant_type: "refresh_token", refresh_token: renewal }))[0], 200);
    assert.equal((await tokens({ grant_type: "refresh_token", refresh_token: "another" }))[0], 400);
    for (const elsewhere of ["https://evil.example/auth/callback/github", "http://localhost:8787.evil.example/auth/callback/", "http://localhost:8787/", ""]) {
      assert.equal((await fetch(`${page}?${new URLSearchParams({ redirect_uri: elsewhere })}`)).status, 400, elsewhere);
    }
    for (const line of ["TRACE / HTTP/1.1", "GET //[ HTTP/1.1", "OPTIONS * HTTP/1.1"]) {
      assert.match(await raw(new URL(url).port, `${line}\r\nhost: localhost\r\nconnection: close\r\n\r\n`), /^HTTP\/1\.1 4\d\d /, line);
    }
    // The service accepts these tokens, and no others.
    const call = async (path, { method = "GET", body, sent = token } = {}) => {
      const response = await fetch(`${provider.services.GITHUB_API_URL}${path}`, { method, body, headers: { authorization: `Bearer ${sent}` } });
      return [response.status, await response.json()];
    };
    const issues = "/repos/octocat/hello-world/issues";
    const found = { number: 1347, title: "Found a bug", state: "open", html_url: "https://github.com/octocat/hello-world/issues/1347" };
    assert.equal((await call(issues, { sent: "another" }))[0], 401);
    assert.deepEqual(await call(`${issues}?state=open`), [200, [found]]);
    const [created, issue] = await call(issues, { method: "POST", body: '{"title":"Mend it"}' });
    assert.deepEqual([created, issue.number, issue.title], [201, 1348, "Mend it"]);
    assert.deepEqual(await call(issues), [200, [issue, found]]);
    assert.deepEqual(await call(`${issues}?state=closed`), [200, []]);
    assert.equal((await call("/repos/octocat/nowhere/issues"))[0], 404);
  } finally {
    provider.close();
  }
});

test("the author of a project answers in place of the service", async () => {
  const file = join(scratch, "shop.mjs");
  const [example] = /^```js\n\/\/ shop\.mjs.*?^```$/ms.exec(read(root, "docs/PROJECT.md"));
  writeFileSync(file, example.split("\n").slice(1, -1).join("\n"));
  const provider = await standIn(["shop"], "http://localhost:8787", await serviceOf(file));
  try {
    const verifier = "a verifier";
    const query = new URLSearchParams({ redirect_uri: "http://localhost:8787/auth/callback/shop", code_challenge: createHash("sha256").update(verifier).digest("base64url") });
    const [, code] = /[?&]code=([\w-]+)/.exec(await (await fetch(`${provider.vars.OAUTH_SHOP_AUTHORIZE_URL}?${query}`)).text());
    const body = new URLSearchParams({ grant_type: "authorization_code", code, code_verifier: verifier });
    const { access_token } = await (await fetch(provider.vars.OAUTH_SHOP_TOKEN_URL, { method: "POST", body })).json();
    const call = (headers) => fetch(`${provider.services.SHOP_URL}/orders/7`, { headers });
    assert.equal((await call({})).status, 401);
    assert.deepEqual(await (await call({ authorization: `Bearer ${access_token}` })).json(), { path: "/orders/7", status: "shipped" });
  } finally {
    provider.close();
  }
  writeFileSync(join(scratch, "empty.mjs"), "");
  for (const [given, message] of [["true", /DEV_PROVIDER must be 1 or the path of a module/], [join(scratch, "empty.mjs"), /must export a list/]]) {
    await assert.rejects(serviceOf(given), message);
  }
});

test("a user authorizes a tool at the stand-in provider", async () => {
  const provider = await standIn(["mail"], PUBLIC);
  const key = `${CANARY}-key`;
  const vars = { AUTH: "api-key", API_KEYS: JSON.stringify([entryOf(key, "Ada", ["*"])]), STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`, UNVERIFIED_USERS: "allow" };
  const worker = await start(FIXTURES, { vars: { ...provider.vars, ...vars } });
  try {
    const context = { user_id: `${CANARY}-user`, secrets: [{ id: "KEY", value: `${CANARY}-secret` }] };
    const call = () => worker.post({ tool_id: "Fixture.Private", input: {}, context }, { headers: { "oxp-api-key": key } });
    const first = await call();
    assert.equal(first.json.message, "Authorization required", first.text);
    const [asked] = first.json.missing_requirements.authorization;
    const browser = new Browser(worker);
    const consent = await browser.visit("GET", asked.url);
    const [, action] = /<form method="post" action="([^"]+)">/.exec(consent.text);
    const { headers } = await browser.visit("POST", `${PUBLIC}${action}`);
    const [, allow] = /href="([^"]+)">Allow/.exec(await (await fetch(headers.location)).text());
    assert.equal((await browser.visit("GET", allow.replaceAll("&amp;", "&"))).status, 200);
    const { status, json } = await call();
    assert.equal(status, 200, JSON.stringify(json));
    assert.match(json.value.token, /^[0-9a-f-]{36}$/);
  } finally {
    await worker.close();
    provider.close();
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
  assert.match((await create("Books.Take --secret BOOKS_URL")).err, /has BOOKS_URL as "base": choose a different name/);
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
  for (const [given, message] of [["fly", /^There is no command fly\.$/m], ["deplyo", /^There is no command deplyo: did you mean deploy\?$/m], ["build --fast", /^There is no option --fast\.\ntoolbooth build --help lists/], ["build --dev=1", /^--dev takes no value\.$/m], ["tool A.B --description", /^--description needs a value\.$/m], ["tool A.B --description --ts", /^--description needs a value\.$/m], ["tool", /^Name the tool, such as Greeter\.Hello$/m], ["registry a/b", /^Name the server and its address: /], ["tool Hello", /Toolkit\.Tool/], ["dev --port x", /^The port must be a number/], ["tool Greeter.Hello --scopes '*'", /scopes/], ...["LOG", "API_KEYS", "OAUTH_GITHUB_CLIENT_SECRET", "KV"].map((name) => [`tool A.B --http --secret ${name}`, new RegExp(`The Worker itself uses the name ${name}`)]), ["tool A.B --http --secret A_B_URL", /A_B_URL is the variable with the service's address/], ["tool OAuth.Token --http", /The Worker itself uses the name OAUTH_TOKEN_URL/], ...UNEXPECTED.map(([given, argument]) => [given, new RegExp(`^Unexpected argument: ${argument}\\. Write `)])]) {
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

test("make project passes the language on", async () => {
  for (const [setting, option] of [["TS=1", "--typescript"], ["RUST=1", "--rust"]]) {
    const { out } = await run(`make --dry-run project DIR=../x ${setting}`);
    assert.match(out, new RegExp(`create\\.js +${option} +--clone -- "\\$DIR"$`, "m"));
  }
});

test("a new project depends on a release, on this clone or on a commit of a repository", async () => {
  const repository = join(scratch, "repository");
  const { out } = await run(`git init --quiet ${repository} && cd ${repository} && git -c user.name=a -c user.email=a@b.example commit --quiet --allow-empty --message Start && git rev-parse HEAD`);
  const commit = out.trim();
  const url = `file://${repository}`;
  mkdirSync(join(scratch, "a folder"));
  symlinkSync(join(scratch, "a folder"), join(scratch, "link"));
  for (const [options, folder, crate, packages] of [
    ["", "my-tools", /^version = "\d+\.\d+\.\d+"$/, { toolbooth: /^\^\d+\.\d+\.\d+$/ }],
    [`--git ${url}`, "of-git", new RegExp(`^git = "${url}", rev = "${commit}"$`), { toolbooth: new RegExp(`^git\\+${url}#${commit}$`) }],
    ["--clone", "link/deeper/of-clone", /^path = ".*"$/, { toolbooth: /^file:/, node: /^file:/, wrangler: /^file:/, preact: /^file:/ }],
  ]) {
    const { code, err } = await create(`${options} --no-install '${folder}'`);
    assert.equal(code, 0, err);
    const project = realpathSync(join(scratch, folder));
    const files = readdirSync(project, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
    for (const file of files) assert.doesNotMatch(read(file), /(?<!\$)\{\{/, `${file} has a placeholder`);
    assert.match(read(project, ".gitignore"), /^\.dev\.vars$/m);
    assert.doesNotMatch(read(project, ".dev.vars.example"), /^[^#\n]/m, "a deploy button would deploy the value");
    const crates = [...read(project, "Cargo.toml").matchAll(/^toolbooth[\w-]* = \{ (.*?)(?:, default-features = false)? \}$/gm)].map(([, source]) => source);
    assert.equal(crates.length, 3);
    for (const source of crates) assert.match(source, crate);
    const { devDependencies } = JSON.parse(read(project, "package.json"));
    assert.deepEqual(Object.keys(devDependencies), Object.keys(packages));
    for (const [name, source] of Object.entries(packages)) assert.match(devDependencies[name], source);
    // The paths exist, from where the project really is.
    const paths = [...crates, ...Object.values(devDependencies)].flatMap((source) => /^(?:path = "|file:)([^"]*)/.exec(source)?.[1] ?? []);
    for (const path of paths) assert.ok(existsSync(join(project, path, path.includes("crates/") ? "Cargo.toml" : "package.json")), path);
    // So do the links to the documentation.
    for (const name of options && ["README.md", "AGENTS.md"]) {
      const [, where] = /^Toolbooth's documentation is in (.*)\.$/m.exec(read(project, name)) ?? assert.fail(name);
      const links = [...where.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link);
      if (options.includes("clone")) assert.equal(links.length, 3);
      else assert.ok(where.includes(url));
      for (const link of links) assert.ok(existsSync(join(project, link)), link);
    }
    assert.equal(existsSync(join(project, ".github")), !options.includes("clone"), "no other machine has the clone");
  }
});

test("make project rejects folders and names that would not work, and says why", async () => {
  mkdirSync(join(scratch, "full"));
  symlinkSync(join(scratch, "absent"), join(scratch, "nowhere"));
  symlinkSync(join(root, "samples"), join(scratch, "samples"));
  for (const file of ["full/file", "a-file"]) writeFileSync(join(scratch, file), "");
  for (const [args, message] of [
    ["", /Name the folder to create: make project DIR/],
    ["''", /Name the folder to create: make project DIR/],
    ["--fly", /--fly.*Name the folder to create/s],
    ["my tools", /Name one folder, not my and tools/],
    ["My-Tools", /lower-case letters.* not "My-Tools"/],
    ["'my tools'", /lower-case letters.* not "my tools"/],
    ["1st", /starting with a letter/],
    ["a_b", /lower-case letters/],
    ["tools", /taken by a dependency/],
    ["toolbooth-worker", /taken by a dependency/],
    ["full", /full already exists/],
    ["a-file", /a-file already exists/],
    ["a-file/mine", /A part of .*a-file\/mine is a file/],
    ["a-file/deeper/mine", /A part of .* is a file/],
    ["nowhere", /nowhere is a link to nothing/],
    ["nowhere/mine", /nowhere/],
    ["samples/linked", /inside the clone of Toolbooth/],
    ["--git https://me:hunter2@host.example/owner/toolbooth.git mine", /GIT must have no password: .*credential helper/],
    [`${root}/samples/mine`, /inside the clone of Toolbooth.*\.\.\/mine/],
    [`--git file://${scratch}/absent mine`, /git cannot read .*absent/],
    ["--git git@host.example:owner/toolbooth.git mine", /GIT must be a URL, such as .* not git@host/],
  ]) {
    const { code, err } = await create(`--clone ${args}`);
    assert.equal(code, 2, args);
    assert.match(err, message, args);
    assert.doesNotMatch(err, /^ +at /m, "no stack");
    assert.doesNotMatch(err, /hunter2/);
  }
  assert.deepEqual(readdirSync(join(scratch, "full")), ["file"]);
  assert.equal(existsSync(join(scratch, "mine")), false);
});

/** The package of a folder; in the template, without what is for one language. */
const packageOf = (folder) => JSON.parse(read(root, folder, "package.json").replaceAll(/\{% if .*?%\}.*?\{% endif %\}/gs, ""));

test("one version of Node is named everywhere", () => {
  const { node } = JSON.parse(read(root, "package.json")).engines;
  for (const path of ["packages/toolbooth", "packages/create-toolbooth", "template"]) assert.equal(packageOf(path).engines.node, node, path);
  const pages = ["README.md", "docs/PROJECT.md", "docs/OPERATING.md", "template/README.md"].map((path) => [path, /Node (\d+)/g]);
  const workflows = [".github/workflows/ci.yml", ".github/workflows/release.yml", "template/.github/workflows/ci.yml"].map((path) => [path, /node-version: (\d+)/g]);
  for (const [path, pattern] of [...pages, ...workflows]) {
    const versions = [...read(root, path).matchAll(pattern)].map(([, version]) => `>=${version}`);
    assert.deepEqual([...new Set(versions)], [node], path);
  }
});

test("the template and the sample Notes have what this repository has", () => {
  const template = join(root, "template");
  for (const file of ["rust-toolchain.toml", "rustfmt.toml"]) assert.equal(read(template, file), read(root, file), file);
  const line = (pattern, ...path) => pattern.exec(read(...path))?.[0] ?? assert.fail(`${pattern} in ${path.join("/")}`);
  for (const [file, pattern] of [
    ["wrangler.toml", /^compatibility_date = .*$/m],
    ["wrangler.toml", /^compatibility_flags = .*$/m],
    ["wrangler.toml", /^redact_query_string = true$/m],
    ["wrangler.toml", /^\[assets\]\n(.+\n)+/m],
    ["Cargo.toml", /^rust-version = .*$/m],
    ["src/lib.rs", /\[ACCOUNT, .*\]/],
    ["Cargo.toml", /^\[profile\.release\]\n(.+\n)+/m],
  ]) {
    assert.equal(line(pattern, template, file), line(pattern, root, file));
  }
  // A new project has exact budgets, and limits.
  const configuration = read(template, "wrangler.toml");
  for (const name of ["LEDGER", "TASKS", "RATE_LIMIT", "TOOL_CALL_LIMITER", "SIGN_IN_LIMITER"]) {
    const sections = [...configuration.matchAll(/^\[\[((?:env\.\w+\.)?)[\w.]+\]\]\nname = "(\w+)"$/gm)].filter(([, , found]) => found === name);
    assert.deepEqual(sections.map(([, env]) => env), ["", "env.staging.", "env.production."], name);
  }
  for (const [folder, file] of [[template, "wrangler.toml"], [root, "wrangler.toml"]]) {
    for (const [name, type] of [["LEDGER", "Ledger"], ["TASKS", "Tasks"]]) {
      assert.ok(read(folder, file).includes(`name = "${name}"\nclass_name = "${type}"\n[[migrations]]\ntag = "${name.toLowerCase()}"\nnew_sqlite_classes = ["${type}"]\n`), `${name} ${file}`);
    }
  }
  for (const pattern of [/^compatibility_date = .*$/m, /^compatibility_flags = .*$/m, /^\[assets\]\n(.+\n)+/m]) {
    assert.equal(line(pattern, root, "samples/notes/wrangler.toml"), line(pattern, root, "wrangler.toml"));
  }
  const version = line(/(?<=^version = ").*(?="$)/m, root, "Cargo.toml");
  const requirements = [...read(template, "Cargo.toml").matchAll(/^toolbooth.*?"(\d+\.\d+\.\d+)"/gm)].map(([, found]) => found);
  const packages = ["packages/toolbooth", "packages/create-toolbooth"].map((path) => packageOf(path).version);
  const dependency = packageOf("template").devDependencies.toolbooth;
  assert.deepEqual([...requirements, ...packages, dependency.replace("^", "")], Array(6).fill(version));
});

test("the site replaces its own files in a folder, and no others", async () => {
  const folder = join(scratch, "assets");
  mkdirSync(join(folder, "site"), { recursive: true });
  for (const file of ["mine.html", "site/landing-OLD.js"]) writeFileSync(join(folder, file), "");
  await buildSite(folder);
  assert.deepEqual(["mine.html", "index.html", "site/landing-OLD.js"].map((file) => existsSync(join(folder, file))), [true, true, false]);
  // Its sources are in a folder of the same name.
  await assert.rejects(buildSite(root), /has the sources of the site/);
  assert.ok(existsSync(join(root, "site/build/index.js")));
});

test("the packed command has the site, so that a project needs none of what builds it", async () => {
  const [packed, copy, built] = ["packed", "copy", "built"].map((name) => join(scratch, name));
  mkdirSync(packed);
  const { code, err } = await run(`npm pack --silent --pack-destination ${packed} && tar xzf ${packed}/*.tgz -C ${packed}`, { cwd: join(root, "packages/toolbooth") });
  assert.equal(code, 0, err);
  assert.ok(!existsSync(join(root, "packages/toolbooth/site")), "it would hide later changes of the sources");
  const { site } = await import(pathToFileURL(join(packed, "package/src/site.js")));
  await site(copy);
  await buildSite(built);
  const contents = (folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [join(parentPath, name).slice(folder.length), read(parentPath, name)])
      .sort();
  assert.ok(contents(copy).length > 20);
  assert.deepEqual(contents(copy), contents(built));
});

test("the npm package of a git dependency, which is this repository, has what packages/toolbooth has", () => {
  const [ours, packed] = [".", "packages/toolbooth"].map((path) => JSON.parse(read(root, path, "package.json")));
  for (const [name, version] of Object.entries(packed.dependencies)) assert.equal(version, ours.dependencies[name], name);
  for (const member of ["bin", "exports"]) {
    // A path, or paths by condition.
    const moved = JSON.parse(JSON.stringify(packed[member]), (_, path) => (typeof path === "string" ? path.replace(/^(\.\/)?/, "$1packages/toolbooth/") : path));
    assert.deepEqual(ours[member], moved);
  }
});

test("an error of D1 in the log is followed by what to do", () => {
  const migrate = () => ["npx wrangler d1 migrations apply DB --local"];
  for (const [message, expected] of [
    ["D1_ERROR: no such table: notes: SQLITE_ERROR", /^There is no table notes\. Apply the migrations that create it:\n {2}npx wrangler d1 migrations apply DB --local$/],
    ["D1_ERROR: no such column: done at offset 7: SQLITE_ERROR", /^There is no column done\. If a migration adds it, apply it:\n {2}npx/],
    ["D1_TYPE_ERROR: Type 'bigint' not supported for value '99'", /^D1 takes no 64-bit integers\. Bind the number as `\(value as f64\)\.into\(\)`/],
    ["D1_ERROR: UNIQUE constraint failed: notes.title", undefined],
  ]) {
    const got = advice(message, migrate);
    if (expected === undefined) assert.equal(got, undefined, message);
    else assert.match(got, expected);
  }
});

test("server.json describes the server to MCP's registry, with the members that the file has already", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "toolbooth-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const write = (name, text) => writeFileSync(join(folder, name), text);
  const manifest = (version) => write("Cargo.toml", `[package]\nname = "tools"\nversion = "${version}"\nedition = "2024"\nrepository = "https://github.com/ada/tools"\n[lib]\npath = "lib.rs"\n[package.metadata.toolbooth]\ntitle = "Ada's tools"\n[workspace]\n`);
  write("lib.rs", "");
  manifest("1.2.0");
  const registry = (args, auth = "api-key") => {
    write("wrangler.toml", `name = "tools"\nmain = "worker.js"\n[vars]\nAUTH = "${auth}"\n`);
    return run(`node ${root}/packages/toolbooth/bin/toolbooth.js registry ${args}`, { cwd: folder });
  };
  const [NAME, URL] = ["com.example.tools/tools", "https://tools.example.com"];
  const first = await registry(`${NAME} ${URL} --description 'Tools for Ada'`);
  assert.equal(first.code, 0, first.err);
  const written = () => JSON.parse(read(folder, "server.json"));
  const variable = { description: "The key that the operator of the server gave you", isRequired: true, isSecret: true };
  assert.deepEqual(written(), {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: NAME,
    title: "Ada's tools",
    description: "Tools for Ada",
    version: "1.2.0",
    repository: { url: "https://github.com/ada/tools", source: "github" },
    websiteUrl: URL,
    remotes: [
      {
        type: "streamable-http",
        url: `${URL}/mcp`,
        headers: [{ name: "Authorization", description: "An API key of this server", value: "Bearer {api_key}", isRequired: true, isSecret: true, variables: { api_key: variable } }],
      },
    ],
  });
  assert.match(first.out, /MCP_REGISTRY_AUTH.*https:\/\/tools\.example\.com\/\.well-known\/mcp-registry-auth[^]*login http --domain tools\.example\.com[^]*mcp-publisher publish[^]*icons/);
  // What the file has, and a new version.
  const icons = [{ src: "https://example.com/icon.png" }];
  write("server.json", JSON.stringify({ ...written(), icons }));
  manifest("1.3.0");
  for (const [name, auth, required, steps] of [
    [NAME, "api-key, sign-in", [false], /login http --domain tools\.example\.com/],
    ["com.example/tools", "sign-in", undefined, /Serve the line that this prints at https:\/\/example\.com[^]*begin with com\.example\.tools\//],
    ["io.github.ada/tools", "none", undefined, /as ada at GitHub:\n {2}mcp-publisher login github/],
  ]) {
    const { code, out, err } = await registry(`${name} ${URL}`, auth);
    assert.equal(code, 0, err);
    const { version, description, remotes, ...rest } = written();
    assert.deepEqual([version, description, rest.icons, remotes[0].headers?.map((it) => it.isRequired)], ["1.3.0", "Tools for Ada", icons, required], auth);
    assert.match(out, steps);
  }
  for (const [change, message] of [
    [{}, undefined],
    [{ name: "tools" }, /^NAME is "tools"; expected a reversed domain/],
    [{ name: "a.b/c/d" }, /^NAME/],
    ...["http://tools.example.com", "https://localhost:8787", "https://10.0.0.1", "https://tools.internal", `${URL}/other`, `${URL}?a`, "https://a@example.com", ""].map((url) => [{ remotes: [{ url: `${url}/mcp` }] }, /^URL is .*expected the public address/]),
    [{ description: "x".repeat(101) }, /^DESCRIPTION has 101 characters; expected 1 to 100/],
    [{ description: "" }, /^DESCRIPTION has 0/],
    [{ title: "" }, /^title/],
    [{ version: "latest" }, /^version/],
    [{ websiteUrl: "ftp://example.com" }, /websiteUrl/],
    [{ icons: [{ src: "icon.png" }] }, /icons/],
    [{ icons: "icon.png" }, /icons/],
  ]) {
    const found = problems({ ...written(), ...change });
    assert.equal(found.length, message ? 1 : 0, JSON.stringify(change));
    if (message) assert.match(found[0], message);
  }
  const unnamed = await registry("");
  assert.equal(unnamed.code, 2);
  assert.match(unnamed.err, /^Name the server and its address: /);
  // As make gives them.
  assert.deepEqual((await registry("-- '' ''")).err.match(/^\w+/gm).slice(0, 2), ["NAME", "URL"]);
  write("server.json", "[]");
  assert.match((await registry(`${NAME} ${URL}`)).err, /server\.json must be a JSON object/);
});

test("what directories would object to in tools", () => {
  const good = { id: "A.Get@1.0.0", version: "1.0.0", title: "Get", description: "Returns what is stored.", annotations: { read_only: true, destructive: false } };
  for (const [change, objection] of [
    [{}, undefined],
    [{ title: undefined }, /has no title/],
    [{ annotations: { read_only: true } }, /does not say/],
    [{ annotations: { read_only: true, destructive: true } }, /cannot destroy/],
    [{ description: "Gets it." }, /fewer than 20/],
    [{ input_schema: { properties: { action: { enum: ["get_item", "delete_item"] } } } }, /reads and writes/],
    [{ input_schema: { properties: { action: { enum: ["get", "list", 1] }, other: true } } }, undefined],
  ]) {
    const found = remarks([{ ...good, ...change }]);
    assert.equal(found.length, objection ? 1 : 0, String(objection));
    if (objection) assert.match(found[0], objection);
  }
  const old = { ...good, id: "A.Get@0.9.0", version: "0.9.0", title: undefined };
  assert.deepEqual(remarks([good, old]), [], "only the latest version is listed");
});

test("toolbooth types checks what bindings have, and builds nothing for that", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolbooth-types-"));
  try {
    const file = (name, text) => {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    };
    const configuration = 'name = "a"\nmain = "built"\ncompatibility_date = "2026-10-01"\n[build]\ncommand = "touch built"\n[[d1_databases]]\nbinding = "DB"\ndatabase_name = "a"\n';
    const code = (use) => `import { tool } from "toolbooth";\nexport default tool<{ id: number }, string | null>(async ({ id }, { env }) => ${use});\n`;
    file("wrangler.toml", configuration);
    file("tsconfig.json", '{ "extends": "toolbooth/tsconfig.json", "include": ["tools/**/*.ts", "worker-configuration.d.ts"] }');
    file("tools/shelf/Find@1.0.0.json", "{}");
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(join(root, "packages/toolbooth"), join(folder, "node_modules/toolbooth"));
    for (const [use, error] of [
      ['env.DB.prepare("SELECT a FROM b WHERE id = ?1").bind(id).first<string>("a")', undefined],
      ['env.BD.prepare("")', "Property 'BD' does not exist on type 'Env'"],
      ["id", "Type 'number' is not assignable to type 'string'"],
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
