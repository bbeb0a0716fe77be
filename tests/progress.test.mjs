// Notifications of tools reach clients of MCP while the tools run. The service of the tool answers only after the client has got the first one.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { events } from "./support/contract.mjs";
import { BINDINGS, start } from "./support/worker.mjs";

const LEVEL = "io.modelcontextprotocol/logLevel";
const STREAM = { accept: "application/json, text/event-stream" };

let worker, service, url;
/** The responses that the service has not sent, and what to do with the next one. */
let held, onHeld;

before(async () => {
  service = createServer((_, response) => {
    held.push(response);
    onHeld();
  }).listen(0, "127.0.0.1");
  await once(service, "listening");
  url = `http://127.0.0.1:${service.address().port}/`;
  worker = await start(BINDINGS);
});
beforeEach(() => {
  held = [];
  onHeld = () => {};
});
after(async () => {
  service.closeAllConnections();
  service.close();
  await worker.close();
});

const release = () => held.splice(0).forEach((response) => response.end("ok"));

const ERAS = {
  legacy: (params) => [{}, params],
  modern: ({ _meta, ...params }) => [
    { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": params.name },
    { ...params, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}, ..._meta } },
  ],
};

/** The response to a call of a tool that reports progress, asks the service, and reports progress again. */
function call(era, _meta, more = STREAM, signal) {
  const [headers, params] = ERAS[era]({ name: "Script_Probe", arguments: { do: "report", any: url }, _meta });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  return fetch(`${worker.address}/mcp`, { method: "POST", headers: { "content-type": "application/json", ...headers, ...more }, body, signal });
}

/** Reads texts until one ends an event. */
async function nextEvents(reader) {
  let text = "";
  do {
    const { value, done } = await reader.read();
    assert.ok(!done, `the stream ended after ${text}`);
    text += value;
  } while (!text.endsWith("\n\n"));
  return events(text);
}

async function rest(reader) {
  let text = "";
  for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value;
  return events(text);
}

const shown = ({ method, params, result }) => (method ? [method.replace("notifications/", ""), params.progress ?? params.data] : result.structuredContent.result);

for (const [what, era, meta, first, others] of [
  ["progress", "modern", { progressToken: "p" }, [["progress", 1]], [["progress", 2], "ok"]],
  ["log messages", "modern", { [LEVEL]: "info" }, [["message", "begun"]], [["message", "done"], "ok"]],
  ["both", "modern", { progressToken: 7, [LEVEL]: "debug" }, [["progress", 1], ["message", "begun"]], [["progress", 2], ["message", "done"], "ok"]],
  ["progress", "legacy", { progressToken: "p" }, [["progress", 1], ["message", "begun"]], [["progress", 2], ["message", "done"], "ok"]],
  ["log messages", "legacy", undefined, [["message", "begun"]], [["message", "done"], "ok"]],
]) {
  test(`MC50 ${era}: ${what} while the tool runs`, async () => {
    const response = await call(era, meta);
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    assert.equal(response.headers.get("x-accel-buffering"), "no");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const early = [];
    while (early.length < first.length) early.push(...(await nextEvents(reader)).map(shown));
    assert.deepEqual(early, first);
    if (held.length === 0) await new Promise((resolve) => (onHeld = resolve));
    release();
    assert.deepEqual((await rest(reader)).map(shown), others);
  });
}

for (const [what, meta, headers] of [
  ["nothing is wanted", {}, STREAM],
  ["no stream is accepted", { progressToken: "p" }, { accept: "application/json" }],
]) {
  test(`MC50 a response is one object if ${what}`, async () => {
    onHeld = release;
    const response = await call("modern", meta, headers);
    assert.equal(response.headers.get("content-type"), "application/json");
    assert.equal(shown(await response.json()), "ok");
  });
}

test("MC50 a tool in Rust", async () => {
  const [headers, params] = ERAS.modern({ name: "Platform_Wait", arguments: {}, _meta: { progressToken: "p" } });
  const reply = await worker.post({ jsonrpc: "2.0", id: 1, method: "tools/call", params }, { path: "/mcp", headers: { ...headers, ...STREAM } });
  assert.equal(reply.headers["content-type"], "text/event-stream");
  assert.deepEqual(events(reply.text).map(shown), [["progress", 1], "waited"]);
});

test("MC50 the call of a client that goes is in the log, and other calls go on", async () => {
  const gone = new AbortController();
  const response = await call("modern", { progressToken: "p" }, STREAM, gone.signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  assert.deepEqual((await nextEvents(reader)).map(shown), [["progress", 1]]);
  if (held.length === 0) await new Promise((resolve) => (onHeld = resolve));
  const calls = async () => (await worker.events()).filter(({ event }) => event === "call").length;
  const before = await calls();
  gone.abort();
  onHeld = release;
  assert.equal(shown(await (await call("modern", {})).json()), "ok");
  release();
  // Whether the tool or the Worker is first to notice.
  while ((await calls()) < before + 2);
});
