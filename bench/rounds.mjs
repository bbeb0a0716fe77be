// Measuring in passes, each with a workerd of its own, of many short rounds. What disturbs the
// machine then falls on a Worker and on the one beside it alike, and a median passes over the rest.
import { setTimeout as sleep } from "node:timers/promises";

import { load, open } from "./load.mjs";
import { REQUESTS, verifyMcp } from "./mcp.mjs";
import { CALL } from "./verify.mjs";
import { configure, serve } from "./workerd.mjs";

/**
 * Measures all rows of the subjects: adds to `passes` of each a list of rounds, and to `starts` of
 * each basic Worker a list of milliseconds.
 */
export async function measurePass({ basic, workers, rows, verify }, plan, counter) {
  await serve(await configure(workers), async ({ pid, ports }) => {
    await verify(ports);
    const connections = new Map();
    for (const { name } of workers) connections.set(name, await open(ports[name], plan.connections));
    for (const { worker, request, status } of rows) {
      await load(connections.get(worker), request, plan.warmup, status);
    }
    for (const row of rows) row.passes.push([]);
    for (let round = 0; round < plan.rounds; round++) {
      // Each round has another order: what a Worker leaves in the caches falls on different ones.
      for (const row of shuffled(rows)) {
        row.passes.at(-1).push(await measure(pid, connections.get(row.worker), row, plan.requests, counter));
      }
    }
    for (const each of [...connections.values()].flat()) each.close();
  });
  for (const worker of basic) worker.starts.push([]);
  for (let round = 0; round < plan.starts; round++) {
    for (const worker of shuffled(basic)) worker.starts.at(-1).push(await firstRequest(worker));
  }
}

/** Measures MCP's servers in one pass: adds rounds to the `passes` of each kind of request. */
export async function measureMcp(servers, plan, counter) {
  await serve(await configure(servers), async ({ pid, ports }) => {
    await verifyMcp(servers, ports);
    // Connections of its own each time: some servers take so long that those of the others would be
    // closed meanwhile, for nothing came over them.
    const serving = async ({ name }, use) => {
      const connections = await open(ports[name], plan.connections);
      await use(connections);
      for (const each of connections) each.close();
    };
    for (const server of servers) {
      for (const request of Object.values(REQUESTS)) {
        await serving(server, (connections) => load(connections, request, 2 * server.requests));
      }
    }
    for (const { passes } of servers) for (const kind in REQUESTS) passes[kind].push([]);
    for (let round = 0; round < plan.rounds; round++) {
      for (const server of shuffled(servers)) {
        for (const [kind, request] of Object.entries(REQUESTS)) {
          await serving(server, async (connections) => {
            const measured = await measure(pid, connections, { request, status: 200 }, server.requests, counter);
            server.passes[kind].at(-1).push(measured);
          });
        }
      }
    }
  });
}

/** What a call costs the process, and how long it takes, in one round. */
async function measure(pid, connections, { request, status }, requests, counter) {
  // Before anything is counted.
  await Promise.all(connections.map((connection) => connection.ready()));
  const stop = await counter.start(pid);
  const { seconds, latencies } = await load(connections, request, requests, status);
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

function shuffled(items) {
  const keys = new Map(items.map((item) => [item, Math.random()]));
  return items.toSorted((a, b) => keys.get(a) - keys.get(b));
}
