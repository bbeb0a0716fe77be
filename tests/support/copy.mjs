// A copy of the project in which a test may add to the catalogue.
import { execFileSync } from "node:child_process";
import {
  cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root, run } from "./commands.mjs";

/** Where the copy stays: its builds are used again by the next run if nothing has changed. */
export const copy = join(root, "target/scaffold");

/** Runs `command` in a fresh copy, then brings the lasting one to the same state. */
export async function afterwards(command) {
  const fresh = mkdtempSync(join(tmpdir(), "toolbooth-"));
  try {
    const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
    for (const path of listed.toString().split("\0").filter((path) => path && existsSync(join(root, path)))) {
      mkdirSync(dirname(join(fresh, path)), { recursive: true });
      cpSync(join(root, path), join(fresh, path));
    }
    const result = await run(command, { cwd: fresh });
    return { ...result, changed: mirror(fresh, copy) };
  } finally {
    rmSync(fresh, { recursive: true });
  }
}

// Makes `to` the same as `from`, but for `build/`. Files that are the same already keep their time,
// so that cargo need not look at them again. Tells whether anything changed.
function mirror(from, to) {
  mkdirSync(to, { recursive: true });
  let changed = false;
  const names = readdirSync(from);
  for (const name of readdirSync(to).filter((name) => name !== "build" && !names.includes(name))) {
    rmSync(join(to, name), { recursive: true });
    changed = true;
  }
  for (const name of names) {
    const [source, target] = [join(from, name), join(to, name)];
    if (statSync(source).isDirectory()) {
      changed = mirror(source, target) || changed;
    } else if (!existsSync(target) || !readFileSync(source).equals(readFileSync(target))) {
      writeFileSync(target, readFileSync(source), { mode: statSync(source).mode });
      changed = true;
    }
  }
  return changed;
}
