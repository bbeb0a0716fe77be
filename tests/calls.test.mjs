// The response to a call: the three classes of error (X15 to X19, X22 to X25), call ids (X26), the
// duration, numbers, and parallel calls.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BOOTH, CANARY, FIXTURES, start } from "./support/worker.mjs";

let booth, fixtures;
before(async () => ([booth, fixtures] = await Promise.all([start(BOOTH), start(FIXTURES)])));
after(() => Promise.all([booth.close(), fixtures.close()]));

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

for (const [name, tool_id, input, status, members] of [
  ["X10 a call that succeeds", "Calculator.Add", { a: 1, b: 2 }, 200, ["call_id", "duration", "success", "value"]],
  ["X10 X25 a call that fails", "Doorbell.Ring", { doorbell_id: CANARY }, 200, ["call_id", "duration", "success", "error"]],
  ["X16 a call that cannot begin", "Calculator.Add@9", {}, 400, ["message", "developer_message"]],
  ["X23 a call whose input is wrong", "Calculator.Add", {}, 422, ["message", "parameter_errors"]],
]) {
  test(`X15 ${name} is a ${status} in its own form`, async () => {
    const reply = await booth.call(tool_id, input);
    assert.equal(reply.status, status);
    assert.deepEqual(Object.keys(reply.json), members);
    assert.equal(reply.headers["cache-control"], "no-store");
  });
}

test("X25 a tool's error has success false", async () => {
  const { json } = await booth.call("Calculator.Add", { a: 1e308, b: 1e308 });
  assert.equal(json.success, false);
  assert.deepEqual(json.error, { message: "The sum is too large for a number", can_retry: false });
});

for (const [name, body] of [
  ["an unknown tool", { tool_id: "No.Tool" }],
  ["an invalid id", { tool_id: "nothing" }],
  ["a body that is no call", []],
]) {
  test(`X17 X18 X19 ${name}: a message for the user, and one for the log`, async () => {
    const reply = await booth.post(body);
    assert.equal(reply.status, 400);
    assert.match(reply.json.message, /^[A-Z].*[a-z']$/);
    assert.ok(reply.json.developer_message.length > 0);
  });
}

test("X22 input is validated before the tool runs", async () => {
  // The tool would panic, with a 500, if it ran.
  const reply = await fixtures.call("Fixture.Panic", { unwanted: 1 });
  assert.equal(reply.status, 422);
  assert.deepEqual(reply.json.parameter_errors, { unwanted: "Is not a known parameter" });
});

test("X22 an absent input is an empty one", async () => {
  assert.equal((await fixtures.post({ tool_id: "Fixture.Silent" })).json.value, null);
  const { status, json } = await booth.post({ tool_id: "Calculator.Add" });
  assert.equal(status, 422);
  assert.deepEqual(json.parameter_errors, { a: "Is required", b: "Is required" });
});

const CITY = "x".repeat(101);
for (const [name, worker, tool_id, input, errors] of [
  ["a type", () => booth, "Calculator.Add", { a: 10, b: "infinity" }, { b: "Must be a number" }],
  ["null is no number", () => booth, "Calculator.Add", { a: null, b: 1 }, { a: "Must be a number" }],
  ["all faults at once", () => booth, "Calculator.Add", { a: "1", c: 1 },
    { a: "Must be a number", b: "Is required", c: "Is not a known parameter" }],
  ["an array is no input", () => booth, "Calculator.Add", [1, 2], { input: "Must be an object" }],
  ["text is no input", () => booth, "Calculator.Add", "1+2", { input: "Must be an object" }],
  ["a number is no input", () => booth, "Calculator.Add", 3, { input: "Must be an object" }],
  ["null is no input", () => booth, "Calculator.Add", null, { input: "Must be an object" }],
  ["allowed values", () => booth, "Text.Slugify", { text: "a", separator: "+" },
    { separator: 'Must be one of: "-", "_", "."' }],
  ["limits", () => booth, "Text.Slugify", { text: "a", max_length: 0 }, { max_length: "Must be at least 1" }],
  ["a fraction is no integer", () => booth, "Text.Slugify", { text: "a", max_length: 1.5 },
    { max_length: "Must be an integer" }],
  ["length", () => booth, "Weather.Current", { city: CITY }, { city: "Must have at most 100 characters" }],
  ["length 0", () => booth, "Doorbell.Ring", { doorbell_id: "" }, { doorbell_id: "Must have at least 1 character" }],
  ["nested", () => fixtures, "Fixture.Echo", { order: { lines: [{ price: 1 }, { price: "1" }] } },
    { "order.lines[1].price": "Must be a number" }],
  ["nested and missing", () => fixtures, "Fixture.Echo", { order: { lines: [{}] } },
    { "order.lines[0].price": "Is required" }],
  ["nested, several", () => fixtures, "Fixture.Echo", { order: { lines: [{ price: -1 }, 2], when: "soon" } },
    { "order.lines[0].price": "Must be at least 0", "order.lines[1]": "Must be an object", "order.when": "Must be a valid date" }],
]) {
  test(`X23 X24 ${name}: ${JSON.stringify(errors)}`, async () => {
    const reply = await worker().call(tool_id, input);
    assert.equal(reply.status, 422);
    assert.deepEqual(reply.json, { message: "Some input parameters are invalid", parameter_errors: errors });
  });
}

test("X24 thousands of errors lead to a short response", async () => {
  const lines = Array.from({ length: 5000 }, () => ({}));
  const reply = await fixtures.call("Fixture.Echo", { order: { lines } });
  assert.equal(reply.status, 422);
  assert.ok(Object.keys(reply.json.parameter_errors).length >= 10);
  assert.ok(reply.text.length < 10000);
});

test("X24 errors do not repeat the value", async () => {
  const reply = await booth.call("Calculator.Add", { a: `${CANARY}-1`, b: [`${CANARY}-2`] });
  assert.equal(reply.status, 422);
  assert.ok(!reply.text.includes(CANARY));
});

for (const call_id of ["123e4567-e89b-12d3-a456-426614174000", "1", "", "é \"quoted\" \u{1f600}\n", "x".repeat(10000)]) {
  test(`X26 the call_id ${JSON.stringify(call_id).slice(0, 40)} is echoed`, async () => {
    const done = await booth.call("Calculator.Add", { a: 1, b: 1 }, { call_id });
    assert.equal(done.json.call_id, call_id);
    const failed = await booth.call("Doorbell.Ring", { doorbell_id: CANARY }, { call_id });
    assert.equal(failed.json.call_id, call_id);
  });
}

test("X26 without a call_id each call gets a random one", async () => {
  const ids = [];
  for (const [tool_id, input] of [
    ["Calculator.Add", { a: 1, b: 1 }],
    ["Calculator.Add", { a: 1, b: 1 }],
    ["Doorbell.Ring", { doorbell_id: CANARY }],
  ]) {
    const { json } = await booth.call(tool_id, input);
    assert.match(json.call_id, UUID);
    ids.push(json.call_id);
  }
  assert.equal(new Set(ids).size, ids.length);
});

test("D14 one call_id twice runs the tool twice", async () => {
  const rest = { call_id: "again" };
  assert.equal((await booth.call("Calculator.Add", { a: 1, b: 1 }, rest)).json.value, 2);
  assert.equal((await booth.call("Calculator.Add", { a: 2, b: 2 }, rest)).json.value, 4);
});

test("the duration is a number of milliseconds", async () => {
  const { json } = await booth.call("Calculator.Add", { a: 1, b: 1 });
  assert.ok(Number.isInteger(json.duration) && json.duration >= 0);
});

test("trace_id and further fields of the context are accepted and ignored", async () => {
  const rest = { trace_id: "t", context: { user_id: "u", authorization: [], secrets: [], region: "eu" } };
  assert.equal((await booth.call("Calculator.Add", { a: 1, b: 1 }, rest)).status, 200);
});

// As text in both directions, because JSON.parse would round the numbers.
for (const [a, b, sum] of [
  ["10", "5", "15"],
  ["0.1", "0.2", "0.30000000000000004"],
  ["9007199254740993", "2", "9007199254740995"],
  ["18446744073709551614", "1", "18446744073709551615"],
  ["-9223372036854775807", "-1", "-9223372036854775808"],
  ["18446744073709551615", "1", "1.8446744073709552e+19"],
  ["0.5", "0.5", "1"],
  ["1e300", "0", "1e+300"],
  ["-1", "1", "0"],
]) {
  test(`${a} + ${b} = ${sum}`, async () => {
    const reply = await booth.post(`{"tool_id":"Calculator.Add","input":{"a":${a},"b":${b}}}`);
    assert.equal(/"value":(.*)\}$/.exec(reply.text)?.[1], sum);
  });
}

for (const any of [
  "9007199254740993",
  "18446744073709551615",
  "-9223372036854775808",
  "0.1",
  "1e+300",
  "null",
  "true",
  '""',
  '"é 漢字 \u{1f600} \\u0000 \\" \\\\ \\n"',
  "[[],{},[null]]",
  '{"":0,"a.b":{"__proto__":1}}',
]) {
  test(`${any} is returned exactly`, async () => {
    const reply = await fixtures.post(`{"tool_id":"Fixture.Echo","input":{"any":${any}}}`);
    assert.equal(/"value":\{"any":(.*)\}\}$/.exec(reply.text)?.[1], any);
  });
}

test("fifty parallel calls keep their ids and inputs apart", async () => {
  const calls = Array.from({ length: 50 }, async (_, n) => {
    const call_id = `call-${n}`;
    const [sum, echo, ring] = await Promise.all([
      booth.call("Calculator.Add", { a: n, b: 1000 }, { call_id }),
      fixtures.call("Fixture.Echo", { any: { n } }, { call_id }),
      booth.call("Doorbell.Ring", { doorbell_id: `${CANARY}-${n}` }, { call_id }),
    ]);
    assert.deepEqual([sum.json.call_id, sum.json.value], [call_id, 1000 + n]);
    assert.deepEqual([echo.json.call_id, echo.json.value], [call_id, { any: { n } }]);
    assert.equal(ring.json.call_id, call_id);
    assert.ok(ring.json.error.developer_message.includes(`'${CANARY}-${n}'`));
  });
  await Promise.all(calls);
});
