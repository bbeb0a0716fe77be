// HTTP through the runtime: every address of the index with its methods, entity tags and rejections, OXP-Version
// (X6 to X8), and what URLs and connections do. Native tests have the tables.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { addresses } from "./support/protocols.mjs";
import { SAMPLES, start } from "./support/worker.mjs";

let worker;
before(async () => (worker = await start(SAMPLES)));
after(() => worker.close());

const index = await start(SAMPLES);
const ALL = await addresses(index);
await index.close();

const CALL = { tool_id: "Calculator.Add", input: { a: 1, b: 2 } };
const JSON_TYPE = { "content-type": "application/json" };
const READ = "GET, HEAD, OPTIONS";
const isHealth = (path) => path.endsWith("/health");

/** The body of a rejection has the form of the protocol. */
function isMarked({ json }, { mark, rejection }) {
  for (const [name, value] of Object.entries(mark)) assert.equal(json[name], value);
  assert.ok(rejection(json).length > 0);
}

for (const { path, form } of ALL.filter(({ method }) => method === "GET")) {
  test(`${path}: GET, HEAD, OPTIONS, and no other method`, async () => {
    const get = await worker.get(path);
    assert.equal(get.status, 200);
    assert.equal(get.headers["cache-control"], isHealth(path) ? "no-store" : "no-cache");
    const head = await worker.request("HEAD", path);
    assert.deepEqual([head.status, head.text], [200, ""]);
    for (const name of ["content-type", "cache-control", "etag", "oxp-version"]) {
      assert.equal(head.headers[name], get.headers[name], name);
    }
    const options = await worker.request("OPTIONS", path);
    assert.deepEqual([options.status, options.headers.allow], [204, READ]);
    const other = await worker.request("PROPFIND", path);
    assert.deepEqual([other.status, other.headers.allow], [405, READ]);
    isMarked(other, form);
  });

  if (isHealth(path)) continue;
  test(`T6 XB11 ${path}: the entity tag, and a body that GET ignores`, async () => {
    const { etag, ...headers } = (await worker.get(path)).headers;
    for (const [tag, status] of [[etag, 304], [`"a", W/${etag}`, 304], ['"another"', 200]]) {
      const reply = await worker.request("GET", path, { headers: { "if-none-match": tag }, body: "not JSON" });
      assert.deepEqual([reply.status, reply.headers.etag], [status, etag]);
    }
  });
}

for (const { path, form, protocol, allow } of ALL.filter(({ method }) => method === "POST")) {
  test(`OT5 OT18 OT23 OT24 T20 XB10 MC10 MC12 ${path}: rejections before a call is read have the form of ${protocol}`, async () => {
    const rpc = ["opentool", "jsonrpc"].includes(protocol);
    for (const [method, where, headers, body, status] of [
      ["POST", `${path}/nothing`, JSON_TYPE, "{}", 404],
      ["PUT", path, {}, undefined, 405],
      ["POST", path, JSON_TYPE, " ".repeat(262_145), 413],
      ["POST", path, { "content-type": "text/plain" }, "{}", rpc ? 400 : 415],
      ["POST", path, {}, "{}", rpc ? 400 : 415],
      ["POST", path, JSON_TYPE, '{"a":', 400],
    ]) {
      const reply = await worker.request(method, where, { headers, body });
      assert.equal(reply.status, status, `${method} ${where}: ${reply.text}`);
      assert.equal(reply.headers.allow, status === 405 ? allow : undefined);
      isMarked(reply, form);
    }
    const options = await worker.request("OPTIONS", path);
    assert.deepEqual([options.status, options.headers.allow], [204, allow]);
  });
}

for (const path of ["/oxp", "/tools/", "/Tools", "/%74ools", "//tools", "/tools/Calculator.Add", "/favicon.ico", "/opentool/", "/xaibo/health"]) {
  test(`404 GET ${path}`, async () => assert.equal((await worker.get(path)).status, 404));
}

for (const [path, ask] of [
  ["/tools/call", (headers) => worker.post(CALL, { headers })],
  ["/tools", (headers) => worker.get("/tools", headers)],
  ["/health", (headers) => worker.get("/health", headers)],
]) {
  test(`X6 X7 X8 X16 ${path} and OXP-Version`, async () => {
    for (const [version, status] of [[undefined, 200], ["", 200], ["1", 200], ["1.0", 200], ["1.0.0", 200], ["2.0", 400], ["1.0, 1.0", 400]]) {
      const reply = await ask(version === undefined ? {} : { "oxp-version": version });
      assert.deepEqual([reply.status, reply.headers["oxp-version"]], [status, "1.0"], version);
    }
  });
}

test("both paths of the list return the same with the same tag", async () => {
  const [root, mount] = await Promise.all([worker.get("/tools"), worker.get("/oxp/tools")]);
  assert.deepEqual([root.text, root.headers.etag], [mount.text, mount.headers.etag]);
});

test("the query is ignored", async () => {
  for (const path of ["/health?x=1", "/tools?limit=1&tool_id=x", "/tools?/tools/call", "/oxp/tools?"]) {
    assert.equal((await worker.get(path)).text, (await worker.get(path.split("?")[0])).text);
  }
  assert.equal((await worker.post(CALL, { path: "/call?tool_id=No.Tool&input=1" })).json.value, 3);
});

test("a GET with a large body is served", async () => {
  assert.equal((await worker.request("GET", "/tools", { body: "x".repeat(300_000) })).status, 200);
});

test("JSON-RPC is served with and without a slash at the end", async () => {
  const rpc = { jsonrpc: "2.0", method: "Calculator_Add", params: CALL.input, id: 1 };
  for (const path of ["/jsonrpc", "/jsonrpc/"]) assert.equal((await worker.post(rpc, { path })).json.result, 3);
});

test("one connection serves many requests, whatever their status", async () => {
  for (const [status, ask] of [
    [200, () => worker.post(CALL)],
    [400, () => worker.post("{")],
    [404, () => worker.get("/nothing")],
    [422, () => worker.call("Calculator.Add", {})],
    [200, () => worker.post(CALL)],
  ]) {
    assert.equal((await ask()).status, status);
  }
});
