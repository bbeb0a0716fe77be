// Which web pages may call, by ALLOWED_ORIGINS: preflights, the headers that let a page read a response,
// and that other pages are rejected.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SAMPLES, start } from "./support/worker.mjs";

const A = "https://a.example";
const B = "http://localhost:3000";
const LIST = `${A}, ${B}`;
const workers = {};
before(async () => {
  const configurations = [["", ""], ["*", "*"], [LIST, LIST]].map(([name, ALLOWED_ORIGINS]) => [name, { ALLOWED_ORIGINS }]);
  await Promise.all(configurations.map(async ([name, vars]) => (workers[name] = await start(SAMPLES, { vars }))));
});
after(() => Promise.all(Object.values(workers).map((worker) => worker.close())));

const BODY = '{"tool_id":"Calculator.Add","input":{"a":1,"b":2}}';
const words = (header) => header.split(",").map((word) => word.trim().toLowerCase());

// ALLOWED_ORIGINS, Origin, and the Access-Control-Allow-Origin that it gets, if it is allowed
const ORIGINS = [
  ["", A, undefined],
  ["*", A, "*"],
  [LIST, A, A],
  [LIST, B, B],
  [LIST, "https://b.example", undefined],
  [LIST, "null", undefined],
];

for (const [configured, origin, allowed] of ORIGINS) {
  const name = `ALLOWED_ORIGINS="${configured}", Origin ${origin}`;

  test(`${name}: the preflight is ${allowed ? "granted" : "rejected"}`, async () => {
    for (const [path, method] of [["/tools/call", "POST"], ["/tools", "GET"], ["/health", "GET"], ["/oxp/call", "POST"], ["/v1/responses/resp_1", "DELETE"]]) {
      const reply = await workers[configured].request("OPTIONS", path, {
        headers: { origin, "access-control-request-method": method, "access-control-request-headers": "content-type,oxp-version" },
      });
      assert.equal(reply.status, allowed ? 204 : 403, path);
      assert.equal(reply.headers["access-control-allow-origin"], allowed);
      if (!allowed) assert.equal(reply.headers["cache-control"], "no-store");
      if (!allowed) continue;
      assert.ok(words(reply.headers.vary).includes("origin"));
      assert.ok(words(reply.headers["access-control-allow-methods"]).includes(method.toLowerCase()));
      const may = words(reply.headers["access-control-allow-headers"]);
      for (const header of ["content-type", "authorization", "oxp-version", "oxp-api-key", "if-none-match", "prefer", "traceparent", "tracestate", "baggage"]) {
        assert.ok(may.includes(header), header);
      }
      assert.ok(Number(reply.headers["access-control-max-age"]) > 0);
    }
  });

  // With every status: a page must be able to read errors.
  for (const [status, ask] of [
    [200, (worker, headers) => worker.post(BODY, { headers })],
    [200, (worker, headers) => worker.get("/tools", headers)],
    [200, (worker, headers) => worker.get("/health", headers)],
    [304, (worker, headers) => worker.get("/tools", { ...headers, "if-none-match": "*" })],
    [400, (worker, headers) => worker.post("{", { headers })],
    [413, (worker, headers) => worker.post(" ".repeat(300000), { headers })],
  ]) {
    test(`${name}: ${allowed ? `a ${status} can be read` : `403 instead of a ${status}`}`, async () => {
      const reply = await ask(workers[configured], { origin });
      assert.equal(reply.status, allowed ? status : 403);
      assert.equal(reply.headers["access-control-allow-origin"], allowed);
      if (!allowed) {
        assert.equal(reply.headers["cache-control"], "no-store");
        assert.equal(reply.json.message, "Pages of this origin may not call the server");
        return;
      }
      assert.ok(words(reply.headers.vary).includes("origin"));
      const may = words(reply.headers["access-control-expose-headers"]);
      for (const header of ["oxp-version", "etag", "retry-after", "www-authenticate", "location", "preference-applied"]) assert.ok(may.includes(header), header);
      assert.equal(reply.headers["access-control-allow-credentials"], undefined);
    });
  }
}

for (const configured of ["*", LIST]) {
  test(`ALLOWED_ORIGINS="${configured}", no Origin: served, with Vary for caches`, async () => {
    const reply = await workers[configured].get("/tools");
    assert.equal(reply.status, 200);
    assert.ok(words(reply.headers.vary).includes("origin"));
  });
}
