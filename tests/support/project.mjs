// A project of one's own, created from template/ as a separate workspace next to the build results.
//
// It shares this repository's target folder, so only its own crates and those of this repository are compiled. Cargo tells
// packages apart by name and location: there must be only one such project.
import { appendFileSync, copyFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "./commands.mjs";

const CRATES = ["toolbooth-schema", "toolbooth", "toolbooth-build", "toolbooth-worker"];

/** The folder of the project. */
export const project = join(root, "target/project/shop");

/** What its commands need instead of registries and the caches of the user. */
export const env = {
  CARGO_NET_OFFLINE: "true",
  CARGO_TARGET_DIR: process.env.CARGO_TARGET_DIR ?? join(root, "target"),
  TOOLS: join(root, ".tools/bin"),
};

/** Runs the command `toolbooth` in the project. */
export const toolbooth = (args) => run(`node ${root}/packages/toolbooth/bin/toolbooth.js ${args}`, { cwd: project, env });

/** Creates the project anew, without its build results. */
export async function create() {
  rmSync(project, { recursive: true, force: true });
  mkdirSync(join(project, ".."), { recursive: true });
  const created = await run(`node ${root}/packages/create-toolbooth/bin/create.js shop`, { cwd: join(project, "..") });
  useRepository(project);
  return created;
}

/** Makes a project use the crates and the Cargo.lock of this repository. */
export function useRepository(folder) {
  const patches = CRATES.map((name) => `${name} = { path = "${root}/crates/${name}" }\n`).join("");
  appendFileSync(join(folder, "Cargo.toml"), `\n[patch.crates-io]\n${patches}`);
  copyFileSync(join(root, "Cargo.lock"), join(folder, "Cargo.lock"));
}
