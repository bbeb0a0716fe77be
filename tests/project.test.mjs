// The project's commands, and every command and response in the README.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { variables } from "../packages/toolbooth/src/variables.js";
import { isOpen, root, run, serve } from "./support/commands.mjs";
import { Person } from "./support/sign-in.mjs";
import { SAMPLES, start } from "./support/worker.mjs";

const readme = readFileSync(join(root, "README.md"), "utf8");

// Each fenced block with its language; in a shell block, each line is a command.
const blocks = [...readme.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]) => ({ language, text }));
const commands = blocks.flatMap(({ language, text }, index) =>
  language === "sh"
    ? text.trim().split("\n").map((command) => ({ command, answer: answerTo(blocks[index + 1]) }))
    : [],
);

function answerTo(next) {
  return next?.language === "json" ? JSON.parse(next.text) : undefined;
}

/** Runs a curl command of the README with another base URL, and compares the response with the README's. */
async function curl({ command, answer }, address) {
  const { code, out } = await run(`${command.replaceAll("http://localhost:8787", address)} --silent --show-error`);
  assert.equal(code, 0, command);
  const got = JSON.parse(out);
  if (answer === undefined) return got;
  if ("duration" in got) got.duration = answer.duration;
  assert.deepEqual(got, answer, command);
}

const greeting = commands.find(({ command }) => command.includes('"Greeter.Hello"'));

// The test that runs each command of the README. `make test` runs this file. Two commands need an account at Cloudflare.
const ways = {
  "make dev": "make dev asks",
  "make test": "this run",
  ...Object.fromEntries(["make project DIR=../my-tools", "cd ../my-tools", "npm run dev"].map((command) => [command, "tutorial.test.mjs"])),
  'make tool ID=Greeter.Hello DESCRIPTION="Greets a person by name."': "tutorial.test.mjs",
  "make key NAME=ada SCOPES=github:read": "make key prints",
  "npx wrangler login": "none",
  "npx wrangler secret put API_KEYS": "none",
  "make deploy": "make build, make deploy and make test-tools",
  'claude mcp add --transport http toolbooth http://localhost:8787/mcp --header "Authorization: Bearer development-key"':
    "connecting.test.mjs",
};

test("every command in the README is tested", () => {
  const others = commands.map(({ command }) => command).filter((command) => !command.startsWith("curl "));
  assert.deepEqual(others.filter((command) => !(command in ways)), []);
  assert.deepEqual(Object.keys(ways).filter((command) => !others.includes(command)), []);
  assert.ok(greeting, "the call of the scaffolded tool");
});

test("the platform's logs have no query strings, which contain codes and user ids", () => {
  const [, observability] = /^\[observability\]$([^[]*)/m.exec(readFileSync(join(root, "wrangler.toml"), "utf8"));
  assert.match(observability, /^redact_query_string = true$/m);
});

test("docs/CONFIGURATION.md describes every variable of wrangler.toml, and make dev passes on every one that it describes", () => {
  const page = readFileSync(join(root, "docs/CONFIGURATION.md"), "utf8");
  const [, vars] = /^\[vars\]$(.*)/ms.exec(readFileSync(join(root, "wrangler.toml"), "utf8"));
  const described = (text) => [...text.matchAll(/^\| `([A-Z_<>]+)`/gm)].map(([, name]) => name.replace("<ID>", "MY_CORP"));
  const configured = [...vars.matchAll(/^([A-Z_]+) =/gm)].map(([, name]) => name);
  assert.ok(configured.length > 5, `${configured}`);
  assert.deepEqual(configured.filter((name) => !described(page).includes(name)), []);
  // Then come the variables of tools, which their definitions name.
  const ofWorker = described(page.split("\n## Tools\n")[0]);
  assert.ok(ofWorker.length > 50, `${ofWorker}`);
  const lists = { PROVIDERS: "groq,my-corp", OAUTH_PROVIDERS: "my-corp" };
  const environment = { ...Object.fromEntries(ofWorker.map((name) => [name, name])), ...lists };
  assert.deepEqual(variables({ ...environment, HOME: "/home", OAUTH_OTHER_CLIENT_ID: "x", GROQ_MODEL: "x" }, {}, {}, []), environment);
});

test("make dev prefers the environment to .dev.vars, and takes nothing else from it", () => {
  const file = { LOG: "off", MINE: "file", PROVIDERS: "groq" };
  const configured = { LOG: "errors", TEAM: "configured", OAUTH_PROVIDERS: "github" };
  for (const [environment, expected] of [
    [{}, {}],
    [{ LOG: "calls" }, { LOG: "calls" }],
    [{ LOG: "" }, {}],
    [{ MINE: "environment", TEAM: "environment", SHOP_KEY: "tool" }, { MINE: "environment", TEAM: "environment", SHOP_KEY: "tool" }],
    [{ GROQ_API_KEY: "k", OAUTH_GITHUB_CLIENT_ID: "c", OTHER_API_KEY: "x", PATH: "/bin" }, { GROQ_API_KEY: "k", OAUTH_GITHUB_CLIENT_ID: "c" }],
    [{ PROVIDERS: "other", GROQ_API_KEY: "x", OTHER_API_KEY: "k" }, { PROVIDERS: "other", OTHER_API_KEY: "k" }],
  ]) {
    assert.deepEqual(variables(environment, file, configured, ["SHOP_KEY"]), { ...file, ...expected }, JSON.stringify(environment));
  }
  // A password may be empty.
  const texts = ["A_PASSWORD", "B_PASSWORD", "C_PASSWORD", "D_PASSWORD"];
  const got = variables({ B_PASSWORD: "", C_PASSWORD: "" }, { A_PASSWORD: "", C_PASSWORD: "p", A_URL: "" }, {}, [...texts, "A_URL"], texts);
  assert.deepEqual(got, { A_PASSWORD: "", B_PASSWORD: "", C_PASSWORD: "p" });
});

test("make help lists every command", async () => {
  const { code, out } = await run("make help");
  assert.equal(code, 0);
  for (const name of ["help", "setup", "dev", "check", "test", "lints", "instructions", "test-workers", "test-tools", "test-commands", "test-clients", "compile", "deny", "build", "bench", "gateway-bench", "sign-in-bench", "prove", "package", "release", "size", "deploy", "key", "tool", "project", "site", "screenshots", "clean"]) {
    assert.match(out, new RegExp(`make ${name} `));
  }
});

test("make dev FIXTURES=mcp asks for no credentials, unless AUTH says so", async () => {
  for (const [settings, auth] of [["", "none"], ["AUTH=jwt", "jwt"]]) {
    // In place of the command: what it would read.
    const { out } = await run(`make dev FIXTURES=mcp ${settings} TOOLBOOTH='printenv AUTH;:'`);
    assert.equal(out, `${auth}\n`);
  }
});

/** Starts `make dev` with the sample tools and these settings, uses it, and stops it; returns its port. `fragment` is that of the playground. */
async function develop(settings, use, fragment = "") {
  const announced = /^Open (\S+) to call the tools from a form\.$.*?^(curl [^\n]*)\n/ms;
  const { port, found: [, playground, line], interrupt } = await serve((port) => `make dev FIXTURES=samples PORT=${port} ${settings}`, announced);
  try {
    assert.equal(playground, `http://localhost:${port}/playground${fragment}`);
    const { out } = await run(`${line} --silent`);
    assert.equal(JSON.parse(out).value, 15, line);
    await use(`http://localhost:${port}`, line);
  } finally {
    await interrupt();
  }
  return port;
}

const withoutCredentials = async (address) => (await fetch(`${address}/tools`)).status;

test("make dev asks for the development key, prints a call that has it, and passes variables on", async () => {
  await develop("OPENAI_API_KEY=a-key PROVIDERS=local LOCAL_BASE_URL=http://127.0.0.1:9/v1", async (address, line) => {
    assert.match(line, /-H 'Authorization: Bearer development-key'/);
    assert.equal(await withoutCredentials(address), 401);
    const models = await fetch(`${address}/v1/models`, { headers: { authorization: "Bearer development-key" } });
    assert.deepEqual((await models.json()).providers, ["openai", "local"]);
    const page = await fetch(`${address}/playground`);
    assert.deepEqual([page.status, page.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
    const [script] = /\/site\/playground-[^"]+\.js/.exec(await page.text());
    assert.equal((await fetch(address + script)).status, 200, script);
    // The key is public, in the README: only pages on the same machine may use it.
    for (const [origin, allowed] of [
      [address, true],
      ["http://localhost:3000", true],
      ["https://127.0.0.1", true],
      ["http://[::1]:5173", true],
      ["https://evil.example", false],
      ["http://localhost.evil.example:3000", false],
      ["null", false],
    ]) {
      const asked = { origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization" };
      const preflight = await fetch(`${address}/tools/call`, { method: "OPTIONS", headers: asked });
      assert.equal(preflight.status, allowed ? 204 : 403, origin);
      const headers = { origin, authorization: "Bearer development-key" };
      const list = await fetch(`${address}/tools`, { headers });
      assert.equal(list.headers.get("access-control-allow-origin"), allowed ? origin : null);
    }
  }, "#key=development-key");
});

test("make dev AUTH=jwt asks for a token, and prints a call that has one", async () => {
  const secret = "a secret for development, long enough";
  const settings = `AUTH=jwt JWT_SECRET='${secret}' JWT_AUDIENCE=us,them JWT_ISSUER=me`;
  await develop(settings, async (address, line) => {
    assert.match(line, /-H 'Authorization: Bearer [\w-]+\.[\w-]+\.[\w-]+'/);
    assert.equal(await withoutCredentials(address), 401);
  });
});

test("make dev AUTH=sign-in needs no other variable: a client registers, a development user agrees, and calls work", async () => {
  const command = (port) => `make dev FIXTURES=samples PORT=${port} AUTH=sign-in`;
  const { found: [text, resource], printed, interrupt } = await serve(command, /^.*give them the address (http:\S+\/mcp)\.$.*?^Open [^\n]*\n/ms);
  try {
    assert.match(text, /^Open http:\/\/localhost:\d+\/playground to call the tools from a form\.$/m);
    assert.doesNotMatch(text, /development.key/i);
    const { origin } = new URL(resource);
    const json = async (path, options) => (await fetch(`${origin}${path}`, options)).json();
    const redirect_uri = "http://localhost:3118/callback";
    const metadata = JSON.stringify({ redirect_uris: [redirect_uri], token_endpoint_auth_method: "none" });
    const headers = { "content-type": "application/json" };
    const { client_id } = await json("/oauth/register", { method: "POST", headers, body: metadata });
    const code_verifier = "a".repeat(43);
    const code_challenge = createHash("sha256").update(code_verifier).digest("base64url");
    const request = { response_type: "code", client_id, redirect_uri, code_challenge, code_challenge_method: "S256", resource };
    const person = new Person();
    const back = await person.answer(await person.visit(`${origin}/oauth/authorize?${new URLSearchParams(request)}`), "developer");
    const { searchParams } = new URL(back.location);
    const body = new URLSearchParams({ grant_type: "authorization_code", client_id, redirect_uri, code_verifier, code: searchParams.get("code") });
    const { access_token } = await json("/oauth/token", { method: "POST", body });
    const call = JSON.stringify({ tool_id: "Calculator.Add", input: { a: 10, b: 5 } });
    const called = await json("/tools/call", { method: "POST", headers: { ...headers, authorization: `Bearer ${access_token}` }, body: call });
    assert.equal(called.value, 15);
    assert.equal(await withoutCredentials(origin), 401);
    // A command has no token to send.
    assert.doesNotMatch(printed(), /^curl |Bearer/m);
  } finally {
    await interrupt();
  }
});

test("make key prints a key, and the entry that lets it in", async () => {
  const { code, out } = await run("make key NAME=ada SCOPES=a,b:c");
  assert.equal(code, 0);
  const [key] = /^  [\w-]{43}$/m.exec(out) ?? assert.fail(out);
  const [entry] = /^  \{.*\}$/m.exec(out) ?? assert.fail(out);
  const { hash, ...rest } = JSON.parse(entry);
  assert.deepEqual(rest, { name: "ada", scopes: ["a", "b:c"] });
  const worker = await start(SAMPLES, { vars: { AUTH: "api-key", API_KEYS: `[${entry}]` } });
  try {
    assert.equal((await worker.get("/tools", { "oxp-api-key": key.trim() })).status, 200);
    assert.equal((await worker.get("/tools", { "oxp-api-key": hash })).status, 401);
  } finally {
    await worker.close();
  }
  // The command without make, for the sample tools.
  const samples = (scopes) => run(`node ${root}/packages/toolbooth/bin/toolbooth.js key ada ${scopes}`, { cwd: join(root, "tests/samples") });
  const { out: about } = await samples("a,b:c");
  assert.match(about, /^The key can call:\n\n(  \S+\n)*  Calculator\.Add@1\.0\.0\n/m);
  assert.match(about, /^It cannot call:\n\n(  .*\n)*  GitHub\.ListIssues@1\.0\.0, which needs github:read\n/m);
  for (const [scopes, may, lacks] of [
    ["github:read", ["ListIssues"], ["CreateIssue"]],
    ["github:write,github:read", ["CreateIssue", "ListIssues"], []],
    ["'*'", ["CreateIssue", "ListIssues"], []],
  ]) {
    const { out } = await samples(scopes);
    const tools = (line) => [...out.matchAll(line)].map(([, tool]) => tool);
    assert.deepEqual([tools(/^  GitHub\.(\w+)@1\.0\.0$/gm), tools(/^  GitHub\.(\w+)@1\.0\.0, /gm)], [may, lacks], scopes);
  }
  const { out: limited } = await samples("gateway --tools Calculator.Add,GitHub.*");
  assert.deepEqual(JSON.parse(/^  \{.*\}$/m.exec(limited)[0]).tools, ["Calculator.Add", "GitHub.*"]);
  assert.match(limited, /^The key can call:\n\n  Calculator\.Add@1\.0\.0\n\nIt cannot call:\n/m);
  for (const line of ["Doorbell.Ring@0.1.0, which is not one of its tools", "GitHub.ListIssues@1.0.0, which needs github:read"]) {
    assert.ok(limited.includes(`\n  ${line}\n`), line);
  }
  const { out: chats } = await samples("gateway --tools none");
  assert.deepEqual(JSON.parse(/^  \{.*\}$/m.exec(chats)[0]).tools, []);
  assert.match(chats, /^The key can call no tool\.$/m);
  assert.match(chats, /^It can chat at \/v1/m);
  // A misspelt scope.
  assert.match((await samples("github:raed,gateway")).out, /^No tool requires github:raed: check the spelling\.$/m);
  assert.doesNotMatch((await samples("github:read,gateway,'*'")).out, /check the spelling/);
  const { out: usage } = await samples("usage,usage:team");
  assert.doesNotMatch(usage, /check the spelling/);
  assert.match(usage, /^It cannot chat at \/v1/m);
  const elsewhere = await run(`node ${root}/packages/toolbooth/bin/toolbooth.js key ada a --tools Any.Tool`, { cwd: join(root, "docs") });
  assert.match(elsewhere.out, /^There are no tools in this folder, so the names of tools and scopes are not checked\.$/m);
  // What a key may do without being asked for.
  const every = /^Tools that require no scope: \d+\. Every key can call them, unless its entry has "tools"\.$/m;
  for (const [output, open, chat] of [[about, true, "cannot chat"], [limited, false, "can chat at /v1, because it has the scope gateway"]]) {
    assert.equal(every.test(output), open);
    assert.ok(output.includes(`It ${chat}`), output);
  }
  assert.match((await samples("'*'")).out, /It can chat at \/v1, because it has the scope \*\. .* costs you money/);
  const { out: rotated } = await run("make key NAME=ada ROTATE=1");
  const [renewed] = /^  [\w-]{43}$/m.exec(rotated);
  const [, digest] = /^  "hash": "(\w{64})"$/m.exec(rotated);
  assert.equal(createHash("sha256").update(renewed.trim()).digest("hex"), digest);
  const other = await run("make key NAME=ada");
  assert.notEqual(/^  [\w-]{43}$/m.exec(other.out)[0], key, "every key is different");
  // The Worker applies the same rule to names: crates/toolbooth/src/auth/tests.rs.
  for (const settings of ["", "NAME=' '", `NAME=${"é".repeat(65)}`, "NAME=a\u202eb", "NAME=a\u200bb", "NAME=x SCOPES='a b'", "NAME=x SCOPES='\"'", "NAME=x ONLY=Nothing.*", "NAME=x ONLY=,", "NAME=x ONLY=GitHub", "NAME=x ROTATE=1 SCOPES=a"]) {
    assert.notEqual((await run(`make key ${settings}`)).code, 0, settings);
  }
  const { err: unnamed } = await run("make key");
  assert.match(unnamed, /^Say whose key it is, and list its scopes: make key NAME=ada SCOPES=github:read$/m);
  const quoted = await run(`make key NAME="Ada's" | sed -n "s/^To try it locally: *put API_KEYS='\\(.*\\)' into .*/\\1/p"`);
  assert.equal(JSON.parse(quoted.out)[0].name, "Ada's", "it fits between the quotes of .dev.vars");
});

test("make dev AUTH=none serves what the README shows, and ends on Ctrl-C", { timeout: 600_000 }, async () => {
  const port = await develop("AUTH=none", async (address) => {
    assert.equal(await withoutCredentials(address), 200);
    const { items } = await (await fetch(`${address}/tools`)).json();
    assert.ok(items.some(({ id }) => id.startsWith("GitHub.")), "tools that require scopes can be called too");
    for (const shown of commands.filter((shown) => shown.command.startsWith("curl ") && shown !== greeting)) {
      await curl(shown, address);
    }
  });
  // Nothing listens any more. The runtime may end a moment after the command that has started it.
  while (await isOpen(port, "localhost")) await sleep(50);
});

test("make build, make deploy and make test-tools run the command", async () => {
  // Building takes minutes: that of the sample tools shows that the command can.
  const { out } = await run("make --dry-run --always-make build deploy test-tools ENV=staging DRY_RUN=1");
  assert.deepEqual(out.match(/(?<=toolbooth\.js )(build|deploy .*|test .*)$/gm), ["build", 'deploy --env "$ENV" --dry-run', "test --tools"]);
});

test("a dry run of a deployment reports the size, and that calls would be rejected", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolbooth-"));
  try {
    const configuration = readFileSync(join(root, "wrangler.toml"), "utf8");
    const here = configuration.replace(/^\[build\]\n(.+\n)+/m, "").replace('"build/worker.js"', JSON.stringify(join(root, "target/app/worker.js"))).replace('"build/site"', JSON.stringify(join(root, "target/site")));
    assert.doesNotMatch(here, /build\//);
    writeFileSync(join(folder, "wrangler.toml"), here);
    const { code, out, err } = await run(`node ${root}/packages/toolbooth/bin/toolbooth.js deploy --dry-run`, { cwd: folder });
    assert.equal(code, 1, err);
    assert.match(err, /^The deployed Worker would reject every call\.$/m);
    assert.match(out, /gzip: [\d.]+ KiB/);
    assert.match(out, /^  AUTH is not set, so every call is rejected with 401/m);
    assert.match(out, /Read \d+ files from the assets directory .*target\/site/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
