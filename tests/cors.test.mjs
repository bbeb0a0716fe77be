// Which web pages may call, by ALLOWED_ORIGINS: preflights, the headers that let a page read a response,
// and that other pages are rejected.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BOOTH, start } from "./support/worker.mjs";

const A = "https://a.example";
const B = "http://localhost:3000";
const LIST = `${A}, ${B}`;
const BROKEN = "broken";
const workers = {};
before(async () => {
  const configurations = [["", ""], ["*", "*"], [LIST, LIST]].map(([name, ALLOWED_ORIGINS]) => [name, { ALLOWED_ORIGINS }]);
  configurations.push([BROKEN, { ALLOWED_ORIGINS: A, MAX_BODY_BYTES: "abc" }]);
  await Promise.all(configurations.map(async ([name, vars]) => (workers[name] = await start(BOOTH, { vars }))));
});
after(() => Promise.all(Object.values(workers).map((worker) => worker.close())));

const BODY = '{"tool_id":"Calculator.Add","input":{"a":1,"b":2}}';
const words = (header) => header.split(",").map((word) => word.trim().toLowerCase());

// ALLOWED_ORIGINS, Origin, and the Access-Control-Allow-Origin that it gets, if it is allowed
const ORIGINS = [
  ["", A, undefined],
  ["", "null", undefined],
  ["*", A, "*"],
  ["*", "null", "*"],
  [LIST, A, A],
  [LIST, B, B],
  [LIST, "https://b.example", undefined],
  [LIST, "https://a.example.evil.example", undefined],
  [LIST, "https://sub.a.example", undefined],
  [LIST, "http://a.example", undefined],
  [LIST, "https://a.example:8443", undefined],
  [LIST, "null", undefined],
];

for (const [configured, origin, allowed] of ORIGINS) {
  const name = `ALLOWED_ORIGINS="${configured}", Origin ${origin}`;

  test(`${name}: the preflight is ${allowed ? "granted" : "rejected"}`, async () => {
    for (const [path, method] of [["/tools/call", "POST"], ["/tools", "GET"], ["/health", "GET"], ["/oxp/call", "POST"]]) {
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
      for (const header of ["content-type", "authorization", "oxp-version", "oxp-api-key", "if-none-match"]) {
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
    [404, (worker, headers) => worker.get("/nothing", headers)],
    [405, (worker, headers) => worker.get("/call", headers)],
    [413, (worker, headers) => worker.post(" ".repeat(300000), { headers })],
    [415, (worker, headers) => worker.post(BODY, { headers: { ...headers, "content-type": "text/plain" } })],
    [422, (worker, headers) => worker.post('{"tool_id":"Calculator.Add"}', { headers })],
  ]) {
    test(`${name}: ${allowed ? `a ${status} can be read` : `403 instead of a ${status}`}`, async () => {
      const reply = await ask(workers[configured], { origin });
      assert.equal(reply.status, allowed ? status : 403);
      assert.equal(reply.headers["access-control-allow-origin"], allowed);
      if (!allowed) {
        assert.equal(reply.headers["cache-control"], "no-store");
        assert.equal(reply.json.message, "This origin may not call the server");
        return;
      }
      assert.ok(words(reply.headers.vary).includes("origin"));
      const may = words(reply.headers["access-control-expose-headers"]);
      for (const header of ["oxp-version", "etag", "retry-after", "www-authenticate"]) assert.ok(may.includes(header), header);
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

const PREFLIGHT = { origin: A, "access-control-request-method": "POST" };

test("a preflight comes before all other checks", async () => {
  for (const [worker, path, headers] of [
    [workers[LIST], "/nothing", {}],
    [workers[LIST], "/tools/call", { "oxp-version": "9.9" }],
    [workers[BROKEN], "/tools/call", {}],
  ]) {
    const reply = await worker.request("OPTIONS", path, { headers: { ...PREFLIGHT, ...headers } });
    assert.equal(reply.status, 204);
    assert.equal(reply.headers["access-control-allow-origin"], A);
  }
});

for (const [name, headers] of [
  ["Origin alone", { origin: A }],
  ["a method alone", { "access-control-request-method": "POST" }],
]) {
  test(`OPTIONS with ${name} is not a preflight`, async () => {
    const reply = await workers[LIST].request("OPTIONS", "/tools/call", { headers });
    assert.equal(reply.status, 204);
    assert.equal(reply.headers.allow, "POST, OPTIONS");
    assert.equal(reply.headers["access-control-allow-methods"], undefined);
  });
}

test("a page can read that the server is not ready", async () => {
  for (const [status, ask] of [
    [503, () => workers[BROKEN].get("/health", { origin: A })],
    [400, () => workers[BROKEN].post(BODY, { headers: { origin: A } })],
  ]) {
    const reply = await ask();
    assert.equal(reply.status, status);
    assert.equal(reply.headers["access-control-allow-origin"], A);
  }
});
