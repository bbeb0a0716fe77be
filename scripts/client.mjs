// Packs the typed client of a server for npm: node scripts/client.mjs url folder [name] [key]
// The package has the version of the server's OpenAPI document.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import ts from "typescript";

const [, , url, folder, name = "toolbooth-client", key] = process.argv;
if (!url || !folder) {
  console.error("Name the server: make client URL=https://tools.example.com, with KEY=… if it needs credentials");
  process.exit(1);
}

const headers = key ? { authorization: `Bearer ${key}` } : {};
const fetched = async (path) => {
  const response = await fetch(new URL(path, url), { headers });
  if (response.ok) return response;
  console.error(`${response.url} responded with ${response.status}${response.status === 401 ? ": set KEY to an API key or a token" : ""}`);
  process.exit(1);
};
const source = await (await fetched("/client.ts")).text();
const { info } = await (await fetched("/openapi.json")).json();

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, lib: ["lib.es2022.d.ts", "lib.dom.d.ts"], types: [], declaration: true, strict: true, outDir: folder };
writeFileSync(join(folder, "client.ts"), source);
const program = ts.createProgram([join(folder, "client.ts")], options);
const { diagnostics } = program.emit();
for (const { messageText } of [...ts.getPreEmitDiagnostics(program), ...diagnostics]) {
  console.error(ts.flattenDiagnosticMessageText(messageText, "\n"));
  process.exitCode = 1;
}
const manifest = {
  name,
  version: info.version,
  description: `A typed client for the tools of ${new URL(url).origin}`,
  type: "module",
  exports: { ".": { types: "./client.d.ts", default: "./client.js" } },
  files: ["client.js", "client.d.ts"],
};
writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
const packed = spawnSync("npm", ["pack", "--silent"], { cwd: folder, encoding: "utf8" });
process.stderr.write(packed.stderr);
if (packed.status !== 0) process.exit(1);
console.log(join(folder, packed.stdout.trim()));
