// Runs the tests of a project: the native ones with cargo, and those of tools with bindings, in TypeScript or in other Workers on workerd. Also checks
// the types of tools in TypeScript.
import { readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildForDevelopment } from "./build.js";
import { catalogue, definitions, files } from "./catalogue.js";
import { Failure, run } from "./process.js";
import { scripts, services } from "./scripts.js";
import { checkTypes } from "./types.js";

const OUT = ".wrangler/test";
/** How long a test of vitest may take, in milliseconds: each starts a Worker, and its own limit would be five seconds. */
const LONGEST_TEST = 60_000;
const EXAMPLES = fileURLToPath(new URL("./examples.js", import.meta.url));

/** Runs all tests; with arguments for cargo, only the native ones. After `--tools`, only those of the tools: a workspace may have more packages. */
export async function test(given) {
  const tools = given[0] === "--tools";
  const args = tools ? given.slice(1) : given;
  const isWorkspace = /^\[workspace\]/m.test(readFileSync("Cargo.toml", "utf8"));
  const workspace = tools ? ["--package", packageOf(catalogue())] : isWorkspace ? ["--workspace"] : [];
  // The stack of a test that fails shows this library, not the tool.
  const env = { ...process.env, RUST_BACKTRACE: process.env.RUST_BACKTRACE ?? "0" };
  await run("cargo", ["test", ...workspace, ...args], { env });
  const node = [
    ...(definitions().some(({ bindings = [] }) => bindings.length > 0) || scripts().length + services().length > 0 ? [EXAMPLES] : []),
    ...files(/\.test\.m?js$/).map((file) => resolve(file)),
  ];
  const vitest = files(/\.test\.ts$/).map((file) => resolve(file));
  if (node.length + vitest.length === 0) return args.length > 0 ? undefined : checkTypes();
  if (args.length > 0) return console.log("With arguments for cargo, only native tests run: no tests on workerd.");
  const out = resolve(OUT);
  try {
    await Promise.all([buildForDevelopment({ crate: resolve("."), out }), checkTypes()]);
    const env = { ...process.env, TOOLBOOTH_TEST_WORKER: out };
    if (node.length > 0) await run(process.execPath, ["--test", ...node], { env });
    if (vitest.length > 0) await run(process.execPath, [vitestOfProject(), "run", `--testTimeout=${LONGEST_TEST}`, ...vitest], { env });
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** The name of the package in a folder. */
const packageOf = (folder) => /^name = "([^"]+)"/m.exec(readFileSync(join(folder, "Cargo.toml"), "utf8"))?.[1];

/** The program of vitest, which the project depends on if it has tests in TypeScript. */
function vitestOfProject() {
  try {
    return join(dirname(createRequire(resolve("package.json")).resolve("vitest/package.json")), "vitest.mjs");
  } catch {
    throw new Failure("Tests in TypeScript need vitest: npm install --save-dev vitest");
  }
}
