// A project of one's own: what `toolbooth tool` writes, and every block of docs/TUTORIAL.md, docs/TUTORIAL-2.md and
// docs/TUTORIAL-TYPESCRIPT.md.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { after, afterEach, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { root, run, serve } from "./support/commands.mjs";
import { Client } from "./support/http.mjs";
import { modern } from "./support/mcp.mjs";
import { create, env, project, toolbooth } from "./support/project.mjs";
import { Person } from "./support/sign-in.mjs";

/** The longest wait for a build while the server runs, in milliseconds. */
const DEADLINE = 300_000;
/** What the running server says about a configuration that it has applied. */
const CHANGED = /^The configuration has changed\.$/gm;
const file = (path) => join(project, path);
const read = (path) => readFileSync(file(path), "utf8");
const fenced = (page) => [...readFileSync(join(root, page), "utf8").matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]) => ({ language, text }));

test("a scaffolded tool", async (t) => {
  const created = await create();
  assert.equal(created.code, 0, created.err);
  const doctor = await toolbooth("doctor");
  assert.equal(doctor.code, 0, doctor.out + doctor.err);
  assert.deepEqual(doctor.out.match(/^\w+(?= .*toml\b)/gm), Array(6).fill("ok"), doctor.out);
  rmSync(file("tools/greeter"), { recursive: true });
  writeFileSync(file("tools/lib.rs"), read("tools/lib.rs").replace("mod greeter;\n\n", ""));
  // The README's command calls it with the same description.
  const [, description] = /make tool ID=Greeter\.Hello DESCRIPTION=(".*")/.exec(readFileSync(join(root, "README.md"), "utf8"));
  const made = await toolbooth(`tool Greeter.Hello --description ${description}`);
  assert.equal(made.code, 0, made.err);
  const written = read("tools/greeter/Hello@0.1.0.json");

  await t.test("is what the README shows", () => {
    const blocks = fenced("README.md");
    const code = read("tools/greeter/mod.rs");
    assert.ok(blocks.some(({ language, text }) => language === "json" && text === written));
    assert.ok(blocks.some(({ language, text }) => language === "rust" && code.endsWith(text)));
  });

  await t.test("fails the build, with file and location, if its definition is invalid", async () => {
    writeFileSync(file("tools/greeter/Hello@0.1.0.json"), written.replace('"text": { "type": "string"', '"text": { "type": "sting"'));
    const { code, err } = await toolbooth("test --quiet");
    assert.notEqual(code, 0);
    assert.match(err, /tools\/greeter\/Hello@0\.1\.0\.json: input_schema\.properties\.text\.type: is "sting"; .* did you mean "string"\?/);
    writeFileSync(file("tools/greeter/Hello@0.1.0.json"), written);
  });

  await t.test("assumes the worst, unless it is read-only", async () => {
    const hints = (definition) => Object.entries(JSON.parse(definition).annotations).flatMap(([name, isSet]) => (isSet ? name : []));
    assert.deepEqual(hints(written), ["destructive", "open_world"]);
    const { code, err } = await toolbooth("tool Greeter.Look --read-only");
    assert.equal(code, 0, err);
    const look = read("tools/greeter/Look@0.1.0.json");
    assert.deepEqual(hints(look), ["read_only", "idempotent", "open_world"]);
    assert.match(JSON.parse(look).description, /^TODO/);
  });

  await t.test("may call a service, with a secret, need scopes, and have the name of a Rust keyword", async () => {
    const { code, err } = await toolbooth("tool Greeter.Move --http --scopes greet:a,greet:b");
    assert.equal(code, 0, err);
    const { scopes, variables } = JSON.parse(read("tools/greeter/Move@0.1.0.json"));
    assert.deepEqual([scopes, variables], [["greet:a", "greet:b"], ["GREETER_URL"]]);
    assert.match(read("tools/greeter/mod.rs"), /fn r#move\(/);
    // Its test fails unless the service gets the key. The second tool uses the same one.
    for (const id of ["Stock.Price", "Shop.Stock"]) {
      const { out } = await toolbooth(`tool ${id} --http --secret STOCK_KEY`);
      const url = `${id.split(".")[0].toUpperCase()}_URL`;
      assert.match(out, new RegExp(`^Add to \\.dev\\.vars, which .*:\n  ${url}=https://…\n  STOCK_KEY=…\nFor a deployed Worker, set ${url} in wrangler\\.toml`, "m"));
    }
    assert.deepEqual(JSON.parse(read("tools/shop/Stock@0.1.0.json")).variables, ["SHOP_URL", "STOCK_KEY"]);
    assert.match(read("tools/lib.rs"), /\[shop::SERVICE_URL, stock::SERVICE_URL, stock::STOCK_KEY, greeter::SERVICE_URL\]/);
    const lines = await run("rustfmt --edition 2024 --check tools/lib.rs", { cwd: project });
    assert.equal(lines.code, 0, lines.out);
  });

  await t.test("may use a database, which the toolkits share", async () => {
    for (const id of ["Shelf.Add", "Shelf.Find --read-only", "Order.Add"]) {
      const { code, out, err } = await toolbooth(`tool ${id} --d1`);
      assert.equal(code, 0, err);
      assert.match(out, /^ {2}npx wrangler d1 migrations apply DB --local$/m);
    }
    const sections = [...read("wrangler.toml").matchAll(/^\[\[(.*d1_databases)\]\]\nbinding = "DB"\ndatabase_name = "(.*)"$/gm)].map(([, section, name]) => [section, name]);
    assert.deepEqual(sections, [["d1_databases", "shop"], ["env.staging.d1_databases", "shop-staging"], ["env.production.d1_databases", "shop-production"]]);
    assert.deepEqual(readdirSync(file("migrations")), ["0001_shelf_items.sql", "0002_order_items.sql"]);
    assert.equal(read("tools/Cargo.toml").match(/^toolbooth-worker\b/gm).length, 1);
    const lines = await run("rustfmt --edition 2024 --check tools/lib.rs", { cwd: project });
    assert.equal(lines.code, 0, lines.out);
  });

  await t.test("passes its example test, on workerd too", async () => {
    writeFileSync(file("tools/shelf/shelf.test.mjs"), 'import { test } from "node:test";\ntest("a test in JavaScript", () => {});\n');
    const { code, out, err } = await toolbooth("test");
    assert.equal(code, 0, out + err);
    assert.match(out.slice(0, out.indexOf("✔")), /test result: ok\. [1-9]/, "the native tests come first");
    assert.match(out, /^✔ a test in JavaScript \(/m);
    assert.ok(!existsSync(file(".wrangler/test")));
    const { out: native } = await toolbooth("test --quiet");
    assert.match(native, /only native tests run: no tests on workerd/);
    assert.doesNotMatch(native, /✔/);
    for (const id of ["Shelf.Add", "Shelf.Find", "Order.Add"]) assert.match(out, new RegExp(`^✔ ${id}@0\\.1\\.0: `, "m"));
  });

  await t.test("is not created twice, nor with an invalid id", async () => {
    for (const [id, message] of [
      ["Greeter.Hello", /already exists/],
      ["Greeter", /must have the form Toolkit\.Tool/],
      ["", /Name the tool, such as Greeter\.Hello/],
      ["Super.Hello", /Rust does not allow a module or function called super/],
      ["Greeter.Self", /Rust does not allow a module or function called self/],
      ["Types.Hello", /already has a module types/],
      ["Tests.Hello", /already has a module tests/],
      ["A.B --secret KEY", /add --http/],
      ["A.B --http --d1", /either --http or --d1/],
      ["A.B --http --secret key", /The secret must have a name such as STOCK_KEY, not "key"/],
      ['A.B --description " "', /The description must be a line/],
    ]) {
      const { code, err } = await toolbooth(`tool ${id || "''"}`);
      assert.notEqual(code, 0, id);
      assert.match(err, message);
    }
  });

  await t.test("in a toolkit that is a link goes into a copy", async () => {
    const elsewhere = file("elsewhere");
    await run("mv tools/greeter elsewhere && ln -s ../elsewhere tools/greeter", { cwd: project });
    const { code, err } = await toolbooth("tool Greeter.Bye");
    assert.equal(code, 0, err);
    assert.deepEqual(["tools/greeter", "elsewhere"].map((folder) => existsSync(file(`${folder}/Bye@0.1.0.json`))), [true, false]);
    assert.ok(existsSync(join(elsewhere, "Hello@0.1.0.json")));
  });
});

const servers = [];
after(() => Promise.all(servers.map(({ interrupt }) => interrupt())));
// Why a call failed is in the log of the server.
afterEach((context) => context.passed || context.diagnostic(dev?.printed() ?? "No server has been started."));

/** A file that a paragraph names, and whether the block below belongs at its end. */
function destination(paragraph) {
  const path = [...paragraph.matchAll(/`([\w./@-]+\.(?:json|rs|tsx?|mjs|vars|yaml))`/g)].at(-1)?.[1] ?? assert.fail(`no file in: ${paragraph}`);
  return { path, isMore: /\badd\b[^.]*$/i.test(paragraph.replaceAll(/`[^`]*`/g, "")) };
}

/** The blocks of a page: `{ language, text, paragraph }`; `paragraph` is the text above the block. */
function blocksOf(page) {
  const blocks = [];
  let end = 0;
  for (const match of page.matchAll(/^```(\w+)\n(.*?)^```$/gms)) {
    const [, language, text] = match;
    const paragraph = page.slice(end, match.index).trim().split("\n\n").at(-1);
    blocks.push({ language, text, paragraph });
    end = match.index + match[0].length;
  }
  return blocks;
}

/** Applies a block with removed and added lines; `@@` separates the places. */
function applied(text, diff) {
  for (const place of diff.split("@@\n")) {
    const lines = (without) => place.split("\n").filter((line) => line !== "" && !line.startsWith(without)).map((line) => `${line.slice(1)}\n`).join("");
    const [before, now] = [lines("+"), lines("-")];
    assert.equal(text.split(before).length, 2, `once in the file:\n${before}`);
    text = text.replace(before, () => now);
  }
  return text;
}

/**
 * Follows a page: writes its files, runs its commands, and compares what they print. `starts` has the commands to run differently.
 * Returns how long each change of a file took until the next response was right, in seconds.
 */
async function follow(page, starts = {}) {
  const saves = [];
  let saved;
  const ports = new Map();
  const here = (text) => [...ports].reduce((text, [shown, port]) => text.replaceAll(shown, `${port}`), text);
  const ways = {
    // The working folder.
    "cd ../shop": () => ({ code: 0 }),
    "cd ../parcels": () => ({ code: 0 }),
    "npm test": () => toolbooth("test --quiet"),
    'claude mcp add --transport http shop http://localhost:8787/mcp --header "Authorization: Bearer development-key"': () => ({ code: 0 }),
    ...starts,
  };

  const blocks = blocksOf(readFileSync(join(root, page), "utf8"));
  for (let at = 0; at < blocks.length; at += 1) {
    const { language, text, paragraph } = blocks[at];
    if (language !== "sh") {
      const { path, isMore } = destination(paragraph);
      const before = (isMore || language === "diff") && existsSync(file(path)) ? read(path) : "";
      mkdirSync(dirname(file(path)), { recursive: true });
      saved = language === "diff" ? performance.now() : undefined;
      writeFileSync(file(path), language === "diff" ? applied(before, text) : `${before}${isMore ? "\n" : ""}${here(text)}`);
      continue;
    }
    const commands = text.trim().split("\n");
    if (commands[0].startsWith("curl ")) {
      const responses = blocks[(at += 1)].text.trim().split("\n").map((line) => JSON.parse(line));
      assert.equal(responses.length, commands.length, text);
      for (const [index, command] of commands.entries()) await answered(command, responses[index], blocks[at + 1]?.paragraph);
      if (saved) saves.push((performance.now() - saved) / 1000);
      saved = undefined;
      continue;
    }
    for (const command of commands) {
      const [, ours] = /^npx toolbooth (.*)$/.exec(command) ?? [];
      const [, service] = /^node (\w+\.mjs)$/.exec(command) ?? [];
      const started = service && (await serviceOf(service, ports));
      const { code, out, err } = started ?? (await (ways[command]?.() ?? (ours ? toolbooth(ours) : run(command, { cwd: project }))));
      assert.equal(code, 0, `${command}\n${out ?? ""}${err ?? ""}`);
      // What the command prints.
      if (ours) for (const line of here(blocks[(at += 1)].text).trim().split("\n")) assert.ok(out.includes(line), `${line} in ${out}`);
    }
  }
  return saves;
}

/** Starts a service of a page on a free port, and records it as the one that the page shows. */
async function serviceOf(name, ports) {
  const text = read(name);
  const [, shown] = /^const PORT = (\d+);$/m.exec(text);
  servers.push(await serve((port) => {
    ports.set(shown, port);
    writeFileSync(file(name), text.replace(shown, port));
    return `node ${name}`;
  }, /listens on port/, { cwd: project }));
  return { code: 0 };
}

let dev;
async function startDev(variables = {}) {
  dev = await serve((port) => `npm run dev -- --port ${port}`, /^curl .*$/m, { cwd: project, env: { ...env, ...variables } });
  servers.push(dev);
  return { code: 0 };
}

/** Repeats a call until the response is the one on the page: the server rebuilds the Worker meanwhile. If `next`, the paragraph below, says
 * to open its `url`, a person does so. */
async function answered(command, expected, next = "") {
  for (const end = performance.now() + DEADLINE; ; await sleep(200)) {
    const { code, out } = await run(`${command.replace("localhost:8787", `localhost:${dev.port}`)} --silent --show-error`);
    const got = code === 0 ? parsed(out) : { code };
    if ("duration" in got) got.duration = expected.duration;
    const [asked] = got.missing_requirements?.authorization ?? [];
    const shown = asked ? { ...got, missing_requirements: { authorization: [{ id: "…", url: "…", check_url: "…" }] } } : got;
    if (performance.now() > end) return assert.deepEqual(shown, expected, command);
    if (!isDeepStrictEqual(shown, expected)) continue;
    const [, link] = /Open the `url`[^.]*choose\s+(\w+)\./.exec(next) ?? [];
    return link && authorize(asked.url, link);
  }
}

/** A response in JSON. While a Worker is replaced, wrangler may answer with a text. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { text };
  }
}

/** Authorizes at the service, with the link of its page that has this text. */
async function authorize(url, text) {
  const browser = new Person();
  const [, action] = /<form method="post" action="([^"]+)">/.exec((await browser.visit(url)).text);
  const headers = { origin: new URL(url).origin, "sec-fetch-site": "same-origin" };
  const { location } = await browser.visit(new URL(action, url).href, { method: "POST", headers });
  const links = [...(await browser.visit(location)).text.matchAll(/<a [^>]*href="([^"]+)">(\w+)<\/a>/g)];
  const [, link] = links.find(([, , shown]) => shown === text);
  const page = await browser.visit(link.replaceAll("&amp;", "&"));
  assert.equal(page.status, 200, page.text);
}

test("the tutorial", async () => {
  await follow("docs/TUTORIAL.md", { "make project DIR=../shop RUST=1": () => create("RUST=1"), "npm run dev": () => startDev() });

  // The README's call of its scaffolded tool.
  const readme = fenced("README.md");
  const shown = (language, part) => readme.find((block) => block.language === language && block.text.includes(part)).text;
  writeFileSync(file("tools/greeter/Hello@0.1.0.json"), shown("json", "Greeter.Hello@0.1.0"));
  writeFileSync(file("tools/greeter/mod.rs"), `use toolbooth::{Context, ToolError};\n\n${shown("rust", "fn hello")}`);
  const greeting = readme.findIndex(({ language, text }) => language === "sh" && text.includes('"Greeter.Hello"'));
  await answered(readme[greeting].text.trim(), JSON.parse(readme[greeting + 1].text));
});

// From a file to a call under the user's own authorization; nothing is written by hand but the client of the provider.
test("the tutorial's second chapter", async (t) => {
  if (!dev) {
    await create();
    await startDev();
  }
  const start = performance.now();
  await follow("docs/TUTORIAL-2.md");
  t.diagnostic(`it took ${((performance.now() - start) / 1000).toFixed(1)} s`);
});

test("the tutorial in TypeScript, without a change of Rust", async (t) => {
  await Promise.all(servers.splice(0).map(({ interrupt }) => interrupt()));
  const rust = () => ["Cargo.toml", "src/lib.rs", "tools/Cargo.toml", "tools/build.rs", "tools/lib.rs", "tools/tests.rs"].map(read).join("");
  const succeeds = ({ code, out, err }) => assert.equal(code, 0, out + err);
  let created, tested;
  const saves = await follow("docs/TUTORIAL-TYPESCRIPT.md", {
    "make project DIR=../parcels TS=1": async () => {
      const result = await create("TS=1");
      created = rust();
      return result;
    },
    "DEV_PROVIDER=parcels.mjs npm run dev": () => startDev({ DEV_PROVIDER: "parcels.mjs" }),
    "npm test": async () => {
      // The other beginnings of a tool pass their tests, too.
      for (const options of ["Stock.Price --http --secret STOCK_KEY", "Stock.Level --http --secret STOCK_KEY --read-only", "Shelf.Add --d1", "Shelf.Find --d1 --read-only"]) {
        succeeds(await toolbooth(`tool ${options} --ts`));
      }
      return (tested = await toolbooth("test"));
    },
    // Without optimizations, which take a minute: `make prove` deploys an optimized Worker.
    "npx toolbooth deploy --dry-run": async () => {
      const changes = [...dev.printed().matchAll(CHANGED)].length;
      writeFileSync(file("wrangler.toml"), read("wrangler.toml").replace("npx toolbooth build", "npx toolbooth build --dev"));
      // The running server reloads the Worker, which answers no call meanwhile.
      await dev.until(new RegExp(`(${CHANGED.source}[^]*){${changes + 1}}^Toolbooth is running on `, "m"));
      return toolbooth("deploy --dry-run");
    },
  });
  t.diagnostic(`from a save until the next call has the new code: ${saves.map((seconds) => `${seconds.toFixed(1)} s`).join(", ")}`);
  assert.equal(rust(), created);

  await t.test("runs the examples, and the tests of vitest", () => {
    for (const id of ["Greeter.Hello", "Parcels.List", "Shelf.Add", "Shelf.Find", "Stock.Level", "Stock.Price"]) assert.match(tested.out, new RegExp(`^✔ ${id}@0\\.1\\.0: `, "m"));
    assert.match(tested.out, /Tests .*2 passed/);
  });

  await t.test("serves the view", async () => {
    const headers = { authorization: "Bearer development-key" };
    const { json } = await modern(new Client(`http://localhost:${dev.port}`), "resources/read", { uri: "ui://parcels/list.tsx" }, { headers });
    assert.match(json.result.contents[0].text, /^<!doctype html>[^]* was /i);
  });

  await t.test("an npm package can be imported, and bindings have types", async () => {
    succeeds(await run("npm install --no-fund --no-audit ../../../node_modules/minisearch", { cwd: project }));
    const code = `import MiniSearch from "minisearch";
import { tool } from "toolbooth";
import type { Input, Output } from "./hello.types.js";

export default tool<Input, Output>(async ({ name }, { env }) => {
  const index = new MiniSearch<{ id: number; text: string }>({ fields: ["text"] });
  index.addAll([{ id: 7, text: name }]);
  const row = await env.DB.prepare("SELECT 1 AS one").first<{ one: number }>();
  return \`\${index.search(name)[0]?.id}, \${row?.one}\`;
});
`;
    writeFileSync(file("tools/greeter/hello.ts"), code);
    await answered(`curl http://localhost:8787/tools/call -H 'Authorization: Bearer development-key' -H 'Content-Type: application/json' -d '{"call_id":"3","tool_id":"Greeter.Hello","input":{"name":"Ada"}}'`, { call_id: "3", duration: 0, success: true, value: "7, 1" });
    succeeds(await toolbooth("types"));
    // The terminal of the running server says it, too, while the function runs.
    writeFileSync(file("tools/greeter/hello.ts"), code.replace("row?.one", "row?.two"));
    await dev.until(/Type errors \(the tools still run\)[^]*tools\/greeter\/hello\.ts.*TS\d+: Property 'two' does not exist/);
    writeFileSync(file("tools/greeter/hello.ts"), code.replace("env.DB", "env.BD"));
    const { code: status, err } = await toolbooth("types");
    assert.notEqual(status, 0);
    assert.match(err, /tools\/greeter\/hello\.ts.*TS\d+: Property 'BD' does not exist on type 'Env'/);
  });
});

test("a function that does not start is every response of the running server, until it is mended", async (t) => {
  const imported = (lines) => `${lines}\nimport { tool } from "toolbooth";\nimport type { Input, Output } from "./hello.types.js";\n\nexport default tool<Input, Output>(() => `;
  const shared = (text) => {
    mkdirSync(file("lib"), { recursive: true });
    writeFileSync(file("lib/start.ts"), text);
  };
  const call = async () => {
    const body = JSON.stringify({ call_id: "4", tool_id: "Greeter.Hello", input: { name: "Ada" } });
    const headers = { authorization: "Bearer development-key", "content-type": "application/json" };
    const response = await fetch(`http://localhost:${dev.port}/tools/call`, { method: "POST", headers, body }).catch(() => undefined);
    const { value, message } = parsed((await response?.text().catch(() => "")) ?? "");
    return value ?? message ?? "";
  };
  const becomes = async (expected) => {
    for (const end = performance.now() + DEADLINE; ; await sleep(200)) {
      const got = await call();
      if (expected.test(got)) return;
      if (performance.now() > end) assert.match(got, expected);
    }
  };
  for (const [title, text, start, expected] of [
    ["a module throws", imported('import { start } from "../../lib/start.ts";') + "start);", 'export const start = JSON.parse(process.env.ABSENT ?? "");', /^The function greeter\/hello does not start:\nSyntaxError: [^]* at lib\/start\.ts:1:27\b|^The function greeter\/hello does not start:\nSyntaxError: [^]*\(lib\/start\.ts:1:27\)/],
    ["a folder beside tools/ is watched", undefined, 'export const start = "started";', /^started$/],
    ["a module of Node lacks an export", imported('import { nope } from "node:crypto";') + "`${nope}`);", undefined, /^The Worker does not start:\nUncaught SyntaxError: [^]*nope/],
    ["modules of Node work, and have types", imported('import { createHash } from "node:crypto";') + 'createHash("md5").update(Buffer.from(process.env.ABSENT ?? "")).digest("hex"));', undefined, /^d41d8cd98f00b204e9800998ecf8427e$/],
  ]) {
    await t.test(title, async () => {
      if (start) shared(start);
      if (text) writeFileSync(file("tools/greeter/hello.ts"), text);
      await becomes(expected);
    });
  }
  const { code, out, err } = await toolbooth("types");
  assert.equal(code, 0, out + err);
});

test("make project asks for the language if it runs in a terminal, and takes TS=1", async () => {
  for (const [answer, language] of [["r", "rust"], ["x\\nt", "typescript"]]) {
    const folder = join(root, "target/project/asked");
    rmSync(folder, { recursive: true, force: true });
    const command = `printf '${answer}\\n' | script -qec 'node packages/create-toolbooth/bin/create.js --no-install target/project/asked' /dev/null`;
    const { code, out, err } = await run(command);
    assert.equal(code, 0, out + err);
    assert.match(out, /in TypeScript or in Rust\?/);
    assert.deepEqual(["mod.rs", "hello.ts"].map((name) => existsSync(join(folder, "tools/greeter", name))), language === "rust" ? [true, false] : [false, true]);
    rmSync(folder, { recursive: true });
  }
  const { code, err } = await run("node packages/create-toolbooth/bin/create.js --typescript --rust target/project/asked");
  assert.equal(code, 2);
  assert.match(err, /choose --typescript or --rust/);
});
