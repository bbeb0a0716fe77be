// How the benchmark tells a regression from noise. Nothing is timed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ROUTES } from "../bench/gateway/agents.mjs";
import { ratios as gatewayRatios } from "../bench/gateway/ratios.mjs";
import { judge, passes, stored } from "../bench/guard.mjs";
import { another, monthly } from "../bench/price.mjs";
import { compare, deviation, quantile } from "../bench/statistics.mjs";
import { growth } from "../bench/stress.mjs";

const GZIP = 200_000;
const quiet = [0.99, 1, 1.01, 1, 1];
const noisy = [0.8, 1.2, 0.9, 1.1, 1];
const ratio = (id, value, { kind = "cost", scatter = quiet } = {}) => ({
  id,
  title: `title of ${id}`,
  kind,
  ratio: value,
  passes: scatter.map((part) => part * value),
});
const run = (ratios, gzip = GZIP) => stored(ratios, gzip);
const before = run([ratio("a", 1.2), ratio("b", 0.9), ratio("start", 1.5, { kind: "start", scatter: noisy })]);

test("the guard", async (t) => {
  const rest = [ratio("b", 0.9), ratio("start", 1.5, { kind: "start", scatter: noisy })];
  const cases = [
    ["equal figures pass", before, ["good", "good", "good", "good"], true],
    ["a small increase is noise", run([ratio("a", 1.205), ...rest]), ["good", "good", "good", "good"], true],
    ["a large increase is worse", run([ratio("a", 1.26), ...rest]), ["worse", "good", "good", "good"], false],
    ["a large decrease is better", run([ratio("a", 1.1), ...rest]), ["better", "good", "good", "good"], true],
    ["a ratio that is not measured", run(rest), ["missing", "good", "good", "good"], false],
    ["a ratio that was not stored", run([ratio("a", 1.2), ratio("c", 9), ...rest]), ["good", "good", "good", "new", "good"], true],
    ["noise of this run counts too", run([ratio("a", 1.26, { scatter: noisy }), ...rest]), ["good", "good", "good", "good"], true],
    [
      "noise of one kind does not excuse another",
      run([ratio("a", 1.26), ratio("b", 0.9), ratio("start", 1.7, { kind: "start", scatter: noisy })]),
      ["worse", "good", "good", "good"],
      false,
    ],
    ["fewer passes are less certain", run([ratio("a", 1.215, { scatter: [1, 1] }), ...rest]), ["good", "good", "good", "good"], true],
    ["a bundle within one percent", run([ratio("a", 1.2), ...rest], GZIP * 1.009), ["good", "good", "good", "good"], true],
    ["a larger bundle", run([ratio("a", 1.2), ...rest], GZIP * 1.011), ["good", "good", "good", "worse"], false],
  ];
  for (const [title, after, verdicts, passed] of cases) {
    await t.test(title, () => {
      const rows = judge(before, after);
      assert.deepEqual(rows.map(({ verdict }) => verdict), verdicts);
      assert.equal(passes(rows), passed);
    });
  }
  await t.test("stored results survive JSON", () => {
    assert.deepEqual(judge(JSON.parse(JSON.stringify(before)), before), judge(before, before));
  });
});

test("ratios compare the same round", () => {
  // The second pass was ten times as slow, for both.
  const [of, to] = [[[2, 4], [30, 60]], [[1, 2], [10, 40]]];
  const { ratio, low, high, least, median, passes } = compare(of, to, (value) => value);
  assert.deepEqual({ ratio, low, high, least, median }, { ratio: 2, low: 1.875, high: 2.25, least: 2, median: 17 });
  assert.deepEqual(passes, [2, 2.25]);
});

test("the ratios of gateways compare what is added in the same round", () => {
  const [route] = ROUTES;
  // The second round was ten times as slow, for all.
  const row = (name, p99, more) => ({ route, name, rounds: Object.fromEntries([1, 4, 16].map((count) => [count, [{ p99, cpu: 1 }, { p99: p99 * 10, cpu: 10 }]])), ...more });
  const sessions = [row("direct", 1), row("a Worker that only pipes", 3), row("Toolbooth", 4), row("Portkey", 7), row("LiteLLM", 0, { problem: "400" })];
  const found = gatewayRatios({ sessions });
  const values = Object.fromEntries(found.map(({ what, ratio, limit, passes }) => [what, { ratio, limit, passes }]));
  assert.deepEqual(values, {
    "p99 added with 16 at once, × that of a Worker that only pipes": { ratio: 1.5, limit: 1.5, passes: [1.5, 1.5] },
    "p99 added with 1 at once, × Portkey's": { ratio: 0.5, limit: 1, passes: [0.5, 0.5] },
    "p99 added with 4 at once, × Portkey's": { ratio: 0.5, limit: 1, passes: [0.5, 0.5] },
    "p99 added with 16 at once, × Portkey's": { ratio: 0.5, limit: 1, passes: [0.5, 0.5] },
  });
  // Without a bundle, only the ratios are compared.
  assert.deepEqual(judge(stored(found), stored(found)).map(({ verdict }) => verdict), ["good", "good", "good", "good"]);
});

test("quantiles and deviations", () => {
  for (const [values, part, expected] of [
    [[3, 1, 2], 0.5, 2],
    [[4, 1, 2, 3], 0.5, 2.5],
    [[5], 0.99, 5],
    [[1, 2, 3], 1, 3],
  ]) {
    assert.equal(quantile(values, part), expected, `${part} of ${values}`);
  }
  assert.equal(deviation([7]), 0, "one pass");
  assert.equal(deviation([2, 2, 2]), 0);
  assert.ok(Math.abs(deviation([0.99, 1.01]) - 0.01414) < 1e-4);
});

test("memory only grows if the increase exceeds the noise", () => {
  const samples = (rss, wasm = () => 1) =>
    Array.from({ length: 20 }, (_, at) => ({ calls: (at + 1) * 50_000, rss: rss(at), wasm: wasm(at) }));
  const wave = (at) => 1e8 + 1e5 * Math.sin(at * 2);
  for (const [title, taken, grows] of [
    ["noise alone", samples(wave), false],
    ["growth in the first half alone", samples((at) => wave(at) + 1e7 * Math.min(at, 9)), false],
    ["one page more, once", samples((at) => (at < 15 ? 1e8 : 1e8 + 4096)), false],
    ["a line of 20 bytes a call", samples((at) => wave(at) + 1e6 * at), true],
    ["WebAssembly memory, one page", samples(wave, (at) => (at < 15 ? 65536 : 131072)), true],
    ["it shrinks", samples((at) => wave(at) - 1e6 * at), false],
  ]) {
    assert.equal(growth(taken).grows, grows, title);
  }
});

test("prices", () => {
  for (const [title, requests, milliseconds, expected] of [
    ["what is included", 10_000_000, 3, { requests: 0, cpu: 0, total: 5 }],
    ["requests beyond it", 15_000_000, 2, { requests: 1.5, cpu: 0, total: 6.5 }],
    ["the example of the documentation", 15_000_000, 7, { requests: 1.5, cpu: 1.5, total: 8 }],
    ["its other example", 100_000_000, 7, { requests: 27, cpu: 13.4, total: 45.4 }],
  ]) {
    const price = monthly(requests, milliseconds);
    for (const part in expected) assert.ok(Math.abs(price[part] - expected[part]) < 1e-9, `${title}: ${part}`);
  }
  assert.ok(Math.abs(another(5) - 0.4) < 1e-9, "a million more");
});
