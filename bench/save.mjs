// Measures how long a save of a function in TypeScript takes, in `toolbooth dev`, until a call has the new code.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { serve } from "../tests/support/commands.mjs";
import { ROOT, SCRATCH } from "./paths.mjs";
import { crateOf } from "./tools.mjs";

/** The longest that it may take, in seconds. */
export const LIMIT = 2;
/** The time between two calls, in milliseconds. */
const INTERVAL = 20;
/** The longest wait, in seconds. */
const DEADLINE = 60;

/** The seconds of a number of saves of `Scripted.Add` in the catalogue `name`, which has been built. */
export async function saves(name, count) {
  const crate = crateOf(name);
  const folder = join(SCRATCH, "save");
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "wrangler.toml"), 'name = "save"\ncompatibility_date = "2026-10-01"\n');
  const env = { CARGO_TARGET_DIR: join(ROOT, "target"), TOOLS: join(ROOT, ".tools/bin") };
  const command = (port) => `node ${ROOT}/packages/toolbooth/bin/toolbooth.js dev --crate ${crate} --port ${port}`;
  const { port, interrupt } = await serve(command, /^Toolbooth is running on .*key/m, { cwd: folder, env });
  const file = join(crate, "scripted/add.ts");
  const code = await readFile(file, "utf8");
  try {
    const seconds = [];
    for (let number = 1; number <= count; number += 1) {
      const start = performance.now();
      const elapsed = () => (performance.now() - start) / 1000;
      await writeFile(file, code.replace("tool(run)", `tool((input) => run(input) + ${number})`));
      while ((await sum(port)) !== 15 + number) {
        if (elapsed() > DEADLINE) throw new Error(`no answer of the saved code after ${DEADLINE} s`);
        await sleep(INTERVAL);
      }
      seconds.push(elapsed());
    }
    return seconds;
  } finally {
    await writeFile(file, code);
    await interrupt();
  }
}

/** The value of a call; undefined while the Worker is replaced. */
async function sum(port) {
  const body = JSON.stringify({ tool_id: "Scripted.Add", input: { a: 10, b: 5 } });
  const headers = { authorization: "Bearer development-key", "content-type": "application/json" };
  const response = await fetch(`http://localhost:${port}/tools/call`, { method: "POST", headers, body }).catch(() => undefined);
  return (await response?.json().catch(() => undefined))?.value;
}
