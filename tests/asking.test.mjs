// What the Worker asks of the objects of the ledger, without the objects.
import assert from "node:assert/strict";
import { test } from "node:test";
import { claim, usage } from "../crates/toolbooth-worker/js/ask.js";

/** A namespace whose objects are all `object`. */
const namespace = (object) => ({ idFromName: (name) => name, get: () => object });

test("the owner of a claim is the request, also if it begins again or the object is asked twice", async () => {
  const owners = [];
  let broken = 1;
  const object = { claim: ({ owner }) => (owners.push(owner), broken-- > 0 ? Promise.reject(Object.assign(new Error(), { retryable: true })) : true) };
  for (const request of [7, 7, 8]) assert.equal(await claim(namespace(object), "proof", 60_000, request), true);
  assert.equal(owners.length, 4);
  assert.deepEqual([new Set(owners.slice(0, 3)).size, new Set(owners).size], [1, 2]);
});

test("malformed rows are left out of the usage of an account, and the log says so once", async (t) => {
  const rows = (well, ...malformed) => [well, ...malformed.map((change) => ({ ...well, ...change }))];
  const [budget, window, day] = [{ window: "1d", unit: "usd", limit: 5 }, { window: "1h", unit: "requests", used: 0, reserved: 2 }, { day: 20_000, unit: "tool_calls", units: 1 }];
  const stored = {
    budgets: rows(budget, { limit: -1 }, { limit: 0.5 }, { limit: undefined }, { limit: "5" }, { unit: "other" }, { window: undefined }),
    windows: rows(window, { used: 2 ** 53 }, { reserved: null }, { reserved: -1 }, { window: "1y" }),
    days: rows(day, { units: NaN }, { day: 1.5 }),
  };
  const log = t.mock.method(console, "error", () => {});
  const read = async (stored) => JSON.parse(await usage(namespace({ usage: () => stored }), "key:a"));
  assert.deepEqual(await read(stored), { budgets: [budget], windows: [window], days: [day] });
  const lines = log.mock.calls.map(({ arguments: [line] }) => JSON.parse(line));
  assert.deepEqual(lines, [{ event: "ledger", problem: "9 rows of an account are left out of its usage: their numbers are malformed" }]);
  await read({ budgets: [budget, null, { ...budget, unit: "other" }], windows: [], days: [] });
  assert.equal(log.mock.callCount(), 1);
});
