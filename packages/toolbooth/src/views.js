// The views of tools: each file becomes a page that needs no other file.
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { messageOf } from "./bundle-errors.js";
import { filesOfAll } from "./catalogue.js";
import { pageOf } from "./page.js";
import { Failure } from "./process.js";
import { jsonOf } from "./texts.js";
import { onlyPreact } from "./view-preact.js";

/** The largest page, in bytes. Hosts load it for each call. */
const LIMIT = 256 * 1024;
/** The path of the pages among the static assets. `View::path` in Rust has it, too. */
const FOLDER = "views";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const IMAGES = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".woff2"];

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
  plugins: [onlyPreact],
  alias: { "toolbooth/view": here("view.js") },
  // Preact comes with this package, wherever the view is.
  nodePaths: [here("../node_modules"), here("../../../node_modules"), here("../..")],
  loader: Object.fromEntries(IMAGES.map((end) => [end, "dataurl"])),
};

/** The views of a crate, also of the shipped toolkits that it enables, each once: `{ path, file, tools, origins }`. `tools` are ids. */
export function views(crate) {
  const found = new Map();
  for (const definition of filesOfAll(/@[^/\\]+\.json$/, crate)) {
    const { id, ui } = jsonOf(definition);
    // The build of the catalogue reports what is not valid.
    if (typeof ui?.file !== "string") continue;
    const file = join(dirname(definition), ui.file);
    const path = `${basename(dirname(definition))}/${ui.file}`;
    const view = found.get(path) ?? { path, file, tools: [], origins: Object.values(ui.csp ?? {}).flat() };
    view.tools.push(id);
    found.set(path, view);
  }
  return [...found.values()];
}

/** Writes the pages of all views of a crate into the static assets in the folder `assets`. Throws a `Failure` that names every problem. */
export async function buildViews(crate, assets) {
  const all = views(crate);
  const pages = await Promise.allSettled(all.map(bundle));
  const problems = pages.flatMap(({ reason }) => {
    if (reason !== undefined && !(reason instanceof Failure)) throw reason;
    return reason?.message ?? [];
  });
  if (problems.length > 0) throw new Failure(problems.join("\n"));
  const folder = join(assets, FOLDER);
  for (const [at, { path }] of all.entries()) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), pages[at].value);
  }
}

/** The page of a view. */
async function bundle(view) {
  const { file, tools, origins } = view;
  const name = relative(process.cwd(), file);
  const problems = [];
  const page = extname(file) === ".tsx" ? await component(file) : await pageOf(file, compile, problems);
  const undeclared = [...new Set(addresses(page))].filter((address) => !origins.some((origin) => covers(origin, address)));
  for (const address of undeclared) {
    problems.push(`uses ${address}, which ui.csp of ${tools.join(", ")} does not declare; add its origin to connectDomains, resourceDomains, frameDomains or baseUriDomains`);
  }
  const bytes = Buffer.byteLength(page);
  if (bytes > LIMIT) problems.push(`has ${bytes} bytes as one page; the limit is ${LIMIT}`);
  if (problems.length > 0) throw new Failure(problems.map((problem) => `${name}: ${problem}`).join("\n"));
  return page;
}

/** The name of the module that shows a component. */
const GENERATED = "view.js";

/** The page of a component in TypeScript. */
async function component(file) {
  const text = JSON.stringify;
  const contents = `import View from ${text(`./${basename(file)}`)};\nimport { show } from ${text(here("view-component.js"))};\nshow(View);`;
  const { script, style } = await compile({ stdin: { contents, resolveDir: dirname(file), sourcefile: GENERATED }, format: "iife" });
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${basename(file, ".tsx")}</title>`;
  return `<!doctype html><html lang="en"><head>${head}${style && `<style>${style}</style>`}</head><body><script>${script}</script></body></html>\n`;
}

/** Bundles scripts and styles into one of each. */
async function compile(options) {
  const built = await esbuild.build({ ...OPTIONS, ...options }).catch(async ({ errors, message }) => {
    throw new Failure(errors ? await messageOf("error", errors, { generated: GENERATED, example: "export default function View() { … }" }) : message);
  });
  const of = (end) => built.outputFiles.filter(({ path }) => path.endsWith(end)).map(({ text }) => text.trimEnd()).join("\n");
  return { script: of(".js"), style: of(".css") };
}

/** Names of XML, which are no addresses. */
const NAMES = "http://www.w3.org/";
const ADDRESS = /\b(?:https?|wss?):\/\/[^\s"'`<>()\\,;]*|(?<=["'`=(\s])\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)+/gi;

/** The origins of the addresses in a page: also of those that a script may never use. */
export function addresses(page) {
  const found = page.match(ADDRESS) ?? [];
  return found.filter((address) => !address.startsWith(NAMES)).map((address) => /^(?:\w+:)?\/\/[^/?#]*/.exec(address)[0].toLowerCase());
}

/** Whether an origin of the policy, which may have a wildcard for subdomains, covers an address. */
export function covers(origin, address) {
  const [scheme, host] = origin.split("://*.");
  return host === undefined ? origin === address : address.startsWith(`${scheme}://`) && address.endsWith(`.${host}`) && /^\w+:\/\/[a-z0-9.-]+(:\d+)?$/.test(address);
}
