// Prepares a release in the repository of the working folder: sets the version everywhere, gives the changelog's section
// "Unreleased" its version and date, commits and tags. Pushing the tag publishes it: .github/workflows/release.yml.
//   node scripts/release.mjs 0.1.0
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { setVersion } from "./version.mjs";

const [version = ""] = process.argv.slice(2);
const run = (program, ...args) => execFileSync(program, args, { encoding: "utf8" }).trim();
const changelog = readFileSync("CHANGELOG.md", "utf8");
const [, entries] = /^## Unreleased\n(.*?)(?=^## |$(?![^]))/ms.exec(changelog) ?? [];

if (!/^\d+\.\d+\.\d+$/.test(version)) fail("Name the version: make release VERSION=0.1.0");
if (run("git", "status", "--porcelain")) fail("Commit your changes first: git status lists them");
const current = /^version = "([^"]+)"/m.exec(readFileSync("Cargo.toml", "utf8"))?.[1];
if (run("git", "tag", "--list", `v${version}`)) fail(`The tag v${version} exists: choose the next version`);
if (!entries?.trim()) fail('CHANGELOG.md has nothing under "Unreleased"');

// The first release has the version that the files already have.
const isFirst = run("git", "tag", "--list", "v*") === "";
const order = version.localeCompare(current, "en", { numeric: true });
if (order < 0 || (order === 0 && !isFirst)) fail(`The version must be newer than ${current}, not ${version}`);

const head = run("git", "rev-parse", "HEAD");
try {
  setVersion(".", version);
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync("CHANGELOG.md", changelog.replace("## Unreleased\n", `## Unreleased\n\n## ${version} - ${date}\n`));
  run("cargo", "update", "--workspace", "--offline", "--quiet");
  run("git", "commit", "--quiet", "--all", "--message", `Release ${version}`);
  run("git", "tag", "--annotate", `v${version}`, "--message", `Toolbooth ${version}`);
} catch (error) {
  // Everything was committed before.
  run("git", "reset", "--quiet", "--hard", head);
  fail(`${error.message}\nNothing was changed.`);
}
console.log(`Committed and tagged v${version}. To publish it: git push --follow-tags`);

function fail(message) {
  console.error(message);
  process.exit(2);
}
