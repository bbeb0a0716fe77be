// Compares the chat gateway with LiteLLM, Portkey and Switchyard, and writes the tables of docs/GATEWAY.md, bench/gateway/RESULTS.md and
// bench/gateway/ratios.json.
//   node bench/gateway/run.mjs            runs everything
//   node bench/gateway/run.mjs --check    measures only the ratios; fails if one is worse than the stored one
//   node bench/gateway/run.mjs --smoke    checks that everything works: few requests, writes nothing
//   --only cases|short|sessions           only one of the three; of these, only the cases are written
//   --own                                 only Toolbooth and the Workers; writes nothing
import { readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { judge, passes, stored } from "../guard.mjs";
import { ROOT } from "../paths.mjs";
import { version as workerd } from "../workerd.mjs";
import { agents, FULL as SESSIONS, SMOKE as FEW_SESSIONS } from "./agents.mjs";
import { all, tables } from "./compare.mjs";
import { FULL as SHORT, overhead, SMOKE as FEW_SHORT } from "./overhead.mjs";
import { ratios } from "./ratios.mjs";
import { sessionSummary, sessionTables, sessionTargets, shortSummary, shortTables, shortTargets, verdicts } from "./report.mjs";
import { versions } from "./rivals.mjs";
import { RIVALS, withSubjects } from "./subjects.mjs";

const PAGE = join(ROOT, "docs/GATEWAY.md");
const RESULTS = join(ROOT, "bench/gateway/RESULTS.md");
const RATIOS = join(ROOT, "bench/gateway/ratios.json");
/** The longest run, in minutes: something hangs if it takes longer. */
const LIMIT = 40;

const { values: options } = parseArgs({ options: { check: { type: "boolean" }, smoke: { type: "boolean" }, own: { type: "boolean" }, only: { type: "string" } } });
const log = (text) => console.error(`gateway-bench: ${text}`);
const wants = (part) => (options.only ? options.only === part : part !== "cases" || !options.check);
const writes = !options.check && !options.smoke && !options.own;

// Emits "exit", which ends all that was started.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));
setTimeout(() => {
  log(`it takes longer than ${LIMIT} minutes`);
  process.exit(1);
}, LIMIT * 60_000).unref();

const begun = performance.now();
const cases = wants("cases") ? tables(await all({ names: options.own ? ["toolbooth"] : undefined, log })) : undefined;
if (cases) console.log(cases);
const measured = wants("short") || wants("sessions") ? await measure() : {};
const now = ratios(measured);
if (measured.short) console.log(`${shortTables(measured.short)}\n\n${shortSummary(measured.short)}\n\n${shortTargets(now)}\n`);
if (measured.sessions) console.log(`${sessionTables(measured.sessions)}\n\n${sessionSummary(measured.sessions)}\n\n${sessionTargets(now)}\n`);
if (options.check) await check();
if (writes) await write();
log(`${((performance.now() - begun) / 60_000).toFixed(1)} minutes`);
process.exit();

function measure() {
  // The ratios need one other gateway and LiteLLM's short requests.
  const rivals = options.own ? [] : options.check ? ["litellm", "portkey"] : Object.keys(RIVALS);
  return withSubjects(rivals, async (provider, subjects) => ({
    short: wants("short") ? await overhead(subjects, options.smoke ? FEW_SHORT : SHORT, log) : undefined,
    sessions: wants("sessions") ? await agents(provider, options.check ? subjects.filter(({ name }) => name !== "LiteLLM") : subjects, options.smoke ? FEW_SESSIONS : SESSIONS, log) : undefined,
  }));
}

async function check() {
  const before = JSON.parse(await readFile(RATIOS, "utf8").catch(() => {
    throw new Error("bench/gateway/ratios.json is missing; run make gateway-bench to create it");
  }));
  const rows = judge(before, stored(now));
  console.log(verdicts(rows));
  if (!passes(rows)) process.exitCode = 1;
}

/** Puts the texts into their places in the page. */
async function fill(parts) {
  const page = await readFile(PAGE, "utf8");
  await writeFile(PAGE, Object.entries(parts).reduce((page, [name, text]) => replaced(page, name, text), page));
}

/** Replaces what the page has between the markers of `name`. */
function replaced(page, name, text) {
  const place = new RegExp(`(<!-- make gateway-bench writes ${name} from here -->\n).*?(\n<!-- to here -->)`, "s");
  if (!place.test(page)) throw new Error(`docs/GATEWAY.md has no place for ${name}`);
  return page.replace(place, (_, before, after) => `${before}${text}${after}`);
}

async function write() {
  const { LiteLLM, Portkey, Switchyard } = await versions();
  const machine = `LiteLLM ${LiteLLM}, Portkey ${Portkey}, Switchyard ${Switchyard}, workerd ${workerd}, Node ${process.versions.node}, ${cpus().length} × ${cpus()[0].model}.`;
  if (cases) await fill({ "the cases": `${cases}\n\n${machine}` });
  if (options.only) return;
  await fill({
    "the overhead": `${shortSummary(measured.short)}\n\n${shortTargets(now)}`,
    "the sessions": `${sessionSummary(measured.sessions)}\n\n${sessionTargets(now)}`,
  });
  const inRust = measured.sessions.filter(({ isRust }) => isRust).map(({ route }) => route.title);
  const core = `LiteLLM's Rust core answered ${inRust.length > 0 ? inRust.join(", ") : "none of the sessions"}.`;
  const results = [
    "# The chat gateway beside others",
    "Written by `make gateway-bench`. [docs/GATEWAY.md](../../docs/GATEWAY.md#overhead) says what is measured, and how the others are configured.",
    machine,
    "## Short requests",
    shortTables(measured.short),
    "## Sessions of coding agents",
    core,
    sessionTables(measured.sessions),
  ];
  await writeFile(RESULTS, `${results.join("\n\n")}\n`);
  await writeFile(RATIOS, `${JSON.stringify(stored(now), null, 2)}\n`);
}
