// The bundle of functions in TypeScript: which code it takes, and how it reports what is wrong. It needs no Rust.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { bundle } from "../packages/toolbooth/src/build.js";
import { Failure } from "../packages/toolbooth/src/process.js";

const scratch = mkdtempSync(join(tmpdir(), "toolbooth-"));
after(() => rmSync(scratch, { recursive: true }));
const write = (path, text) => writeFileSync(join(scratch, path), text);
for (const folder of ["js", "tools/odd"]) mkdirSync(join(scratch, folder), { recursive: true });
// Stands in for the module of the Worker, and makes the function available.
write("js/entry.js", "export default {};");
write("js/tools.js", 'export const register = (functions) => (globalThis.registered = functions["odd/it"]);\nexport const service = undefined;');
write("tools/odd/It@1.0.0.json", "{}");
write("tools/odd/other.ts", "export default async (input: string) => `other ${input}`;");
write("tools/odd/it.toml", "");
write("tools/odd/data.json", '{ "a": 1 }');
write("tools/odd/it.types.ts", "export interface Input { text: string }");

let imports = 0;

/** Bundles a function with this text, and returns it. */
async function bundled(text) {
  write("tools/odd/it.ts", text);
  const { outputFiles } = await bundle(scratch, join(scratch, "js/entry.js"), scratch, { write: false });
  // A module with the same address would not run again.
  await import(`data:text/javascript,${encodeURIComponent(`${outputFiles[0].text}// ${(imports += 1)}`)}`);
  return (await globalThis.registered).default;
}

for (const [title, text, expected] of [
  ["an asynchronous arrow", "export default async (input: string) => input;", "x"],
  ["a function of toolbooth with a name", 'import { tool } from "toolbooth";\nconst run = tool(async (input: string) => input);\nexport { run as default };', "x"],
  ["an export of a different file", 'export { default } from "./other.js";', "other x"],
  ["await at the top", "const start = await Promise.resolve(1);\nexport default (input: string) => `${start} ${input}`;", "1 x"],
  ["types only", 'import type { Input } from "./it.types.js";\nimport { type Input as Same } from "./it.types.js";\nexport default (input: string) => input satisfies Same["text"] as Input["text"];', "x"],
  ["an enum, a namespace and JSON", 'import data from "./data.json";\nenum A { B }\nnamespace N { export const c = 2 }\nexport default () => [A.B, N.c, data.a];', [0, 2, 1]],
  ["CommonJS", "module.exports = (input) => input;", "x"],
  ["a byte order mark", "\ufeffexport default (input: string) => input;", "x"],
]) {
  test(`the function may be ${title}`, async () => assert.deepEqual(await (await bundled(text))("x"), expected));
}

test("a bundle that fails names the files of which a change may mend it", async () => {
  write("tools/odd/part.ts", "");
  const failure = await bundled('import { part } from "./part.ts";\nimport "./gone.ts";\nexport default () => part;').catch((error) => error);
  for (const name of ["it.ts", "part.ts", "gone.ts"]) assert.ok(failure.inputs.includes(join(scratch, "tools/odd", name)), name);
});

const WITHOUT = /it\.ts has no default export: write export default tool/;
for (const [title, text, expected] of [
  ["an empty file", "", WITHOUT],
  ["a file that exports nothing", "console.log(1);", WITHOUT],
  ["a function that is not the default export", "export const it = () => 1;", WITHOUT],
  ["a package that is not installed", 'import x from "@acme/no-such-package/lib";\nexport default () => x;', /it\.ts:1:14:[^]*install it: npm install @acme\/no-such-package$/],
  ["a file that does not exist", 'import x from "./gone.js";\nexport default () => x;', /Could not resolve "\.\/gone\.js"[^]*it\.ts:1:14:/],
  ["a file that no function can import", 'import x from "./it.toml";\nexport default () => x;', /No loader is configured for "\.toml" files: [^]*it\.toml[^]*it\.ts:1:14:[^]*A function can import code, JSON, texts \(\.txt, \.html, \.sql, \.md\), bytes \(\.bin\) and WebAssembly \(\.wasm\)/],
  ["a mistake of syntax", "export default async (input => {", /Unexpected end of file[^]*it\.ts:1:32:/],
]) {
  test(`the build reports ${title}`, async () => {
    await assert.rejects(bundled(text), (error) => {
      assert.ok(error instanceof Failure);
      assert.match(error.message, expected);
      assert.doesNotMatch(error.message, /entry-with-tools|as external/);
      return true;
    });
  });
}
