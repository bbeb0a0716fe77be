// What creates a project, the template, and the npm packages that a project has. `make prove` and tutorial.test.mjs do the rest.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { parse } from "yaml";
import { buildSite } from "../site/build/index.js";
import { root, run } from "./support/commands.mjs";

const scratch = mkdtempSync(join(tmpdir(), "toolbooth-"));
after(() => rmSync(scratch, { recursive: true }));
const read = (...path) => readFileSync(join(...path), "utf8");
const create = (args) => run(`node ${root}/packages/create-toolbooth/bin/create.js ${args}`, { cwd: scratch });

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

test("the program that creates a project installs its packages, and the project allows the same scripts in each", async () => {
  const bin = join(scratch, "bin");
  mkdirSync(bin);
  for (const name of ["npm", "pnpm", "yarn", "bun"]) writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $@" in "$(basename "$PWD")"\n`, { mode: 0o755 });
  for (const [agent, command, isLocked = false] of [
    [undefined, "npm install --no-fund --no-audit --loglevel=error"],
    ["npm/11.19.1 node/v24.1.0 linux x64 workspaces/false", "npm install --no-fund --no-audit --loglevel=error"],
    ["pnpm/12.21.0 npm/? node/v22.1.0 linux x64", "pnpm install"],
    ["yarn/4.18.1 npm/? node/v22.1.0 linux x64", "yarn install", true],
    ["yarn/1.22.22 npm/? node/v22.1.0 linux x64", "yarn install"],
    ["bun/1.4.5 npm/? node/v24.3.0 linux x64", "bun install"],
  ]) {
    const [program] = command.split(" ");
    const name = `of-${(agent ?? "make").split(/[. ]/)[0].replace("/", "-")}`;
    const env = { PATH: `${bin}:${process.env.PATH}`, npm_config_user_agent: agent };
    const { code, out, err } = await run(`${process.execPath} ${root}/packages/create-toolbooth/bin/create.js ${name}`, { cwd: scratch, env });
    assert.equal(code, 0, err);
    assert.deepEqual(out.trim().split(/\n\s*/), [`${command} in ${name}`, `Created ${name}. Next:`, `cd ${name}`, `${program} run dev`], agent);
    assert.equal(existsSync(join(scratch, name, "yarn.lock")), isLocked, agent);
  }
  const allowed = Object.keys(packageOf("template").allowScripts);
  const { allowBuilds, onlyBuiltDependencies } = parse(read(root, "template/pnpm-workspace.yaml"));
  assert.deepEqual([allowBuilds, onlyBuiltDependencies], [Object.fromEntries(allowed.map((name) => [name, true])), allowed]);
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

test("a project has the vitest of this repository, and the Vite that it wants: Yarn installs no peers", () => {
  const { packages } = JSON.parse(read(root, "package-lock.json"));
  const pinned = [...read(root, "template/package.json").matchAll(/"(vite(?:st)?)": "([^"]+)"/g)].map(([, name, version]) => [name, version]);
  assert.deepEqual(pinned, ["vite", "vitest"].map((name) => [name, packages[`node_modules/${name}`].version]));
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
