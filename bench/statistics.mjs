// What many noisy figures say together.

/** The value below which this part of the values lies. */
export function quantile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * part;
  const below = sorted[Math.floor(place)];
  return below + (sorted[Math.ceil(place)] - below) * (place % 1);
}

export const median = (values) => quantile(values, 0.5);

/**
 * A measure of one thing, and its ratio to that of another in the same round. Both have been measured
 * in passes, each a process of its own, of several rounds.
 *
 * `ratio` is the median over all rounds, `low` and `high` are the quartiles around it, and `passes` has
 * the median of each pass: what differs between them is what a process has by chance.
 */
export function compare(passes, others, measure) {
  const values = passes.flat().map(measure);
  const ratios = passes.map((rounds, pass) =>
    rounds.map((round, at) => measure(round) / measure(others[pass][at])),
  );
  const all = ratios.flat();
  return {
    least: Math.min(...values),
    median: median(values),
    ratio: median(all),
    low: quantile(all, 0.25),
    high: quantile(all, 0.75),
    passes: ratios.map(median),
  };
}

/** By which part of itself a ratio differs from pass to pass (a standard deviation); 0 when there is
 *  one pass. */
export function deviation(passes) {
  if (passes.length < 2) return 0;
  const logs = passes.map(Math.log);
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  return Math.sqrt(logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (logs.length - 1));
}

/**
 * How a value grows along a line through the points `[x, y]`: `growth` over all of them, and `error`,
 * the standard error of that.
 */
export function trend(points) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [0, 1].map((axis) => mean(points.map((point) => point[axis])));
  const spread = points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  const slope = points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0) / spread;
  const rest = points.reduce((sum, [at, value]) => sum + (value - y - slope * (at - x)) ** 2, 0);
  const length = points.at(-1)[0] - points[0][0];
  return { growth: slope * length, error: Math.sqrt(rest / (points.length - 2) / spread) * length };
}
