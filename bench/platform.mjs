// What the platform takes of a call: counted instructions of the whole workerd process, for Workers that
// do a little more each, beside the ones of the benchmark. Takes valgrind, and ten minutes.
//   node bench/platform.mjs       writes docs/PLATFORM.md
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { load, open } from "./load.mjs";
import { COUNTED, instructions, sinceThen } from "./platform/callgrind.mjs";
import { steps } from "./platform/steps.mjs";
import { ROOT } from "./paths.mjs";
import { deployed } from "./subjects.mjs";
import { table } from "./table.mjs";
import { CALL, verify } from "./verify.mjs";
import { yardsticks } from "./workers.mjs";
import { configure, serve, version } from "./workerd.mjs";

/** So many calls until V8 has compiled all that it will. */
const WARMUP = 6000;
const CALLS = 2000;
const SLICES = 3;
const CONNECTIONS = 4;

const known = (await yardsticks()).filter(({ name }) => name !== "null");
const own = await deployed();
const workers = [...steps, ...known, own];

/** From the start of a process to the first answer of the Worker that is alone in it. */
async function started(worker) {
  return serve(
    await configure([worker]),
    async ({ pid, ports }) => {
      const listening = await sinceThen(pid);
      const [connection] = await open(ports[worker.name], 1);
      const first = await instructions(pid, () => connection.send(CALL));
      connection.close();
      return { title: worker.title, listening, first };
    },
    { under: COUNTED },
  );
}

const echo = known.find(({ name }) => name === "echo");
const beside = { name: "beside", title: "the same, with our module beside it, unused" };
beside.modules = [...echo.modules, ...own.modules.filter(({ type }) => type === "wasm")];
const starts = [];
for (const worker of [echo, beside, own]) starts.push(await started(worker));

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

const head = ["Worker", "instructions a call", "× echo"];
const whole = (count) => Math.round(count).toLocaleString("en");
const row = ({ name, title }) => [title, whole(counts[name]), (counts[name] / counts.echo).toFixed(2)];
const more = (name, than) => `${((counts[name] - counts[than]) / 1000).toFixed(0)},000`;
const least = (counts.memory / counts.echo).toFixed(2);

const text = `# What the platform takes

Instructions of workerd ${version} for one call of \`Calculator.Add\`, outside of the kernel, in all threads: counted by
valgrind, the least of ${SLICES} slices of ${CALLS} calls after ${WARMUP} to warm up, over ${CONNECTIONS} connections. Written by
\`make profile PLATFORM=1\`. No two runs agree to the last per cent, for threads and the collection of garbage go their own
ways.

Each of these Workers does what the one above it does, and a little more. They know one answer, whatever they are sent.

${table(head, steps.map(row))}

These are Workers of [the benchmark](../bench/RESULTS.md). Echo reads the body as bytes and answers with them, without a
header.

${table(head, [...known, own].map(row))}

So a Worker that hands a call to WebAssembly and an answer back costs ${least} × echo before either has been looked at.
Of the ways that we have tried this is the one that costs least: bytes cost more than text, both ways. What would have to
change in the runtime, by what it takes now:

- to read a body as text, ${more("text", "nothing")}: a stream, a promise and a turn of its event loop, for a body that has arrived
  whole. A body that could be had at once, or be written into WebAssembly's memory, would save most of it;
- to answer with a text, ${more("answer", "text")}: its way from JS into the runtime's buffers;
- three headers that have been made once, ${more("headers", "answer")}: each Response copies them. Headers that are frozen and
  shared would cost nothing;
- to ask for three headers, ${more("asked", "headers")}: one call into the runtime and one text each;
- strings into WebAssembly's memory and out of it, ${more("memory", "asked")}: JS texts that WebAssembly can read in place
  (stringref, or imported string builtins that toolchains use) would save it.

Ours takes ${more("ours", "memory")} besides. [PROFILE.md](PROFILE.md) takes apart what WebAssembly does of that; hand-written
JavaScript with \`JSON.parse\`, which is the runtime's own, takes ${more("ajv", "asked")} more than the Worker that has read the
body and three headers and knows its answer.

The realistic call of the benchmark has 2 KB of JSON, and costs more beside JavaScript: \`JSON.parse\` is native code that
looks at many bytes at once, while WebAssembly takes some 60 instructions for each byte that becomes a value
([PROFILE.md](PROFILE.md), decode), and reads the values into the tool's own types besides. A parser of the runtime's that
WebAssembly may call would close that.

## The first answer

Instructions from the start of the process, counted likewise. V8 checks all of a module before it runs any of it, and
compiles each function when it is called first.

${table(
  ["Worker", "until it listens", "the first call", "both, × echo"],
  starts.map(({ title, listening, first }) => [
    title,
    whole(listening),
    whole(first),
    ((listening + first) / (starts[0].listening + starts[0].first)).toFixed(2),
  ]),
)}
`;
await writeFile(join(ROOT, "docs/PLATFORM.md"), text);
