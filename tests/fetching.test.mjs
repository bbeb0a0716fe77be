// The parts of the Worker that send requests to other servers, without a Worker around them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { listen } from "./support/server.mjs";
import { open } from "../crates/toolbooth-worker/js/download.js";
import { maxAge, retryAfter, send, utf8 } from "../crates/toolbooth-worker/js/send.js";

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

test("the text of a response is UTF-8, whatever charset it is in", () => {
  const bytes = (...all) => Uint8Array.from(all);
  const [muller, utf8Muller] = [bytes(0x4d, 0xfc), new TextEncoder().encode("Mü")];
  const mark = bytes(0xff, 0xfe, 0x4d, 0, 0xfc, 0);
  const json = (text) => new TextEncoder().encode(text);
  for (const [type, body, expected, isCut = false] of [
    ["text/plain; charset=iso-8859-1", muller, "Mü"],
    ['text/plain;CharSet="Latin1"', muller, "Mü"],
    ["text/csv ; x=y ; charset = windows-1252", bytes(0x80), "€"],
    ["text/plain; charset=shift_jis", bytes(0x93, 0xfa), "日"],
    ["text/plain; charset=gb18030", bytes(0xc8, 0xd5), "日"],
    ["text/plain; charset=koi8-r", bytes(0xc4), "д"],
    ["text/plain; charset=utf-16", mark, "Mü"],
    ["text/plain; charset=utf-16", mark.slice(2), "Mü"],
    ["text/plain; charset=utf-16", bytes(0xfe, 0xff, 0, 0x4d, 0, 0xfc), "Mü"],
    ["text/plain; charset=utf-16be", bytes(0, 0x4d, 0, 0xfc), "Mü"],
    ["text/csv", mark, "Mü"],
    ["application/vnd.ms-excel; charset=utf-16le", mark, "Mü"],
    ["application/json; charset=utf-16", bytes(0xff, 0xfe, 0x37, 0), "7"],
    ["application/json; charset=utf-16", bytes(0x37, 0), "7"],
    ["application/problem+json; charset=iso-8859-1", bytes(0x22, 0xfc, 0x22), '"ü"'],
    ["application/json; charset=iso-8859-1", json('"ü"'), '"ü"'],
    ["application/xml", bytes(...Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>ü</a>', "latin1")), '<?xml version="1.0" encoding="ISO-8859-1"?><a>ü</a>'],
    ["text/html", bytes(...Buffer.from("<meta charset=latin1>ü", "latin1")), "<meta charset=latin1>ü"],
    // A character at the end is cut.
    ["text/plain; charset=utf-16le", mark.slice(2, 5), "M", true],
    ["text/plain; charset=shift_jis", bytes(0x93, 0xfa, 0x93), "日", true],
  ]) {
    assert.equal(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(utf8(body, type, isCut)), expected, type);
  }
  // What is UTF-8, unknown, wrong or no text stays as it is.
  for (const [type, body] of [
    ["text/plain; charset=utf-8", utf8Muller],
    ["text/plain; charset=x-unknown", muller],
    ["text/plain; charset=", muller],
    ["text/plain", muller],
    [null, mark],
    ["text/plain; charset=utf-16", bytes(0xef, 0xbb, 0xbf, 0x61)],
    ["text/plain; charset=utf-16le", mark.slice(2, 5)],
    ["text/plain; charset=euc-jp", bytes(0xff)],
    ["text/plain; charset=iso-8859-1", bytes(0x4d, 0, 0xfc)],
    ["text/plain; charset=iso-2022-kr", muller],
    ["image/png; charset=iso-8859-1", muller],
    ["application/octet-stream", mark],
    ["application/pdf; charset=iso-8859-1", muller],
  ]) {
    assert.equal(utf8(body, type, false), body, type);
  }
});

test("a body is converted if its request says that it is text", async (t) => {
  const server = await listen((_, response) => response.writeHead(200, { "content-type": "text/plain; charset=iso-8859-1" }).end(Buffer.from("ü", "latin1")));
  t.after(() => server.close());
  for (const [text, expected] of [[true, [0xc3, 0xbc]], [false, [0xfc]]]) {
    const { body } = await send(undefined, "GET", server.base, new Headers(), undefined, 10_000, 100, true, text);
    assert.deepEqual([...body], expected);
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
