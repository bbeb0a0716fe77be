// The views of tools: each file becomes a page that needs no other file.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { loaded, messageOf, missing } from "./bundle-errors.js";
import { filesOfAll } from "./catalogue.js";
import { inScript, pageOf } from "./page.js";
import { Failure } from "./process.js";
import { jsonOf } from "./texts.js";
import { RESOURCE, ofThisMachine, originOf, undeclared } from "./view-loads.js";
import { NOT_REACT, needsReact, onlyPreact, otherCopies } from "./view-preact.js";
import { loadsOfScript } from "./view-scripts.js";

/** The largest page, in bytes: enough for the largest packages, such as mermaid. */
const LIMIT = 4 * 1024 * 1024;
/** Hosts load the page for each call, so authors learn of a larger one. */
const LARGE = 256 * 1024;
/** The path of the pages among the static assets. `View::path` in Rust has it, too. */
const FOLDER = "views";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const IMAGES = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg", ".ico"];
const FONTS = [".woff2", ".woff", ".ttf", ".otf"];

/** How scripts and styles of views are bundled. */
const OPTIONS = {
  bundle: true,
  minify: true,
  write: false,
  outdir: "/",
  platform: "browser",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  charset: "utf8",
  logLevel: "silent",
  metafile: true,
  plugins: [onlyPreact],
  alias: { "toolbooth/view": here("view.js") },
  // Preact comes with this package, wherever the view is.
  nodePaths: [here("../node_modules"), here("../../../node_modules"), here("../..")],
  loader: Object.fromEntries([...IMAGES, ...FONTS].map((end) => [end, "dataurl"])),
};

/** The views of a crate, also of the shipped toolkits that it enables, each once: `{ path, file, tools, csp }`. `tools` are ids. */
export function views(crate) {
  const found = new Map();
  for (const definition of filesOfAll(/@[^/\\]+\.json$/, crate)) {
    const { id, ui } = jsonOf(definition);
    // The build of the catalogue reports what is not valid.
    if (typeof ui?.file !== "string") continue;
    const file = join(dirname(definition), ui.file);
    const path = `${basename(dirname(definition))}/${ui.file}`;
    const view = found.get(path) ?? { path, file, tools: [], csp: ui.csp };
    view.tools.push(id);
    found.set(path, view);
  }
  return [...found.values()];
}

/**
 * Writes the pages of all views of a crate into the static assets in the folder `assets`, and warnings to the terminal. Those that are
 * `deployed` may not use this machine. Returns the paths of what they consist of. Throws a `Failure` that names every problem, with such
 * paths as `inputs`.
 */
export async function buildViews(crate, assets, { deployed = false } = {}) {
  const all = views(crate);
  const pages = await Promise.allSettled(all.map((view) => bundle(view, deployed)));
  for (const { reason, value } of pages) {
    if (reason !== undefined && !(reason instanceof Failure)) throw reason;
    for (const warning of value?.warnings ?? []) console.error(warning);
  }
  const inputs = [...new Set(pages.flatMap(({ reason, value }) => [...(reason ?? value).inputs]))];
  const problems = pages.flatMap(({ reason }) => reason?.message ?? []);
  if (problems.length > 0) throw Object.assign(new Failure(problems.join("\n")), { inputs });
  const folder = join(assets, FOLDER);
  for (const [at, { path }] of all.entries()) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), pages[at].value.page);
  }
  return inputs;
}

/** The page of a view, with warnings about it, and the paths of its `inputs`. */
async function bundle(view, deployed) {
  const { file } = view;
  const name = nameOf(file);
  const found = { loads: [], problems: [], warnings: [], inputs: new Set([resolve(file)]) };
  const compile = (options) => compiled(options, found);
  const making = extname(file) === ".tsx" ? component(file, compile) : pageOf(file, compile, found);
  const page = await making.catch((error) => {
    throw Object.assign(error, { inputs: [...found.inputs, ...(error.inputs ?? [])] });
  });
  const bytes = Buffer.byteLength(page);
  if (bytes > LIMIT) found.problems.push(`has ${bytes} bytes as one page; the limit is ${LIMIT}`);
  else if (bytes > LARGE) found.warnings.push(`${name}: has ${bytes} bytes as one page, which hosts load for each call; smaller packages make it appear sooner`);
  const problems = [...found.problems.map((problem) => `${name}: ${problem}`), ...undeclared(found.loads, view, name), ...(deployed ? ofThisMachine(view, name) : [])];
  if (problems.length > 0) throw Object.assign(new Failure(problems.join("\n")), { inputs: found.inputs });
  return { page, warnings: [...new Set(found.warnings)], inputs: found.inputs };
}

const nameOf = (file) => relative(process.cwd(), file);

/** The name of the module that shows a component. */
const GENERATED = "view.js";

/** The page of a component in TypeScript. */
async function component(file, compile) {
  const text = JSON.stringify;
  const contents = `import View from ${text(`./${basename(file)}`)};\nimport { show } from ${text(here("view-component.js"))};\nshow(View);`;
  const { script, style, isModule } = await compile({ stdin: { contents, resolveDir: dirname(file), sourcefile: GENERATED }, format: "iife" });
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${basename(file, ".tsx")}</title>`;
  return `<!doctype html><html lang="en"><head>${head}${style && `<style>${style}</style>`}</head><body><script${isModule ? ' type="module"' : ""}>${script}</script></body></html>\n`;
}

/** Bundles scripts and styles into one of each, and adds what they load to `found`. */
async function compiled(options, found) {
  let used = options;
  let built = await esbuilt(used);
  const imported = () => Object.values(built.metafile.outputs).flatMap(({ imports }) => imports.filter(({ external, path }) => external && originOf(path)));
  // A script that is no module cannot import one of another host.
  if (used.format === "iife" && imported().some(({ kind }) => kind === "require-call")) built = await esbuilt((used = { ...used, format: "esm" }));
  const of = (end) => built.outputFiles.filter(({ path }) => path.endsWith(end)).map(({ text }) => text.trimEnd()).join("\n");
  // Tagged templates see their texts as written, so that nothing can be escaped there: without templates, there are only strings.
  if (of(".js").includes("`") && inScript(of(".js")) !== of(".js")) built = await esbuilt({ ...used, supported: { "template-literal": false } });
  found.loads.push(...imported().filter(({ path }) => !path.startsWith(NAMES)).map(({ path }) => ({ lists: [RESOURCE], address: path })));
  for (const [name, text] of authored(options, built)) found.loads.push(...(await loadsOfScript(name, text)));
  if (built.warnings.length > 0) found.warnings.push(await messageOf("warning", built.warnings, TERMS));
  const inputs = Object.keys(built.metafile.inputs);
  // The module around a component is no file.
  for (const path of inputs) if (existsSync(path)) found.inputs.add(resolve(path));
  found.problems.push(...otherCopies(inputs).map((path) => `has ${path} through one of its packages, which would be a second copy: ${NOT_REACT}`));
  const script = of(".js");
  if (needsReact(script)) {
    const needing = inputs.filter((path) => path.includes("node_modules/") && existsSync(path) && needsReact(readFileSync(path, "utf8")));
    found.warnings.push(`${needing.join(", ")}: uses the internals of React, and may not work: ${NOT_REACT}.`);
  }
  return { script: inScript(script), style: of(".css"), isModule: used.format === "esm" };
}

/** Names of XML, which are no addresses: `@namespace` in CSS has them. */
const NAMES = "http://www.w3.org/";
/** How messages speak of the component of a view. */
const TERMS = { generated: GENERATED, example: "export default function View() { … }", advice };

/** What an author can do about a message of esbuild. */
function advice(text) {
  const [, module] = /^Could not resolve "(.+)"$/.exec(text) ?? [];
  if (module && isBuiltin(module)) return `${module} is a module of Node, and views run in browsers, which do not have it. A tool can use it, and the view can call the tool.`;
  return / matching export in ".*preact\/compat\//.test(text) ? `${NOT_REACT}, and not all of it.` : undefined;
}

async function esbuilt(options) {
  const all = { ...OPTIONS, ...options };
  return esbuild.build(all).catch(async ({ errors, message }) => {
    const failure = new Failure(errors ? await messageOf("error", errors, TERMS) : message);
    throw Object.assign(failure, { inputs: [...missing(errors ?? []), ...(await loaded(all))] });
  });
}

/** The scripts in a bundle that are the author's, and no package's: their names and texts. */
function authored({ stdin }, { metafile }) {
  const files = Object.keys(metafile.inputs).filter((path) => /\.[cm]?[jt]sx?$/.test(path) && !/(?:^|\/)node_modules\//.test(path));
  const own = files.map((path) => resolve(path)).filter((path) => existsSync(path)).map((path) => [nameOf(path), readFileSync(path, "utf8")]);
  return stdin === undefined || stdin.sourcefile === GENERATED || stdin.loader === "css" ? own : [...own, [nameOf(stdin.sourcefile), stdin.contents]];
}
