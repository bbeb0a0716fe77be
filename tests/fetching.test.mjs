// The parts of the Worker that send requests to other servers, without a Worker around them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "../crates/toolbooth-worker/js/download.js";
import { retryAfter } from "../crates/toolbooth-worker/js/send.js";

test("a request that fails leaves no timer behind", async () => {
  const timers = () => process.getActiveResourcesInfo().filter((type) => type === "Timeout").length;
  const before = timers();
  await assert.rejects(open("POST", "http://127.0.0.1:9/", new Headers(), undefined, 60_000));
  assert.equal(timers(), before);
});

test("Retry-After in seconds, in milliseconds, or as a date", () => {
  const of = (headers) => retryAfter(new Headers(headers));
  const inSeconds = (seconds) => new Date(Date.now() + seconds * 1000).toUTCString();
  for (const [headers, expected] of [
    [{}, undefined],
    [{ "retry-after": "7" }, "7"],
    [{ "retry-after": "0" }, "0"],
    [{ "retry-after": "1.2" }, "2"],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "" }, undefined],
    [{ "retry-after": inSeconds(-60) }, "0"],
    [{ "retry-after-ms": "1500", "retry-after": "7" }, "2"],
    [{ "retry-after-ms": "x", "retry-after": "7" }, "7"],
  ]) assert.equal(of(headers), expected, JSON.stringify(headers));
  // A date has no fractions of a second.
  assert.ok([59, 60].includes(Number(of({ "retry-after": inSeconds(60) }))));
});
