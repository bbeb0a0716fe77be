// What `make release` changes, and what the registry of npm would get. `make package` checks the crates.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { newKey } from "../packages/toolbooth/src/credentials.js";
import { startLocally } from "../packages/toolbooth/src/local.js";
import { root, run } from "./support/commands.mjs";
import { SITE, TOOLKITS } from "./support/worker.mjs";

const scratch = mkdtempSync(join(tmpdir(), "toolbooth-release-"));
after(() => rmSync(scratch, { recursive: true }));
const read = (...path) => readFileSync(join(...path), "utf8");

/** Runs a command in the copy of the repository. */
const inCopy = (command) => run(command, { cwd: scratch });
const release = (version) => inCopy(`node scripts/release.mjs '${version}'`);

test("a release has its version everywhere, a section of the changelog, a commit and a tag", async () => {
  // What git knows: other tests write and delete files that it ignores.
  const copied = await run(`git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from=- --ignore-failed-read | tar --extract --directory ${scratch}`);
  assert.equal(copied.code, 0, copied.err);
  const committed = await inCopy(`git init --quiet --initial-branch=main && git config user.name developer && git config user.email developer@example.com && git add --all && git commit --quiet --message Start`);
  assert.equal(committed.code, 0, committed.err);

  for (const version of ["", "1", "v1.2.3", "1.2.3-rc.1"]) assert.match((await release(version)).err, /Name the version/, version);
  writeFileSync(join(scratch, "new"), "");
  assert.match((await release("7.8.9")).err, /Commit your changes first/);
  rmSync(join(scratch, "new"));

  assert.match((await release("0.0.1")).err, /must be newer than \d+\.\d+\.\d+, not 0\.0\.1/);
  // A step that fails leaves nothing behind.
  const hook = join(scratch, ".git/hooks/pre-commit");
  writeFileSync(hook, "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  assert.match((await release("7.8.9")).err, /Nothing was changed/);
  assert.equal((await inCopy("git status --porcelain && git tag --list && git log --format=%s")).out, "Start\n");
  rmSync(hook);

  const { code, out, err } = await release("7.8.9");
  assert.equal(code, 0, err);
  assert.match(out, /git push --follow-tags/);
  assert.equal((await inCopy("git status --porcelain && git describe")).out, "v7.8.9\n", "everything is committed");
  assert.match((await inCopy("git log --format=%s -1")).out, /^Release 7\.8\.9$/m);
  for (const [file, pattern, count] of [
    ["Cargo.toml", /^(?:version = |toolbooth.* version = )"7\.8\.9"/gm, 7],
    ["Cargo.lock", /^name = "toolbooth(?:-build|-gateway|-schema|-sign-in|-worker)?"\nversion = "7\.8\.9"/gm, 6],
    ["template/Cargo.toml", /^toolbooth.* version = "7\.8\.9"/gm, 3],
    ["template/package.json", /"toolbooth": "\^7\.8\.9"/g, 1],
    ["packages/toolbooth/package.json", /"version": "7\.8\.9"/g, 1],
    ["packages/create-toolbooth/package.json", /"version": "7\.8\.9"/g, 1],
  ]) {
    assert.equal(read(scratch, file).match(pattern)?.length, count, file);
  }
  const [, unreleased, released] = /^## Unreleased\n(.*?)^## 7\.8\.9 - \d{4}-\d\d-\d\d\n(.*)/ms.exec(read(scratch, "CHANGELOG.md")) ?? assert.fail("no section");
  assert.deepEqual([unreleased.trim(), released.trim()], ["", read(root, "CHANGELOG.md").split("## Unreleased\n")[1].trim()]);

  assert.match((await release("7.8.9")).err, /The tag v7\.8\.9 exists/);
  assert.match((await release("7.9.0")).err, /nothing under "Unreleased"/);
});

test("the npm packages can be published, with what they need and nothing else", async () => {
  const offline = { npm_config_registry: "http://127.0.0.1:9/", npm_config_fetch_retries: "0", npm_config_cache: join(scratch, "npm") };
  mkdirSync(offline.npm_config_cache, { recursive: true });
  const { code, out, err } = await run("scripts/publish.sh npm --dry-run", { env: offline });
  assert.equal(code, 0, err);
  assert.deepEqual(out.match(/^\+ .*$/gm)?.map((line) => line.replace(/@[^@]*$/, "")), ["+ toolbooth", "+ create-toolbooth"]);
  const files = [...err.matchAll(/^npm notice [\d.]+k?B (\S+)$/gm)].map(([, file]) => file.split("/")[0]);
  assert.deepEqual([...new Set(files)].sort(), ["README.md", "bin", "package.json", "site", "source.js", "src", "template", "toolkits", "tsconfig.json"]);
});

test("a release that failed halfway can be run again: what the registry has is skipped", async () => {
  const programs = join(scratch, "programs");
  mkdirSync(programs);
  // The registries have some of the packages. `metadata` is Cargo's own.
  const cargo = `case $1 in
  metadata) exec "$CARGO_ITSELF" "$@" ;;
  info) for one in $PUBLISHED; do case $3 in $one@*) exit 0 ;; esac; done; exit 101 ;;
  publish) echo "cargo $*" ;;
esac`;
  const npm = `case $1 in
  view) for one in $PUBLISHED; do case $2 in $one@*) echo 1 ;; esac; done ;;
  publish) echo "npm $*: \${PWD##*/}" ;;
esac`;
  for (const [name, text] of Object.entries({ cargo, npm })) writeFileSync(join(programs, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  const { out: itself } = await run("command -v cargo");
  const publish = (what, published) => {
    const env = { CARGO_ITSELF: itself.trim(), PUBLISHED: published };
    return run(`PATH="${programs}:$PATH" scripts/publish.sh ${what}`, { env });
  };
  const all = "toolbooth-build toolbooth-gateway toolbooth-schema toolbooth-sign-in toolbooth-worker toolbooth";
  const packages = ["npm publish --access public: toolbooth", "npm publish --access public: create-toolbooth"];
  const crates = (names) => names && [`cargo publish --quiet --locked ${names.split(" ").map((name) => `--package ${name}`).join(" ")}`];
  for (const [what, published, expected] of [
    ["crates", "", crates(all)],
    ["crates", "toolbooth-schema toolbooth-build", crates("toolbooth-gateway toolbooth-sign-in toolbooth-worker toolbooth")],
    ["crates", all, []],
    ["crates --dry-run", all, crates(all).map((line) => `${line} --dry-run`)],
    ["npm", "", packages],
    ["npm", "toolbooth", packages.slice(1)],
    ["npm", "toolbooth create-toolbooth", []],
  ]) {
    const { code, out, err } = await publish(what, published);
    assert.equal(code, 0, err);
    assert.deepEqual(out.split("\n").filter((line) => /^(cargo|npm) /.test(line)), expected, `${what}, with ${published}`);
  }
});

/** The folder that is deployed without Rust, of a Worker and pages that the tests have built. */
async function prebuilt(environment = {}) {
  const folder = mkdtempSync(join(scratch, "prebuilt-"));
  const { code, err } = await run(`node scripts/prebuilt.mjs ${folder} ${TOOLKITS} ${SITE}`, { env: { GITHUB_REPOSITORY: "", ...environment } });
  assert.equal(code, 0, err);
  return folder;
}

test("the prebuilt server is deployed without Rust, by a dry run, and serves its tools", async () => {
  const folder = await prebuilt();
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const PATH = `${dirname(process.execPath)}:/usr/bin:/bin`;
  const command = (text) => run(`PATH=${PATH} ${text}`, { cwd: folder, env: { CARGO_HOME: "", RUSTUP_HOME: "" } });
  assert.notEqual((await command("sh -c 'command -v cargo'")).code, 0);
  const { code, out, err } = await command("npm run deploy -- --dry-run");
  assert.equal(code, 0, out + err);
  assert.match(out, /env\.KV .*KV Namespace/);
  assert.match(out, /env\.LEDGER .*Durable Object/);
  assert.doesNotMatch(out, /shown only once/);
  assert.match(readFileSync(join(folder, "wrangler.toml"), "utf8"), /^main = "worker\.js"$/m);
  const { key, entry } = newKey("operator", ["*"]);
  const { harness } = await startLocally(folder, { config: join(folder, "wrangler.toml"), vars: { API_KEYS: JSON.stringify([entry]) } });
  try {
    const { items } = await (await harness.fetch("/tools", { headers: { authorization: `Bearer ${key}` } })).json();
    assert.ok(items.some(({ id }) => id.startsWith("Weather.")) && items.length > 50, `${items.length} tools`);
    assert.equal((await harness.fetch("/tools")).status, 401);
  } finally {
    await harness.close();
  }
});

test("its page has the button if the repository is known", async () => {
  const text = async (environment) => readFileSync(join(await prebuilt(environment), "README.md"), "utf8");
  assert.doesNotMatch(await text(), /\(\.\.|button/);
  const here = await text({ GITHUB_SERVER_URL: "https://github.example", GITHUB_REPOSITORY: "ada/tools" });
  assert.ok(here.includes("(https://deploy.workers.cloudflare.com/?url=https://github.example/ada/tools/tree/deploy)"));
  assert.doesNotMatch(here, /\(\.\./);
});

test("the first deployment of the prebuilt server stores secrets and prints a key; a later one replaces none", async () => {
  const folder = await prebuilt();
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  // In place of wrangler: LISTED is what it says about secrets.
  const wrangler = `#!/usr/bin/env node
const { appendFileSync, readFileSync } = require("node:fs");
const args = process.argv.slice(2);
if (args[0] === "secret") {
  // Another Worker has both.
  if (args.includes("other")) process.env.LISTED = '[{"name":"API_KEYS"},{"name":"STATE_KEY"}]';
  if (!process.env.LISTED.startsWith("[")) { console.error(process.env.LISTED); process.exit(1); }
  console.log(process.env.LISTED);
} else {
  const at = args.indexOf("--secrets-file");
  console.log("deployed with " + JSON.stringify(at < 0 ? null : JSON.parse(readFileSync(args[at + 1], "utf8"))));
  process.exit(Number(process.env.DEPLOYED ?? 0));
}
`;
  writeFileSync(join(folder, "node_modules/.bin/wrangler"), wrangler, { mode: 0o755 });
  const deploy = (LISTED, DEPLOYED = "0", args = "", env = {}) => run(`npm run deploy -- ${args}`, { cwd: folder, env: { LISTED, DEPLOYED, ...env } });
  const given = ({ out }) => JSON.parse(/^deployed with (.*)$/m.exec(out)[1]);

  for (const listed of ["[]", "This Worker does not exist on your account. [code: 10007]"]) {
    const first = await deploy(listed);
    assert.equal(first.code, 0, first.err);
    const { API_KEYS, STATE_KEY } = given(first);
    const [, key] = /shown only once:\n\n {2}(\S+)\n/.exec(first.out);
    const [{ hash, ...entry }] = JSON.parse(API_KEYS);
    assert.equal(createHash("sha256").update(key).digest("hex"), hash);
    assert.deepEqual(entry, { name: "operator", scopes: ["*"] });
    assert.equal(Buffer.from(STATE_KEY, "base64").length, 32);
  }
  const later = await deploy('[{"name":"API_KEYS"},{"name":"STATE_KEY"}]');
  assert.deepEqual([given(later), /shown only once/.test(later.out)], [null, false]);
  for (const args of ["--name other", "--env other", "-c other"]) assert.equal(given(await deploy("[]", "0", args)), null, `${args}: its secrets stay`);
  assert.equal(given(await deploy("[]", "0", "", { WRANGLER_CI_OVERRIDE_NAME: "other" })), null, "a build at Cloudflare deploys to another Worker: its secrets stay");
  const partly = await deploy('[{"name":"API_KEYS"}]');
  assert.deepEqual([Object.keys(given(partly)), /shown only once/.test(partly.out)], [["STATE_KEY"], false]);
  // Nothing is replaced if it is unknown what is there.
  const unknown = await deploy("fetch failed");
  assert.notEqual(unknown.code, 0);
  assert.doesNotMatch(unknown.out, /deployed|shown only once/);
  const failed = await deploy("[]", "1");
  assert.notEqual(failed.code, 0);
  assert.doesNotMatch(failed.out, /shown only once/);
});
