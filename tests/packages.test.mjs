// What functions import: packages with what those of npm have, and files. Each is bundled, starts, and answers one call. packages-npm.test.mjs has real
// packages.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { start } from "./support/functions.mjs";

/** Small packages with what large ones have: files by name. */
const PACKAGES = {
  "requires-node": { "index.js": 'const { EventEmitter } = require("events");\nconst { join } = require("node:path");\nmodule.exports = [typeof EventEmitter, join("a", "b"), require("util").format("%d", 1), typeof require("stream").Readable];' },
  "extends-node": { "index.js": 'class Bus extends require("events") {}\nmodule.exports = { Bus };' },
  "turns-off": { "package.json": { main: "index.js", browser: { crypto: false, fs: false, "node:os": false, "./native.js": false } }, "index.js": 'module.exports = [typeof require("crypto").randomBytes, typeof require("fs").readFileSync, typeof require("node:os").EOL, require("./native.js")];', "native.js": 'throw new Error("native");' },
  "for-browsers": { "package.json": { main: "index.js", browser: "browser.js" }, "index.js": 'throw new Error("not for Workers");', "browser.js": 'module.exports = "browser";' },
  "for-workers": { "package.json": { exports: { workerd: "./workerd.js", default: "./index.js" } }, "index.js": 'throw new Error("not for Workers");', "workerd.js": 'export default "workerd";' },
  "imports-node": { "package.json": { type: "module", exports: "./index.js" }, "index.js": 'import process, { env } from "process";\nimport { Buffer } from "buffer";\nexport default [typeof process.nextTick, typeof env, Buffer.from("a").toString("hex")];' },
  "requires-installed/node_modules/events": { "index.js": "exports.installed = 1;" },
  "requires-installed": { "index.js": 'module.exports = require("events").installed;' },
  "has-files": { "package.json": { type: "module", exports: "./index.js" }, "index.js": 'import query from "./query.sql";\nimport add from "./add.wasm?module";\nexport default [query, new WebAssembly.Instance(add).exports.add(1, 2)];', "query.sql": "select 1" },
};
/** A module of WebAssembly that exports `add`. */
const ADD = Buffer.from("AGFzbQEAAAABBwFgAn9/AX8DAgEABwcBA2FkZAAACgkBBwAgACABags=", "base64");

/** What each function does, and its value. */
const CASES = {
  requires_node: ['import it from "requires-node";\nexport default () => it;', ["function", "a/b", "1", "function"]],
  extends_node: ['import { Bus } from "extends-node";\nexport default () => new Promise((resolve) => { const bus = new Bus(); bus.on("x", resolve); bus.emit("x", 3); });', 3],
  turns_off: ['import it from "turns-off";\nexport default () => it;', ["function", "function", "string", {}]],
  for_browsers: ['import it from "for-browsers";\nexport default () => it;', "browser"],
  for_workers: ['import it from "for-workers";\nexport default () => it;', "workerd"],
  imports_node: ['import it from "imports-node";\nexport default () => it;', ["function", "object", "61"]],
  requires_installed: ['import it from "requires-installed";\nexport default () => it;', 1],
  has_files: ['import it from "has-files";\nexport default () => it;', ["select 1", 3]],
  files: [
    'import sql from "./a.sql";\nimport html from "./a.html";\nimport txt from "./a.txt";\nimport md from "./a.md";\nimport bin from "./a.bin";\nimport wasm from "./a.wasm";\n' +
      "export default () => [sql, html, txt, md, bin instanceof ArrayBuffer, new TextDecoder().decode(bin), wasm instanceof WebAssembly.Module];",
    ["sql", "html", "txt", "md", true, "bin", true],
  ],
  later: ['export default async () => (await import("./shared/part.ts")).part;', "part"],
};

const scratch = mkdtempSync(join(tmpdir(), "toolbooth-"));
let worker;
before(async () => {
  for (const [name, files] of Object.entries(PACKAGES)) {
    const folder = join(scratch, "node_modules", name);
    mkdirSync(folder, { recursive: true });
    for (const [file, text] of Object.entries({ "package.json": { main: "index.js" }, ...files })) {
      writeFileSync(join(folder, file), typeof text === "string" ? text : JSON.stringify({ name, version: "1.0.0", ...text }));
    }
  }
  writeFileSync(join(scratch, "node_modules/has-files/add.wasm"), ADD);
  const files = Object.fromEntries(["sql", "html", "txt", "md", "bin"].map((kind) => [`tools/odd/a.${kind}`, kind]));
  const functions = Object.fromEntries(Object.entries(CASES).map(([name, [text]]) => [`tools/odd/${name}.ts`, text]));
  worker = await start(scratch, { ...files, ...functions, "tools/odd/a.wasm": ADD, "tools/odd/shared/part.ts": 'export const part: string = "part";' });
});
after(async () => {
  await worker.close();
  rmSync(scratch, { recursive: true });
});

for (const [name, [, value]] of Object.entries(CASES)) {
  test(`${name}: starts, and answers`, async () => assert.deepEqual(await worker.call(`odd/${name}`), { value }, worker.log()));
}
