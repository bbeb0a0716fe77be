// Asks the objects of the ledger (ledger.js). What is taken passes the boundary as numbers: windows and units are their positions here.

/** The number of objects that claims are spread over. */
const CLAIMS = 16;
const WINDOWS = ["1m", "1h", "1d", "30d"];
const UNITS = ["usd", "requests", "tool_calls"];
/** The lists of an account's usage, and the numbers in their rows. */
const COUNTS = { budgets: ["limit"], windows: ["used", "reserved"], days: ["day", "units"] };

/** A part of the names of owners. Outside of requests, there are no random numbers. */
let isolate;

/**
 * Whether the key was free, or is that of this request. The object may be asked twice, and a request that begins again, after another
 * one has crashed the instance, claims again.
 */
export function claim(namespace, key, life, request) {
  isolate ??= crypto.randomUUID();
  const owner = `${isolate}:${request}`;
  return ask(namespace, `claims:${hash(key) % CLAIMS}`, (object) => object.claim({ key, life, owner }));
}

/** Raises the number of a key to `number`, unless it is higher. Returns the number that it had before, 0 if none. */
export const raise = (namespace, key, number, life) => ask(namespace, `claims:${hash(key) % CLAIMS}`, (object) => object.raise({ key, number, life }));

/**
 * Takes units from `budgets`, each a window, a unit and a limit; at once if `life` is undefined. Returns the number of the
 * reservation, or the window and the limit of the budget that does not cover it, what is left of it, the milliseconds until it
 * resets, and whether only reservations stand in the way.
 */
export async function take(namespace, account, budgets, unit, units, life) {
  const listed = inThrees(budgets).map(([window, unit, limit]) => ({ window: WINDOWS[window], unit: UNITS[unit], limit }));
  // The number of the reservation or the charge: if the object is asked twice, it takes once.
  const id = Math.floor(Math.random() * 2 ** 52);
  const taking = { account, budgets: listed, unit: UNITS[unit], units, life, id };
  const { reservation, exceeded } = await ask(namespace, `account:${account}`, (object) => object.take(taking));
  if (exceeded === undefined) return Float64Array.of(reservation);
  const { window, limit, left, resets, reserved } = exceeded;
  return Float64Array.of(WINDOWS.indexOf(window), limit, left, resets, Number(reserved));
}

/** Ends a reservation, of which `used` was used. */
export const settle = (namespace, account, reservation, used) => ask(namespace, `account:${account}`, (object) => object.settle({ reservation, used }));

/** What an account has used, as JSON. */
export async function usage(namespace, account) {
  const stored = await ask(namespace, `account:${account}`, (object) => object.usage());
  let malformed = 0;
  const usage = Object.entries(COUNTS).map(([list, names]) => {
    // Rows that another version of the Worker has written may have other windows and units.
    const known = stored[list].filter((row) => UNITS.includes(row?.unit) && (list === "days" || WINDOWS.includes(row.window)));
    // One number that Rust cannot read would make all rows unreadable.
    const counted = known.filter((row) => names.every((name) => Number.isSafeInteger(row[name]) && row[name] >= 0));
    malformed += known.length - counted.length;
    return [list, counted];
  });
  if (malformed > 0) console.error(JSON.stringify({ event: "ledger", problem: `${malformed} rows of an account are left out of its usage: their numbers are malformed` }));
  return JSON.stringify(Object.fromEntries(usage));
}

/** The names of accounts after the name `after`, as JSON. */
export async function accounts(namespace, after, most) {
  return JSON.stringify(await ask(namespace, "accounts", (object) => object.accounts({ after, most })));
}

/** Runs an operation in an object. That may just have moved or been replaced: then it is asked once more. */
export async function ask(namespace, name, operation) {
  const id = namespace.idFromName(name);
  try {
    return await operation(namespace.get(id));
  } catch (error) {
    if (!error.retryable || error.overloaded) throw error;
    return operation(namespace.get(id));
  }
}

function hash(text) {
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) hash = (hash * 31 + text.charCodeAt(at)) >>> 0;
  return hash;
}

/** The array may be a view of WebAssembly memory, which may move while something waits. */
const inThrees = (numbers) => Array.from({ length: numbers.length / 3 }, (_, at) => [...numbers.slice(3 * at, 3 * at + 3)]);
