// Runs the checks of the cases against the Worker and other gateways, in each format of clients, in front of the same stand-ins.
//   node bench/gateway/compare.mjs [--only name] [--case number] [--verbose]
import { parseArgs } from "node:util";
import { Gateway } from "../../tests/support/gateway/ask.mjs";
import { CASES, checksOf } from "../../tests/support/gateway/cases.mjs";
import { FRONTS } from "../../tests/support/gateway/fronts/index.mjs";
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

const TITLES = { chat: "Chat Completions", messages: "Anthropic's Messages", responses: "OpenAI's Responses" };

/** The results of every check, by front: `[{ number, title, results: [{ title, provider, own, failure }] }]`. */
async function compare(start, { number, verbose } = {}) {
  const upstream = await standIns();
  const gateway = await start(upstream);
  try {
    const fronts = {};
    for (const front of gateway.fronts.map((name) => FRONTS[name])) {
      const cases = (fronts[front.name] = []);
      for (const { checks, ...rest } of CASES.filter((one) => !number || one.number === Number(number))) {
        const results = [];
        for (const { run, ...check } of checksOf(front, checks)) {
          const failure = await run(new Gateway(upstream, gateway.send, front)).then(() => undefined, (error) => error.message ?? String(error));
          results.push({ ...check, failure });
          if (verbose && failure) console.log(`${front.name} ${rest.number} ${check.provider}: ${check.title}\n    ${failure.slice(0, 700).replaceAll("\n", "\n    ")}`);
        }
        if (results.length > 0) cases.push({ ...rest, results });
      }
    }
    return fronts;
  } finally {
    await gateway.close();
    await upstream.close();
  }
}

/** A table for each format of clients. `subjects` has the results of each gateway by its title, then by front. */
export function tables(subjects) {
  const parts = Object.entries(TITLES).map(([front, title]) => {
    const own = Object.entries(subjects).filter(([, fronts]) => fronts[front]).map(([name, fronts]) => [name, fronts[front]]);
    return `**${title}**\n\n${table(Object.fromEntries(own))}`;
  });
  return parts.join("\n\n");
}

/** How many checks of each case each gateway passes. Checks that only our specification asks for are not counted for others. */
function table(subjects) {
  const counted = (name, results) => results.filter(({ own }) => !own || name === "Toolbooth");
  const score = (name, results) => {
    const all = counted(name, results);
    const passed = all.filter(({ failure }) => failure === undefined).length;
    if (all.length === 0) return "–";
    return passed === all.length ? `**${passed} of ${all.length}**` : `${passed} of ${all.length}`;
  };
  const names = Object.keys(subjects);
  const listed = CASES.filter(({ number }) => names.some((name) => subjects[name].some((one) => one.number === number)));
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
export async function all({ names = ["toolbooth", "litellm", "portkey"], number, verbose } = {}) {
  const subjects = {};
  for (const name of names) {
    const { title, ways } = SUBJECTS[name];
    if (verbose) console.log(`== ${title}`);
    for (const start of ways) {
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
