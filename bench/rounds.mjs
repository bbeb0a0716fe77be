// Measures in passes of many short rounds; each pass starts a new workerd. Interference then affects all
// Workers of a round alike, and the median removes outliers.
import { setTimeout as sleep } from "node:timers/promises";

import { resident } from "./counter.mjs";
import { load, open } from "./load.mjs";
import { verifyMcp } from "./mcp.mjs";
import { CALL } from "./verify.mjs";
import { configure, serve } from "./workerd.mjs";

/**
 * Measures all rows in one pass: adds a list of rounds to the `passes` of each row, and a list of
 * milliseconds to the `starts` of each basic Worker.
 */
export async function measurePass({ basic, workers, rows, verify }, plan, counter) {
  await serve(await configure(workers), async ({ pid, ports }) => {
    await verify(ports);
    const connections = new Map();
    for (const { name } of workers) connections.set(name, await open(ports[name], plan.connections));
    // As many for each row, so that V8 has optimized the code of each: it does so after thousands of calls.
    for (const { worker, request, status } of rows) await load(connections.get(worker), request, plan.warmup, status);
    for (const row of rows) row.passes.push([]);
    for (let round = 0; round < plan.rounds; round++) {
      for (const row of inTurn(rows, round)) {
        row.passes.at(-1).push(await measure(pid, connections.get(row.worker), row, plan.requests, counter));
      }
    }
    for (const each of [...connections.values()].flat()) each.close();
  }, { output: "ignore" });
  for (const worker of basic) worker.starts.push([]);
  for (let round = 0; round < plan.starts; round++) {
    for (const worker of inTurn(basic, round)) worker.starts.at(-1).push((await measureStart(worker)).milliseconds);
  }
}

/** Measures the MCP servers in one pass: adds rounds to the `passes` of each kind of request, and what
 *  `measureStart` returns to the `starts`. */
export async function measureMcp(servers, plan, counter) {
  await serve(await configure(servers), async ({ pid, ports }) => {
    await verifyMcp(servers, ports);
    // Open new connections each time: some servers are so slow that the idle connections to the others
    // would be closed.
    const serving = async ({ name, revision }, use) => {
      const connections = await open(ports[name], plan.connections, revision.connect);
      await use(connections);
      for (const each of connections) each.close();
    };
    for (const server of servers) {
      for (const request of Object.values(server.revision.requests)) {
        await serving(server, (connections) => load(connections, request, 2 * server.requests));
      }
    }
    for (const { passes } of servers) for (const kind in passes) passes[kind].push([]);
    for (let round = 0; round < plan.rounds; round++) {
      for (const server of inTurn(servers, round)) {
        for (const [kind, request] of Object.entries(server.revision.requests)) {
          await serving(server, async (connections) => {
            const measured = await measure(pid, connections, { request, status: 200 }, server.requests, counter);
            server.passes[kind].at(-1).push(measured);
          });
        }
      }
    }
  });
  for (let round = 0; round < plan.starts; round++) {
    for (const server of inTurn(servers, round)) {
      const { connect, requests } = server.revision;
      server.starts.push(await measureStart(server, { request: requests.call, connect, calls: plan.calls }));
    }
  }
}

/** The cost and the latencies of a call in one round. */
async function measure(pid, connections, { request, status }, requests, counter) {
  // Before counting, reopen closed connections and fill the CPU caches with this Worker.
  await load(connections, request, connections.length, status);
  const stop = await counter.start(pid);
  const { seconds, latencies } = await load(connections, request, requests, status);
  // The process continues for a moment after it has sent the response.
  await sleep(20);
  return { cost: (await stop()) / requests, rate: requests / seconds, latencies };
}

/** Starts a workerd with only this Worker. Returns the `milliseconds` from its start to the first response to
 *  `request`, and its `memory` in bytes after `calls` of them. */
export async function measureStart(worker, { request = CALL, connect, calls = 1 } = {}) {
  const config = await configure([worker]);
  const started = performance.now();
  return serve(config, async ({ pid, ports }) => {
    const [connection] = await open(ports[worker.name], 1, connect);
    await load([connection], request, 1);
    const milliseconds = performance.now() - started;
    await load([connection], request, calls - 1);
    const memory = await resident(pid);
    connection.close();
    return { milliseconds, memory };
  });
}

/** The order of a round: alternately forwards and backwards, from a random start. Compared items stay
 *  close together, but none always follows the same one. */
function inTurn(items, round) {
  const from = Math.floor(Math.random() * items.length);
  const order = [...items.slice(from), ...items.slice(0, from)];
  return round % 2 === 0 ? order : order.reverse();
}
