// The Durable Object of the ledger: its arithmetic, its claims and its alarms, on workerd.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { SAMPLES, start } from "./support/worker.mjs";

// Requests reach the objects directly. The clock is that of the tests: it stands still until they set it. The runtime has its own,
// by which it rings alarms, so that those of the future do not ring unless a test rings them.
const AROUND = `
import { Ledger as Real } from "./worker.js";
let now = Date.UTC(2096, 2, 1, 12, 34, 56);
Date.now = () => now;
export class Ledger extends Real {
  ring() { return this.alarm(); }
  write(query) { this.ctx.storage.sql.exec(query); }
  alarmTime() { return this.ctx.storage.getAlarm(); }
  stored() {
    const tables = this.ctx.storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\\\_cf%' ESCAPE '\\\\' AND type = 'table'").toArray();
    return Object.fromEntries(tables.map(({ name }) => [name, this.ctx.storage.sql.exec(\`SELECT count(*) AS n FROM \${name}\`).one().n]));
  }
}
export default {
  async fetch(request, env) {
    const [object, operation, argument] = await request.json();
    if (operation === "set") return Response.json(now = argument);
    const stub = env.LEDGER.get(env.LEDGER.idFromName(object));
    return Response.json((await stub[operation](argument)) ?? null);
  },
};`;

const NOON = Date.UTC(2096, 2, 1, 12, 34, 56);
const MINUTE = 60_000;
const DAY = 86_400_000;

let worker;
before(async () => (worker = await start(SAMPLES, { around: AROUND })));
after(() => worker.close());

async function ask(object, operation, argument) {
  const response = await fetch(worker.address, { method: "POST", body: JSON.stringify([object, operation, argument]) });
  assert.equal(response.status, 200, await response.clone().text());
  return response.json();
}
const set = (time) => ask("", "set", time);

describe("claims", () => {
  it("lets exactly one of many claim a key, until the claim has expired", async () => {
    await set(NOON);
    const all = await Promise.all(Array.from({ length: 200 }, () => ask("claims:0", "claim", { key: "code", life: 5 * MINUTE, owner: randomUUID() })));
    assert.equal(all.filter(Boolean).length, 1);
    await worker.evict("claims:0");
    assert.equal(await ask("claims:0", "claim", { key: "code", life: MINUTE, owner: randomUUID() }), false);
    assert.equal(await ask("claims:0", "claim", { key: "other", life: MINUTE, owner: randomUUID() }), true);
    await set(NOON + 5 * MINUTE - 1);
    assert.equal(await ask("claims:0", "claim", { key: "code", life: MINUTE, owner: randomUUID() }), false);
    await set(NOON + 5 * MINUTE);
    assert.equal(await ask("claims:0", "claim", { key: "code", life: MINUTE, owner: randomUUID() }), true);
  });

  it("answers its owner, who asks again after a broken connection, as at first", async () => {
    await set(NOON);
    const claim = (owner) => ask("claims:2", "claim", { key: "code", life: MINUTE, owner });
    assert.deepEqual([await claim("a"), await claim("b"), await claim("a"), await claim("b")], [true, false, true, false]);
  });

  it("raises a number, and says what it was before, until it has expired", async () => {
    await set(NOON);
    const raise = (number, key = "rotation") => ask("claims:4", "raise", { key, number, life: MINUTE });
    assert.deepEqual([await raise(1), await raise(1), await raise(3), await raise(2), await raise(3)], [0, 1, 1, 3, 3]);
    assert.equal(await raise(1, "other"), 0);
    const all = await Promise.all(Array.from({ length: 50 }, (_, at) => raise(at + 1, "many")));
    assert.equal(all.filter((before) => before === 0).length, 1);
    await worker.evict("claims:4");
    assert.deepEqual([await raise(2), await raise(51, "many")], [3, 50]);
    await set(NOON + MINUTE);
    assert.equal(await raise(2), 0);
  });

  it("keeps nothing of claims that have expired", async () => {
    await set(NOON);
    await ask("claims:1", "claim", { key: "code", life: MINUTE, owner: randomUUID() });
    await set(NOON + 3 * MINUTE);
    await ask("claims:1", "ring");
    assert.deepEqual(await ask("claims:1", "stored"), {});
    assert.equal(await ask("claims:1", "claim", { key: "code", life: MINUTE, owner: randomUUID() }), true);
  });

  it("wakes at full minutes, however many claims expire", async () => {
    await set(NOON);
    for (let second = 0; second < 180; second += 20) await ask("claims:3", "claim", { key: `${second}`, life: MINUTE + second * 1_000, owner: randomUUID() });
    const rings = [];
    for (let time; (time = await ask("claims:3", "alarmTime")) !== null; ) {
      await set(time);
      await ask("claims:3", "ring");
      rings.push([(time - NOON) / 1_000, (await ask("claims:3", "stored")).claims]);
    }
    // NOON is four seconds before a full minute.
    assert.deepEqual(rings, [[64, 8], [124, 5], [184, 2], [244, undefined]]);
  });
});

const usd = (window, limit) => ({ window, unit: "usd", limit });
const calls = (window, limit) => ({ window, unit: "tool_calls", limit });
let reservations = 0;
const take = (account, budgets, units, rest = {}) => ask(`account:${account}`, "take", { account, budgets, unit: budgets[0].unit, units, id: ++reservations, ...rest });
async function used(account, unit, window) {
  const { windows } = await ask(`account:${account}`, "usage");
  const found = windows.find((one) => one.unit === unit && one.window === window);
  return [found.used, found.reserved];
}

describe("budgets", () => {
  it("takes from every budget of the unit, or from none", async () => {
    await set(NOON);
    const budgets = [calls("1m", 20), calls("1d", 30), usd("1d", 1)];
    assert.deepEqual(await take("all", budgets, 20), { reservation: 0 });
    assert.deepEqual(await take("all", budgets, 1), { exceeded: { window: "1m", limit: 20, left: 0, resets: 4_000, reserved: false } });
    await set(NOON + 4_000);
    assert.deepEqual(await take("all", budgets, 11), { exceeded: { window: "1d", limit: 30, left: 10, resets: DAY - (NOON + 4_000) % DAY, reserved: false } });
    assert.deepEqual(await used("all", "tool_calls", "1m"), [0, 0]);
    assert.deepEqual(await take("all", budgets, 10), { reservation: 0 });
    assert.deepEqual(await used("all", "tool_calls", "30d"), [30, 0]);
    assert.deepEqual(await used("all", "usd", "1d"), [0, 0]);
  });

  it("reserves, settles once, and releases", async () => {
    await set(NOON);
    const reserve = (units) => take("settled", [usd("1d", 100)], units, { life: MINUTE });
    const settle = (reservation, used) => ask("account:settled", "settle", { account: "settled", reservation, used });
    const { reservation: first } = await reserve(70);
    const { reservation: second } = await reserve(30);
    assert.deepEqual(await used("settled", "usd", "1d"), [0, 100]);
    const { exceeded } = await reserve(1);
    assert.deepEqual([exceeded.left, exceeded.reserved], [0, true]);
    await settle(first, 15);
    await settle(first, 15);
    await settle(second, 0);
    assert.deepEqual(await used("settled", "usd", "1d"), [15, 0]);
    // What was used beyond the reservation counts, too.
    const { reservation: third } = await reserve(85);
    await settle(third, 90);
    assert.deepEqual(await used("settled", "usd", "1d"), [105, 0]);
  });

  it("reserves once, if it is asked again after a broken connection", async () => {
    await set(NOON);
    const reserve = () => take("again", [usd("1d", 100)], 60, { life: MINUTE, id: 7 });
    assert.deepEqual([await reserve(), await reserve()], [{ reservation: 7 }, { reservation: 7 }]);
    assert.deepEqual(await used("again", "usd", "1d"), [0, 60]);
  });

  it("counts a charge once, if it is asked again after a broken connection", async () => {
    await set(NOON);
    const charge = (id, units = 2) => take("charged", [calls("1d", 300)], units, { id });
    for (const id of [1, 1, 2, 1]) assert.deepEqual(await charge(id), { reservation: 0 });
    await worker.evict("account:charged");
    await charge(2);
    assert.deepEqual(await used("charged", "tool_calls", "1d"), [4, 0]);
    // One that was rejected was not counted, and may be asked again.
    assert.ok((await charge(3, 300)).exceeded);
    await charge(3);
    assert.deepEqual(await used("charged", "tool_calls", "1d"), [6, 0]);
    // Those of another unit do not end its numbers, and the numbers do not grow without end.
    await take("charged", [{ window: "1d", unit: "requests", limit: 9 }], 1, { id: 1 });
    for (let id = 4; id <= 102; id += 1) await charge(id, 1);
    await charge(3);
    assert.deepEqual(await used("charged", "tool_calls", "1d"), [105, 0]);
    await charge(2);
    assert.deepEqual(await used("charged", "tool_calls", "1d"), [107, 0]);
  });

  it("adds the numbers of charges to an account that is older than they are", async () => {
    await set(NOON);
    await take("older", [calls("1d", 9)], 1);
    await ask("account:older", "write", "ALTER TABLE used DROP COLUMN charges");
    await worker.evict("account:older");
    for (const id of [7, 7]) await take("older", [calls("1d", 9)], 1, { id });
    assert.deepEqual(await used("older", "tool_calls", "1d"), [2, 0]);
  });

  it("counts what was not settled as used, when its time is over", async () => {
    await set(NOON);
    await take("died", [usd("1d", 100)], 60, { life: MINUTE });
    await worker.evict("account:died");
    assert.deepEqual(await used("died", "usd", "1d"), [0, 60]);
    await set(NOON + MINUTE);
    await ask("account:died", "ring");
    assert.deepEqual((await ask("account:died", "stored")).reserved, 0);
    assert.deepEqual(await used("died", "usd", "1d"), [60, 0]);
    assert.ok((await take("died", [usd("1d", 100)], 41)).exceeded);
  });

  it("counts what was not settled when the runtime rings the alarm", async () => {
    // For the runtime, that time is over.
    const past = Date.UTC(2020, 2, 1);
    await set(past);
    await take("alarm", [usd("1d", 100)], 60, { life: MINUTE });
    await set(past + 2 * MINUTE);
    while ((await ask("account:alarm", "stored")).reserved > 0);
    assert.deepEqual(await used("alarm", "usd", "1d"), [60, 0]);
  });

  it("counts in the window of the reservation", async () => {
    const evening = Date.UTC(2096, 2, 1, 23, 59, 30);
    await set(evening);
    const { reservation } = await take("midnight", [usd("1d", 100)], 60, { life: 5 * MINUTE });
    await set(evening + MINUTE);
    assert.deepEqual(await used("midnight", "usd", "1d"), [0, 0]);
    await take("midnight", [usd("1d", 100)], 1);
    await ask("account:midnight", "settle", { account: "midnight", reservation, used: 40 });
    assert.deepEqual(await used("midnight", "usd", "1d"), [1, 0]);
    assert.deepEqual(await used("midnight", "usd", "30d"), [41, 0]);
    const { days } = await ask("account:midnight", "usage");
    assert.deepEqual(days.map(({ units }) => units), [40, 1]);
    // The clock of an object may go back when it moves.
    await set(evening);
    assert.deepEqual(await used("midnight", "usd", "1d"), [1, 0]);
  });

  it("lists the accounts and keeps the last 31 days, then deletes itself", async () => {
    await set(NOON);
    for (const name of ["key:b", "key:a"]) await take(name, [calls("1d", 9)], 1);
    const names = (after = "key:") => ask("accounts", "accounts", { after, most: 2 });
    // An account is listed after the answer to its first operation.
    const listed = async (name) => {
      while (!(await names()).includes(name));
    };
    await Promise.all(["key:a", "key:b"].map(listed));
    assert.deepEqual([await names(), (await names("key:a"))[0]], [["key:a", "key:b"], "key:b"]);
    for (let day = 1; day <= 40; day += 1) {
      await set(NOON + day * DAY);
      await take("key:a", [calls("1d", 9)], 1);
    }
    await ask("account:key:a", "ring");
    const { days } = await ask("account:key:a", "usage");
    assert.deepEqual([days.length, days.at(-1).day - days[0].day], [31, 30]);
    await set(NOON + 72 * DAY);
    await ask("account:key:a", "ring");
    assert.deepEqual(await ask("account:key:a", "usage"), { budgets: [], windows: [], days: [] });
    assert.ok(!(await names()).includes("key:a"));
    assert.deepEqual(await take("key:a", [calls("1d", 9)], 1), { reservation: 0 });
    await listed("key:a");
  });

  for (const budgets of ["{", "{}", "null"]) {
    it(`tells the usage if the stored budgets are ${budgets}`, async () => {
      await set(NOON);
      await take(`broken${budgets}`, [calls("1d", 9)], 2);
      await ask(`account:broken${budgets}`, "write", `UPDATE account SET budgets = '${budgets}'`);
      await worker.evict(`account:broken${budgets}`);
      assert.deepEqual((await ask(`account:broken${budgets}`, "usage")).budgets, []);
      assert.deepEqual(await used(`broken${budgets}`, "tool_calls", "1d"), [2, 0]);
    });
  }

  it("counts exactly, with many requests at once", async () => {
    await set(NOON);
    const all = await Promise.all(Array.from({ length: 1_000 }, () => take("busy", [calls("1m", 100)], 1)));
    assert.equal(all.filter(({ exceeded }) => exceeded === undefined).length, 100);
    assert.deepEqual(await used("busy", "tool_calls", "1m"), [100, 0]);
  });
});
