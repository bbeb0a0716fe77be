// The Workers that are measured. Each is `{ name, title, modules }`; a module's first entry is the
// main one, and its bytes are what a deployment would upload.
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import Ajv from "ajv/dist/2020.js";
import standalone from "ajv/dist/standalone/index.js";
import { build } from "esbuild";

import { ROOT } from "./paths.mjs";

const DEFINITION = join(ROOT, "tools/calculator/Add@1.0.0.json");

/** The yardsticks: null, echo, and the same service in JavaScript, bare and with Hono. */
export async function yardsticks() {
  const validators = await precompiled();
  const worker = async (name, title) => ({
    name,
    title,
    modules: [await bundled(name, validators)],
  });
  return Promise.all([
    worker("null", "null Worker"),
    worker("echo", "echo Worker"),
    worker("ajv", "JavaScript + AJV"),
    worker("hono", "Hono + AJV"),
  ]);
}

/** A Worker that scripts/bundle.sh made. */
export async function ours(name, title, folder) {
  const module = async (file, type) => ({
    name: file,
    type,
    bytes: await readFile(join(folder, file)),
  });
  const modules = [module("worker.js", "esModule"), module("index_bg.wasm", "wasm")];
  return { name, title, modules: await Promise.all(modules) };
}

/** AJV's checks of the definition's schemas as source: nothing is compiled while a Worker runs. */
async function precompiled() {
  const definition = JSON.parse(await readFile(DEFINITION, "utf8"));
  const ajv = new Ajv({ allErrors: true, code: { source: true, esm: true } });
  ajv.addSchema(definition.input_schema, "input").addSchema(definition.output_schema, "output");
  return standalone(ajv, { input: "input", output: "output" });
}

/** Bundled and minified as ours is. */
async function bundled(name, validators) {
  const supply = {
    name: "validators",
    setup(building) {
      building.onResolve({ filter: /^validators$/ }, ({ path }) => ({ path, namespace: "bench" }));
      building.onLoad({ filter: /./, namespace: "bench" }, () => ({ contents: validators }));
    },
  };
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, `bench/workers/${name}.mjs`)],
    plugins: [supply],
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
  });
  return { name: "worker.js", type: "esModule", bytes: outputFiles[0].contents };
}
