// Runs the checks of the 18 cases against the Worker and other gateways, in front of the same stand-ins.
//   node bench/gateway/compare.mjs [--only name] [--case number] [--verbose]
import { parseArgs } from "node:util";
import { Gateway } from "../../tests/support/gateway/ask.mjs";
import { CASES } from "../../tests/support/gateway/cases.mjs";
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

/** The results of every check: `{ number, title, results: [{ title, provider, own, failure }] }`. */
async function compare(start, { number, verbose } = {}) {
  const upstream = await standIns();
  const gateway = await start(upstream);
  try {
    const cases = [];
    for (const { checks, ...rest } of CASES.filter((one) => !number || one.number === Number(number))) {
      const results = [];
      for (const { run, ...check } of checks) {
        const failure = await run(new Gateway(upstream, gateway.send)).then(() => undefined, (error) => error.message ?? String(error));
        results.push({ ...check, failure });
        if (verbose && failure) console.log(`${rest.number} ${check.provider}: ${check.title}\n    ${failure.slice(0, 700).replaceAll("\n", "\n    ")}`);
      }
      cases.push({ ...rest, results });
    }
    return cases;
  } finally {
    await gateway.close();
    await upstream.close();
  }
}

/** A table of how many checks of each case each gateway passes. Checks that only our specification asks for are not counted for others. */
export function table(subjects) {
  const counted = (name, results) => results.filter(({ own }) => !own || name === "Toolbooth");
  const score = (name, results) => {
    const all = counted(name, results);
    const passed = all.filter(({ failure }) => failure === undefined).length;
    return passed === all.length ? `**${passed} of ${all.length}**` : `${passed} of ${all.length}`;
  };
  const names = Object.keys(subjects);
  const rows = CASES.map(({ number, title }) => {
    const cells = names.map((name) => {
      const found = subjects[name].find((one) => one.number === number);
      return found ? score(name, found.results) : "–";
    });
    return `| ${number} | ${title} | ${cells.join(" | ")} |`;
  });
  const whole = names.map((name) => {
    const passed = subjects[name].filter(({ results }) => counted(name, results).every(({ failure }) => failure === undefined));
    return `${passed.length} of ${subjects[name].length}`;
  });
  const sums = names.map((name) => score(name, subjects[name].flatMap(({ results }) => results)).replaceAll("*", ""));
  const head = [`| | Case | ${names.join(" | ")} |`, `|---|---|${names.map(() => "---|").join("")}`];
  return [...head, ...rows, `| | Cases passed | ${whole.join(" | ")} |`, `| | Checks passed | ${sums.join(" | ")} |`].join("\n");
}

const passed = ({ results }) => results.filter(({ failure }) => failure === undefined).length;
const better = (one, other) => (passed(other) > passed(one) ? other : one);

/** The results of the gateways with these names, by title. */
export async function all({ names = ["toolbooth", "litellm", "portkey"], number, verbose } = {}) {
  const subjects = {};
  for (const name of names) {
    const { title, ways } = SUBJECTS[name];
    if (verbose) console.log(`== ${title}`);
    for (const start of ways) {
      const cases = await compare(start, { number, verbose });
      subjects[title] = subjects[title]?.map((before, at) => better(before, cases[at])) ?? cases;
    }
  }
  return subjects;
}

if (import.meta.filename === process.argv[1]) {
  const options = parseArgs({ options: { only: { type: "string" }, case: { type: "string" }, verbose: { type: "boolean" } } }).values;
  const subjects = await all({ names: options.only?.split(","), number: options.case, verbose: options.verbose });
  if (!options.case) console.log(table(subjects));
  process.exit(0);
}
