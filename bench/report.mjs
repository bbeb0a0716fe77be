// The text of bench/RESULTS.md.
import os from "node:os";

import { version } from "./workerd.mjs";

/** What a request may cost on the free plan. */
const BUDGET_MS = 10;

export function report({ results, dialects, access, mcp }, plan, { counter, noise }) {
  const echo = results.get("echo");
  const measured = [...results.values()].map((result) => ({
    ...result,
    cost: compare(result.rounds, echo.rounds, ({ cost }) => cost),
    rate: compare(result.rounds, echo.rounds, ({ rate }) => rate),
    p50: compare(result.rounds, echo.rounds, ({ latencies }) => quantile(latencies, 0.5)),
    p99: compare(result.rounds, echo.rounds, ({ latencies }) => quantile(latencies, 0.99)),
    start: compare(result.starts, echo.starts, (time) => time),
  }));

  return `# Benchmark

Written by \`make bench\`, which runs \`node_modules/.bin/node bench/run.mjs\`.

- Machine: ${os.cpus().length} × ${os.cpus()[0].model}, ${os.type()} ${os.arch()}. workerd ${version}; the client is Node ${process.versions.node} on the same machine.
- One workerd holds all Workers. Each gets the same call of \`Calculator.Add\`: ${plan.rounds} rounds of ${plan.requests} calls to each in turn, after ${plan.warmup.toLocaleString("en")} to warm up, over ${plan.connections} connections that are kept open.
- JavaScript, Hono and ours were first seen to give the same answers to good calls and to bad ones.
- Cost of a call: ${counter.title}, of the whole workerd process.
- × is the ratio to the echo Worker in the same round, the median of all rounds. Trust the ratios; the other figures (medians where nothing else is said) are this machine's.
- Meanwhile other programs took ${percent(noise.others)} of the machine's time, and its host ${percent(noise.stolen)}. The more that is, the less even the ratios say.

## Cost and time of a call

${table(
  [
    "Worker",
    `least ${counter.unit}`,
    counter.unit,
    "×",
    "calls/s",
    "×",
    "p50 ms",
    "×",
    "p99 ms",
    "×",
  ],
  measured.map(({ title, cost, rate, p50, p99 }) => [
    title,
    cost.least.toFixed(1),
    ...cells(cost, 1),
    ...cells(rate, 0),
    ...cells(p50, 2),
    ...cells(p99, 2),
  ]),
)}

A latency is what the client sees with ${plan.connections} calls under way: most of it is waiting for the others.

## The same call in each protocol

${table(
  ["Protocol", `least ${counter.unit}`, counter.unit, "× echo", "× OXP, flat"],
  dialects.map(({ title, rounds }) => {
    const cost = compare(rounds, echo.rounds, ({ cost }) => cost);
    const flat = compare(rounds, dialects[0].rounds, ({ cost }) => cost);
    return [title, cost.least.toFixed(1), ...cells(cost, 1), flat.ratio.toFixed(2)];
  }),
)}

All of them on the one Worker that is called ours above.

## The same call by callers who are known

${table(
  ["AUTH", `least ${counter.unit}`, counter.unit, "× echo", "× none", `% of ${BUDGET_MS} ms`],
  access.map(({ title, rounds }) => {
    const cost = compare(rounds, echo.rounds, ({ cost }) => cost);
    const none = compare(rounds, access[0].rounds, ({ cost }) => cost);
    const part = counter.unit === "µs" ? (cost.median / BUDGET_MS / 10).toFixed(1) : "";
    return [title, cost.least.toFixed(1), ...cells(cost, 1), none.ratio.toFixed(2), part];
  }),
)}

OXP, flat; one Worker for each row, all of the bundle that is called ours above. The free plan gives a request ${BUDGET_MS} ms of CPU; the last column is the share that a call takes here, with all that workerd does for it. The key of ES256 was fetched from an issuer on this machine before the rounds, and the runtime's WebCrypto verifies.

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
  mcp.map(({ title, count, rounds, gzip }) => {
    const own = oursOf(mcp, count)?.rounds ?? rounds;
    const measures = ["call", "list"].map((kind) => compare(rounds[kind], own[kind], ({ cost }) => cost));
    const figures = measures.flatMap((cost) => [cost.least.toFixed(1), ...cells(cost, 1)]);
    return [count?.toLocaleString("en") ?? "", title, ...figures, (gzip / 1000).toFixed(1)];
  }),
)}

A \`tools/call\` of \`Calculator_Add\` and the whole \`tools/list\`, revision 2026-07-28, in ${plan.mcp.rounds} rounds: ${plan.requests} requests to ours, ${[...plan.mcp.requests.values()].join(", ")} to the others, over ${plan.mcp.connections} connections. All servers with as many tools have the same ones and were first seen to list them alike, and to answer good calls and bad ones alike. \`@modelcontextprotocol/server\` and \`agents\` are used as their documentation says: a function declares all tools for each request; "schemas made once" is what that leaves when their zod schemas stand outside of it. Ours has lists that were rendered when it was built; a longer one is more to send.

## Size, and the first call after a start

${table(
  ["Worker", "bundle KB", "gzip KB", "least ms", "ms", "×"],
  measured.map(({ title, raw, gzip, start }) => [
    title,
    (raw / 1000).toFixed(1),
    (gzip / 1000).toFixed(1),
    start.least.toFixed(1),
    ...cells(start, 1),
  ]),
)}

A KB is 1,000 bytes; gzip has level 9 and takes all modules. The time is that from the start of a workerd with this Worker alone to the first answer, in ${plan.starts} starts.

## Targets

${table(["Target", "at most", "measured", "met"], targets(results, measured, mcp))}
`;
}

function targets(results, measured, mcp) {
  const row = (what, limit, value, unit) => [
    what,
    `${limit}${unit}`,
    `${value.toFixed(2)}${unit}`,
    value <= limit ? "yes" : "no",
  ];
  const ours = measured.find(({ name }) => name === "ours");
  const [few, many] = ["tools-1", "tools-1000"].map((name) => results.get(name)?.rounds);
  const rows = [row("Cost of a call: ours to echo", 1.5, ours.cost.ratio, " ×")];
  if (many !== undefined) {
    const growth = compare(many, few, ({ cost }) => cost).ratio;
    rows.push(row("Cost of a call: ours with 1,000 tools to ours with 1", 1.1, growth, " ×"));
  }
  const own = oursOf(mcp, 100);
  if (own !== undefined) {
    const calls = (others, rounds) => compare(rounds.call, others.rounds.call, ({ cost }) => cost).ratio;
    for (const other of mcp.filter(({ documented, count }) => documented && count === 100)) {
      rows.push(row(`MCP, a call with 100 tools: ours to \`${other.title}\``, 0.1, calls(other, own.rounds), " ×"));
    }
    const growth = calls(oursOf(mcp, 1), oursOf(mcp, 1000).rounds);
    rows.push(row("MCP, a call: ours with 1,000 tools to ours with 1", 1.1, growth, " ×"));
  }
  return [...rows, row("Bundle of ours, gzip", 250, ours.gzip / 1000, " KB")];
}

/** Ours among the servers of MCP with that many tools. */
function oursOf(mcp, tools) {
  return mcp.find(({ title, count }) => title === "ours" && count === tools);
}

/** A measure over all rounds, and its ratio to that of the other Worker in the same round. */
function compare(rounds, others, measure) {
  const values = rounds.map(measure);
  const ratios = values.map((value, round) => value / measure(others[round]));
  return {
    least: Math.min(...values),
    median: quantile(values, 0.5),
    ratio: quantile(ratios, 0.5),
  };
}

function quantile(values, part) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)];
}

const percent = (share) => `${Math.round(share * 100)} %`;
const cells = ({ median, ratio }, digits) => [median.toFixed(digits), ratio.toFixed(2)];

function table(head, rows) {
  const align = head.map((_, column) => (column === 0 ? "---" : "---:"));
  return [head, align, ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}
