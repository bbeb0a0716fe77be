// What Cargo knows about a project.
import { dirname, join } from "node:path";
import { Failure, output } from "./process.js";

/** The dependencies of the Worker's crate, as `cargo metadata` describes them. */
export async function project(crate) {
  const args = ["metadata", "--format-version=1", "--filter-platform=wasm32-unknown-unknown"];
  const { code, out, err } = await output("cargo", args, { cwd: crate });
  if (code !== 0) throw new Failure(err.trim());
  const { packages } = JSON.parse(out);
  return {
    /** The version of a crate in Cargo.lock. */
    version(name) {
      return find(packages, name).version;
    },
    /** The JavaScript of the Worker, which is part of the crate that calls it. */
    entry: join(dirname(find(packages, "toolbooth-worker").manifest_path), "js/entry.js"),
  };
}

function find(packages, name) {
  const found = packages.find((one) => one.name === name);
  if (!found) throw new Failure(`The project does not depend on ${name}: add toolbooth-worker to its Cargo.toml`);
  return found;
}
