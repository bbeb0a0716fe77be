// Counts the instructions that a process runs outside of the kernel, by valgrind.
import { execFileSync } from "node:child_process";
import { readFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { SCRATCH } from "../paths.mjs";

const NAME = "callgrind.out";

/** What a program is started by that is to be counted. */
export const COUNTED = ["valgrind", "-q", "--tool=callgrind", `--callgrind-out-file=${join(SCRATCH, NAME)}`];

/** The instructions that the process runs while `work` is done. */
export async function instructions(pid, work) {
  control("-z", pid);
  await work();
  return sinceThen(pid);
}

/** The instructions that it has run since it was last asked, or since it began. */
export async function sinceThen(pid) {
  control("-d", pid);
  const [path] = (await readdir(SCRATCH)).filter((name) => name.startsWith(`${NAME}.`));
  const text = await readFile(join(SCRATCH, path), "utf8");
  await rm(join(SCRATCH, path));
  return Number(/^(?:summary|totals): (\d+)/m.exec(text)[1]);
}

function control(order, pid) {
  execFileSync("callgrind_control", [order, `${pid}`], { stdio: "ignore" });
}
