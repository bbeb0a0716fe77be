// Statistics for noisy measurements.

/** The quantile: the value below which the fraction `part` of the values lies. */
export function quantile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * part;
  const below = sorted[Math.floor(place)];
  return below + (sorted[Math.ceil(place)] - below) * (place % 1);
}

export const median = (values) => quantile(values, 0.5);

/**
 * Compares two measurements of several rounds in several passes, each pass with a new process.
 *
 * `ratio` is the median of the ratios in the same round, `low` and `high` are the quartiles, and `passes`
 * has the median of each pass: their differences are noise between processes.
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

/** The relative standard deviation of a ratio between passes; 0 for a single pass. */
export function deviation(passes) {
  if (passes.length < 2) return 0;
  const logs = passes.map(Math.log);
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  return Math.sqrt(logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (logs.length - 1));
}

/**
 * Linear regression over the points `[x, y]`: `growth` from the first to the last point, and `error`, its
 * standard error.
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
