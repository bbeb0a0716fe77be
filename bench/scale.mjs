// Measures what the number of tools costs, and writes the table of docs/SCALE.md#tools. Three minutes, and as much for the builds.
//   node bench/scale.mjs   fails if a call with 1,000 tools costs over 5 % more CPU than with one
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";

import { pick } from "./counter.mjs";
import { Connection } from "./load.mjs";
import { REQUESTS, SHORT_LIST } from "./mcp.mjs";
import { SCRATCH } from "./paths.mjs";
import { measurePass } from "./rounds.mjs";
import { compare } from "./statistics.mjs";
import { ofSize } from "./subjects.mjs";
import { table, writeTable } from "./table.mjs";
import { CALL } from "./verify.mjs";
import { sizes, yardsticks } from "./workers.mjs";

const COUNTS = [1, 100, 1000];
const PLAN = { passes: 4, rounds: 8, starts: 6, requests: 500, warmup: 2000, connections: 16 };
/** The most that a call with the largest catalogue may cost, as a ratio to one with the smallest. */
const MOST = 1.05;
const MEASURED = { call: CALL, mcp: REQUESTS.call, whole: REQUESTS.list, short: SHORT_LIST };

const log = (text) => console.error(`scale: ${text}`);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));
await mkdir(SCRATCH, { recursive: true });

const counter = await pick();
const echo = (await yardsticks()).find(({ name }) => name === "echo");
const ours = [];
for (const count of COUNTS) ours.push({ ...(await ofSize(count, log)), count });
const basic = [echo, ...ours];
for (const worker of basic) worker.starts = [];
const rows = ours.flatMap(({ name, count }) =>
  Object.entries(MEASURED).map(([kind, request]) => ({ kind, count, worker: name, request, status: 200, passes: [] })),
);
const bytes = new Map();
for (let pass = 1; pass <= PLAN.passes; pass++) {
  log(`pass ${pass} of ${PLAN.passes}`);
  await measurePass({ basic, workers: basic, rows, verify }, PLAN, counter);
}

/** Throws unless calls succeed and the lists have the tools. */
async function verify(ports) {
  for (const { kind, count, worker, request } of rows) {
    const connection = await Connection.open(ports[worker]);
    const { status, body } = await connection.send(request);
    connection.close();
    assert.equal(status, 200, body);
    bytes.set(`${kind} ${count}`, body.length);
    const { value, result } = JSON.parse(body);
    if (kind === "call") assert.equal(value, 15);
    if (kind === "mcp") assert.deepEqual(result.structuredContent, { result: 15 });
    // More than 40 tools are searched.
    if (kind === "whole") assert.equal(result.tools.length, count);
    if (kind === "short") assert.equal(result.tools.length, count > 40 ? 2 : count);
  }
}

const row = (kind, count) => rows.find((row) => row.kind === kind && row.count === count);
const cost = (kind, count) => compare(row(kind, count).passes, row(kind, COUNTS[0]).passes, ({ cost }) => cost);
const start = ({ starts }) => compare(starts, echo.starts, (milliseconds) => milliseconds);
const figures = ours.map((worker) => {
  const { count } = worker;
  const kilobytes = (kind) => `${(bytes.get(`${kind} ${count}`) / 1000).toFixed(1)} KB`;
  const [call, mcp, whole, short] = Object.keys(MEASURED).map((kind) => cost(kind, count));
  const { median, ratio } = start(worker);
  return [
    count.toLocaleString("en"),
    (sizes(worker).gzip / 1000).toFixed(1),
    `${median.toFixed(1)} (${ratio.toFixed(2)} × echo)`,
    `${call.median.toFixed(0)} (${call.ratio.toFixed(2)} ×)`,
    `${mcp.median.toFixed(0)} (${mcp.ratio.toFixed(2)} ×)`,
    `${short.median.toFixed(0)} (${kilobytes("short")})`,
    `${whole.median.toFixed(0)} (${kilobytes("whole")})`,
  ];
});
const { unit } = counter;
const text = table(
  ["Tools", "gzip, KB", "first response, ms", `a call, ${unit}`, `over MCP, ${unit}`, `its list, ${unit}`, `with \`?tools=all\`, ${unit}`],
  figures,
);
console.log(text);
await writeTable("docs/SCALE.md", "node bench/scale.mjs", text);
const { ratio } = cost("call", COUNTS.at(-1));
log(`a call with ${COUNTS.at(-1)} tools costs ${ratio.toFixed(3)} × one with ${COUNTS[0]}; at most ${MOST}`);
if (ratio > MOST) process.exitCode = 1;
