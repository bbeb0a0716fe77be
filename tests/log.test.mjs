// The log of calls on workerd: one line per call in every protocol, traces, measurements, and the life of a grant.
// Whether any line of any test contains a secret is searched by support/leaks.mjs.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { Browser, authorizing } from "./support/authorizing.mjs";
import { addresses, pathOf } from "./support/protocols.mjs";
import { listen } from "./support/server.mjs";
import { SAMPLES, CANARY, start } from "./support/worker.mjs";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";
const TRACED = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: `v=${CANARY}-state`, baggage: `user=${CANARY}-user` };

// A service that fails, and keeps the headers that it got.
let service, sent;
before(async () => {
  service = await listen((request, response) => {
    sent = request.headers;
    response.writeHead(500).end();
  });
});
after(() => service.close());

/** A Worker for one test. */
async function using(options, use) {
  const worker = await start(SAMPLES, options);
  try {
    await use(worker);
  } finally {
    await worker.close();
  }
}

test("every protocol logs one line per call, within the trace of its request", () =>
  using({}, async (worker) => {
    for (const { method, path: template, protocol, form } of await addresses(worker)) {
      const path = pathOf(template, "Calculator_Add");
      if (method !== "POST") continue;
      const body = form.body("Calculator_Add", { a: 1, b: 2 });
      for (const headers of [{}, TRACED]) {
        const reply = await worker.post(body, { path, headers });
        const before = await worker.events();
        assert.equal(reply.status, 200, path);
        const line = before.at(-1);
        const { level, duration_ms, span_id, ...rest } = line;
        assert.equal(level, "log", path);
        assert.ok(Number.isSafeInteger(duration_ms), path);
        const mcp = protocol === "mcp" ? { "mcp.method.name": "tools/call" } : {};
        if (rest["mcp.protocol.version"]) mcp["mcp.protocol.version"] = "2026-07-28";
        const trace = headers === TRACED ? { trace_id: TRACE, parent_span_id: PARENT } : {};
        assert.deepEqual(rest, {
          audit: 1,
          event: "call",
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": "Calculator_Add",
          "tool.version": "1.0.0",
          protocol,
          caller: "anonymous",
          outcome: "done",
          "http.request.body.size": JSON.stringify(body).length,
          "http.response.body.size": Buffer.byteLength(reply.text),
          "http.response.status_code": 200,
          ...mcp,
          ...trace,
        });
        if (headers === TRACED) {
          assert.match(span_id, /^[0-9a-f]{16}$/);
          assert.match(reply.headers["server-timing"], /^total;dur=\d+$/, path);
        } else {
          assert.equal(span_id ?? reply.headers["server-timing"], undefined, path);
        }
      }
      // Streams of OpenTool are for one call.
      if (form.many === undefined || path === "/opentool/streamCall") continue;
      const known = (await worker.events()).length;
      await worker.post(form.many(3, "Calculator_Add", { a: 1, b: 2 }), { path });
      assert.equal((await worker.events()).length - known, 3, path);
    }
  }));

test("a service gets the traceparent of the call, and nothing else of the trace", () => {
  const address = `${service.base}/v1`;
  return using({ vars: { WEATHER_FORECAST_URL: address, WEATHER_GEOCODING_URL: address } }, async (worker) => {
    for (const headers of [TRACED, { tracestate: TRACED.tracestate, baggage: TRACED.baggage }]) {
      sent = undefined;
      const call = { tool_id: "Weather.Current", input: { city: `${CANARY}-city` } };
      const reply = await worker.post(call, { headers });
      assert.equal(reply.json.success, false, reply.text);
      const { span_id, outcome } = (await worker.events()).at(-1);
      assert.equal(outcome, "failed");
      assert.equal(sent.traceparent, headers === TRACED ? `00-${TRACE}-${span_id}-01` : undefined);
      assert.deepEqual([sent.tracestate, sent.baggage], [undefined, undefined]);
    }
  });
});

for (const [vars, done, failed] of [
  [{}, true, true],
  [{ LOG: "errors" }, false, true],
  [{ LOG: "off" }, false, false],
  [{ LOG_SAMPLE: "0" }, false, true],
  [{ LOG_SAMPLE: 0.0 }, false, true],
]) {
  test(`${JSON.stringify(vars)}: what is logged`, () =>
    using({ vars }, async (worker) => {
      await worker.call("Calculator.Add", { a: 1, b: 2 });
      await worker.call("Calculator.Add", { a: `${CANARY}` });
      const outcomes = (await worker.events()).map(({ outcome }) => outcome);
      assert.deepEqual(outcomes, [...(done ? ["done"] : []), ...(failed ? ["invalid_input"] : [])]);
    }));
}

test("a sample of the calls is logged", () =>
  using({ vars: { LOG_SAMPLE: "0.1" } }, async (worker) => {
    for (let call = 0; call < 200; call += 1) await worker.call("Calculator.Add", { a: 1, b: call });
    const { length } = await worker.events();
    assert.ok(length >= 18 && length <= 22, `${length} of 200`);
  }));

const POINT = { indexes: ["Calculator_Add"], blobs: ["Calculator_Add", "1.0.0", "root", "anonymous", "done", ""] };

// Miniflare's dataset accepts data points, but keeps none.
test("data points are written to a dataset", () =>
  using({ measured: true }, async (worker) => {
    assert.equal((await worker.call("Calculator.Add", { a: 1, b: 2 })).json.value, 3);
    assert.deepEqual(await worker.logs(), []);
  }));

// A dataset that shows its data points.
const SHOWING = `
const points = [];
const CALLS = { writeDataPoint: (point) => void points.push(point) };
export default { fetch: (request, env, context) =>
  request.url.endsWith("/points") ? Response.json(points) : Worker.fetch(request, { ...env, CALLS }, context) };`;

test("each call is a data point", () =>
  using({ around: SHOWING, vars: { LOG: "off" } }, async (worker) => {
    const size = Buffer.byteLength((await worker.call("Calculator.Add", { a: 1, b: 2 })).text);
    await worker.call("Calculator.Add", { a: CANARY });
    await worker.call(`${CANARY}.Tool`, {});
    const points = await (await fetch(`${worker.address}/points`)).json();
    const [done, invalid, unknown] = points.map(({ doubles, ...rest }) => rest);
    assert.deepEqual(done, POINT);
    assert.deepEqual(invalid.blobs, [...POINT.blobs.slice(0, 4), "invalid_input", "invalid_input"]);
    assert.deepEqual(unknown, { indexes: [""], blobs: ["", "", "root", "anonymous", "rejected", "tool_not_found"] });
    const [, sent, received] = points[0].doubles;
    assert.deepEqual([sent, received], [JSON.stringify({ tool_id: "Calculator.Add", input: { a: 1, b: 2 } }).length, size]);
    assert.ok(!JSON.stringify(points).includes(CANARY));
  }));

const REJECTING = `
const CALLS = { writeDataPoint() { throw new Error("too many"); } };
export default { fetch: (request, env, context) => Worker.fetch(request, { ...env, CALLS }, context) };`;

test("a call is served although its data point is not accepted", () =>
  using({ around: REJECTING }, async (worker) => {
    assert.equal((await worker.call("Calculator.Add", { a: 1, b: 2 })).json.value, 3);
    const [{ level, message }] = await worker.logs();
    assert.deepEqual([level, JSON.parse(message)], ["error", { event: "metrics", problem: "too many" }]);
  }));

test("credentials, challenges and grants are logged", async () => {
  const services = await authorizing();
  const key = { "oxp-api-key": `${CANARY}-key-of-the-calendar` };
  const API_KEYS = JSON.stringify([entryOf(key["oxp-api-key"], "Calendar", ["github:write"])]);
  try {
    await using({ vars: { ...services.vars, AUTH: "api-key", API_KEYS } }, async (worker) => {
      const user_id = `${CANARY}-user`;
      const input = { owner: "octocat", repository: "hello-world", title: `Found a ${CANARY}` };
      const call = { tool_id: "GitHub.CreateIssue", input, context: { user_id } };
      assert.equal((await worker.post(call)).status, 401);
      assert.equal((await worker.post(call, { headers: { "oxp-api-key": `${CANARY}-another-key` } })).status, 401);
      const [challenge] = (await worker.post(call, { headers: key })).json.missing_requirements.authorization;
      assert.equal((await new Browser(worker).grant(challenge)).status, 200);
      assert.equal((await worker.post(call, { headers: key })).status, 200);
      const deleted = await worker.request("DELETE", `/auth/grants/github?user_id=${user_id}`, { headers: key });
      assert.equal(deleted.status, 204);
      const lines = await worker.events();
      assert.deepEqual(
        lines.map(({ event, outcome }) => (event === "call" ? outcome : event)),
        ["credentials_missing", "credentials_rejected", "challenge_issued", "rejected", "grant_created", "done", "grant_deleted", "grant_revoked"],
      );
      const [, , ...known] = lines;
      assert.deepEqual([...new Set(known.map(({ caller }) => caller))], ["key:Calendar"]);
      assert.ok(!JSON.stringify(lines).includes(CANARY));
    });
  } finally {
    await services.close();
  }
});
