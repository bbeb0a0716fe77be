// Calculates the price of calls for the table of docs/SCALE.md, which links to the price list.
import { table, writeTable } from "./table.mjs";

const MILLION = 1e6;
const BILLION = 1e9;
/** Workers Paid, in dollars per month; usage beyond the included amount is billed per million. */
const BASE = 5;
const REQUESTS = { included: 10 * MILLION, dollars: 0.3 };
const CPU_MS = { included: 30 * MILLION, dollars: 0.02 };

const beyond = (amount, { included, dollars }) => (Math.max(0, amount - included) / MILLION) * dollars;

/** Dollars for this number of requests per month with this CPU time each. */
export function monthly(requests, milliseconds) {
  const [forRequests, forCpu] = [beyond(requests, REQUESTS), beyond(requests * milliseconds, CPU_MS)];
  return { requests: forRequests, cpu: forCpu, total: BASE + forRequests + forCpu };
}

/** Dollars for another million requests once the included amounts are used up. */
export const another = (milliseconds) => REQUESTS.dollars + milliseconds * CPU_MS.dollars;

/** The table for calls `{ title, milliseconds }`. */
export function prices(calls) {
  const dollars = (value) => `$${value.toFixed(2)}`;
  return table(
    ["Request", "CPU ms", "a million in a month", "a million more", "a billion in a month", "of that for CPU"],
    calls.map(({ title, milliseconds }) => {
      const billion = monthly(BILLION, milliseconds);
      return [
        title,
        milliseconds.toFixed(3),
        dollars(monthly(MILLION, milliseconds).total),
        `$${another(milliseconds).toFixed(4)}`,
        dollars(billion.total),
        dollars(billion.cpu),
      ];
    }),
  );
}

/** Writes the table of docs/SCALE.md. */
export const writePrices = (calls) => writeTable("docs/SCALE.md", "make bench", prices(calls));
