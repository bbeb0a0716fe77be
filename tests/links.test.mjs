// Links between the Markdown files of the repository lead to files and headings that exist.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
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
