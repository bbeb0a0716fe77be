// Links between the Markdown files of the repository lead to files and headings that exist.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const files = execFileSync("git", ["ls-files", "*.md"], { cwd: root, encoding: "utf8" }).trim().split("\n");

/** A file without its code, whose brackets are no links. */
const prose = (file) => readFileSync(join(root, file), "utf8").replace(/^```[\s\S]*?^```/gm, "").replace(/`[^`\n]*`/g, (code) => code.replaceAll("](", "] ("));

/** The anchors of a file's headings, as GitHub makes them. */
function anchors(file) {
  const headings = [...readFileSync(join(root, file), "utf8").replace(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.+)$/gm)];
  return headings.map(([, text]) => text.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-"));
}

test("every link between the documents leads somewhere", () => {
  const broken = [];
  let checked = 0;
  for (const file of files.filter((file) => !file.startsWith("template/"))) {
    for (const [, link] of prose(file).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link)) continue;
      checked += 1;
      const [path, anchor] = link.split("#");
      const target = path ? normalize(join(dirname(file), path)) : file;
      const leads = existsSync(join(root, target)) && (!anchor || !target.endsWith(".md") || anchors(target).includes(anchor));
      if (!leads) broken.push(`${file}: ${link}`);
    }
  }
  assert.ok(checked > 50, `${checked} links`);
  assert.deepEqual(broken, []);
});

/** The rows of the tables in a text. */
const rowsOf = (text) => text.split("\n").filter((line) => line.startsWith("| "));

test("the tests that docs/THREATS.md and the standards in docs/SECURITY.md name exist", () => {
  const sources = execFileSync("git", ["ls-files", "*.rs"], { cwd: root, encoding: "utf8" }).trim().split("\n");
  const known = [...new Set(sources.flatMap((file) => {
    const text = existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : "";
    return [...text.matchAll(/\b(?:fn|mod) (\w+)/g)].map(([, name]) => name);
  }))];
  const security = readFileSync(join(root, "docs/SECURITY.md"), "utf8");
  const standards = rowsOf(security.split("### Standards of sign-in")[1].split("\n### ")[0]);
  const rows = [...rowsOf(readFileSync(join(root, "docs/THREATS.md"), "utf8")), ...standards];
  // Texts in quotes are the names of tests on workerd. An ellipsis stands for the rest of a name.
  const named = rows.flatMap((row) => row.split(" | ").at(-1).replace(/"[^"]*"/g, "").match(/\w+(?:::\w+)+…?|\w+_\w+…?/g) ?? []);
  const last = (name) => name.split("::").at(-1);
  const missing = named.filter((name) => {
    const wanted = last(name);
    return !known.some((one) => (wanted.endsWith("…") ? one.startsWith(wanted.slice(0, -1)) : one === wanted));
  });
  assert.ok(named.length > 150, `${named.length} names`);
  assert.deepEqual(missing, []);
  const scripts = readdirSync(join(root, "tests")).filter((file) => /^(sign-in.*|enterprise|machines|dpop)\.test\.mjs$/.test(file));
  const text = scripts.map((file) => readFileSync(join(root, "tests", file), "utf8")).join();
  const quoted = standards.flatMap((row) => [...row.split(" | ").at(-1).matchAll(/"([^"]+)"/g)].map(([, name]) => name));
  assert.ok(quoted.length > 25, `${quoted.length} names`);
  assert.deepEqual(quoted.filter((name) => !text.includes(name)), []);
});
