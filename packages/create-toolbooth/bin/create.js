#!/usr/bin/env node
// Creates a project from the template. It depends on a release of Toolbooth, on the clone that contains this file
// (--clone), or on a git repository (--git). `make project` calls it with one of the last two.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { fromClone, fromGit } from "../source.js";

// The package has a copy of the template; the repository has the template itself.
const packed = fileURLToPath(new URL("../template", import.meta.url));
const clone = existsSync(packed) ? undefined : fileURLToPath(new URL("../../..", import.meta.url));
const PLACEHOLDER = "{{project-name}}";
const USAGE = clone ? "make project DIR=../my-tools" : "npm create toolbooth@latest my-tools";

const { given, git, isLinked, install } = options();
if (!given) fail(`Name the folder to create: ${USAGE}`);
const folder = resolve(given);
const name = basename(folder);
// What Cargo, npm and Cloudflare accept. A crate named like one of its dependencies could not be built.
if (!/^[a-z][a-z0-9-]{0,62}$/.test(name) || name.endsWith("-")) {
  fail(`The folder's name is the project's: lower-case letters, digits and hyphens, starting with a letter, not ${JSON.stringify(name)}`);
}
if (["tools", "toolbooth", "toolbooth-build", "toolbooth-gateway", "toolbooth-schema", "toolbooth-sign-in", "toolbooth-worker", "serde", "test"].includes(name)) {
  fail(`The name ${name} is taken by a dependency: choose a different one`);
}
// The tests of this repository create one in target/, which git and Cargo ignore.
const real = attempt(() => realOf(folder));
if (clone && isInside(realpathSync(clone), real) && !isInside(join(realpathSync(clone), "target"), real)) {
  fail(`${folder} is inside the clone of Toolbooth: choose a folder outside of it, such as ../${name}`);
}
const found = attempt(() => statSync(folder, { throwIfNoEntry: false }));
if (!found && attempt(() => lstatSync(folder, { throwIfNoEntry: false }))) fail(`${folder} is a link to nothing: choose a different folder`);
if (found && !(found.isDirectory() && readdirSync(folder).length === 0)) fail(`${folder} already exists: choose a different folder`);
const source = attempt(() => (git ? fromGit(git) : isLinked && fromClone(clone)));

attempt(() => mkdirSync(folder, { recursive: true }));
cpSync(clone ? join(clone, "template") : packed, folder, { recursive: true });
if (existsSync(join(folder, "gitignore"))) renameSync(join(folder, "gitignore"), join(folder, ".gitignore"));
rmSync(join(folder, "cargo-generate.toml"));
for (const path of readdirSync(folder, { recursive: true }).map((path) => join(folder, path))) {
  if (statSync(path).isDirectory()) continue;
  const text = readFileSync(path, "utf8");
  if (text.includes(PLACEHOLDER)) writeFileSync(path, text.replaceAll(PLACEHOLDER, name));
}
// Relative paths lead through the real folders, not through links.
source?.use(realpathSync(folder));
// The versions of all other crates with which this repository is tested.
if (clone && source) cpSync(join(clone, "Cargo.lock"), join(folder, "Cargo.lock"));
if (install) {
  const { status } = spawnSync("npm", ["install", "--no-fund", "--no-audit", "--loglevel=error"], { cwd: folder, stdio: "inherit" });
  if (status !== 0) fail(`Created ${name}, but npm install failed: correct what it reports, and run it in ${folder}`);
}

console.log(`Created ${name}. Next:

  cd ${quoted(relative(".", folder) || ".")}
${install ? "" : "  npm install\n"}  npm run dev
`);

function options() {
  try {
    const options = { git: { type: "string" }, clone: { type: "boolean" }, "no-install": { type: "boolean" } };
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (values.clone && !clone) fail("--clone needs a clone of Toolbooth's repository");
    return { given: positionals[0], git: values.git, isLinked: values.clone, install: !values["no-install"] };
  } catch (error) {
    fail(`${error.message}\n\nName the folder to create: ${USAGE}`);
  }
}

/** The path without links, as far as it exists. */
function realOf(path) {
  return existsSync(path) || path === dirname(path) ? realpathSync(path) : join(realOf(dirname(path)), basename(path));
}

function isInside(parent, path) {
  const steps = relative(parent, path).split(sep);
  return steps[0] !== "..";
}

/** As a word of a shell's command. */
function quoted(text) {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function attempt(work) {
  try {
    return work();
  } catch (error) {
    fail(error.code === "ENOTDIR" ? `A part of ${folder} is a file: choose a different folder` : error.message);
  }
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
