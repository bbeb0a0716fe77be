// Tools that misbehave: the request gets a response, the next one is served, and the log has the error
// but nothing that callers sent.
import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import { after, before, describe, test } from "node:test";
import { addresses, pathOf, payload } from "./support/protocols.mjs";
import { CANARY, FIXTURES, start } from "./support/worker.mjs";

let worker;
/** Starts a Worker for the tests of a suite. A crash ends the instance, so each crash is that of a new one. */
function useWorker() {
  before(async () => (worker = await start(FIXTURES)));
  after(() => worker.close());
}

const silent = () => worker.call("Fixture.Silent", {});
const CRASHES = ["Fixture.Panic", "Fixture.LatePanic", "Fixture.Overflow"];

for (const tool of CRASHES) {
  describe(tool, () => {
    useWorker();

    test(`${tool}: 500 as JSON`, async () => {
      const reply = await worker.call(tool, {});
      assert.equal(reply.status, 500);
      assert.equal(reply.headers["content-type"], "application/json");
      assert.deepEqual(reply.json, { message: "The tool server failed", developer_message: "its log has the details" });
    });

    test(`${tool}: the next request is served`, async () => {
      await crash(tool);
      const next = await silent();
      assert.equal(next.status, 200);
      assert.equal(next.json.value, null);
    });

    test(`${tool} again and again: the requests between are served`, async () => {
      for (let times = 0; times < 5; times++) {
        await crash(tool);
        assert.deepEqual((await worker.call("Fixture.Echo", { any: times })).json.value, { any: times });
        assert.equal((await worker.get("/tools")).status, 200);
        assert.equal((await worker.get("/health")).status, 200);
      }
    });

    // A short body is read before the call enters the instance, the others afterwards.
    for (const [kind, length, more] of [
      ["short", (body) => ({ "content-length": body.length }), 0],
      ["long", (body) => ({ "content-length": body.length }), 9000],
      ["chunked", () => ({}), 0],
    ]) {
      test(`${tool}: a call whose ${kind} body is still arriving is served`, async () => {
        const body = JSON.stringify({ tool_id: "Fixture.Echo", input: { any: "x".repeat(more) } });
        const headers = { "content-type": "application/json", ...length(body) };
        const slow = http.request(`${worker.address}/tools/call`, { method: "POST", headers });
        const answered = once(slow, "response");
        // If this test fails before it awaits the response, that failure alone is reported.
        answered.catch(() => {});
        slow.write(body.slice(0, 10));
        await silent();
        await crash(tool);
        slow.end(body.slice(10));
        const [response] = await answered;
        response.resume();
        assert.equal(response.statusCode, 200);
      });
    }

    test(`${tool}: the log has an error`, async () => {
      const errors = async () => (await worker.logs()).filter(({ level }) => level === "error").length;
      const earlier = await errors();
      await crash(tool);
      assert.ok((await errors()) > earlier);
    });
  });
}

async function crash(tool) {
  assert.equal((await worker.call(tool, {})).status, 500);
}

describe("what callers and operators learn", () => {
  useWorker();

  // On a Worker that has logged nothing.
  test("success is not a problem", async () => {
    await silent();
    await worker.get("/tools");
    await worker.get("/health");
    await worker.get("/nothing");
    assert.deepEqual(await worker.logs(), []);
  });

  for (const [tool, input, what, detail] of [
    ["Fixture.BadOutput@1.0.0", {}, "its output does not match output_schema", /Must be a string/],
    ["Fixture.Mismatch@1.0.0", { number: 4815162342 }, "its types do not match its schemas", /input type/],
  ]) {
    test(`${tool} is the tool's fault: the caller learns that, and the log has the details`, async () => {
      const earlier = (await worker.logs()).length;
      const { status, json } = await worker.call(tool, input);
      assert.equal(status, 200);
      assert.deepEqual(json.error, { message: "The tool failed", developer_message: `${tool}: ${what}`, can_retry: false });
      const logs = (await worker.logs()).slice(earlier);
      assert.equal(logs.length, 1);
      assert.equal(logs[0].level, "error");
      const line = JSON.parse(logs[0].message);
      assert.deepEqual([line.event, line.tool, line.what], ["faulty_tool", tool, what]);
      assert.match(line.detail, detail);
      assert.ok(!logs[0].message.includes("4815162342"), "the log repeats the input");
    });
  }

  // close() checks the logs of every test. This one fills every field that a caller controls, with every
  // kind of outcome.
  test("no secret, token or input reaches the log", async () => {
    const context = {
      user_id: `${CANARY}-user`,
      authorization: [{ id: "mail", token: `${CANARY}-token` }],
      secrets: [{ id: "KEY", value: `${CANARY}-secret` }],
    };
    const rest = { call_id: `${CANARY}-call`, trace_id: `${CANARY}-trace`, context };
    for (const [tool, input] of [
      ["Private", {}],
      ["Private", { [CANARY]: `${CANARY}-value` }],
      ["Echo", { any: CANARY }],
      ["Echo", { order: { lines: [{ price: CANARY }] } }],
      ["BadOutput", {}],
      ["Mismatch", { number: 300, more: CANARY }],
      ["Mismatch", { number: CANARY }],
      [CANARY, {}],
    ]) {
      await worker.call(`Fixture.${tool}`, input, rest);
    }
    const headers = { authorization: `Bearer ${CANARY}`, "oxp-api-key": CANARY, cookie: CANARY, origin: `https://${CANARY}.example` };
    for (const body of [CANARY, `{"${CANARY}":1}`, `{"a":"${CANARY}","a":1}`, { tool_id: CANARY }, { tool_id: "A.B", [CANARY]: 1 }]) {
      await worker.post(body, { headers });
    }
    await worker.post({}, { headers: { ...headers, "oxp-version": CANARY } });
    await worker.get(`/${CANARY}?${CANARY}=1`, headers);
    await worker.post({ tool_id: "Fixture.Panic", input: {}, ...rest }, { headers });
    await worker.post({ tool_id: "Fixture.Overflow", input: {}, ...rest }, { headers });
    assert.ok((await worker.logs()).length > 0, "the log has at least the errors of the tools");
  });

  test("OT14 OT24 a tool that crashes: the form of every protocol, and the next call is served", async () => {
    for (const { method, path, protocol, form } of await addresses(worker)) {
      if (method !== "POST") continue;
      const rpc = ["opentool", "jsonrpc"].includes(protocol);
      const crashed = await worker.post(form.body("Fixture_Panic", {}), { path: pathOf(path, "Fixture_Panic") });
      assert.equal(crashed.status, rpc ? 503 : 500, `${path}: ${crashed.text}`);
      for (const [name, value] of Object.entries(form.mark)) assert.deepEqual(payload(crashed)[name], value, path);
      assert.equal((await worker.post(form.body("Fixture_Silent", {}), { path: pathOf(path, "Fixture_Silent") })).status, 200, path);
    }
  });
});
