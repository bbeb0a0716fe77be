// What `make release` changes, and what the registry of npm would get. `make package` checks the crates.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { root, run } from "./support/commands.mjs";

const scratch = mkdtempSync(join(tmpdir(), "toolbooth-release-"));
after(() => rmSync(scratch, { recursive: true }));
const read = (...path) => readFileSync(join(...path), "utf8");

/** Runs a command in the copy of the repository. */
const inCopy = (command) => run(command, { cwd: scratch });
const release = (version) => inCopy(`node scripts/release.mjs '${version}'`);

test("a release has its version everywhere, a section of the changelog, a commit and a tag", async () => {
  const copied = await run(`tar --create --exclude-vcs --exclude-ignore=.gitignore --exclude=node_modules --exclude=target --exclude=.tools --exclude=.venv . | tar --extract --directory ${scratch}`);
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
  assert.deepEqual([...new Set(files)].sort(), ["README.md", "bin", "package.json", "site", "source.js", "src", "template", "toolkits"]);
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
