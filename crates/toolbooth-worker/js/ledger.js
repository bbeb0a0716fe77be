// The Durable Object of what must be exact: the budgets of callers, and claims of keys. Each account of a caller is an object
// of its own; claims are spread over a few objects, and one more knows the names of the accounts. All are of this class, and
// each uses the tables that it needs. Only one operation runs at a time, and its writes are on disk before it is answered.
import { DurableObject } from "cloudflare:workers";

const DAY = 86_400_000;
/** The windows of budgets, which are also columns, with their lengths in milliseconds. */
const WINDOWS = { "1m": 60_000, "1h": 3_600_000, "1d": DAY, "30d": 30 * DAY };
const UNITS = ["usd", "requests", "tool_calls"];
/** For how many days an account is kept. */
const DAYS = 31;
/** The most names in a page of accounts. */
const MOST = 1_000;
/** The most numbers of charges that are kept, of each unit: the last ones. A charge is repeated at once, or never. */
const CHARGES = 100;
/** Alarms are at full minutes: so there is at most one a minute, however many reservations and claims expire. */
const MINUTE = 60_000;

const TABLES = `
CREATE TABLE IF NOT EXISTS account (name TEXT PRIMARY KEY, budgets TEXT NOT NULL, listed INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS used (unit TEXT PRIMARY KEY, at INTEGER NOT NULL,
  "1m" INTEGER NOT NULL, "1h" INTEGER NOT NULL, "1d" INTEGER NOT NULL, "30d" INTEGER NOT NULL,
  charges TEXT NOT NULL DEFAULT '[]') WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS days (day INTEGER NOT NULL, unit TEXT NOT NULL, units INTEGER NOT NULL, PRIMARY KEY (day, unit)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reserved (id INTEGER PRIMARY KEY, unit TEXT NOT NULL, units INTEGER NOT NULL, at INTEGER NOT NULL, expires INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, expires INTEGER NOT NULL, owner TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS accounts (name TEXT PRIMARY KEY) WITHOUT ROWID;`;

const start = (time, length) => time - (time % length);
const isSame = (one, other, length) => start(one, length) === start(other, length);

export class Ledger extends DurableObject {
  #storage;
  /** Whether there are tables. */
  #isOpen = false;
  /** When the next alarm is; null if there is none. */
  #alarm;
  /** The latest time that was used: the clock may go back, and then no window must begin again. */
  #latest = 0;
  /** The budgets of the account, as they are stored. */
  #budgets;
  #isListed = false;

  constructor(context, env) {
    super(context, env);
    this.#storage = context.storage;
    context.blockConcurrencyWhile(async () => {
      this.#alarm = await this.#storage.getAlarm();
      const [used] = this.#rows("SELECT sql FROM sqlite_master WHERE name = 'used'");
      if (used === undefined) return;
      // Objects that are older have no such column.
      if (!used.sql.includes("charges")) this.#rows("ALTER TABLE used ADD COLUMN charges TEXT NOT NULL DEFAULT '[]'");
      this.#isOpen = true;
      this.#latest = this.#rows("SELECT coalesce(max(at), 0) AS at FROM used")[0].at;
      const [account] = this.#rows("SELECT budgets, listed FROM account");
      if (account) [this.#budgets, this.#isListed] = [account.budgets, account.listed === 1];
    });
  }

  /** Claims a key for `life` milliseconds. Returns whether it was free, or has this owner. */
  claim({ key, life, owner }) {
    const now = this.#now();
    const expires = now + life;
    const claimed = this.#write(() =>
      this.#rows(
        `INSERT INTO claims VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET expires = excluded.expires, owner = excluded.owner
         WHERE claims.expires <= ? OR claims.owner = excluded.owner RETURNING key`,
        ...[key, expires, owner, now],
      ),
    );
    this.#wake(expires);
    return claimed.length === 1;
  }

  /** Raises the number of a key to `number` for `life` milliseconds, unless it is higher. Returns the number that it had before, 0 if none. */
  raise({ key, number, life }) {
    const now = this.#now();
    const expires = now + life;
    const before = this.#write(() => {
      const [row] = this.#rows("SELECT owner FROM claims WHERE key = ? AND expires > ?", key, now);
      const before = Number(row?.owner ?? 0);
      this.#rows("INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", key, expires, String(Math.max(before, number)));
      return before;
    });
    this.#wake(expires);
    return before;
  }

  /**
   * Takes `units` from all `budgets` of their unit, or from none: once under the number `id`, however often it is asked. With `life`
   * they are reserved for that many milliseconds.
   * Returns `{ reservation }`, or `{ exceeded }`: the budget that does not cover them, and why.
   */
  take({ account, budgets, unit, units, life, id }) {
    const now = this.#now();
    const result = this.#write(() => {
      this.#remember(account, JSON.stringify(budgets));
      this.#expire(now);
      if (life === undefined && this.#charges(unit).includes(id)) return { reservation: 0 };
      if (life !== undefined && this.#rows("SELECT 1 FROM reserved WHERE id = ?", id).length > 0) return { reservation: id };
      const lacking = budgets.filter((budget) => budget.unit === unit).flatMap(({ window, limit }) => {
        const { used, reserved } = this.#window(unit, window, now);
        if (used + reserved + units <= limit) return [];
        const resets = WINDOWS[window] - (now % WINDOWS[window]);
        return [{ window, limit, left: Math.max(0, limit - used - reserved), resets, reserved: used + units <= limit }];
      });
      // The one that is covered last.
      lacking.sort((one, other) => one.reserved - other.reserved || other.resets - one.resets);
      if (lacking.length > 0) return { exceeded: lacking[0] };
      if (life === undefined) {
        this.#use(unit, units, now, now, [...this.#charges(unit), id].slice(-CHARGES));
        return { reservation: 0 };
      }
      this.#rows("INSERT INTO reserved VALUES (?, ?, ?, ?, ?)", id, unit, units, now, now + life);
      return { reservation: id };
    });
    if (life !== undefined) this.#wake(now + life);
    // Then it is looked whether the account is still used.
    if (this.#alarm === null) this.#wake(now + DAYS * DAY);
    if (!this.#isListed) this.#list(account);
    return result;
  }

  /** Ends a reservation, of which `used` was used. */
  settle({ reservation, used }) {
    const now = this.#now();
    this.#write(() => {
      this.#expire(now);
      for (const { unit, at } of this.#rows("DELETE FROM reserved WHERE id = ? RETURNING unit, at", reservation)) this.#use(unit, used, at, now);
    });
  }

  /** The budgets of the account, what is used and reserved in each window, and what was used on each day. */
  usage() {
    if (!this.#isOpen) return { budgets: [], windows: [], days: [] };
    const now = this.#now();
    this.#write(() => this.#expire(now));
    const windows = UNITS.flatMap((unit) => Object.keys(WINDOWS).map((window) => ({ unit, window, ...this.#window(unit, window, now) })));
    const today = Math.floor(now / DAY);
    const past = this.#rows("SELECT day, unit, units FROM days WHERE day > ? ORDER BY day", today - DAYS);
    const last = this.#rows('SELECT at, unit, "1d" AS units FROM used').map(({ at, ...rest }) => ({ day: Math.floor(at / DAY), ...rest }));
    const days = [...past, ...last].filter(({ day, units }) => units > 0 && day > today - DAYS);
    return { budgets: listed(this.#budgets), windows, days: days.sort((one, other) => one.day - other.day) };
  }

  /** The names of accounts after the name `after`, in order. */
  accounts({ after, most }) {
    if (!this.#isOpen) return [];
    return this.#rows("SELECT name FROM accounts WHERE name > ? ORDER BY name LIMIT ?", after, Math.min(most, MOST)).map(({ name }) => name);
  }

  /** Adds the name of an account that is used, or removes that of one that is not. */
  list({ name, isUsed }) {
    this.#write(() => this.#rows(isUsed ? "INSERT OR IGNORE INTO accounts VALUES (?)" : "DELETE FROM accounts WHERE name = ?", name));
  }

  /** Ends what has expired. An object that has nothing left deletes itself. */
  async alarm() {
    this.#alarm = null;
    const now = this.#now();
    this.#write(() => {
      this.#expire(now);
      this.#rows("DELETE FROM claims WHERE expires <= ?", now);
    });
    const [{ at }] = this.#rows("SELECT min(expires) AS at FROM (SELECT expires FROM reserved UNION ALL SELECT expires FROM claims)");
    if (at !== null) return this.#wake(at);
    const [account] = this.#rows("SELECT name FROM account");
    const end = this.#latest + DAYS * DAY;
    if (account && end > now) return this.#wake(end);
    // Another operation may come in between: then the account is listed again, and stays.
    this.#isListed = false;
    if (account) await index(this.env).list({ name: account.name, isUsed: false });
    if (this.#alarm !== null) return;
    [this.#isOpen, this.#budgets] = [false, undefined];
    await this.#storage.deleteAll();
  }

  #now() {
    return Math.max(Date.now(), this.#latest);
  }

  #rows(query, ...values) {
    return this.#storage.sql.exec(query, ...values).toArray();
  }

  /** Runs a function that writes: completely, or not at all. */
  #write(run) {
    try {
      const result = this.#storage.transactionSync(() => {
        if (!this.#isOpen) this.#storage.sql.exec(TABLES);
        return run();
      });
      this.#isOpen = true;
      return result;
    } catch (error) {
      // What it remembered may not be stored.
      this.#budgets = undefined;
      throw error;
    }
  }

  #remember(name, budgets) {
    if (this.#budgets === budgets) return;
    this.#rows("INSERT INTO account VALUES (?, ?, 0) ON CONFLICT (name) DO UPDATE SET budgets = excluded.budgets", name, budgets);
    this.#budgets = budgets;
  }

  /** Reservations that were not settled count as used: the request may have cost what it could. */
  #expire(now) {
    for (const { unit, units, at } of this.#rows("DELETE FROM reserved WHERE expires <= ? RETURNING unit, units, at", now)) this.#use(unit, units, at, now);
  }

  #window(unit, window, now) {
    const length = WINDOWS[window];
    const [row] = this.#rows("SELECT * FROM used WHERE unit = ?", unit);
    const used = row && isSame(row.at, now, length) ? row[window] : 0;
    const [{ reserved }] = this.#rows("SELECT coalesce(sum(units), 0) AS reserved FROM reserved WHERE unit = ? AND at >= ?", unit, start(now, length));
    return { used, reserved };
  }

  /** The numbers of the last charges. */
  #charges(unit) {
    const [row] = this.#rows("SELECT charges FROM used WHERE unit = ?", unit);
    return JSON.parse(row?.charges ?? "[]");
  }

  /** Counts what was used, in the windows in which it was taken, at the time `at`. */
  #use(unit, units, at, now, charges = this.#charges(unit)) {
    const [row] = this.#rows("SELECT * FROM used WHERE unit = ?", unit);
    if (row && row["1d"] > 0 && !isSame(row.at, now, DAY)) {
      this.#addDay(row.at, unit, row["1d"]);
      this.#rows("DELETE FROM days WHERE day <= ?", Math.floor(now / DAY) - DAYS);
    }
    if (!isSame(at, now, DAY)) this.#addDay(at, unit, units);
    const counts = Object.entries(WINDOWS).map(([window, length]) => (row && isSame(row.at, now, length) ? row[window] : 0) + (isSame(at, now, length) ? units : 0));
    this.#rows("INSERT OR REPLACE INTO used VALUES (?, ?, ?, ?, ?, ?, ?)", unit, now, ...counts, JSON.stringify(charges));
    this.#latest = now;
  }

  #addDay(at, unit, units) {
    this.#rows("INSERT INTO days VALUES (?, ?, ?) ON CONFLICT (day, unit) DO UPDATE SET units = units + excluded.units", Math.floor(at / DAY), unit, units);
  }

  /** Sets the alarm for the minute after a time, unless there is an earlier one. */
  #wake(time) {
    const alarm = start(time, MINUTE) + MINUTE;
    if (this.#alarm !== null && this.#alarm <= alarm) return;
    this.#alarm = alarm;
    // Like every write, it is on disk before the operation is answered.
    this.#storage.setAlarm(alarm);
  }

  /** Adds the account to the list of all. If that fails, the next operation tries again. */
  async #list(name) {
    this.#isListed = true;
    try {
      await index(this.env).list({ name, isUsed: true });
      this.#write(() => this.#rows("UPDATE account SET listed = 1"));
    } catch (error) {
      this.#isListed = false;
      console.error(JSON.stringify({ event: "ledger", problem: `an account cannot be listed: ${error}` }));
    }
  }
}

/** The budgets of an account, which are stored as JSON. None if something else is stored. */
function listed(budgets) {
  try {
    const list = JSON.parse(budgets);
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

/** The object that knows the names of the accounts. */
const INDEX = "accounts";
const index = ({ LEDGER }) => LEDGER.get(LEDGER.idFromName(INDEX));
