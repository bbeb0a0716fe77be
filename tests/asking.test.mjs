// What the Worker asks of the objects of the ledger, without the objects.
import assert from "node:assert/strict";
import { test } from "node:test";
import { usage } from "../crates/toolbooth-worker/js/ask.js";

/** A namespace whose objects are all `object`. */
const namespace = (object) => ({ idFromName: (name) => name, get: () => object });

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
