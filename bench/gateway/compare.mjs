// Runs the checks of the cases against the Worker and other gateways, in each format of clients, in front of the same stand-ins.
//   node bench/gateway/compare.mjs [--only name] [--case number] [--verbose]
import { parseArgs } from "node:util";
import { Gateway } from "../../tests/support/gateway/ask.mjs";
import { CASES, checksOf } from "../../tests/support/gateway/cases.mjs";
import { FRONTS } from "../../tests/support/gateway/fronts/index.mjs";
import { REPORTS } from "../../tests/support/gateway/reports.mjs";
import { recorders } from "../../tests/support/gateway/reports/recorder.mjs";
import { standIns } from "../../tests/support/providers/stand-in.mjs";
import { direct } from "./direct.mjs";
import { litellm, portkey } from "./rivals.mjs";
import { toolbooth } from "./toolbooth.mjs";

// How to start each. Of several ways, each case counts the better one.
const SUBJECTS = {
  toolbooth: { title: "Toolbooth", ways: [toolbooth] },
  litellm: { title: "LiteLLM", ways: [litellm] },
  portkey: { title: "Portkey", ways: [portkey, (upstream) => portkey(upstream, { compliant: false })] },
  direct: { title: "Direct", ways: [direct] },
};

/** The checks, and the providers that they need. */
const SUITES = [
  { cases: CASES, providers: standIns },
  { cases: REPORTS, providers: recorders },
];
const ALL = SUITES.flatMap(({ cases }) => cases);

const TITLES = { chat: "Chat Completions", messages: "Anthropic's Messages", responses: "OpenAI's Responses" };

/** A gateway has not this provider in this format of clients. */
class NotOffered extends Error {}

/**
 * The results of every check, by front: `[{ number, title, results: [{ title, provider, own, failure, isOffered }] }]`.
 */
async function compare(start, { number, verbose } = {}) {
  const fronts = {};
  for (const { cases, providers } of SUITES) {
    const wanted = cases.filter((one) => !number || `${one.number}` === number);
    if (wanted.length === 0) continue;
    const upstream = await providers();
    const gateway = await start(upstream);
    try {
      for (const front of gateway.fronts.map((name) => FRONTS[name])) {
        const done = await Array.fromAsync(wanted, async ({ checks, ...rest }) => ({ ...rest, results: await results(gateway, upstream, front, checks, verbose && ((line) => console.log(`${front.name} ${rest.number} ${line}`))) }));
        (fronts[front.name] ??= []).push(...done.filter(({ results }) => results.length > 0));
      }
    } finally {
      await gateway.close();
      await upstream.close();
    }
  }
  return fronts;
}

/** Runs the checks that are about a front. `log` prints what fails. */
async function results(gateway, upstream, front, checks, log) {
  const all = [];
  for (const { run, target, ...check } of checksOf(front, checks)) {
    const send = (provider, body, signal, front) => {
      if (!gateway.offers(front.name, provider)) throw new NotOffered(`${front.name} to ${provider}`);
      return gateway.send(provider, body, signal, front, target);
    };
    const error = await run(new Gateway(upstream, send, front)).then(() => undefined, (error) => error);
    const isOffered = !(error instanceof NotOffered);
    const failure = error && (error.message ?? String(error));
    all.push({ ...check, failure, isOffered });
    if (log && failure && isOffered) log(`${check.provider}: ${check.title}\n    ${failure.slice(0, 700).replaceAll("\n", "\n    ")}`);
  }
  return all;
}

/** A table for each format of clients. `subjects` has the results of each gateway by its title, then by front. */
export function tables(subjects) {
  const parts = Object.entries(TITLES).map(([front, title]) => {
    const own = Object.entries(subjects).filter(([, fronts]) => fronts[front]).map(([name, fronts]) => [name, fronts[front]]);
    return `**${title}**\n\n${table(Object.fromEntries(own))}`;
  });
  return parts.join("\n\n");
}

/**
 * How many checks of each case each gateway passes. Checks that only our specification asks for are not counted for others, nor are those of
 * providers that a gateway has not in this format.
 */
function table(subjects) {
  const asked = (name, results) => results.filter(({ own }) => !own || name === "Toolbooth");
  const counted = (name, results) => asked(name, results).filter(({ isOffered }) => isOffered);
  const score = (name, results) => {
    const all = counted(name, results);
    const passed = all.filter(({ failure }) => failure === undefined).length;
    if (all.length === 0) return asked(name, results).length > 0 ? "not offered" : "–";
    return passed === all.length ? `**${passed} of ${all.length}**` : `${passed} of ${all.length}`;
  };
  const names = Object.keys(subjects);
  const listed = ALL.filter(({ number }) => names.some((name) => subjects[name].some((one) => one.number === number)));
  const rows = listed.map(({ number, title }) => {
    const cells = names.map((name) => {
      const found = subjects[name].find((one) => one.number === number);
      return found ? score(name, found.results) : "–";
    });
    return `| ${number} | ${title} | ${cells.join(" | ")} |`;
  });
  const whole = names.map((name) => {
    const cases = subjects[name].filter(({ results }) => counted(name, results).length > 0);
    const passed = cases.filter(({ results }) => counted(name, results).every(({ failure }) => failure === undefined));
    return `${passed.length} of ${cases.length}`;
  });
  const sums = names.map((name) => score(name, subjects[name].flatMap(({ results }) => results)).replaceAll("*", ""));
  const head = [`| | Case | ${names.join(" | ")} |`, `|---|---|${names.map(() => "---|").join("")}`];
  return [...head, ...rows, `| | Cases passed | ${whole.join(" | ")} |`, `| | Checks passed | ${sums.join(" | ")} |`].join("\n");
}

const passed = ({ results }) => results.filter(({ failure }) => failure === undefined).length;
const better = (one, other) => (passed(other) > passed(one) ? other : one);

/** The results of the gateways with these names, by title and front. */
export async function all({ names = ["toolbooth", "litellm", "portkey"], number, verbose, log = () => {} } = {}) {
  const subjects = {};
  for (const name of names) {
    const { title, ways } = SUBJECTS[name];
    if (verbose) console.log(`== ${title}`);
    for (const start of ways) {
      log(`cases, ${title}`);
      const fronts = await compare(start, { number, verbose });
      for (const [name, before] of Object.entries(subjects[title] ?? {})) fronts[name] = before.map((one, at) => better(one, fronts[name][at]));
      subjects[title] = fronts;
    }
  }
  return subjects;
}

if (import.meta.filename === process.argv[1]) {
  const options = parseArgs({ options: { only: { type: "string" }, case: { type: "string" }, verbose: { type: "boolean" } } }).values;
  const subjects = await all({ names: options.only?.split(","), number: options.case, verbose: options.verbose });
  if (!options.case) console.log(tables(subjects));
  process.exit(0);
}
