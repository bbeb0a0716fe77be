#!/usr/bin/env node
// Creates a project from the template: npm create toolbooth@latest my-tools
import { cpSync, existsSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

// The package has a copy of the template; the repository has the template itself.
const [template] = ["../template", "../../../template"].map((path) => fileURLToPath(new URL(path, import.meta.url))).filter(existsSync);
const PLACEHOLDER = "{{project-name}}";

const [given] = process.argv.slice(2);
if (!given || given.startsWith("-")) fail("Name the folder to create: npm create toolbooth@latest my-tools");
const folder = resolve(given);
const name = basename(folder);
// What Cargo, npm and Cloudflare accept. A crate named like one of its dependencies could not be built.
if (!/^[a-z][a-z0-9-]{0,62}$/.test(name) || name.endsWith("-")) {
  fail(`The name must be lower-case letters, digits and hyphens, starting with a letter: not ${name}`);
}
if (["tools", "toolbooth", "toolbooth-build", "toolbooth-schema", "toolbooth-worker", "serde", "test"].includes(name)) {
  fail(`The name ${name} is taken by a dependency: choose another one`);
}
if (existsSync(folder) && readdirSync(folder).length > 0) fail(`${folder} exists and is not empty`);

cpSync(template, folder, { recursive: true });
if (existsSync(join(folder, "gitignore"))) renameSync(join(folder, "gitignore"), join(folder, ".gitignore"));
rmSync(join(folder, "cargo-generate.toml"));
for (const path of readdirSync(folder, { recursive: true }).map((path) => join(folder, path))) {
  if (statSync(path).isDirectory()) continue;
  const text = readFileSync(path, "utf8");
  if (text.includes(PLACEHOLDER)) writeFileSync(path, text.replaceAll(PLACEHOLDER, name));
}

console.log(`Created ${name}. Next:

  cd ${relative(".", folder) || "."}
  npm install
  npm run dev
`);

function fail(message) {
  console.error(message);
  process.exit(2);
}
