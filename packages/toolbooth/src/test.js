// Runs the tests of a project: the native ones with cargo, and those of tools with bindings or in TypeScript on workerd.
import { readFileSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildForDevelopment } from "./build.js";
import { definitions, files } from "./catalogue.js";
import { run } from "./process.js";
import { scripts } from "./scripts.js";

const OUT = ".wrangler/test";
const EXAMPLES = fileURLToPath(new URL("./examples.js", import.meta.url));

/** Runs all tests; with arguments for cargo, only the native ones. */
export async function test(args) {
  const workspace = /^\[workspace\]/m.test(readFileSync("Cargo.toml", "utf8")) ? ["--workspace"] : [];
  // The stack of a test that fails shows this library, not the tool.
  const env = { ...process.env, RUST_BACKTRACE: process.env.RUST_BACKTRACE ?? "0" };
  await run("cargo", ["test", ...workspace, ...args], { env });
  const more = [
    ...(definitions().some(({ bindings = [] }) => bindings.length > 0) || scripts().length > 0 ? [EXAMPLES] : []),
    ...files(/\.test\.m?js$/).map((file) => resolve(file)),
  ];
  if (more.length === 0) return;
  if (args.length > 0) return console.log("With arguments for cargo, only native tests run: no tests on workerd.");
  const out = resolve(OUT);
  try {
    await buildForDevelopment({ crate: resolve("."), out });
    const env = { ...process.env, TOOLBOOTH_TEST_WORKER: out };
    await run(process.execPath, ["--test", ...more], { env });
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}
