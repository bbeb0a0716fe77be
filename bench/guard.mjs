// Detects regressions: compares ratios with the stored ones. A ratio varies between processes, so the
// bound is the stored ratio plus its statistical noise.
import { deviation } from "./statistics.mjs";

/** The number of standard deviations that count as noise: with forty ratios, one run in twenty is a false
 *  alarm. */
const CHANCE = 3;
/** The fraction by which the bundle may grow; its size has no noise. */
const GROWTH = 0.01;

/** The stored result of a run: ratios as `{ title, kind, ratio, passes }` by id, and the bundle's bytes, if they count. */
export function stored(ratios, gzip) {
  const entries = ratios.map(({ id, title, kind, ratio, passes }) => [
    id,
    { title, kind, ratio: round(ratio), passes: passes.map(round) },
  ]);
  return { gzip, ratios: Object.fromEntries(entries) };
}

/**
 * Compares a run with the stored one: `[{ title, was, now, bound, verdict }]`, where `verdict` is
 * "good", "better", "worse", "missing" (not measured in this run) or "new" (not stored).
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
    // The standard error of the difference of two medians.
    const chance = noise(id, was.kind) * Math.sqrt(1 / was.passes.length + 1 / now.passes.length);
    return row(was.title, was.ratio, now.ratio, CHANCE * chance);
  });
  const added = Object.entries(after.ratios)
    .filter(([id]) => !(id in before.ratios))
    .map(([, { title, ratio }]) => ({ title, now: ratio, verdict: "new" }));
  const bundle = before.gzip === undefined ? [] : [row("Bundle of ours, gzip, bytes", before.gzip, after.gzip, GROWTH)];
  return [...rows, ...added, ...bundle];
}

/** Whether the run has no regression. */
export const passes = (rows) => rows.every(({ verdict }) => !["worse", "missing"].includes(verdict));

function row(title, was, now, part) {
  const bound = was * (1 + part);
  const verdict = now > bound ? "worse" : now < was * (1 - part) ? "better" : "good";
  return { title, was, now, bound, verdict };
}

// A single ratio has too few passes to estimate its noise, so pool all ratios of the same kind.
function pooled(ratios) {
  const squares = ratios.map(({ passes }) => deviation(passes) ** 2);
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
}

const round = (value) => Number(value.toPrecision(5));
