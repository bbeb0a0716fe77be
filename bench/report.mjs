// The text of bench/RESULTS.md.
import os from "node:os";

import { BUDGET } from "./budget.mjs";
import { BYTES } from "./order.mjs";
import { mcpRatios, ratios } from "./ratios.mjs";
import { compare, quantile } from "./statistics.mjs";
import { table } from "./table.mjs";
import { KINDS } from "./traffic.mjs";
import { version } from "./workerd.mjs";

/** What a request may cost on the free plan. */
const BUDGET_MS = 10;

export function report({ rows, basic, mcp, load, memory }, plan, { counter, noise }) {
  const passesOf = (id) => rows.find((row) => row.id === id).passes;
  const to = (id, other, measure = ({ cost }) => cost) => compare(passesOf(id), passesOf(other), measure);
  const group = (name) => rows.filter((row) => row.group === name);
  /** The cells of a cost: the least, the median, and the ratio to another. */
  const costs = (id, other) => {
    const cost = to(id, other);
    return [cost.least.toFixed(1), cost.median.toFixed(1), cost.ratio.toFixed(2)];
  };
  const rounds = plan.passes * plan.rounds;

  return `# Benchmark

Written by \`make bench\`, which runs \`node_modules/.bin/node bench/run.mjs\`.

- Machine: ${os.cpus().length} × ${os.cpus()[0].model}, ${os.type()} ${os.arch()}. workerd ${version}; the client is Node ${process.versions.node} on the same machine.
- One workerd holds all Workers. Unless something else is said, each gets the same call of \`Calculator.Add\`: ${rounds} rounds of ${plan.requests} calls to each, after as many as ${plan.warmup.toLocaleString("en")} to warm up, over ${plan.connections} connections that are kept open. The rounds are those of ${plan.passes} passes, each with a workerd of its own; rounds go forwards and backwards by turns.
- JavaScript, Hono and ours were first seen to give the same answers to good calls and to bad ones.
- Cost of a call: ${counter.title}, of the whole workerd process.
- × is a ratio to another Worker, or another request, in the same round: the median of all rounds. Trust the ratios; the other figures (medians where nothing else is said) are this machine's.
- Meanwhile other programs took ${percent(noise.others)} of the machine's time, and its host ${percent(noise.stolen)}. The more that is, the less even the ratios say.

## Cost and time of a call

${table(
  ["Worker", `least ${counter.unit}`, counter.unit, "× echo", "calls/s", "×", "p50 ms", "×", "p99 ms", "×"],
  group("call").map(({ id, title }) => [
    title,
    ...costs(id, "echo"),
    ...cells(to(id, "echo", ({ rate }) => rate), 0),
    ...cells(to(id, "echo", ({ latencies }) => quantile(latencies, 0.5)), 2),
    ...cells(to(id, "echo", ({ latencies }) => quantile(latencies, 0.99)), 2),
  ]),
)}

A latency is what the client sees with ${plan.connections} calls under way: most of it is waiting for the others.

## A realistic call

${table(
  ["Worker", `least ${counter.unit}`, counter.unit, "× echo", "× JavaScript + AJV"],
  group("order").map(({ id, title }) => [
    title,
    ...costs(id, "order-echo"),
    to(id, "order-ajv").ratio.toFixed(2),
  ]),
)}

\`Order.Price\` with an input of ${BYTES.toLocaleString("en")} bytes in ten nested lines; its schema has thirty properties (objects, arrays, enums, limits). The tool reads all of it and answers with four numbers. All were first seen to answer alike, also to bad inputs. Ours reads it into typed structs, as its tools do; in JavaScript the parsed value is used as it is.

## The same call in each protocol

${table(
  ["Protocol", `least ${counter.unit}`, counter.unit, "× echo", "× OXP, flat"],
  group("protocol").map(({ id, title }, _, [flat]) => [title, ...costs(id, "echo"), to(id, flat.id).ratio.toFixed(2)]),
)}

All of them on the one Worker that is called ours above.

## The same call by callers who are known

${table(
  ["AUTH", `least ${counter.unit}`, counter.unit, "× echo", "× none", `% of ${BUDGET_MS} ms`],
  group("access").map(({ id, title }, _, [none]) => {
    const part = counter.unit === "µs" ? (to(id, "echo").median / BUDGET_MS / 10).toFixed(1) : "";
    return [title, ...costs(id, "echo"), to(id, none.id).ratio.toFixed(2), part];
  }),
)}

OXP, flat; one Worker for each row, all of the bundle that is called ours above. The free plan gives a request ${BUDGET_MS} ms of CPU; the last column is the share that a call takes here, with all that workerd does for it. The key of ES256 was fetched from an issuer on this machine before the rounds, and the runtime's WebCrypto verifies.

## Lists

${table(
  ["List", `least ${counter.unit}`, counter.unit, "× the constant answer", "× null Worker", "bytes"],
  group("list")
    .filter(({ worker }) => worker === "ours")
    .map(({ id, title, bytes }) => [
      title,
      ...costs(id, `${id}-constant`),
      to(id, "list-null").ratio.toFixed(2),
      bytes.toLocaleString("en"),
    ]),
)}

The constant answer is that of a Worker which knows nothing else: the very same status, headers and bytes, the bytes made once before any request. The null Worker answers with nothing at all. Known lists are asked for with the entity tag that the client has, and the answer is 304.

## MCP, beside the packages for Workers in JavaScript

${table(
  [
    "Tools",
    "Server",
    `call: least ${counter.unit}`,
    counter.unit,
    "× ours",
    `list: least ${counter.unit}`,
    counter.unit,
    "× ours",
    "gzip KB",
  ],
  mcp.map(({ title, count, passes, gzip }) => {
    const own = mcp.find((other) => other.title === "ours" && other.count === count)?.passes ?? passes;
    const measures = ["call", "list"].map((kind) => compare(passes[kind], own[kind], ({ cost }) => cost));
    const figures = measures.flatMap((cost) => [cost.least.toFixed(1), ...cells(cost, 1)]);
    return [count?.toLocaleString("en") ?? "", title, ...figures, kilobytes(gzip)];
  }),
)}

A \`tools/call\` of \`Calculator_Add\` and the whole \`tools/list\`, revision 2026-07-28, in ${plan.mcp.rounds} rounds: ${plan.requests} requests to ours, ${[...plan.mcp.requests.values()].join(", ")} to the others, over ${plan.mcp.connections} connections. All servers with as many tools have the same ones and were first seen to list them alike, and to answer good calls and bad ones alike. \`@modelcontextprotocol/server\` and \`agents\` are used as their documentation says: a function declares all tools for each request; "schemas made once" is what that leaves when their zod schemas stand outside of it. Ours has lists that were rendered when it was built; a longer one is more to send.

## Size, and the first call after a start

${table(
  ["Worker", "bundle KB", "gzip KB", "least ms", "ms", "×"],
  basic.map(({ title, raw, gzip, starts }, _, all) => {
    const echo = all.find(({ name }) => name === "echo");
    const start = compare(starts, echo.starts, (time) => time);
    return [title, kilobytes(raw), kilobytes(gzip), start.least.toFixed(1), ...cells(start, 1)];
  }),
)}

A KB is 1,000 bytes; gzip has level 9 and takes all modules. The time is that from the start of a workerd with this Worker alone to the first answer, in ${plan.passes * plan.starts} starts.

${loadSection(load, plan.load)}

${memorySection(memory)}

## Targets

${table(
  ["Target", "at most", "measured", "half of the rounds", "met"],
  targets({ rows, basic, mcp }),
)}

The fourth column has the quartiles: half of all rounds lie between them. \`make bench CHECK=1\` compares with the ratios of this run, which stand in bench/ratios.json.
`;
}

function targets({ rows, basic, mcp }) {
  const wanted = [...ratios({ rows, basic }), ...mcpRatios(mcp)].filter(({ limit }) => limit !== undefined);
  const { gzip } = basic.find(({ name }) => name === "ours");
  return [
    ...wanted.map(({ title, limit, ratio, low, high }) => [
      title,
      `${limit} ×`,
      `${ratio.toFixed(2)} ×`,
      `${low.toFixed(2)} to ${high.toFixed(2)}`,
      yes(ratio <= limit),
    ]),
    ["Bundle of ours, gzip", `${BUDGET.everything} KB`, `${kilobytes(gzip)} KB`, "", yes(gzip <= BUDGET.everything * 1000)],
  ];
}

/** What happens under load. */
export function loadSection(sides, { slices, milliseconds, connections }) {
  return `## Under load

${table(
  ["Worker", "requests", "requests/s", "p50 ms", "× echo", "p99 ms", "× echo"],
  sides.map(({ title, requests, rate, p50, p99 }) => [
    title,
    requests.toLocaleString("en"),
    rate.toFixed(0),
    ...cells(p50, 2),
    ...cells(p99, 2),
  ]),
)}

Over ${connections} connections, in ${slices} slices of ${milliseconds / 1000} s for each by turns: all ${KINDS.good} protocols, and ${percent(KINDS.part)} of the requests bad, in ${KINDS.bad} ways. Echo gets the same requests. Every answer was checked to be the one that its own request must get, and the run ends at the first that is not: there was none.`;
}

/** What becomes of memory. */
export function memorySection({ samples, growth, peaks }) {
  const step = Math.max(1, Math.floor(samples.length / 10));
  const told = samples.filter((_, at) => (at + 1) % step === 0);
  return `## Memory

${table(
  ["Calls", "RSS of workerd, MB", "WebAssembly memory, MB"],
  told.map(({ calls, rss, wasm }) => [calls.toLocaleString("en"), megabytes(rss), megabytes(wasm)]),
)}

The traffic of the load, to one workerd. Over the last ${growth.calls.toLocaleString("en")} calls the WebAssembly memory grew by ${growth.wasm.toLocaleString("en")} bytes, and RSS, along a line through ${Math.ceil(samples.length / 2)} samples, by ${(growth.rss / 1e6).toFixed(2)} MB with a standard error of ${(growth.error / 1e6).toFixed(2)}: ${growth.grows ? "it grows" : "no growth beyond noise"}.

${table(
  ["A body of 256 KB, the most that is taken", "before, MB", "after, MB", "bytes per byte"],
  peaks.map(({ title, before, peak }) => [
    title,
    megabytes(before),
    megabytes(peak),
    ((peak - before) / (256 * 1024)).toFixed(1),
  ]),
)}

The WebAssembly memory of a fresh Worker in workerd, read through the runtime's inspector before and after one call with such a body. It never shrinks, so what there is afterwards is the most that the call needed. An instance may have 128 MB.`;
}

/** What `--check` prints. */
export function verdicts(rows, noise) {
  const figure = (value) => value?.toLocaleString("en", { maximumSignificantDigits: value < 1000 ? 4 : 9 }) ?? "";
  const told = table(
    ["Ratio", "stored", "now", "bound", "verdict"],
    rows.map(({ title, was, now, bound, verdict }) => [title, figure(was), figure(now), figure(bound), verdict]),
  );
  return `${told}

Meanwhile other programs took ${percent(noise.others)} of the machine's time, and its host ${percent(noise.stolen)}. The more that is, the wider the bounds.`;
}

const yes = (met) => (met ? "yes" : "no");
const percent = (share) => `${Math.round(share * 100)} %`;
const kilobytes = (bytes) => (bytes / 1000).toFixed(1);
const megabytes = (bytes) => (bytes / 1e6).toFixed(2);
const cells = ({ median, ratio }, digits) => [median.toFixed(digits), ratio.toFixed(2)];
