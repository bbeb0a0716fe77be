// The programs that builds need: two from crates.io, in the versions of Cargo.lock, and two from npm.
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Failure, output, run } from "./process.js";

const require = createRequire(import.meta.url);
/** The programs that a clone of this repository has installed, if this is the command of a clone. */
const OF_CLONE = fileURLToPath(new URL("../../../.tools/bin", import.meta.url));
/** What Cargo prints if a mirror of crates.io does not have a locked version. */
const LACKS_VERSION = /failed to (select a version|download)|no matching package/;

/** The environment that makes worker-build use these programs instead of downloading some, and its path. */
export async function programs({ version }) {
  const workerBuild = await fromCrates("worker-build", "worker-build", version("worker"));
  const env = {
    ...process.env,
    WASM_BINDGEN_BIN: await fromCrates("wasm-bindgen", "wasm-bindgen-cli", version("wasm-bindgen")),
    WASM_OPT_BIN: process.env.WASM_OPT_BIN ?? fromNpm("binaryen", "wasm-opt"),
    ESBUILD_BIN: process.env.ESBUILD_BIN ?? fromNpm("esbuild", "esbuild"),
  };
  return { workerBuild, env };
}

/**
 * The path of a program in this version: from its variable, from the folder TOOLS or the user's cache, from a clone, or from
 * PATH. Otherwise installs it, in TOOLS or in the user's cache.
 */
async function fromCrates(name, crate, version) {
  const found = await installed(name, version);
  if (found) return found;
  const folder = folderOf(name, version);
  console.error(`Installing ${name} ${version}, once: about two minutes`);
  mkdirSync(folder, { recursive: true });
  const args = ["install", "--quiet", "--debug", "--force", "--root", dirname(folder), "--bin", name, `${crate}@${version}`];
  // Without any optimization, wasm-bindgen would take most of the time of a build in `toolbooth dev`. worker-build has
  // little to do, and optimizing it would take minutes.
  const level = name === "wasm-bindgen" ? "1" : "0";
  const env = { ...process.env, CARGO_PROFILE_DEV_DEBUG: "0", CARGO_PROFILE_DEV_OPT_LEVEL: level };
  const { code, err } = await output("cargo", [...args, "--locked"], { env });
  if (code !== 0 && LACKS_VERSION.test(err)) {
    console.error(`The registry lacks a version of ${crate}'s lock file: installing newer ones`);
    await run("cargo", args, { env });
  } else if (code !== 0) {
    throw new Failure(err.trim());
  }
  return join(folder, name);
}

/** The path of a program from crates.io, if it is installed in this version. */
export async function installed(name, version) {
  const variable = process.env[`${name.replace("-", "_").toUpperCase()}_BIN`];
  if (variable) return variable;
  for (const candidate of [join(folderOf(name, version), name), join(OF_CLONE, name), name]) {
    const { out } = await output(candidate, ["--version"]).catch(() => ({ out: "" }));
    // "wasm-bindgen 0.2.129", or the version alone.
    if (out.trim().split(" ").at(-1) === version) return candidate;
  }
}

function folderOf(name, version) {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "toolbooth");
  return process.env.TOOLS ?? join(cache, `${name}-${version}`, "bin");
}

/** The path of a program of an npm package. */
export function fromNpm(name, program) {
  const manifest = require.resolve(`${name}/package.json`);
  const { bin } = require(manifest);
  return join(dirname(manifest), typeof bin === "string" ? bin : bin[program]);
}
