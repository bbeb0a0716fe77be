#!/usr/bin/env node
// Creates a project from the template. It depends on a release of Toolbooth, on the clone that contains this file
// (--clone), or on a git repository (--git). `make project` calls it with one of the last two.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { fromClone, fromGit } from "../source.js";

// The package has a copy of the template; the repository has the template itself, and pack.js. A copy is there too while npm packs.
const packed = fileURLToPath(new URL("../template", import.meta.url));
const clone = existsSync(new URL("../pack.js", import.meta.url)) ? fileURLToPath(new URL("../../..", import.meta.url)) : undefined;
const PLACEHOLDER = "{{project-name}}";
const USAGE = clone ? "make project DIR=../my-tools" : "npm create toolbooth@latest my-tools";
const HELP = `${USAGE}

Creates a project in a new folder, with a first tool, and installs its npm packages.
${clone ? "make project runs this command: TS=1 is --typescript, RUST=1 --rust, GIT=<url> --git." : "npm passes on the options that follow --, as in npm create toolbooth@latest my-tools -- --rust. pnpm, Yarn and Bun do without it"}

  --typescript  Write the first tool in TypeScript
  --rust        Write the first tool in Rust. Without either, the command asks in a terminal; elsewhere it is Rust
  --git <url>   Depend on a git repository of Toolbooth, at the newest commit of its default branch
${clone ? "  --clone       Depend on the clone that contains this command, not on a release\n" : ""}  --no-install  Do not install the packages
  --help, -h    Print this text
`;
/** The files of a project in one language only, as in the template's cargo-generate.toml. */
const ONLY = {
  rust: ["tools/greeter/mod.rs"],
  typescript: ["tsconfig.json", "tools/greeter/hello.ts", "tools/greeter/hello.test.ts"],
};

/** What installs packages: the program that runs this command, as in `pnpm create toolbooth`. It names itself as browsers do. */
const [, manager = "npm", managerVersion] = /^(pnpm|yarn|bun)\/(\d+)/.exec(process.env.npm_config_user_agent ?? "") ?? [];
/** What npm would also print. */
const QUIET = ["--no-fund", "--no-audit", "--loglevel=error"];

const { given, git, isLinked, install, chosen } = options();
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
const language = chosen ?? (process.stdin.isTTY && process.stdout.isTTY ? await ask() : "rust");
const source = attempt(() => (git ? fromGit(git) : isLinked && fromClone(clone)));

attempt(() => mkdirSync(folder, { recursive: true }));
cpSync(clone ? join(clone, "template") : packed, folder, { recursive: true });
if (existsSync(join(folder, "gitignore"))) renameSync(join(folder, "gitignore"), join(folder, ".gitignore"));
rmSync(join(folder, "cargo-generate.toml"));
for (const file of ONLY[language === "rust" ? "typescript" : "rust"]) rmSync(join(folder, file));
for (const path of readdirSync(folder, { recursive: true }).map((path) => join(folder, path))) {
  if (statSync(path).isDirectory()) continue;
  const text = readFileSync(path, "utf8");
  const filled = rendered(text);
  if (filled !== text) writeFileSync(path, filled);
}
// Relative paths lead through the real folders, not through links.
source?.use(realpathSync(folder));
// The versions of all other crates with which this repository is tested.
if (clone && source) cpSync(join(clone, "Cargo.lock"), join(folder, "Cargo.lock"));
// Without one, Yarn takes the project for a part of what is around it.
if (manager === "yarn" && managerVersion !== "1") writeFileSync(join(folder, "yarn.lock"), "");
if (install) {
  const { status } = spawnSync(manager, ["install", ...(manager === "npm" ? QUIET : [])], { cwd: folder, stdio: "inherit" });
  if (status !== 0) fail(`Created ${name}, but ${manager} install failed: correct what it reports, and run it in ${folder}`);
}

console.log(`Created ${name}. Next:

  cd ${quoted(relative(".", folder) || ".")}
${install ? "" : `  ${manager} install\n`}  ${manager} run dev
`);

function options() {
  try {
    const flag = { type: "boolean" };
    const options = { git: { type: "string" }, clone: flag, "no-install": flag, typescript: flag, rust: flag, help: { ...flag, short: "h" } };
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (values.help) {
      console.log(HELP);
      process.exit();
    }
    if (positionals.length > 1) fail(`Name one folder, not ${positionals.join(" and ")}: ${USAGE}`);
    if (values.clone && !clone) fail("--clone needs a clone of Toolbooth's repository");
    if (values.typescript && values.rust) fail("The first tool is in one language: choose --typescript or --rust");
    const chosen = Object.keys(ONLY).find((language) => values[language]);
    return { given: positionals[0], git: values.git, isLinked: values.clone, install: !values["no-install"], chosen };
  } catch (error) {
    fail(`${error.message}\n\nName the folder to create: ${USAGE}`);
  }
}

/** The language of the tools, as the user answers. */
async function ask() {
  const prompt = "Write tools in TypeScript or in Rust? (A project can have both.) [t/r] ";
  const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt });
  terminal.once("SIGINT", () => process.exit(130));
  terminal.prompt();
  for await (const line of terminal) {
    const answer = line.trim().toLowerCase();
    const language = answer && Object.keys(ONLY).find((language) => language.startsWith(answer));
    if (language) return language;
    terminal.prompt();
  }
  fail("No language was chosen: add --typescript or --rust");
}

/** A file of the template, of which cargo-generate understands more: the name of the project, and parts for one language. */
function rendered(text) {
  const part = /\{% if language == "(\w+)" (?:-%\}\s*|%\})(.*?)(?:\{% else (?:-%\}\s*|%\})(.*?))?\{% endif (?:-%\}\s*|%\})/gs;
  return text.replace(part, (_, wanted, body, other = "") => (wanted === language ? body : other)).replaceAll(PLACEHOLDER, name);
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
