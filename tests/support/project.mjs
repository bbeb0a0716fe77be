// A project of one's own, created by `make project` where git and Cargo ignore it.
//
// Projects share this repository's compiled dependencies. Cargo tells packages apart by name and location, so that each location
// would leave build results behind: there must be only one such project.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { root, run } from "./commands.mjs";

/** The folder of the project. */
export const project = join(root, "target/project/shop");

/** No crate comes from a registry that Cargo has not asked before. */
export const env = { CARGO_NET_OFFLINE: "true" };

/** Runs the command `toolbooth` in the project. */
export const toolbooth = (args) => run(`npx toolbooth ${args}`, { cwd: project, env });

/** Creates the project anew, without its build results. `settings` are those of make, such as `TS=1`. */
export async function create(settings = "") {
  rmSync(project, { recursive: true, force: true });
  return run(`make project DIR=target/project/shop ${settings}`);
}
