// The tables of bench/RESULTS.md.
import os from "node:os";

import { version } from "./workerd.mjs";

const sorted = (values) => values.toSorted((a, b) => a - b);
const quantile = (values, part) => sorted(values)[Math.min(values.length - 1, Math.floor(values.length * part))];
const median = (values) => quantile(values, 0.5);
const least = (values) => Math.min(...values);

export function report(results, plan, counter) {
  const measured = [...results.values()].map((result) => summary(result, results.get("echo")));
  const find = (name) => measured.find((one) => one.name === name);
  const ours = find("ours");
  const growth = (of) => median(ratios(results.get("tools-1000"), results.get("tools-1"), of));
  const targets = [["CPU per request, ours to echo", ours.costRatio, 1.5, "×"]];
  if (results.has("tools-1000")) {
    targets.push(["CPU per request, 1,000 tools to 1 tool", growth(({ cost }) => cost), 1.1, "×"]);
  }
  targets.push(["Bundle, gzip", ours.gzip / 1000, 200, " KB"]);

  return `# Benchmark

Written by \`make bench\`, which runs \`node_modules/.bin/node bench/run.mjs\`.

- Machine: ${os.cpus().length} × ${os.cpus()[0].model}, ${os.type()} ${os.arch()}; workerd ${version}, Node ${process.versions.node} as the client.
- Cost: ${counter.title}, of the whole workerd process.
- Every Worker gets the same call of \`Calculator.Add\`; ours, JavaScript and Hono were first seen to answer it, and ${"a dozen others,"} alike.
- One workerd holds all Workers. ${plan.rounds} rounds, ${plan.requests} requests to each Worker in each round, ${plan.connections} connections that are kept open.
- A ratio (×) is to the echo Worker in the same round; the median of the rounds is shown. Compare ratios: the other figures are this machine's.

## Cost and time of a call

${table(
  ["Worker", `${counter.unit}, least`, "median", "×", "requests/s", "×", "p50 ms", "×", "p99 ms", "×"],
  measured.map((one) => [
    one.title,
    ...[one.costLeast, one.costMedian].map((cost) => cost.toFixed(1)),
    ratio(one.costRatio),
    Math.round(one.rate),
    ratio(one.rateRatio),
    one.p50.toFixed(2),
    ratio(one.p50Ratio),
    one.p99.toFixed(2),
    ratio(one.p99Ratio),
  ]),
)}

Latency is what the client sees with ${plan.connections} calls under way, so most of it is waiting for the others.

## Size, and the first request after start

${table(
  ["Worker", "bundle KB", "gzip KB", "first answer ms, least", "median", "×"],
  measured.map((one) => [
    one.title,
    (one.raw / 1000).toFixed(1),
    (one.gzip / 1000).toFixed(1),
    one.startLeast.toFixed(1),
    one.startMedian.toFixed(1),
    ratio(one.startRatio),
  ]),
)}

A KB is 1,000 bytes; gzip is level 9, all modules. The first answer is timed from the start of a workerd that has this Worker alone, ${plan.starts} times.

## Targets

${table(
  ["Target", "at most", "measured", "met"],
  targets.map(([what, limit, value, unit]) => [what, `${value}${unit}`, `${limit.toFixed(2)}${unit}`, limit <= value ? "yes" : "no"]),
)}
`;
}

const ratio = (value) => value.toFixed(2);

/** A measure of one Worker over that of another, round by round. */
function ratios(one, other, of) {
  return one.rounds.map((round, at) => of(round) / of(other.rounds[at]));
}

function summary(result, echo) {
  const { rounds, starts } = result;
  const latency = (part) => (round) => quantile(round.latencies, part);
  const of = (measure) => ({ value: median(rounds.map(measure)), ratio: median(ratios(result, echo, measure)) });
  const [cost, rate, p50, p99] = [({ cost }) => cost, ({ rate }) => rate, latency(0.5), latency(0.99)].map(of);
  return {
    ...result,
    costLeast: least(rounds.map(({ cost }) => cost)),
    costMedian: cost.value,
    costRatio: cost.ratio,
    rate: rate.value,
    rateRatio: rate.ratio,
    p50: p50.value,
    p50Ratio: p50.ratio,
    p99: p99.value,
    p99Ratio: p99.ratio,
    startLeast: least(starts),
    startMedian: median(starts),
    startRatio: median(starts.map((time, at) => time / echo.starts[at])),
  };
}

function table(head, rows) {
  const align = head.map((_, column) => (column === 0 ? "---" : "---:"));
  return [head, align, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
