// Measures the size and startup time of the Worker with each capability, and writes the table of docs/SIZE.md.
import { BUDGET } from "./budget.mjs";
import { measureStart } from "./rounds.mjs";
import { compare } from "./statistics.mjs";
import { deployed } from "./subjects.mjs";
import { table, writeTable } from "./table.mjs";
import { catalogue } from "./tools.mjs";
import { ours, sizes, yardsticks } from "./workers.mjs";

const STARTS = 24;

/** Builds of the calculator with these capabilities, all of them if not listed, and with `bindings` of `toolbooth-worker`. */
const BUILDS = [
  { title: "the calculator, all capabilities" },
  { title: "the calculator, all capabilities, and `bindings`", bindings: true },
  { title: "the calculator, no capability", capabilities: [], limit: BUDGET.none },
  { title: "the calculator, `MCP`", capabilities: ["MCP"], limit: BUDGET.mcp },
  { title: "the calculator, `PROVIDERS`", capabilities: ["PROVIDERS"] },
  { title: "the calculator, `REST`", capabilities: ["REST"] },
  { title: "the calculator, `SEARCH`", capabilities: ["SEARCH"] },
  { title: "the calculator, `TASKS`", capabilities: ["TASKS"] },
  { title: "the calculator, `XAIBO`", capabilities: ["XAIBO"] },
  { title: "the calculator, `USAGE`", capabilities: ["USAGE"] },
  { title: "the calculator, `CHALLENGES`", capabilities: ["CHALLENGES"] },
  { title: "the calculator, `GATEWAY`", capabilities: ["GATEWAY"] },
  { title: "the calculator, `SIGN_IN`", capabilities: ["SIGN_IN"] },
  { title: "the calculator, `MCP`, `SIGN_IN`, `ACCOUNT` and `CHALLENGES`", capabilities: ["MCP", "SIGN_IN", "ACCOUNT", "CHALLENGES"] },
];

const log = (text) => console.error(`size: ${text}`);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));

const echo = (await yardsticks()).find(({ name }) => name === "echo");
const workers = [echo, { ...(await deployed()), title: "everything: all tools, all capabilities", limit: BUDGET.everything }];
for (const { title, capabilities, bindings = false, limit } of BUILDS) {
  log(title);
  const name = `size-${capabilities === undefined ? "all" : capabilities.join("-").toLowerCase().replaceAll("_", "") || "none"}${bindings ? "-bindings" : ""}`;
  workers.push({ ...(await ours(name, title, await catalogue(name, ["tests/samples/calculator"], { capabilities, bindings }))), limit });
}

log(`${STARTS} starts of each`);
for (const worker of workers) worker.starts = [];
for (let round = 0; round < STARTS; round++) {
  for (const worker of round % 2 === 0 ? workers : workers.toReversed()) worker.starts.push((await measureStart(worker)).milliseconds);
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
await writeTable("docs/SIZE.md", "make size", text);
