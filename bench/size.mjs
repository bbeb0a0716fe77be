// Measures the size and startup time of the Worker with each Cargo feature, and writes the table of docs/SIZE.md.
import { BUDGET } from "./budget.mjs";
import { firstAnswer } from "./rounds.mjs";
import { compare } from "./statistics.mjs";
import { deployed } from "./subjects.mjs";
import { table, writeTable } from "./table.mjs";
import { catalogue } from "./tools.mjs";
import { ours, sizes, yardsticks } from "./workers.mjs";

const STARTS = 24;

/** Builds of the calculator with features of the crate `toolbooth`, all of them if not listed, and of `toolbooth-worker`. */
const BUILDS = [
  { title: "the calculator, all features" },
  { title: "the calculator, all features, and `bindings`", bindings: true },
  { title: "the calculator, no feature", features: [] },
  { title: "the calculator, `mcp`", features: ["mcp"], limit: BUDGET.mcp },
  { title: "the calculator, `providers`", features: ["providers"] },
  { title: "the calculator, `rest`", features: ["rest"] },
  { title: "the calculator, `xaibo`", features: ["xaibo"] },
  { title: "the calculator, `challenges`", features: ["challenges"] },
  { title: "the calculator, `gateway`", features: ["gateway"] },
  { title: "the calculator, `sign-in`", features: ["sign-in"] },
];

const log = (text) => console.error(`size: ${text}`);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));

const echo = (await yardsticks()).find(({ name }) => name === "echo");
const workers = [echo, { ...(await deployed()), title: "everything: all tools, all features", limit: BUDGET.everything }];
for (const { title, features, bindings = false, limit } of BUILDS) {
  log(title);
  const name = `size-${features === undefined ? "all" : features.join("-") || "none"}${bindings ? "-bindings" : ""}`;
  workers.push({ ...(await ours(name, title, await catalogue(name, ["tests/samples/calculator"], { features, bindings }))), limit });
}

log(`${STARTS} starts of each`);
for (const worker of workers) worker.starts = [];
for (let round = 0; round < STARTS; round++) {
  for (const worker of round % 2 === 0 ? workers : workers.toReversed()) worker.starts.push(await firstAnswer(worker));
}

const rows = workers.map((worker) => {
  const { title, limit, starts } = worker;
  const start = compare([starts], [echo.starts], (milliseconds) => milliseconds);
  const kilobytes = (sizes(worker).gzip / 1000).toFixed(1);
  const ratios = worker === echo ? ["1.00", ""] : [start.ratio.toFixed(2), BUDGET.start.toFixed(2)];
  return [title === echo.title ? "the echo Worker" : title, kilobytes, limit ?? "", start.median.toFixed(1), ...ratios];
});
const text = table(["Build", "KB", "at most", "first response, ms", "× echo", "at most"], rows);
console.log(text);
await writeTable("docs/SIZE.md", text);
