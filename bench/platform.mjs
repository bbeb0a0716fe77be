// What the platform takes of a call: counted instructions of the whole workerd process, for Workers that
// do a little more each, beside the ones of the benchmark. Takes valgrind, and ten minutes.
//   node bench/platform.mjs       writes docs/PLATFORM.md
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { load, open } from "./load.mjs";
import { COUNTED, instructions } from "./platform/callgrind.mjs";
import { steps } from "./platform/steps.mjs";
import { ROOT } from "./paths.mjs";
import { table } from "./table.mjs";
import { CALL, verify } from "./verify.mjs";
import { ours, yardsticks } from "./workers.mjs";
import { configure, serve, version } from "./workerd.mjs";

/** So many calls until V8 has compiled all that it will. */
const WARMUP = 6000;
const CALLS = 2000;
const SLICES = 3;
const CONNECTIONS = 4;

const known = (await yardsticks()).filter(({ name }) => name !== "null");
const deployed = await ours("ours", "ours", join(ROOT, "build"));
const workers = [...steps, ...known, deployed];

const counts = await serve(await configure(workers), count, { under: COUNTED });

async function count({ pid, ports }) {
  const least = {};
  for (const { name } of workers) {
    if (!steps.some((step) => step.name === name)) await verify(name, ports[name]);
    const connections = await open(ports[name], CONNECTIONS);
    await load(connections, CALL, WARMUP);
    const slices = [];
    for (let slice = 0; slice < SLICES; slice += 1) {
      slices.push(await instructions(pid, () => load(connections, CALL, CALLS)));
    }
    connections.forEach((connection) => connection.close());
    least[name] = Math.min(...slices) / CALLS;
    console.log(name, slices.map((slice) => Math.round(slice / CALLS)).join(" "));
  }
  return least;
}

const thousands = (count) => (count / 1000).toFixed(0);
const row = ({ name, title }) => [title, thousands(counts[name]), (counts[name] / counts.echo).toFixed(2)];
const head = ["Worker", "thousand instructions a call", "× echo"];

const text = `# What the platform takes

Instructions of workerd ${version} for one call of \`Calculator.Add\`, outside of the kernel, in all threads: counted by
valgrind, the least of ${SLICES} slices of ${CALLS} calls after ${WARMUP} to warm up, over ${CONNECTIONS} connections. Written by \`make profile PLATFORM=1\`.

Each of these does what the one above it does, and more. Not one of them looks at what it was sent.

${table(head, steps.map(row))}

These are the Workers of [the benchmark](../bench/RESULTS.md). Echo reads the body as bytes and answers with them, without
a header.

${table(head, [...known, deployed].map(row))}

`;
await writeFile(join(ROOT, "docs/PLATFORM.md"), text);
