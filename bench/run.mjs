// Runs the benchmark: compares the Worker with other implementations in one workerd.
//   node bench/run.mjs           runs everything; writes bench/RESULTS.md and bench/ratios.json
//   node bench/run.mjs --check   measures only the ratios, in fewer rounds; fails if one is worse than the stored one
//   node bench/run.mjs --load    sends mixed traffic, a tenth of it invalid
//   node bench/run.mjs --soak    sends a million calls and measures memory
//   node bench/run.mjs --smoke   checks that everything works: few requests, no large catalogues
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { withAccess } from "./access.mjs";
import { bystanders, pick } from "./counter.mjs";
import { judge, passes, stored } from "./guard.mjs";
import { STATELESS, servers } from "./mcp.mjs";
import { ROOT, SCRATCH } from "./paths.mjs";
import { writePrices } from "./price.mjs";
import { ratios } from "./ratios.mjs";
import { loadSection, memorySection, report, verdicts } from "./report.mjs";
import { measureMcp, measurePass } from "./rounds.mjs";
import { median } from "./statistics.mjs";
import { growth, peaks, soak, underLoad } from "./stress.mjs";
import { deployed, subjects } from "./subjects.mjs";
import { sizes, yardsticks } from "./workers.mjs";

const FULL = {
  catalogues: [1, 100, 1000],
  passes: 4,
  rounds: 8,
  starts: 3,
  requests: 500,
  warmup: 10_000,
  connections: 16,
  // Requests by the number of tools: the packages are slower with more tools.
  mcp: { rounds: 11, connections: 4, requests: new Map([[1, 200], [100, 20], [1000, 5]]), starts: 5, calls: 20 },
  load: { slices: 10, milliseconds: 2000, connections: 64 },
  soak: { calls: 1_000_000, step: 50_000, connections: 64 },
};
const SMOKE = {
  catalogues: [],
  passes: 1,
  rounds: 2,
  starts: 1,
  requests: 50,
  warmup: 50,
  connections: 16,
  mcp: { rounds: 2, connections: 4, requests: new Map([[1, 10], [100, 2]]), starts: 1, calls: 20 },
  load: { slices: 1, milliseconds: 200, connections: 64 },
  soak: { calls: 4000, step: 500, connections: 64 },
};

const modes = ["check", "load", "soak", "smoke"];
const mode = modes.find((mode) => process.argv.includes(`--${mode}`)) ?? "full";
const plan = { full: FULL, check: { ...FULL, passes: 2 }, load: FULL, soak: FULL, smoke: SMOKE }[mode];
const RATIOS = join(ROOT, "bench/ratios.json");

const log = (text) => console.error(`bench: ${text}`);
// Emits "exit", which ends a running workerd.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));
await mkdir(SCRATCH, { recursive: true });

if (mode === "load") {
  console.log(loadSection(await load(), plan.load));
} else if (mode === "soak") {
  const memory = await remember();
  console.log(memorySection(memory));
  if (memory.growth.grows) process.exitCode = 1;
} else {
  await measured();
}

async function measured() {
  const before = mode === "check" && JSON.parse(await readFile(RATIOS, "utf8").catch(unknown));
  const counter = await pick();
  let watched;
  const subject = await withAccess(async (ways) => {
    const subject = await subjects(plan.catalogues, ways, log);
    watched = await bystanders();
    for (const row of subject.rows) row.passes = [];
    for (const worker of subject.basic) Object.assign(worker, sizes(worker), { starts: [] });
    for (let pass = 1; pass <= plan.passes; pass++) {
      log(`pass ${pass} of ${plan.passes}`);
      await measurePass(subject, plan, counter);
    }
    return subject;
  });
  const { gzip } = subject.basic.find(({ name }) => name === "ours");
  const now = stored(ratios(subject), gzip);
  if (mode === "check") {
    const rows = judge(before, now);
    console.log(verdicts(rows, await watched()));
    if (!passes(rows)) process.exitCode = 1;
    return;
  }

  log("MCP");
  const mcp = await mcpServers(subject.basic);
  await measureMcp(mcp, plan.mcp, counter);
  const noise = await watched();
  const loaded = await load();
  const memory = await remember();
  const text = report({ ...subject, mcp, load: loaded, memory }, plan, { counter, noise });
  if (mode === "smoke") {
    log("all responses are correct; so few calls do not measure performance");
  } else {
    console.log(text);
    await writeFile(join(ROOT, "bench/RESULTS.md"), text);
    await writeFile(RATIOS, `${JSON.stringify(now, null, 2)}\n`);
    // Prices need CPU time, not instructions.
    if (counter.unit === "µs") await writePrices(priced(subject.rows));
  }
}

function unknown() {
  throw new Error("bench/ratios.json is missing; run make bench to create it");
}

/** The requests in the price table, with their CPU time. */
function priced(rows) {
  const named = [
    ...rows.filter(({ group, id }) => group === "access" && id !== "access-key-ajv").map(({ id, title }) => [id, `a call, AUTH: ${title}`]),
    ["order-ours", "a realistic call, 2 KB of input"],
    ["list-oxp", "a list, whole"],
    ["list-oxp-known", "a list that the client has already"],
  ];
  return named.map(([id, title]) => {
    const { passes } = rows.find((row) => row.id === id);
    return { title, milliseconds: median(passes.flat().map(({ cost }) => cost)) / 1000 };
  });
}

/** Ours and the packages, with the same numbers of tools. */
async function mcpServers(basic) {
  const mcp = [];
  for (const [count, requests] of plan.mcp.requests) {
    const own = basic.find(({ name }) => name === `tools-${count}`);
    if (own) mcp.push({ ...own, title: "ours", count, revision: STATELESS, requests: plan.requests });
    for (const server of await servers(count)) mcp.push({ ...server, requests });
  }
  // Without the generated catalogues, ours has the deployed tools.
  if (plan.catalogues.length === 0) {
    mcp.push({ ...basic.find(({ name }) => name === "ours"), revision: STATELESS, requests: plan.requests });
  }
  for (const server of mcp) Object.assign(server, sizes(server), { passes: { call: [], list: [] }, starts: [] });
  return mcp;
}

async function load() {
  log("load");
  const echo = (await yardsticks()).find(({ name }) => name === "echo");
  return underLoad(await deployed(), echo, plan.load);
}

async function remember() {
  log("memory");
  const ours = await deployed();
  const samples = await soak(ours, plan.soak);
  return { samples, growth: growth(samples), peaks: await peaks(ours) };
}
