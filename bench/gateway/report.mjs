// Renders what was measured as tables.
import { table } from "../table.mjs";
import { AT_ONCE, ROUTES as SESSIONS, summary as ofSession } from "./agents.mjs";
import { ROUTES, summary as ofShort } from "./overhead.mjs";
import { DIRECT } from "./subjects.mjs";

const ms = (value) => value.toFixed(Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0);
const signed = (value) => (value < 0 ? ms(value) : `+${ms(value)}`);
/** What a subject adds; of the direct request in parentheses, what it takes. */
const addition = (name, figures, p) => (name === DIRECT ? `(${ms(figures[`p${p}`])})` : signed(figures[`added${p}`]));
const onRoute = (rows, route) => rows.filter((row) => row.route === route);
/** The subjects besides the direct request. */
const others = (rows) => [...new Set(rows.map(({ name }) => name))].filter((name) => name !== DIRECT);
const section = (title, head, lines) => `**${title}**\n\n${table(head, lines)}`;

/** A table for each route of short requests. */
export function shortTables(rows) {
  const head = ["", "Added p50, ms", "p99, ms", "First chunk p50, ms", "p99, ms", "CPU per 1,000 chunks, ms", "Memory, MB"];
  const line = (row) => {
    const figures = ofShort(rows, row);
    return [row.name, addition(row.name, figures, 50), addition(row.name, figures, 99), ms(figures.first50), ms(figures.first99), row.name === DIRECT ? "" : ms(figures.cpu), row.name === DIRECT ? "" : row.memory.toFixed(0)];
  };
  return ROUTES.map((route) => section(route.title, head, onRoute(rows, route).map(line))).join("\n\n");
}

/** A table for each route of sessions. */
export function sessionTables(rows) {
  const head = ["", "At once", "Added p50, ms", "p99, ms", "First chunk p50, ms", "p99, ms", "Requests/s", "CPU per request, ms", "Memory, MB"];
  const lines = (row) => {
    if (row.problem) return [[row.name, "", `fails: ${row.problem.slice(0, 120).replaceAll("|", "/")}`, "", "", "", "", "", ""]];
    return AT_ONCE.map((count, at) => {
      const figures = ofSession(rows, row, count);
      const usage = row.name === DIRECT ? ["", ""] : [ms(figures.cpu), at === AT_ONCE.length - 1 ? row.memory.toFixed(0) : ""];
      return [at === 0 ? row.name : "", count, addition(row.name, figures, 50), addition(row.name, figures, 99), ms(figures.first50), ms(figures.first99), figures.rate.toFixed(figures.rate < 10 ? 1 : 0), ...usage];
    });
  };
  return SESSIONS.map((route) => section(route.title, head, onRoute(rows, route).flatMap(lines))).join("\n\n");
}

/** What each subject adds to a short request: a row for each subject, a column for each route. */
export function shortSummary(rows) {
  const cell = (name, route) => {
    const row = onRoute(rows, route).find((row) => row.name === name);
    if (row === undefined) return "not offered";
    const { added50, added99 } = ofShort(rows, row);
    return `${signed(added50)} / ${signed(added99)}`;
  };
  return table(["", ...ROUTES.map(({ short }) => short)], others(rows).map((name) => [name, ...ROUTES.map((route) => cell(name, route))]));
}

/** The p99 that each subject adds to a session: a row for each subject, a column for each route and number of requests at once. */
export function sessionSummary(rows) {
  const cell = (name, route) => {
    const row = onRoute(rows, route).find((row) => row.name === name);
    if (row === undefined) return "not offered";
    if (row.problem) return "fails";
    return AT_ONCE.map((count) => signed(ofSession(rows, row, count).added99)).join(" / ");
  };
  return table(["", ...SESSIONS.map(({ short }) => short)], others(rows).map((name) => [name, ...SESSIONS.map((route) => cell(name, route))]));
}

/** Whether the targets are met: a row for each of them, a column for each route. What misses one is bold. */
function targets(ratios, routes) {
  const names = [...new Set(ratios.map(({ what }) => what))];
  const cell = (what, { short }) => {
    const found = ratios.find((one) => one.what === what && one.route === short);
    if (found === undefined) return "";
    return found.ratio <= found.limit ? found.ratio.toFixed(2) : `**${found.ratio.toFixed(2)}**`;
  };
  const limit = (what) => ratios.find((one) => one.what === what).limit;
  return table(["Target", ...routes.map(({ short }) => short), "at most"], names.map((what) => [what, ...routes.map((route) => cell(what, route)), limit(what)]));
}

const limited = (ratios, group) => ratios.filter((one) => one.group === group && one.limit !== undefined);
export const shortTargets = (ratios) => targets(limited(ratios, "short"), ROUTES);
export const sessionTargets = (ratios) => targets(limited(ratios, "session"), SESSIONS);

/** The comparison of ratios with the stored ones. */
export function verdicts(rows) {
  const figure = (value) => value?.toPrecision(3) ?? "";
  return table(["Ratio", "stored", "now", "bound", "verdict"], rows.map(({ title, was, now, bound, verdict }) => [title, figure(was), figure(now), figure(bound), verdict]));
}
