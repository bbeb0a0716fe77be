// Measures the Worker against other ways of doing the same, in one workerd.
//   node bench/run.mjs           everything; writes bench/RESULTS.md
//   node bench/run.mjs --smoke   whether all answer rightly: few requests, no generated catalogues
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";

import { verifyAccess, withAccess } from "./access.mjs";
import { bystanders, pick } from "./counter.mjs";
import { DIALECTS, verifyDialects } from "./dialects.mjs";
import { load, open } from "./load.mjs";
import { REQUESTS, servers, verifyMcp } from "./mcp.mjs";
import { ROOT, SCRATCH } from "./paths.mjs";
import { report } from "./report.mjs";
import { catalogue } from "./tools.mjs";
import { CALL, alike, verify } from "./verify.mjs";
import { configure, serve } from "./workerd.mjs";
import { ours, yardsticks } from "./workers.mjs";

const smoke = process.argv.includes("--smoke");
// Many short rounds rather than few long ones: what disturbs the machine then falls on a Worker
// and on the echo beside it alike, and the median passes over the rest.
const plan = smoke
  ? {
      catalogues: [],
      warmup: 50,
      rounds: 2,
      requests: 100,
      connections: 16,
      starts: 1,
      mcp: { rounds: 2, connections: 4, requests: new Map([[1, 10], [100, 2]]) },
    }
  : {
      catalogues: [1, 100, 1000],
      warmup: 6000,
      rounds: 60,
      requests: 500,
      connections: 16,
      starts: 11,
      // By how many tools there are: the more, the longer the packages take.
      mcp: { rounds: 11, connections: 4, requests: new Map([[1, 200], [100, 20], [1000, 5]]) },
    };

const say = (text) => console.error(`bench: ${text}`);
// Through "exit", which ends a workerd that is running.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));

await mkdir(SCRATCH, { recursive: true });
const workers = [...(await yardsticks()), await ours("ours", "ours", join(ROOT, "build"))];
for (const count of plan.catalogues) {
  const title = `ours, ${count.toLocaleString("en")} ${count === 1 ? "tool" : "tools"}`;
  say(title);
  workers.push(await ours(`tools-${count}`, title, await catalogue(count)));
}
const results = new Map(
  workers.map((worker) => [worker.name, { ...worker, ...sizes(worker), rounds: [], starts: [] }]),
);

const mcp = [];
for (const [count, requests] of plan.mcp.requests) {
  const own = results.get(`tools-${count}`);
  if (own) mcp.push({ ...own, title: "ours", count, requests: plan.requests });
  for (const server of await servers(count)) mcp.push({ ...server, requests });
}
// Without the catalogues, ours has the tools that are deployed.
if (smoke) mcp.push({ ...results.get("ours"), requests: plan.requests });
for (const server of mcp) Object.assign(server, sizes(server), { rounds: { call: [], list: [] } });

const dialects = DIALECTS.map((dialect) => ({ ...dialect, rounds: [] }));

say("calls");
const counter = await pick();
const { access, noise } = await withAccess(async (ways) => {
  const access = ways.map((way) => ({ ...way, rounds: [] }));
  return { access, noise: await calls(access) };
});

say("first requests");
for (let round = 0; round < plan.starts; round++) {
  for (const worker of workers) results.get(worker.name).starts.push(await firstRequest(worker));
}

const text = report({ results, dialects, access, mcp }, plan, { counter, noise });
if (smoke) {
  say("all answer as they should; so few calls say nothing about speed");
} else {
  console.log(text);
  await writeFile(join(ROOT, "bench/RESULTS.md"), text);
}

/** Measures the calls to all Workers, in rounds; gives what else the machine did meanwhile. */
async function calls(access) {
  const { modules } = results.get("ours");
  const guarded = access.map(({ name, variables }) => ({ name, variables, modules }));
  const packages = mcp.filter(({ name }) => !results.has(name));
  const config = await configure([...workers, ...guarded, ...packages]);
  return serve(config, async ({ pid, ports }) => {
    const answers = [];
    for (const { name } of workers) answers.push([name, await verify(name, ports[name])]);
    alike(answers);
    await verifyDialects(ports.ours);
    await verifyAccess(access, ports);
    await verifyMcp(mcp, ports);

    const connections = new Map();
    for (const { name } of workers) connections.set(name, await open(ports[name], plan.connections));
    for (const { name } of workers) await load(connections.get(name), CALL, plan.warmup);
    for (const { request } of dialects) await load(connections.get("ours"), request, plan.warmup / 10);
    for (const { name, request } of access) {
      connections.set(name, await open(ports[name], plan.connections));
      await load(connections.get(name), request, plan.warmup);
    }
    const others = await bystanders(pid);
    for (let round = 0; round < plan.rounds; round++) {
      for (const { name } of workers) {
        results.get(name).rounds.push(await measure(pid, connections.get(name), CALL));
      }
      for (const { request, rounds } of dialects) {
        rounds.push(await measure(pid, connections.get("ours"), request));
      }
      for (const { name, request, rounds } of access) {
        rounds.push(await measure(pid, connections.get(name), request));
      }
    }
    for (const each of [...connections.values()].flat()) each.close();

    say("MCP");
    // Connections of its own each time: some servers take so long that those of the others would be
    // closed meanwhile, for nothing came over them.
    const serving = async ({ name }, use) => {
      const connections = await open(ports[name], plan.mcp.connections);
      await use(connections);
      for (const each of connections) each.close();
    };
    for (const server of mcp) {
      for (const request of Object.values(REQUESTS)) {
        await serving(server, (connections) => load(connections, request, 2 * server.requests));
      }
    }
    for (let round = 0; round < plan.mcp.rounds; round++) {
      for (const server of mcp) {
        for (const [kind, request] of Object.entries(REQUESTS)) {
          await serving(server, async (connections) => {
            server.rounds[kind].push(await measure(pid, connections, request, server.requests));
          });
        }
      }
    }
    return others();
  });
}

/** What a call costs the process, and how long it takes, in one round. */
async function measure(pid, connections, request, requests = plan.requests) {
  // Before anything is counted.
  await Promise.all(connections.map((connection) => connection.ready()));
  const stop = await counter.start(pid);
  const { seconds, latencies } = await load(connections, request, requests);
  // An answer leaves before the process is done with its request.
  await sleep(20);
  return { cost: (await stop()) / requests, rate: requests / seconds, latencies };
}

/** Milliseconds from the start of a workerd with this Worker alone to its first answer. */
async function firstRequest(worker) {
  const config = await configure([worker]);
  const started = performance.now();
  return serve(config, async ({ ports }) => {
    const [connection] = await open(ports[worker.name], 1);
    const { status } = await connection.send(CALL);
    const time = performance.now() - started;
    connection.close();
    if (status !== 200) throw new Error(`${worker.name} first answered ${status}`);
    return time;
  });
}

function sizes({ modules }) {
  const sum = (size) => modules.reduce((total, { bytes }) => total + size(bytes), 0);
  return {
    raw: sum((bytes) => bytes.length),
    gzip: sum((bytes) => gzipSync(bytes, { level: 9 }).length),
  };
}
