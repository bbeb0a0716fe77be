// Sets the version of the crates, the npm packages and what the template requires.
//   node scripts/version.mjs 0.2.0
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// What has the version, in each file.
const PLACES = {
  "Cargo.toml": [/^(version = ")[^"]+/m, /^(toolbooth[\w-]* = \{ version = ")[^"]+/gm],
  "packages/create-toolbooth/package.json": [/("version": ")[^"]+/],
  "packages/toolbooth/package.json": [/("version": ")[^"]+/],
  "template/Cargo.toml": [/^(toolbooth[\w-]* = \{ version = ")[^"]+/gm],
  "template/package.json": [/("toolbooth": "\^)[^"]+/],
};

/** Sets the version in the repository in the folder `root`. */
export function setVersion(root, version) {
  for (const [file, patterns] of Object.entries(PLACES)) {
    const path = join(root, file);
    let text = readFileSync(path, "utf8");
    for (const pattern of patterns) {
      if (text.search(pattern) === -1) throw new Error(`${file} has no ${pattern}`);
      text = text.replace(pattern, (_, before) => before + version);
    }
    writeFileSync(path, text);
  }
}

if (import.meta.filename === process.argv[1]) {
  const [version = ""] = process.argv.slice(2);
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    console.error("Name the version: node scripts/version.mjs 0.2.0");
    process.exit(2);
  }
  setVersion(fileURLToPath(new URL("..", import.meta.url)), version);
}
