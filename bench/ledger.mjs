// Measures what a budget adds to a call: the same call on one workerd with and without a budget, in turns.
//   TMPDIR=/dev/shm node bench/ledger.mjs   prints the figures of docs/SCALE.md#budgets
// An operation of the ledger is on disk before it is answered. Where TMPDIR is a disk, the figures are mostly its own.
import assert from "node:assert/strict";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { SAMPLES, start } from "../tests/support/worker.mjs";
import { table } from "./table.mjs";

const CALLS = 3_000;
const WARMUP = 1_000;
/** The most that a budget may add at the median, in milliseconds. */
const MOST = 1.5;

const KEYS = { "without a budget": "canary-free", "with a budget": "canary-limited" };
const budgets = [{ window: "1d", tool_calls: 1_000_000 }, { window: "30d", tool_calls: 1_000_000 }];
const API_KEYS = JSON.stringify([entryOf(KEYS["without a budget"], "free", []), { ...entryOf(KEYS["with a budget"], "limited", []), budgets }]);

const worker = await start(SAMPLES, { vars: { AUTH: "api-key", API_KEYS, LOG: "off" } });
const times = Object.fromEntries(Object.keys(KEYS).map((name) => [name, []]));
try {
  const body = JSON.stringify({ tool_id: "Calculator.Add", input: { a: 1, b: 2 } });
  for (let call = -WARMUP; call < CALLS; call += 1) {
    for (const [name, key] of Object.entries(KEYS)) {
      const begin = performance.now();
      const response = await fetch(`${worker.address}/tools/call`, { method: "POST", headers: { "content-type": "application/json", authorization: `Bearer ${key}` }, body });
      await response.arrayBuffer();
      if (call >= 0) times[name].push(performance.now() - begin);
      assert.equal(response.status, 200);
    }
  }
} finally {
  await worker.close();
}

const at = (list, part) => list.toSorted((one, other) => one - other)[Math.floor(list.length * part)];
const rows = Object.entries(times).map(([name, list]) => [name, at(list, 0.5), at(list, 0.99)]);
const [[, free], [, limited]] = rows;
const added = limited - free;
console.log(table(["A call", "ms at p50", "ms at p99"], [...rows, ["added", added, rows[1][2] - rows[0][2]]].map(([name, ...values]) => [name, ...values.map((value) => value.toFixed(2))])));
console.log(`A budget adds ${added.toFixed(2)} ms at the median; it may add ${MOST}`);
if (added > MOST) process.exitCode = 1;
