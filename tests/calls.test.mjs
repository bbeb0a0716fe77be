// Calls of OXP with the real tools and the real runtime: versions (X11 to X14), input (X22 to X24), ids (X26), the
// duration, numbers and parallel calls. The tables are native: call::tests, catalog and tests/server.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SAMPLES, CANARY, FIXTURES, start } from "./support/worker.mjs";

let booth, fixtures;
before(async () => ([booth, fixtures] = await Promise.all([start(SAMPLES), start(FIXTURES)])));
after(() => Promise.all([booth.close(), fixtures.close()]));

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

// One input that tells the versions apart: 1.0.0 has no separator, 1.1.0 drops non-ASCII characters, 2.0.0 keeps them.
for (const [clause, version, status, expected] of [
  ["X12", "@1.1.0", 200, "cr_me_x"],
  ["X13", "@1", 422, { separator: "Is not a known parameter" }],
  ["X14", "", 200, { slug: "crème_x", truncated: false }],
]) {
  test(`X11 ${clause} Text.Slugify${version} means one version`, async () => {
    const reply = await booth.call(`Text.Slugify${version}`, { text: "Crème x", separator: "_" });
    assert.equal(reply.status, status);
    assert.deepEqual(reply.json.value ?? reply.json.parameter_errors, expected);
  });
}

test("X22 input is validated before the tool runs", async () => {
  // The tool would panic, with a 500, if it ran.
  const reply = await fixtures.call("Fixture.Panic", { unwanted: 1 });
  assert.equal(reply.status, 422);
  assert.deepEqual(reply.json.parameter_errors, { unwanted: "Is not a known parameter" });
});

test("names that are almost right are suggested", async () => {
  const { json: tool } = await booth.call("Calculator.Ad", {});
  assert.equal(tool.developer_message, "Calculator.Ad is not a tool of this server; did you mean Calculator.Add?");
  const { json: input } = await booth.call("Text.Slugify", { text: "a", seperator: "_" });
  assert.deepEqual(input.parameter_errors, { seperator: 'Is not a known parameter (did you mean "separator"?)' });
});

test("a call of another protocol is answered with the formats of all of them", async () => {
  for (const path of ["/call", "/tools/call", "/otc/call"]) {
    const { status, json } = await booth.post({ name: "Calculator_Add", arguments: { a: 1, b: 2 } }, { path });
    assert.equal(status, 400);
    for (const part of ["tool_id", "/mcp", "/xaibo/execute", "/providers/openai/call"]) {
      assert.ok(json.developer_message.includes(part), `${path}: ${part}`);
    }
  }
});

test("X23 X24 every invalid parameter is named by its path", async () => {
  const reply = await fixtures.call("Fixture.Echo", { order: { lines: [{ price: -1 }, 2], when: "soon" } });
  assert.equal(reply.status, 422);
  assert.deepEqual(reply.json, {
    message: "Some input parameters are invalid",
    parameter_errors: {
      "order.lines[0].price": "Must be at least 0",
      "order.lines[1]": "Must be an object",
      "order.when": "Must be a valid date",
    },
  });
});

test("X48 X49 X50 a tool sees what it requires, and the next call does not", async () => {
  const private_ = (context) => fixtures.call("Fixture.Private", {}, { context });
  const { json } = await private_({
    user_id: `${CANARY}-user`,
    authorization: [{ id: "files", token: CANARY }, { id: "mail", token: `${CANARY}-token` }],
    secrets: [{ id: "KEY", value: `${CANARY}-secret` }],
  });
  assert.deepEqual(json.value, { user_id: `${CANARY}-user`, token: `${CANARY}-token`, secret: `${CANARY}-secret` });
  assert.equal((await private_({})).status, 400);
});

test("X26 a call_id is echoed", async () => {
  const call_id = 'é "quoted" \u{1f600}\n';
  assert.equal((await booth.call("Calculator.Add", { a: 1, b: 1 }, { call_id })).json.call_id, call_id);
});

test("X26 without a call_id each call gets a random one", async () => {
  const ids = await Promise.all([1, 2].map(async () => (await booth.call("Calculator.Add", { a: 1, b: 1 })).json.call_id));
  for (const id of ids) assert.match(id, UUID);
  assert.notEqual(ids[0], ids[1]);
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

// As text in both directions, because JSON.parse would round the numbers.
for (const [a, b, sum] of [
  ["0.1", "0.2", "0.30000000000000004"],
  ["18446744073709551614", "1", "18446744073709551615"],
  ["18446744073709551615", "1", "1.8446744073709552e+19"],
]) {
  test(`${a} + ${b} = ${sum}`, async () => {
    const reply = await booth.post(`{"tool_id":"Calculator.Add","input":{"a":${a},"b":${b}}}`);
    assert.equal(/"value":(.*)\}$/.exec(reply.text)?.[1], sum);
  });
}

for (const any of ["-9223372036854775808", "1e+300", '"é 漢字 \u{1f600} \\u0000 \\" \\\\ \\n"', '{"":0,"a.b":{"__proto__":1}}']) {
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
