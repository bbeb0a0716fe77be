// Measures how long a save of a function in TypeScript takes, in `toolbooth dev`, until a call has the new code. A minute, and some more for
// the first build.
//   node bench/save.mjs   fails if the median is over 2 s
// In a new project, which has all capabilities, the pages, and a check of types beside the calls.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { serve } from "../tests/support/commands.mjs";
import { create, env, project } from "../tests/support/project.mjs";
import { median } from "./statistics.mjs";

const SAVES = 11;
/** The longest that a save may take at the median, in seconds. */
const LIMIT = 2;
/** The time between two calls, in milliseconds. */
const INTERVAL = 20;
/** The longest wait for the saved code, in seconds. */
const DEADLINE = 60;

const log = (text) => console.error(`save: ${text}`);
const created = await create("TS=1");
assert.equal(created.code, 0, created.err);
log("the first build");
const command = (port) => `npm run dev -- --port ${port}`;
const { port, found, printed, interrupt } = await serve(command, /^curl .*$|every response is its error/m, { cwd: project, env });
const file = join(project, "tools/greeter/hello.ts");
const code = await readFile(file, "utf8");
const seconds = [];
try {
  assert.match(found[0], /^curl/, printed());
  assert.equal(await greeting(), "Hello, Ada!");
  for (let number = 1; number <= SAVES; number += 1) {
    const start = performance.now();
    const elapsed = () => (performance.now() - start) / 1000;
    await writeFile(file, code.replace("Hello", `Hello ${number}`));
    while ((await greeting()) !== `Hello ${number}, Ada!`) {
      assert.ok(elapsed() < DEADLINE, `no answer of the saved code after ${DEADLINE} s:\n${printed()}`);
      await sleep(INTERVAL);
    }
    seconds.push(elapsed());
    log(`${elapsed().toFixed(2)} s`);
  }
} finally {
  await interrupt();
}

console.log(`A call has the new code ${median(seconds).toFixed(2)} s after the save (median of ${SAVES}; at most ${Math.max(...seconds).toFixed(2)} s). It may take ${LIMIT} s`);
if (median(seconds) > LIMIT) process.exitCode = 1;

/** The value of a call; undefined while the Worker is replaced. */
async function greeting() {
  const body = JSON.stringify({ tool_id: "Greeter.Hello", input: { name: "Ada" } });
  const headers = { authorization: "Bearer development-key", "content-type": "application/json" };
  const response = await fetch(`http://localhost:${port}/tools/call`, { method: "POST", headers, body }).catch(() => undefined);
  return (await response?.json().catch(() => undefined))?.value;
}
