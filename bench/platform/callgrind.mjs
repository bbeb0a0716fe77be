// Counts the instructions that a process runs outside of the kernel, by valgrind.
import { execFileSync } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";

import { SCRATCH } from "../paths.mjs";

const DUMP = join(SCRATCH, "callgrind.out");

/** What a program is started by that is to be counted. */
export const COUNTED = ["valgrind", "-q", "--tool=callgrind", `--callgrind-out-file=${DUMP}`];

/** The instructions that the process runs while `work` is done. */
export async function instructions(pid, work) {
  const control = (order) => execFileSync("callgrind_control", [order, `${pid}`], { stdio: "ignore" });
  control("-z");
  await work();
  control("-d");
  // Dumps are numbered; the count of each begins with zero.
  const path = `${DUMP}.${(dumps += 1)}`;
  const text = await readFile(path, "utf8");
  await rm(path);
  return Number(/^(?:summary|totals): (\d+)/m.exec(text)[1]);
}
let dumps = 0;
