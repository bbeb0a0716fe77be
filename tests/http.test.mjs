// HTTP itself: paths, methods, entity tags, HEAD.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BOOTH, start } from "./support/worker.mjs";

let worker;
before(async () => (worker = await start(BOOTH)));
after(() => worker.close());

const CALL = { tool_id: "Calculator.Add", input: { a: 1, b: 2 } };
const READ = "GET, HEAD, OPTIONS";
const WRITE = "POST, OPTIONS";

for (const [method, path] of [
  ["GET", "/oxp"],
  ["GET", "/oxp/"],
  ["GET", "/tools/"],
  ["GET", "/Tools"],
  ["GET", "/%74ools"],
  ["GET", "/oxptools"],
  ["GET", "/oxp/oxp/tools"],
  ["GET", "//tools"],
  ["GET", "/tools/Calculator.Add"],
  ["POST", "/calls"],
  ["POST", "/tools/call/"],
  ["GET", "/favicon.ico"],
  ["GET", "/.well-known/x"],
  ["OPTIONS", "/nothing"],
  ["DELETE", "/nothing"],
]) {
  test(`404 ${method} ${path}`, async () => {
    const reply = await worker.request(method, path);
    assert.equal(reply.status, 404);
    assert.equal(reply.json.message, "There is nothing at this address");
  });
}

for (const [method, path, allow] of [
  ["GET", "/tools/call", WRITE],
  ["GET", "/call", WRITE],
  ["GET", "/oxp/call", WRITE],
  ["PUT", "/tools/call", WRITE],
  ["PATCH", "/tools/call", WRITE],
  ["DELETE", "/tools/call", WRITE],
  ["POST", "/tools", READ],
  ["PUT", "/tools", READ],
  ["DELETE", "/oxp/tools", READ],
  ["POST", "/", READ],
  ["POST", "/health", READ],
  ["PROPFIND", "/health", READ],
]) {
  test(`405 ${method} ${path} allows ${allow}`, async () => {
    const reply = await worker.request(method, path);
    assert.equal(reply.status, 405);
    assert.equal(reply.headers.allow, allow);
    assert.equal(reply.json.developer_message, `it takes ${allow}`);
  });
}

test("405 HEAD /tools/call has no body", async () => {
  const reply = await worker.request("HEAD", "/tools/call");
  assert.equal(reply.status, 405);
  assert.equal(reply.headers.allow, WRITE);
});

for (const [path, allow] of [
  ["/tools", READ],
  ["/health", READ],
  ["/tools/call", WRITE],
  ["/oxp/call", WRITE],
]) {
  test(`OPTIONS ${path} allows ${allow}`, async () => {
    const reply = await worker.request("OPTIONS", path);
    assert.equal(reply.status, 204);
    assert.equal(reply.headers.allow, allow);
  });
}

for (const path of ["/health", "/tools", "/oxp/health", "/oxp/tools"]) {
  test(`HEAD ${path} responds like GET, without the body`, async () => {
    const get = await worker.get(path);
    const head = await worker.request("HEAD", path);
    assert.equal(head.status, get.status);
    assert.equal(head.text, "");
    for (const name of ["content-type", "cache-control", "etag", "oxp-version"]) {
      assert.equal(head.headers[name], get.headers[name], name);
    }
  });
}

test("the list may be cached but must be revalidated; health must not be cached", async () => {
  assert.equal((await worker.get("/tools")).headers["cache-control"], "no-cache");
  assert.equal((await worker.get("/health")).headers["cache-control"], "no-store");
});

for (const [name, sent, status] of [
  ["the tag", (tag) => tag, 304],
  ["the tag, weak", (tag) => `W/${tag}`, 304],
  ["the tag in a list", (tag) => `"a", W/"b" ,${tag}`, 304],
  ["any", () => "*", 304],
  ["another tag", () => '"another"', 200],
  ["the tag without quotes", (tag) => tag.slice(1, -1), 200],
  ["a part of the tag", (tag) => `${tag.slice(0, 5)}"`, 200],
  ["nothing", () => "", 200],
]) {
  for (const method of ["GET", "HEAD"]) {
    test(`If-None-Match with ${name}: ${method} returns ${status}`, async () => {
      const { etag } = (await worker.get("/tools")).headers;
      const reply = await worker.request(method, "/tools", { headers: { "if-none-match": sent(etag) } });
      assert.equal(reply.status, status);
      assert.equal(reply.headers.etag, etag);
    });
  }
}

test("both paths of the list return the same with the same tag", async () => {
  const [root, mount] = await Promise.all([worker.get("/tools"), worker.get("/oxp/tools")]);
  assert.equal(root.text, mount.text);
  assert.equal(root.headers.etag, mount.headers.etag);
});

for (const [method, path] of [
  ["GET", "/health?x=1"],
  ["GET", "/tools?limit=1&tool_id=x"],
  ["GET", "/tools?/tools/call"],
  ["GET", "/oxp/tools?"],
]) {
  test(`${method} ${path}: the query is ignored`, async () => {
    const reply = await worker.get(path);
    assert.equal(reply.status, 200);
    assert.equal(reply.text, (await worker.get(path.split("?")[0])).text);
  });
}

test("POST /call?tool_id=No.Tool: the query is ignored", async () => {
  assert.equal((await worker.post(CALL, { path: "/call?tool_id=No.Tool&input=1" })).json.value, 3);
});

// Some clients send a body, such as the official SDK for Go.
for (const body of ["{}", '{"$schema":"urn:oxp:1.0"}', "not JSON", "x".repeat(300000)]) {
  test(`GET ignores the body ${body.slice(0, 30)}`, async () => {
    for (const path of ["/tools", "/health"]) {
      assert.equal((await worker.request("GET", path, { body })).status, 200);
    }
  });
}

test("one connection serves many requests, whatever their outcome", async () => {
  for (const status of [200, 400, 404, 422, 200]) {
    const ask = {
      200: () => worker.post(CALL),
      400: () => worker.post("{"),
      404: () => worker.get("/nothing"),
      422: () => worker.call("Calculator.Add", {}),
    };
    assert.equal((await ask[status]()).status, status);
  }
});
