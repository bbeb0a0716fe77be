// Links between the Markdown files of the repository lead to files and headings that exist, and no section stands twice.

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

/** The headings of a file: `{ level, text }`. */
function headings(file) {
  const text = readFileSync(join(root, file), "utf8").replace(/^```[\s\S]*?^```/gm, "");
  return [...text.matchAll(/^(#+) (.+)$/gm)].map(([, { length: level }, text]) => ({ level, text }));
}

/** The anchors of a file's headings, as GitHub makes them. */
const anchors = (file) => headings(file).map(({ text }) => text.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-"));

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

// Sections of different parts may have the same name, such as "Clauses and their tests".
test("no part of a document has two sections of the same name", () => {
  const repeated = files.flatMap((file) => {
    const above = [];
    const places = headings(file).map(({ level, text }) => {
      above.splice(level - 1, Infinity, text);
      return `${file}: ${above.join(" > ")}`;
    });
    return places.filter((place, at) => places.indexOf(place) !== at);
  });
  assert.deepEqual(repeated, []);
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
