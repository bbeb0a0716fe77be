// The parts of the Worker that send requests to other servers, without a Worker around them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { listen } from "./support/server.mjs";
import { open } from "../crates/toolbooth-worker/js/download.js";
import { maxAge, retryAfter, send } from "../crates/toolbooth-worker/js/send.js";

test("a request that fails leaves no timer behind", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((type) => type === "Timeout").length;
  const before = timers();
  await assert.rejects(open(undefined, "POST", "http://127.0.0.1:9/", new Headers(), undefined, 60_000));
  assert.equal(timers(), before);
});

test("a response that is too long is cut, or not returned", async (t) => {
  const server = await listen((request, response) => {
    const [method, body, hasLength] = [request.method, "a".repeat(10), request.url === "/length"];
    response.writeHead(200, { link: "<a>; rel=next", ...(hasLength && { "content-length": body.length }) });
    if (method === "HEAD") return response.end();
    response.write(body.slice(0, 4));
    response.end(body.slice(4));
  });
  t.after(() => server.close());
  for (const [method, path, most, cut, expected] of [
    ["GET", "/length", 10, false, ["aaaaaaaaaa", false]],
    ["GET", "/chunks", 10, false, ["aaaaaaaaaa", false]],
    ["GET", "/length", 9, false, undefined],
    ["GET", "/chunks", 9, false, undefined],
    ["GET", "/length", 5, true, ["aaaaa", true]],
    ["GET", "/chunks", 5, true, ["aaaaa", true]],
    ["HEAD", "/length", 5, true, ["", false]],
  ]) {
    const { fault, body, isCut, link } = await send(undefined, method, `${server.base}${path}`, new Headers(), undefined, 10_000, most, cut);
    const what = `${method} ${path} ${most} ${cut}`;
    if (expected === undefined) assert.equal(fault, "too large", what);
    else assert.deepEqual([new TextDecoder().decode(body), isCut, link], [...expected, "<a>; rel=next"], what);
  }
});

test("Retry-After in seconds, in milliseconds, or as a date", (t) => {
  // A date has no fractions of a second.
  t.mock.timers.enable({ apis: ["Date"], now: Date.UTC(2026, 1, 1) });
  const of = (headers) => retryAfter(new Headers(headers));
  const inSeconds = (seconds) => new Date(Date.now() + seconds * 1000).toUTCString();
  for (const [headers, expected] of [
    [{}, undefined],
    [{ "retry-after": "7" }, "7"],
    [{ "retry-after": "0" }, "0"],
    [{ "retry-after": "1.2" }, "2"],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "" }, undefined],
    [{ "retry-after": inSeconds(60) }, "60"],
    [{ "retry-after": inSeconds(-60) }, "0"],
    [{ "retry-after-ms": "1500", "retry-after": "7" }, "2"],
    [{ "retry-after-ms": "x", "retry-after": "7" }, "7"],
  ]) assert.equal(of(headers), expected, JSON.stringify(headers));
});

test("max-age in whole seconds, and none if a response must not be kept", () => {
  for (const [control, expected] of [
    ["max-age=600", 600],
    ["public, Max-Age=600, immutable", 600],
    ['private,max-age="60"', 60],
    ["s-maxage=600", undefined],
    ["max-age=600, no-store", 0],
    ["no-cache", 0],
    ["max-age=x", undefined],
    ["max-age=-1", undefined],
    ["max-age=99999999999", undefined],
    ["public", undefined],
  ]) {
    assert.equal(maxAge(new Headers({ "cache-control": control })), expected, control);
  }
  assert.equal(maxAge(new Headers()), undefined);
});
