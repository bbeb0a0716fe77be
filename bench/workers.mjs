// Builds the measured Workers: `{ name, title, modules }`. The first module is the main one; the modules
// are what a deployment would upload.
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import Ajv from "ajv/dist/2020.js";
import standalone from "ajv/dist/standalone/index.js";
import { build } from "esbuild";

import { ROOT } from "./paths.mjs";
import { calculator } from "./tools.mjs";

/** The baselines: null, echo, and the same service in JavaScript, without a framework and with Hono. */
export async function yardsticks() {
  const fixed = async (name, title) => ({ name, title, modules: [await bundled(name, {})] });
  return Promise.all([
    fixed("null", "null Worker"),
    fixed("echo", "echo Worker"),
    ...written("", "add", await calculator()),
  ]);
}

/** Services with one tool in JavaScript: without a framework, and with Hono. */
export function written(prefix, tool, definition) {
  const worker = async (name, title) => ({ ...(await service(name, title, tool, definition)), name: `${prefix}${name}` });
  return [worker("ajv", "JavaScript + AJV"), worker("hono", "Hono + AJV")];
}

/** A service of bench/workers with one tool, whose function is in bench/workers/tools. */
export async function service(name, title, tool, definition) {
  const [id, version] = definition.id.split("@");
  const sources = {
    validators: precompiled(definition),
    tool: `export const id = ${JSON.stringify(id)};
export const name = ${JSON.stringify(definition.name)};
export const version = ${JSON.stringify(version)};
export { run } from "./workers/tools/${tool}.mjs";
`,
  };
  return { name, title, modules: [await bundled(name, sources)] };
}

/** A Worker from a bundle of `toolbooth build`. */
export async function ours(name, title, folder) {
  const module = async (file, type) => ({
    name: file,
    type,
    bytes: await readFile(join(folder, file)),
  });
  const modules = [module("worker.js", "esModule"), module("index_bg.wasm", "wasm")];
  return { name, title, modules: await Promise.all(modules) };
}

/** AJV validators for the definition's schemas as source code, because Workers cannot compile at runtime. */
function precompiled(definition) {
  const ajv = new Ajv({ allErrors: true, code: { source: true, esm: true } });
  ajv.addSchema(definition.input_schema, "input").addSchema(definition.output_schema, "output");
  return standalone(ajv, { input: "input", output: "output" });
}

/** A Worker of bench/workers, bundled and minified like ours; `sources` are generated modules by name. */
export async function bundled(name, sources) {
  const supply = {
    name: "generated",
    setup(building) {
      const names = Object.keys(sources);
      if (names.length === 0) return;
      building.onResolve({ filter: new RegExp(`^(${names.join("|")})$`) }, ({ path }) => ({
        path,
        namespace: "bench",
      }));
      building.onLoad({ filter: /./, namespace: "bench" }, ({ path }) => ({
        contents: sources[path],
        resolveDir: import.meta.dirname,
      }));
    },
  };
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, `bench/workers/${name}.mjs`)],
    plugins: [supply],
    bundle: true,
    minify: true,
    format: "esm",
    conditions: ["workerd"],
    external: ["cloudflare:*", "node:*"],
    write: false,
  });
  return { name: "worker.js", type: "esModule", bytes: outputFiles[0].contents };
}

// Not Node's zlib, whose output is 1 % larger.
const gzip = (bytes) => execFileSync("gzip", ["-9"], { input: bytes, maxBuffer: 64e6 });

/** The total size of the modules in bytes, raw and compressed: as one file, like wrangler does. */
export function sizes({ modules }) {
  const all = Buffer.concat(modules.map(({ bytes }) => bytes));
  return { raw: all.length, gzip: gzip(all).length };
}
