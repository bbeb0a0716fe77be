// Checks that everything the other commands need is there, and says how to get what is missing.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { Failure } from "./process.js";
import { installed } from "./programs.js";
import { project } from "./project.js";
import { older, printed, rust } from "./rust.js";

const require = createRequire(import.meta.url);
/** The oldest Node that wrangler runs on. */
const [NODE] = /\d+/.exec(require("wrangler/package.json").engines.node);

/** Prints one line per check. Fails if one of them does. */
export async function doctor() {
  let failed = 0;
  for (const { what, found, fix, optional = false } of await checks()) {
    if (!found && !optional) failed += 1;
    console.log(`${found ? "ok     " : optional ? "note   " : "MISSING"} ${what}${found ? "" : `: ${fix}`}`);
  }
  if (failed > 0) throw new Failure(`\n${failed} of these must be fixed.`);
}

async function checks() {
  const cargo = existsSync("Cargo.toml");
  const graph = cargo ? await project(".").catch(({ message }) => ({ message })) : {};
  return [
    { what: `Node ${process.version}, for wrangler`, found: !older(process.versions.node, NODE), fix: `wrangler needs Node ${NODE} or newer. npm install gets one, which npx uses: npx toolbooth doctor. With pnpm or Yarn, install it on this machine` },
    ...(await rust()),
    ...(await linker()),
    { what: "Cargo.toml, in this folder", found: cargo, fix: "run this command in the folder of a project" },
    ...(cargo ? dependencies(graph) : []),
    ...(graph.version ? [await wasmBindgen(graph.version("wasm-bindgen"))] : []),
    ...(await wrangler()),
    { what: ".dev.vars, with variables and secrets for toolbooth dev", found: existsSync(".dev.vars"), optional: true, fix: "without it, calls need the development key" },
  ];
}

/** Rust links what runs during a build with the C compiler. On Windows, rustup itself asks for the tools of Visual Studio. */
async function linker() {
  if (process.platform === "win32") return [];
  const fix = process.platform === "darwin" ? "xcode-select --install" : "install one, such as with sudo apt install build-essential";
  return [{ what: "A C compiler (cc), with which Rust links", found: await printed("cc", ["--version"]), fix }];
}

function dependencies({ message, version }) {
  if (message !== undefined) return [{ what: "The dependency toolbooth-worker", found: false, fix: message }];
  const command = require("../package.json").version;
  return ["toolbooth", "toolbooth-worker"].map((name) => ({
    what: `${name} ${version(name)}, for the command toolbooth ${command}`,
    found: compatible(version(name)) === compatible(command),
    fix: "use the same version in package.json and in Cargo.toml",
  }));
}

/** The part of a version that is the same in all compatible versions. */
const compatible = (version) => /^0\.\d+|^\d+/.exec(version)?.[0];

async function wasmBindgen(version) {
  const found = await installed(version);
  return { what: `wasm-bindgen ${version}, the version in Cargo.lock`, found, optional: true, fix: "the next build installs it, which takes about two minutes" };
}

async function wrangler() {
  const { unstable_readConfig } = await import("wrangler");
  let config;
  try {
    config = unstable_readConfig({}, { hideWarnings: true });
  } catch (error) {
    return [{ what: "wrangler.toml", found: false, fix: error.message }];
  }
  const kv = config.kv_namespaces.some(({ binding }) => binding === "KV");
  const isBound = (binding) => config.durable_objects.bindings.some(({ name }) => name === binding);
  return [
    { what: "main in wrangler.toml", found: config.main, fix: 'add main = "build/worker.js"' },
    { what: "The binding KV in wrangler.toml", found: kv, optional: true, fix: 'tools that users authorize need it: add [[kv_namespaces]] with binding = "KV"' },
    { what: "The binding LEDGER in wrangler.toml", found: isBound("LEDGER"), optional: true, fix: 'budgets need it: add [[durable_objects.bindings]] with name = "LEDGER" and class_name = "Ledger", and [[migrations]] with new_sqlite_classes = ["Ledger"]' },
    { what: "The binding TASKS in wrangler.toml", found: isBound("TASKS"), optional: true, fix: 'tools that run as tasks and responses in the background need it: add [[durable_objects.bindings]] with name = "TASKS" and class_name = "Tasks", and [[migrations]] with new_sqlite_classes = ["Tasks"]' },
    { what: "AUTH in wrangler.toml", found: config.vars.AUTH, optional: true, fix: "a deployed Worker rejects every call until you set it: api-key, jwt, sign-in or none" },
  ];
}
