// The programs that builds need: wasm-bindgen from crates.io, in the version of Cargo.lock, and wasm-opt from npm.
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
/**
 * The parts of wasm-bindgen that read and write modules. Without optimization, they would take most of the time of a build in
 * `toolbooth dev`. Optimizing the others would only take time.
 */
const OPTIMIZED = ["gimli", "walrus", "wasm-bindgen-cli-support", "wasm-encoder", "wasmparser"];

/** How to run wasm-opt: a program and its first arguments. That of npm is JavaScript, which Windows does not run by itself. */
export const wasmOpt = () => (process.env.WASM_OPT_BIN ? [process.env.WASM_OPT_BIN] : [process.execPath, fromNpm("binaryen", "wasm-opt")]);

/**
 * The path of wasm-bindgen in this version: from its variable, from the folder TOOLS or the user's cache, from a clone, or from
 * PATH. Otherwise installs it, in TOOLS or in the user's cache.
 */
export async function wasmBindgen(version) {
  const found = await installed(version);
  if (found) return found;
  const folder = folderOf(version);
  console.error(`Installing wasm-bindgen ${version}. This happens once and takes about two minutes`);
  mkdirSync(folder, { recursive: true });
  const levels = OPTIMIZED.flatMap((name) => ["--config", `profile.dev.package.${name}.opt-level=3`]);
  // The default features are an HTTP client for its test runner.
  const args = ["install", "--quiet", "--debug", "--force", "--no-default-features", ...levels, "--root", dirname(folder), "--bin", "wasm-bindgen", `wasm-bindgen-cli@${version}`];
  const env = { ...process.env, CARGO_PROFILE_DEV_DEBUG: "0" };
  const { code, err } = await output("cargo", [...args, "--locked"], { env });
  if (code !== 0 && LACKS_VERSION.test(err)) {
    console.error("The registry lacks a version that wasm-bindgen's lock file names: installing newer ones");
    await run("cargo", args, { env });
  } else if (code !== 0) {
    throw new Failure(err.trim());
  }
  return join(folder, "wasm-bindgen");
}

/** The path of wasm-bindgen, if it is installed in this version. */
export async function installed(version) {
  if (process.env.WASM_BINDGEN_BIN) return process.env.WASM_BINDGEN_BIN;
  for (const candidate of [join(folderOf(version), "wasm-bindgen"), join(OF_CLONE, "wasm-bindgen"), "wasm-bindgen"]) {
    const { out } = await output(candidate, ["--version"]).catch(() => ({ out: "" }));
    // "wasm-bindgen 0.2.129"
    if (out.trim().split(" ").at(-1) === version) return candidate;
  }
}

function folderOf(version) {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "toolbooth");
  return process.env.TOOLS ?? join(cache, `wasm-bindgen-${version}`, "bin");
}

/** The path of a program of an npm package. */
export function fromNpm(name, program) {
  const manifest = require.resolve(`${name}/package.json`);
  const { bin } = require(manifest);
  return join(dirname(manifest), typeof bin === "string" ? bin : bin[program]);
}
