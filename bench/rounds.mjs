// Measuring in passes, each with a workerd of its own, of many short rounds. What disturbs the
// machine then falls on a Worker and on those beside it alike, and a median passes over the rest.
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
    const warm = new Set();
    for (const { worker, request, status } of rows) {
      // A Worker that knows other requests already needs fewer.
      await load(connections.get(worker), request, warm.has(worker) ? plan.warmup / 5 : plan.warmup, status);
      warm.add(worker);
    }
    for (const row of rows) row.passes.push([]);
    for (let round = 0; round < plan.rounds; round++) {
      for (const row of inTurn(rows, round)) {
        row.passes.at(-1).push(await measure(pid, connections.get(row.worker), row, plan.requests, counter));
      }
    }
    for (const each of [...connections.values()].flat()) each.close();
  });
  for (const worker of basic) worker.starts.push([]);
  for (let round = 0; round < plan.starts; round++) {
    for (const worker of inTurn(basic, round)) worker.starts.at(-1).push(await firstAnswer(worker));
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
      for (const server of inTurn(servers, round)) {
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
  // Before anything is counted: connections are opened again, and the last Worker leaves the caches.
  await load(connections, request, connections.length, status);
  const stop = await counter.start(pid);
  const { seconds, latencies } = await load(connections, request, requests, status);
  // An answer leaves before the process is done with its request.
  await sleep(20);
  return { cost: (await stop()) / requests, rate: requests / seconds, latencies };
}

/** Milliseconds from the start of a workerd with this Worker alone to its first answer. */
export async function firstAnswer(worker) {
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

/** Forwards and backwards by turns, each time from elsewhere: those that are compared stay close to
 *  each other, and nobody always follows the same one. */
function inTurn(items, round) {
  const from = Math.floor(Math.random() * items.length);
  const order = [...items.slice(from), ...items.slice(0, from)];
  return round % 2 === 0 ? order : order.reverse();
}
