// Builds the bundle of a Worker: worker.js, its WebAssembly and the site.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import * as esbuild from "esbuild";
import { loaded, messageOf, missing, withoutDefault } from "./bundle-errors.js";
import { nodeModules } from "./node-modules.js";
import { Failure, output, run } from "./process.js";
import { wasmBindgen, wasmOpt } from "./programs.js";
import { TARGET, project } from "./project.js";
import { scripts, services, unused, withScripts } from "./scripts.js";
import { site } from "./site.js";
import { buildViews } from "./views.js";

/** The module that the generated JavaScript imports. */
const WASM = "index_bg.wasm";
const CARGO = ["build", "--lib", "--target", TARGET];
/** Makes the macros of wasm-bindgen use promises of js-sys, without another crate. */
const MACROS = { WASM_BINDGEN_USE_JS_SYS: "1" };
/** Modules as workerd has them, of which a crashed instance can be replaced. */
const WASM_BINDGEN = ["--target", "module", "--no-typescript", "--out-name", "index", "--experimental-reset-state-function", "--force-enable-abort-handler"];

/**
 * What Rust and wasm-bindgen use; not `--all-features`, which writes encodings that workerd may not know. Sorting functions by
 * name (the names are stripped afterwards) puts similar ones next to each other, which saves 2 KB after gzip. Rust uses the lowest
 * kilobyte of the memory only when the stack is about to overflow; that it is unused makes addresses shorter, which saves another.
 * Data stays in one piece: cut at its zeros, it is shorter, but not after gzip (2 KB more, and 55 KB more with 1,000 tools).
 */
const WASM_OPT = [
  ...["mutable-globals", "sign-ext", "nontrapping-float-to-int", "bulk-memory", "multivalue", "reference-types", "exception-handling"].map(
    (feature) => `--enable-${feature}`,
  ),
  ...["-Os", "--one-caller-inline-max-function-size=100", "--low-memory-unused", "--reorder-functions-by-name", "--skip-pass=memory-packing"],
  ...["--strip-debug", "--strip-producers", "--strip-target-features"],
];

/**
 * Builds the Worker of the folder `crate` into the folder `out`: for deployment or, with `dev`, quickly and without the site. The pages
 * of views are static assets, in the folder `assets`.
 */
export async function build({ crate = ".", out = "build", assets = join(out, "site"), dev = false }) {
  const folder = resolve(out);
  if (dev) return buildForDevelopment({ crate, out: folder, assets: resolve(assets) });
  const { entry, compiled, version } = await project(crate);
  const bindgen = await wasmBindgen(version("wasm-bindgen"));
  const stage = join(folder, ".stage");
  mkdirSync(folder, { recursive: true });
  await withProgress(folder, (progress) => run("cargo", [...CARGO, "--release"], { cwd: crate, env: { ...process.env, ...MACROS, ...progress } }));
  await generate(bindgen, compiled("release"), stage);
  const { metafile } = await bundle(crate, entry, stage, { minify: true, outfile: join(folder, "worker.js"), ...MAP });
  deleteOthers(folder, new Set([WASM, ...Object.keys(metafile.outputs).map((path) => basename(path))]));
  const [program, ...own] = wasmOpt();
  await run(program, [...own, ...WASM_OPT, join(stage, WASM), "-o", join(folder, WASM)]);
  rmSync(stage, { recursive: true });
  await site(join(folder, "site"));
  await buildViews(crate, resolve(assets), { deployed: true });
}

/**
 * Builds quickly, without optimizing. Until the build succeeds, the previous one stays in the folder `out`. Throws a
 * `BuildFailure`.
 */
export async function buildForDevelopment({ crate, out, assets }) {
  // Without the names of functions, which are a third of the module: tests start it again and again.
  const { bundle } = await compileForDevelopment({ crate, out, assets, names: false });
  await bundle();
  rmSync(join(out, ".stage"), { recursive: true });
}

/**
 * Compiles the Rust of a build for development. Returns the files that it `includes`, and a function `bundle` that bundles the result with
 * the JavaScript, and the views into the folder `assets` if there is one, as often as those change: tools in TypeScript need no compilation.
 * Both throw a `Failure`.
 */
export async function compileForDevelopment({ crate, out, assets, names = true }) {
  const stage = join(out, ".stage");
  mkdirSync(out, { recursive: true });
  // Debug information would triple the time that wasm-bindgen takes. Panics have their location without it.
  const variables = { CARGO_PROFILE_DEV_DEBUG: "0", CARGO_TERM_COLOR: process.stderr.isTTY ? "always" : "never" };
  const env = { ...process.env, ...variables, ...MACROS };
  const compiling = withProgress(out, (progress) => quiet("cargo", CARGO, { cwd: crate, env: { ...env, ...progress } }));
  const preparing = project(crate).then(async (found) => ({ ...found, bindgen: await wasmBindgen(found.version("wasm-bindgen")) }));
  const [compilation, prepared] = await Promise.allSettled([compiling, preparing]);
  for (const { status, reason } of [prepared, compilation]) if (status === "rejected") throw reason;
  for (const warning of newWarnings(out, compilation.value)) console.error(warning);
  const { entry, compiled, bindgen } = prepared.value;
  await generate(bindgen, compiled("debug"), stage, names ? [] : ["--remove-name-section"]);
  const wasm = readFileSync(join(stage, WASM));
  // A name for each build, so that the replacement of worker.js replaces both.
  const name = `${createHash("sha256").update(wasm).digest("hex").slice(0, 16)}.wasm`;
  const bundleAgain = async () => {
    const bundling = bundle(crate, entry, stage, { write: false, outfile: join(out, "worker.js"), ...MAP });
    const [{ outputFiles, metafile }, ofViews = []] = await Promise.all([bundling, assets && buildViews(crate, assets)]);
    const files = new Map(outputFiles.map(({ path, contents, text }) => [basename(path), path.endsWith(".js") ? text : contents]));
    const source = files.get("worker.js").replaceAll(`./${WASM}`, `./${name}`);
    files.delete("worker.js");
    files.set(name, wasm);
    replaceWorker(out, source, files);
    return { inputs: [...Object.keys(metafile.inputs).map((path) => resolve(path)), ...ofViews] };
  };
  return { bundle: bundleAgain, includes: dependencies(compiled("debug")) };
}

/** The files that Rust was compiled from: also those of `include_str!`. Cargo lists them next to what it compiles, as in a Makefile. */
export function dependencies(wasm) {
  const list = wasm.replace(/\.wasm$/, ".d");
  const [, files = ""] = existsSync(list) ? readFileSync(list, "utf8").trim().split(/: (.*)/s) : [];
  return new Set(files.split(/(?<!\\) /).map((file) => resolve(file.replaceAll("\\ ", " "))));
}

/** Writes the JavaScript that calls the compiled `wasm` into the folder `stage`, with the module that it imports. */
async function generate(bindgen, wasm, stage, options = []) {
  await quiet(bindgen, [...WASM_BINDGEN, ...options, "--out-dir", stage, wasm]);
  // workerd does not know `import source`. A plain import of a .wasm file already gives the module, not an instance.
  const file = join(stage, "index.js");
  writeFileSync(file, readFileSync(file, "utf8").replace(/^import source /m, "import "));
}

/** Runs `compile` with the variables that make it say how far it is with many definitions, and prints that: Cargo does not. */
export async function withProgress(folder, compile, print = console.error) {
  const file = join(folder, ".progress");
  rmSync(file, { force: true });
  let printed = "";
  const timer = setInterval(() => {
    const said = existsSync(file) ? readFileSync(file, "utf8") : "";
    if (said === printed || !/^\d+ \d+$/.test(said)) return;
    printed = said;
    const [checked, all] = said.split(" ").map((number) => Number(number).toLocaleString("en"));
    print(`Checked ${checked} of ${all} definitions`);
  }, 200);
  try {
    return await compile({ TOOLBOOTH_PROGRESS: file });
  } finally {
    clearInterval(timer);
    rmSync(file, { force: true });
  }
}

/** Replaces the Worker in a folder, which needs these `files`, contents by name, and nothing of earlier ones. */
export function replaceWorker(out, source, files = new Map()) {
  mkdirSync(out, { recursive: true });
  for (const [name, contents] of files) {
    // Others have a name for their contents, and may be there from the bundle before.
    if (name.endsWith(".map") || !existsSync(join(out, name))) writeFileSync(join(out, name), contents);
  }
  writeFileSync(join(out, "worker.js.new"), source);
  renameSync(join(out, "worker.js.new"), join(out, "worker.js"));
  deleteOthers(out, new Set(files.keys()));
}

/** Deletes what earlier Workers in the folder needed, and the current one does not. */
function deleteOthers(out, needed) {
  const old = readdirSync(out).filter((file) => /\.(?:wasm|bin|map)$/.test(file) && !needed.has(file));
  for (const file of old) rmSync(join(out, file));
}

/** Where the code of the Worker comes from: stacks are read with it, and debuggers show it. */
const MAP = { sourcemap: "linked" };

/** What functions import besides code and JSON: texts, and files that become modules beside the Worker, as from wrangler. */
const LOADERS = { ".txt": "text", ".html": "text", ".sql": "text", ".md": "text", ".bin": "copy", ".wasm": "copy" };
const IMPORTABLE = "A function can import code, JSON, texts (.txt, .html, .sql, .md), bytes (.bin) and WebAssembly (.wasm). Put other data into one of these";

/** A plugin for esbuild: `a.wasm?module`, as some packages write it, is `a.wasm`. */
const wasmModules = {
  name: "modules of WebAssembly",
  setup(building) {
    building.onResolve({ filter: /\.wasm\?module$/ }, ({ path, ...place }) => building.resolve(path.replace(/\?module$/, ""), place));
  },
};

/** What the module of a function has. */
const EXAMPLE = "export default tool<Input, Output>(async (input, context) => …)";

/** Bundles the JavaScript of the Worker, and the functions of tools in TypeScript or in other Workers if there are some. */
export async function bundle(crate, entry, stage, options) {
  const [functions, others] = [scripts(crate), services(crate)];
  const all = {
    ...(functions.length + others.length === 0 ? { entryPoints: [entry] } : { stdin: withScripts(functions, others, entry) }),
    bundle: true,
    format: "esm",
    logLevel: "silent",
    alias: { wasm: join(stage, "index.js"), toolbooth: fileURLToPath(new URL("tools.js", import.meta.url)) },
    // As wrangler does: it bundles the result again, with what the project's compatibility flags allow.
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*", `./${WASM}`],
    loader: LOADERS,
    plugins: [nodeModules, wasmModules],
    metafile: true,
    outfile: join(stage, "worker.js"),
    ...options,
    // Without functions, there are no stacks to read.
    ...(functions.length === 0 && { sourcemap: false }),
  };
  const print = (kind, messages) => messageOf(kind, messages, { example: EXAMPLE, advice: (text) => (text.startsWith("No loader is configured for ") ? IMPORTABLE : undefined) });
  const built = await esbuild.build(all).catch(async ({ errors, message }) => {
    const failure = new BuildFailure(errors ? await print("error", errors) : message);
    throw Object.assign(failure, { inputs: [...missing(errors ?? []), ...(await loaded(all))] });
  });
  if (built.warnings.length > 0) console.error(await print("warning", built.warnings));
  const without = await withoutExport(functions, built.metafile.inputs);
  if (without.length > 0) throw new BuildFailure(without.map((file) => withoutDefault(file, EXAMPLE)).join("\n"));
  for (const { file, definition } of unused(crate, Object.keys(built.metafile.inputs))) {
    console.error(`No tool runs the function in ${file}: it needs a definition with a matching name in the same folder, such as ${definition}.`);
  }
  return built;
}

/** The files among those of `functions` that have no default export. `inputs` is what esbuild knows of their bundle. */
async function withoutExport(functions, inputs) {
  const formats = new Map(Object.entries(inputs).map(([path, { format }]) => [resolve(path), format]));
  // A file of CommonJS is its own default export; one that exports nothing has no format.
  const isModule = ({ file }) => formats.get(file) === "esm";
  const entryPoints = functions.filter(isModule).map(({ file }) => file);
  const { metafile } = await esbuild.build({ entryPoints, format: "esm", write: false, outdir: "/", metafile: true, logLevel: "silent" });
  const exporting = Object.values(metafile.outputs).filter(({ exports }) => exports.includes("default")).map(({ entryPoint }) => resolve(entryPoint));
  const isMissing = (it) => (isModule(it) ? !exporting.includes(it.file) : formats.get(it.file) === undefined);
  return functions.filter(isMissing).map(({ file }) => relative(".", file));
}

/** A build that failed because of the project's code; the message is what the compiler reports. `inputs` are the paths of which a change may mend it. */
export class BuildFailure extends Failure {}

async function quiet(program, args, options) {
  const { code, out, err } = await output(program, args, options);
  if (code !== 0) throw new BuildFailure(errors(err) || out.trim() || `${program} failed`);
  return err;
}

/** The warnings of the last build into each folder. */
const reported = new Map();

/** The warnings about definitions in what Cargo printed which the build before into the same folder had not: Cargo repeats them each time. */
export function newWarnings(folder, text) {
  const before = reported.get(folder) ?? [];
  const found = [...stripVTControlCharacters(text).matchAll(/^warning: \S+@\d\S*: (.*)$/gm)].map(([, warning]) => `warning: ${warning}`);
  reported.set(folder, found);
  return [...new Set(found)].filter((warning) => !before.includes(warning));
}

/** What Cargo says that it does. */
const STATUS = /^\s*(?:Adding|Blocking|Building|Checking|Compiling|Dirty|Downloaded|Downloading|Finished|Fresh|Locking|Updating) /;

/** The errors among the messages of a failed build: without warnings, if there is anything else. */
export function errors(text) {
  // Problems of definitions, as toolbooth-build reports them: Cargo repeats them in a longer message.
  const problems = [...stripVTControlCharacters(text).matchAll(/^error: \S+@\d\S*: (.*)$/gm)].map(([, problem]) => problem);
  if (problems.length > 0) return problems.join("\n");
  const said = text.split("\n").filter((line) => !STATUS.test(stripVTControlCharacters(line)));
  const messages = said.join("\n").trim().split(/\n\n+(?=\S*(?:warning|error))/);
  const found = messages.filter((message) => !stripVTControlCharacters(message).startsWith("warning"));
  return (found.length > 0 ? found : messages).join("\n\n");
}
