// Runs the cases against both servers and compares the outcomes.
import { AUTHORIZATION } from "./cases/authorization.mjs";
import { STORE } from "./cases/store.mjs";
import { TOKENS } from "./cases/tokens.mjs";

// `run` returns the outcome as text. Where the outcomes differ, `why` says why ours is intended.
const CASES = [...AUTHORIZATION, ...TOKENS, ...STORE];

/** The outcome of every case: `{ title, why, own, other }`. */
export async function compare([own, other]) {
  const results = [];
  for (const { title, run, why } of CASES) results.push({ title, why, own: await run(own), other: await run(other) });
  return results;
}

const isSame = ({ own, other }) => own === other;

/** Differences without a reason, and reasons without a difference. */
export const unexplained = (results) => results.filter((result) => isSame(result) === (result.why !== undefined));

/** All outcomes, one line for each case. */
export const lines = (results) =>
  results.map((result) => `${isSame(result) ? "same     " : "different"}  ${result.title}: ${isSame(result) ? result.own : `${result.own} | ${result.other}`}`).join("\n");

/** Titles with the same part before a colon, as `part: one, other`. */
function joined(titles) {
  const parts = Map.groupBy(titles, (title) => title.split(": ")[0]);
  return [...parts].map(([part, own]) => (own.length > 1 ? `${part}: ${own.map((title) => title.slice(part.length + 2)).join(", ")}` : own[0])).join("; ");
}

/** Merges the rows that differ in nothing but their titles. */
function merged(rows) {
  const groups = Map.groupBy(rows, ({ own, other, why }) => JSON.stringify([own, other, why]));
  return [...groups.values()].map((group) => ({ ...group[0], title: joined(group.map(({ title }) => title)) }));
}

/** The differences as a table, after a line with the number of cases. */
export function table(results, other) {
  const rows = merged(results.filter((result) => !isSame(result))).map(({ title, own, other, why }) => `| ${title} | ${own} | ${other} | ${why ?? "**not explained**"} |`);
  const same = results.filter(isSame).length;
  return [`${same} of ${results.length} outcomes are the same. The others:`, "", `| Case | Toolbooth | ${other} | Why |`, "|---|---|---|---|", ...rows].join("\n");
}
