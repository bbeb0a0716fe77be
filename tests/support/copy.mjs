// A copy of the catalogue, as a separate workspace, to which tests can add tools.
//
// It shares the project's target folder, so only the differences are compiled. That is safe because
// cargo identifies packages by name and location in the workspace, and the copy's differ.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root, run } from "./commands.mjs";

/** The location of the copy. It is kept, so that the next run can reuse its builds if nothing changed. */
export const copy = join(root, "target/scaffold");
export const catalogue = join(copy, "catalogue");

/** Runs `command` in a new folder with the project's catalogue, then updates the copy to the result. */
export async function afterwards(command) {
  const fresh = mkdtempSync(join(tmpdir(), "toolbooth-"));
  try {
    for (const path of ["Cargo.toml", "Cargo.lock", "Makefile", "rust-toolchain.toml", "rustfmt.toml", "crates", "packages", "src", "tools"]) {
      cpSync(join(root, path), join(fresh, path), { recursive: true });
    }
    const result = await run(command, { cwd: fresh });
    const changed = [
      mirror(join(fresh, "tools"), catalogue),
      mirror(join(root, "src"), join(copy, "src")),
      mirror(join(root, "tests/github"), join(copy, "tests/github")),
      mirror(join(root, "tests/open-meteo"), join(copy, "tests/open-meteo")),
      put(join(copy, "Cargo.toml"), manifest()),
      // Cargo renames the packages in it and keeps the versions.
      !existsSync(join(copy, "Cargo.lock")) && put(join(copy, "Cargo.lock"), readFileSync(join(root, "Cargo.lock"))),
    ];
    return { ...result, changed: changed.includes(true) };
  } finally {
    rmSync(fresh, { recursive: true });
  }
}

function manifest() {
  return readFileSync(join(root, "Cargo.toml"), "utf8")
    .replace(/^members = .*$/m, 'members = ["catalogue"]')
    .replace(/^exclude = .*\n/m, "")
    .replace('path = "tools"', 'path = "catalogue"')
    .replaceAll('path = "crates/', 'path = "../../crates/')
    .replace('name = "toolbooth-app"', 'name = "scaffolded"');
}

// Makes the folder `to` identical to `from`. Returns whether anything changed.
function mirror(from, to) {
  mkdirSync(to, { recursive: true });
  let changed = false;
  const names = readdirSync(from);
  for (const name of readdirSync(to).filter((name) => !names.includes(name))) {
    rmSync(join(to, name), { recursive: true });
    changed = true;
  }
  for (const name of names) {
    const [source, target] = [join(from, name), join(to, name)];
    const differs = statSync(source).isDirectory() ? mirror(source, target) : put(target, readFileSync(source));
    changed = differs || changed;
  }
  return changed;
}

// Writes a file only if its content differs, so that unchanged files keep their time and cargo skips them.
function put(path, content) {
  const bytes = Buffer.from(content);
  if (existsSync(path) && readFileSync(path).equals(bytes)) return false;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  return true;
}
