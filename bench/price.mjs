// What calls cost in money: the table of docs/SCALE.md, which says where the prices stand.
import { table, writeTable } from "./table.mjs";

const MILLION = 1e6;
const BILLION = 1e9;
/** Workers Paid, in dollars a month; what exceeds the included is paid by the million. */
const BASE = 5;
const REQUESTS = { included: 10 * MILLION, dollars: 0.3 };
const CPU_MS = { included: 30 * MILLION, dollars: 0.02 };

const beyond = (amount, { included, dollars }) => (Math.max(0, amount - included) / MILLION) * dollars;

/** Dollars for so many requests in a month that take so many milliseconds of CPU each. */
export function monthly(requests, milliseconds) {
  const [forRequests, forCpu] = [beyond(requests, REQUESTS), beyond(requests * milliseconds, CPU_MS)];
  return { requests: forRequests, cpu: forCpu, total: BASE + forRequests + forCpu };
}

/** Dollars for a million requests more, where all that is included is used up. */
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
export const writePrices = (calls) => writeTable("docs/SCALE.md", prices(calls));
