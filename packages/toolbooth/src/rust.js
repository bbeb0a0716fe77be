// What the commands need of Rust.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Failure, output } from "./process.js";
import { TARGET } from "./project.js";

/** What the build of the folder `crate` needs of Rust: each with whether it is there and, if not, what to do. */
export async function rust(crate = ".") {
  // With rust-toolchain.toml, rustup installs what is missing before it runs one of these.
  const versionOf = (program) => printed(program, ["--version"], crate);
  const [compiler, cargo, folder] = await Promise.all([versionOf("rustc"), versionOf("cargo"), printed("rustc", ["--print", "target-libdir", "--target", TARGET], crate)]);
  const version = cargo && /^rustc (\S+)/.exec(compiler)?.[1];
  const manifest = join(crate, "Cargo.toml");
  const required = existsSync(manifest) && /^rust-version = "([\d.]+)"/m.exec(readFileSync(manifest, "utf8"))?.[1];
  return [
    { what: `Rust ${required ? `${required} or newer ` : ""}(${version || "none"})`, found: version && !older(version, required || undefined), fix: version ? "rustup update" : "install it from https://rustup.rs" },
    { what: `Rust's target ${TARGET}`, found: folder && existsSync(folder), fix: `rustup target add ${TARGET}` },
  ];
}

/** Fails if the folder `crate` cannot be built, with what `doctor` says. */
export async function needsRust(crate) {
  const missing = (await rust(crate)).find(({ found }) => !found);
  if (missing) throw new Failure(`${missing.what} is needed: ${missing.fix}`);
}

/** Whether a version is older than the required one. */
export function older(version, required = "0") {
  return version.localeCompare(required, "en", { numeric: true }) < 0;
}

/** What a program prints in a folder; nothing if it is not installed or fails. */
export async function printed(program, args, cwd = ".") {
  const { code, out } = await output(program, args, { cwd }).catch(() => ({ code: 1 }));
  return code === 0 ? out.trim() : "";
}
