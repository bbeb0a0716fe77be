// Measures the Worker against other ways of doing the same, in one workerd.
//   node bench/run.mjs           everything; writes bench/RESULTS.md
//   node bench/run.mjs --smoke   a few requests to each, without the generated catalogues
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { pick } from "./counter.mjs";
import { Connection, load, open } from "./load.mjs";
import { ROOT, SCRATCH } from "./paths.mjs";
import { report } from "./report.mjs";
import { catalogue } from "./tools.mjs";
import { CALL, alike, verify } from "./verify.mjs";
import { configure, serve } from "./workerd.mjs";
import { ours, yardsticks } from "./workers.mjs";

const smoke = process.argv.includes("--smoke");
const plan = smoke
  ? { catalogues: [], starts: 1, warmup: 50, rounds: 2, requests: 100, connections: 16 }
  : { catalogues: [1, 100, 1000], starts: 11, warmup: 5000, rounds: 9, requests: 3000, connections: 16 };

const say = (text) => console.error(`bench: ${text}`);

await mkdir(SCRATCH, { recursive: true });
const workers = [...(await yardsticks()), await ours("ours", "ours", join(ROOT, "build"))];
for (const count of plan.catalogues) {
  say(`catalogue of ${count} tools`);
  workers.push(await ours(`tools-${count}`, `ours with ${count} tools`, await catalogue(count)));
}
const counter = await pick();
const results = new Map(workers.map((worker) => [worker.name, { ...worker, ...sizes(worker), rounds: [], starts: [] }]));

say("steady state");
await serve(await configure(workers), async ({ pid, ports }) => {
  const answers = [];
  for (const { name } of workers) answers.push([name, await verify(name, ports[name])]);
  alike(answers);
  for (const { name } of workers) await measure(pid, ports[name], plan.warmup);
  for (let round = 0; round < plan.rounds; round++) {
    for (const { name } of workers) {
      results.get(name).rounds.push(await measure(pid, ports[name], plan.requests));
    }
  }
});

say("first request");
for (let round = 0; round < plan.starts; round++) {
  for (const worker of workers) results.get(worker.name).starts.push(await firstRequest(worker));
}

const text = report(results, plan, counter);
console.log(text);
if (!smoke) await writeFile(join(ROOT, "bench/RESULTS.md"), text);

/** What `requests` calls cost the process each, and how long they took. */
async function measure(pid, port, requests) {
  const connections = await open(port, plan.connections);
  const stop = await counter.start(pid);
  const { seconds, latencies } = await load(connections, CALL, requests);
  // Answers leave before the process is done with them.
  await new Promise((resolve) => setTimeout(resolve, 20));
  const cost = (await stop()) / requests;
  connections.forEach((connection) => connection.close());
  return { cost, rate: requests / seconds, latencies };
}

/** Milliseconds from the start of a workerd with this Worker alone to its first answer. */
async function firstRequest(worker) {
  const config = await configure([worker]);
  const started = performance.now();
  return serve(config, async ({ ports }) => {
    const connection = await Connection.open(ports[worker.name]);
    const { status } = await connection.send(CALL);
    if (status !== 200) throw new Error(`${worker.name} first answered ${status}`);
    const time = performance.now() - started;
    connection.close();
    return time;
  });
}

function sizes({ modules }) {
  const sum = (size) => modules.reduce((total, { bytes }) => total + size(bytes), 0);
  return { raw: sum((bytes) => bytes.length), gzip: sum((bytes) => gzipSync(bytes, { level: 9 }).length) };
}
