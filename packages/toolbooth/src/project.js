// What Cargo knows about a project.
import { dirname, join } from "node:path";
import { Failure, output } from "./process.js";

/** What Workers are compiled for. */
export const TARGET = "wasm32-unknown-unknown";

/** The dependencies of the Worker's crate, as `cargo metadata` describes them. */
export async function project(crate) {
  const args = ["metadata", "--format-version=1", `--filter-platform=${TARGET}`];
  const { code, out, err } = await output("cargo", args, { cwd: crate });
  if (code !== 0) throw new Failure(err.trim());
  const { packages, resolve, target_directory: target } = JSON.parse(out);
  return {
    /** The version of a crate in Cargo.lock. */
    version(name) {
      return find(packages, name).version;
    },
    /** The JavaScript of the Worker, which is part of the crate that calls it. */
    entry: join(dirname(find(packages, "toolbooth-worker").manifest_path), "js/entry.js"),
    /** The WebAssembly that Cargo writes, in a folder for each profile. */
    compiled(folder) {
      const { targets } = packages.find(({ id }) => id === resolve.root) ?? { targets: [] };
      const library = targets.find(({ crate_types: types }) => types.includes("cdylib"));
      if (!library) throw new Failure('This folder has no Worker: its Cargo.toml needs [lib] with crate-type = ["cdylib"]');
      return join(target, TARGET, folder, `${library.name}.wasm`);
    },
  };
}

function find(packages, name) {
  const found = packages.find((one) => one.name === name);
  if (!found) throw new Failure(`The project does not depend on ${name}: add toolbooth-worker to its Cargo.toml`);
  return found;
}
