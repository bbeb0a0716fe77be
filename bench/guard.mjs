// Whether ratios have become worse than those that are stored. A ratio differs from process to
// process, so the bound of each is what is stored and as much more as chance can explain.
import { deviation } from "./statistics.mjs";

/** So many standard deviations are taken for chance: with forty ratios, one run in twenty alarms for
 *  nothing. */
const CHANCE = 3;
/** By which part the bundle may grow; it is the same in every run. */
const GROWTH = 0.01;

/** What is stored of a run: ratios as `{ id, title, kind, ratio, passes }`, and the bundle's bytes. */
export function stored(ratios, gzip) {
  const entries = ratios.map(({ id, title, kind, ratio, passes }) => [
    id,
    { title, kind, ratio: round(ratio), passes: passes.map(round) },
  ]);
  return { gzip, ratios: Object.fromEntries(entries) };
}

/**
 * Compares a run with what is stored: `[{ title, was, now, bound, verdict }]`, in which `verdict` is
 * "good", "better", "worse", "missing" (the run has not measured it) or "new" (it was not stored).
 */
export function judge(before, after) {
  const noise = (id, kind) =>
    Math.max(...[before, after].flatMap(({ ratios }) => [
      deviation(ratios[id].passes),
      pooled(Object.values(ratios).filter((other) => other.kind === kind)),
    ]));
  const rows = Object.entries(before.ratios).map(([id, was]) => {
    const now = after.ratios[id];
    if (now === undefined) return { title: was.title, was: was.ratio, verdict: "missing" };
    // Of the difference of two medians, one of so many passes, the other of so many.
    const chance = noise(id, was.kind) * Math.sqrt(1 / was.passes.length + 1 / now.passes.length);
    return row(was.title, was.ratio, now.ratio, CHANCE * chance);
  });
  const added = Object.entries(after.ratios)
    .filter(([id]) => !(id in before.ratios))
    .map(([, { title, ratio }]) => ({ title, now: ratio, verdict: "new" }));
  return [...rows, ...added, row("Bundle of ours, gzip, bytes", before.gzip, after.gzip, GROWTH)];
}

/** Whether a run may pass. */
export const passes = (rows) => rows.every(({ verdict }) => !["worse", "missing"].includes(verdict));

function row(title, was, now, part) {
  const bound = was * (1 + part);
  const verdict = now > bound ? "worse" : now < was * (1 - part) ? "better" : "good";
  return { title, was, now, bound, verdict };
}

// One ratio has too few passes to tell how far chance carries it; all of a kind have enough.
function pooled(ratios) {
  const squares = ratios.map(({ passes }) => deviation(passes) ** 2);
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
}

const round = (value) => Number(value.toPrecision(5));
