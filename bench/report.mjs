// Renders bench/RESULTS.md.
import os from "node:os";

import { BUDGET } from "./budget.mjs";
import { BYTES } from "./order.mjs";
import { mcpRatios, ratios } from "./ratios.mjs";
import { compare, quantile } from "./statistics.mjs";
import { table } from "./table.mjs";
import { KINDS } from "./traffic.mjs";
import { version } from "./workerd.mjs";

/** The CPU time of a request on the free plan, in milliseconds. */
const BUDGET_MS = 10;

export function report({ rows, basic, mcp, load, memory }, plan, { counter, noise }) {
  const passesOf = (id) => rows.find((row) => row.id === id).passes;
  const to = (id, other, measure = ({ cost }) => cost) => compare(passesOf(id), passesOf(other), measure);
  const group = (name) => rows.filter((row) => row.group === name);
  /** The cells of a cost: minimum, median, and ratio to another row. */
  const costs = (id, other) => {
    const cost = to(id, other);
    return [cost.least.toFixed(1), cost.median.toFixed(1), cost.ratio.toFixed(2)];
  };
  const rounds = plan.passes * plan.rounds;
  /** Ours with as many tools as an MCP server, and how the tables name one. */
  const ownOf = (server) => mcp.find(({ title, count }) => title === "ours" && count === server.count) ?? server;
  const named = ({ title, count }) => [count?.toLocaleString("en") ?? "", title];

  return `# Benchmark

Written by \`make bench\`, which runs \`node_modules/.bin/node bench/run.mjs\`.

- Machine: ${os.cpus().length} × ${os.cpus()[0].model}, ${os.type()} ${os.arch()}. workerd ${version}; the client is Node ${process.versions.node} on the same machine.
- One workerd holds all Workers. Unless noted otherwise, each receives the same call of \`Calculator.Add\`: ${rounds} rounds of ${plan.requests} calls to each, after ${plan.warmup.toLocaleString("en")} calls that are not measured, so that V8 has optimized its code, over ${plan.connections} keep-alive connections. The rounds are split into ${plan.passes} passes, each with a new workerd; every second round runs in reverse order.
- Before measuring, the benchmark checks that JavaScript, Hono and ours give the same responses to valid and invalid calls.
- Cost of a call: ${counter.title}, of the whole workerd process.
- × is the ratio to another Worker or request in the same round: the median over all rounds. Trust the ratios; the other figures (medians unless noted otherwise) depend on the machine.
- During the run, other programs used ${percent(noise.others)} of the machine's CPU time, and the hypervisor ${percent(noise.stolen)}. The higher these shares, the less reliable even the ratios.

## Cost and time of a call

${table(
  ["Worker", `min ${counter.unit}`, counter.unit, "× echo", "calls/s", "×", "p50 ms", "×", "p99 ms", "×"],
  group("call").map(({ id, title }) => [
    title,
    ...costs(id, "echo"),
    ...cells(to(id, "echo", ({ rate }) => rate), 0),
    ...cells(to(id, "echo", ({ latencies }) => quantile(latencies, 0.5)), 2),
    ...cells(to(id, "echo", ({ latencies }) => quantile(latencies, 0.99)), 2),
  ]),
)}

Latencies are measured by the client with ${plan.connections} calls in flight: most of the time is spent waiting for the other calls.

## A call that is logged

${table(
  ["Worker", `min ${counter.unit}`, counter.unit, "× Hono + AJV"],
  group("log").map(({ id, title }) => [title, ...costs(id, "hono-logged")]),
)}

Both write the same line for each call; before measuring, the benchmark checks that. Elsewhere in this report, no Worker logs.

## A realistic call

${table(
  ["Worker", `min ${counter.unit}`, counter.unit, "× echo", "× JavaScript + AJV"],
  group("order").map(({ id, title }) => [
    title,
    ...costs(id, "order-echo"),
    to(id, "order-ajv").ratio.toFixed(2),
  ]),
)}

\`Order.Price\` with an input of ${BYTES.toLocaleString("en")} bytes in ten nested lines; its schema has thirty properties (objects, arrays, enums, limits). The tool reads all of it and returns four numbers. Before measuring, the benchmark checks that all give the same responses, also to invalid input. Ours deserializes the input into typed structs, as all its tools do; the JavaScript versions use the parsed value directly. The function in TypeScript is that of the JavaScript versions, in the same Worker as the one in Rust.

## A function in TypeScript

${table(
  ["Call", `min ${counter.unit}`, counter.unit, "× Rust"],
  group("script").map(({ id, title }) => [title, ...costs(id, "sum-rust").slice(0, 2), to(id, "sum-rust").ratio.toFixed(2)]),
)}

\`Calculator.Add\` in both languages, in one Worker. Input and value pass between them as JSON.

## The same call in each protocol

${table(
  ["Protocol", `min ${counter.unit}`, counter.unit, "× echo", "× OXP, flat"],
  group("protocol").map(({ id, title }, _, [flat]) => [title, ...costs(id, "echo"), to(id, flat.id).ratio.toFixed(2)]),
)}

All requests go to the Worker called ours above.

## The same call with authentication

${table(
  ["AUTH", `min ${counter.unit}`, counter.unit, "× echo", "× none", `% of ${BUDGET_MS} ms`],
  group("access").map(({ id, title }, _, [none]) => {
    const part = counter.unit === "µs" ? (to(id, "echo").median / BUDGET_MS / 10).toFixed(1) : "";
    return [title, ...costs(id, "echo"), to(id, none.id).ratio.toFixed(2), part];
  }),
)}

OXP, flat; one Worker per row, all but the last with the bundle called ours above. The last one is the service in JavaScript, which hashes the key with WebCrypto; ours does so in WebAssembly. Both compare hashes in constant time. The free plan gives a request ${BUDGET_MS} ms of CPU; the last column is the share that a call uses here, including the work of workerd. The Worker fetched the ES256 key from an issuer on the same machine before the rounds, and verifies with the runtime's WebCrypto.

## Lists

${table(
  ["List", `min ${counter.unit}`, counter.unit, "× constant response", "× null Worker", "bytes"],
  group("list")
    .filter(({ worker }) => worker === "ours")
    .map(({ id, title, bytes }) => [
      title,
      ...costs(id, `${id}-constant`),
      to(id, "list-null").ratio.toFixed(2),
      bytes.toLocaleString("en"),
    ]),
)}

The constant response comes from a Worker that only returns the same status, headers and bytes, which it creates once at startup. The null Worker returns an empty response. For cached lists, the client sends \`If-None-Match\` with its entity tag, and the response is 304.

## MCP, compared with the JavaScript packages for Workers

${table(
  [
    "Tools",
    "Server",
    `call: min ${counter.unit}`,
    counter.unit,
    "× ours",
    `list: min ${counter.unit}`,
    counter.unit,
    "× ours",
    "gzip KB",
  ],
  mcp.map((server) => {
    const { passes } = ownOf(server);
    const measures = ["call", "list"].map((kind) => compare(server.passes[kind], passes[kind], ({ cost }) => cost));
    const figures = measures.flatMap((cost) => [cost.least.toFixed(1), ...cells(cost, 1)]);
    return [...named(server), ...figures, kilobytes(server.gzip)];
  }),
)}

A \`tools/call\` of \`Calculator_Add\` and a full \`tools/list\` (ours needs \`?tools=all\` for more than 40 tools), revision 2026-07-28, in ${plan.mcp.rounds} rounds: ${plan.requests} requests to ours, ${[...plan.mcp.requests.values()].join(", ")} to the others, over ${plan.mcp.connections} connections. Servers with the same number of tools have the same tools; before measuring, the benchmark checks that their lists and their responses to valid and invalid calls are equal. \`@modelcontextprotocol/server\` and \`agents\` are used as documented: a function declares all tools for each request; for "schemas made once", the zod schemas are created outside of it. Ours renders its lists at build time, so a longer list only has more bytes to send.

\`McpAgent\` of \`agents\`, which its documentation calls deprecated in favour of a handler without sessions, knows no revision after 2025-11-25: it keeps a Durable Object for each session, here with SQLite on disk, and creates the server once for it. Each connection has a session, initialized before the measured requests, and the responses are streams of one event. Its list and its responses are checked like the others', but it answers a call of an unknown tool with a failed call instead of an error.

${table(
  ["Tools", "Server", "first response: min ms", "ms", "× ours", "RSS, MB", "× ours"],
  mcp.map((server) => {
    const { starts } = ownOf(server);
    const time = compare([server.starts], [starts], ({ milliseconds }) => milliseconds);
    const memory = compare([server.starts], [starts], ({ memory }) => memory);
    return [...named(server), time.least.toFixed(1), ...cells(time, 1), megabytes(memory.median), memory.ratio.toFixed(2)];
  }),
)}

The time is from the start of a workerd with only this Worker to its first response to the \`tools/call\`, with the initialization of the session if there is one, and RSS is the memory of this workerd after ${plan.mcp.calls} calls, one after the other: medians of ${plan.mcp.starts} starts.

## Size and startup

${table(
  ["Worker", "bundle KB", "gzip KB", "min ms", "ms", "×"],
  basic.map(({ title, raw, gzip, starts }, _, all) => {
    const echo = all.find(({ name }) => name === "echo");
    const start = compare(starts, echo.starts, (time) => time);
    return [title, kilobytes(raw), kilobytes(gzip), start.least.toFixed(1), ...cells(start, 1)];
  }),
)}

A KB is 1,000 bytes; gzip uses level 9 and includes all modules. The time is from the start of a workerd with only this Worker to its first response, over ${plan.passes * plan.starts} starts.

${loadSection(load, plan.load)}

${memorySection(memory)}

## Targets

${table(
  ["Target", "at most", "measured", "quartiles", "met"],
  targets({ rows, basic, mcp }),
)}

The fourth column shows the quartiles: half of all rounds lie between them. \`make bench CHECK=1\` compares a run with the ratios of this one, which are in bench/ratios.json.
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

/** The section on the load test. */
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

Over ${connections} connections, in ${slices} slices of ${milliseconds / 1000} s each, alternating: all ${KINDS.good} protocols, and ${percent(KINDS.part)} of the requests invalid, in ${KINDS.bad} ways. Echo receives the same requests. The benchmark checks every response against its request and stops at the first mismatch: there was none.`;
}

/** The section on memory use. */
export function memorySection({ samples, growth, peaks }) {
  const step = Math.max(1, Math.floor(samples.length / 10));
  const shown = samples.filter((_, at) => (at + 1) % step === 0);
  return `## Memory

${table(
  ["Calls", "RSS of workerd, MB", "WebAssembly memory, MB"],
  shown.map(({ calls, rss, wasm }) => [calls.toLocaleString("en"), megabytes(rss), megabytes(wasm)]),
)}

The traffic of the load test, to one workerd. Over the last ${growth.calls.toLocaleString("en")} calls the WebAssembly memory grew by ${growth.wasm.toLocaleString("en")} bytes, and RSS, by linear regression over ${Math.ceil(samples.length / 2)} samples, by ${(growth.rss / 1e6).toFixed(2)} MB with a standard error of ${(growth.error / 1e6).toFixed(2)}: ${growth.grows ? "it grows" : "no growth beyond noise"}.

${table(
  ["A body of 256 KB, the maximum", "before, MB", "after, MB", "bytes per byte"],
  peaks.map(({ title, before, peak }) => [
    title,
    megabytes(before),
    megabytes(peak),
    ((peak - before) / (256 * 1024)).toFixed(1),
  ]),
)}

The WebAssembly memory of a fresh Worker in workerd, read through the runtime's inspector before and after one call with such a body. It never shrinks, so the size afterwards is the peak. An instance may use 128 MB.`;
}

/** The output of `--check`. */
export function verdicts(rows, noise) {
  const figure = (value) => value?.toLocaleString("en", { maximumSignificantDigits: value < 1000 ? 4 : 9 }) ?? "";
  const verdictTable = table(
    ["Ratio", "stored", "now", "bound", "verdict"],
    rows.map(({ title, was, now, bound, verdict }) => [title, figure(was), figure(now), figure(bound), verdict]),
  );
  return `${verdictTable}

During the run, other programs used ${percent(noise.others)} of the machine's CPU time, and the hypervisor ${percent(noise.stolen)}. The higher these shares, the wider the bounds.`;
}

const yes = (met) => (met ? "yes" : "no");
const percent = (share) => `${Math.round(share * 100)} %`;
const kilobytes = (bytes) => (bytes / 1000).toFixed(1);
const megabytes = (bytes) => (bytes / 1e6).toFixed(2);
const cells = ({ median, ratio }, digits) => [median.toFixed(digits), ratio.toFixed(2)];
