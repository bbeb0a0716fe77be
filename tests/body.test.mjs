// The body of a call on its way through the runtime: its type, its size and its bytes.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { on } from "node:events";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { SAMPLES, CANARY, start } from "./support/worker.mjs";

const LIMIT = 1000;
const KEY = `${CANARY}-key`;
const hash = createHash("sha256").update(KEY).digest("hex");
let worker, standard, guarded;
before(async () => {
  [worker, standard, guarded] = await Promise.all([
    start(SAMPLES, { vars: { MAX_BODY_BYTES: String(LIMIT) } }),
    start(SAMPLES),
    start(SAMPLES, { vars: { AUTH: "api-key", API_KEYS: JSON.stringify([{ name: "one", hash, scopes: [] }]), MAX_BODY_BYTES: "8388608" } }),
  ]);
});
after(() => Promise.all([worker, standard, guarded].map((each) => each.close())));

const CALL = '{"tool_id":"Calculator.Add","input":{"a":1,"b":2}}';
const padded = (bytes) => CALL.padEnd(bytes, " ");

for (const [type, status] of [
  ["application/json", 200],
  ["application/json; charset=utf-8", 200],
  ["application/vnd.oxp+json", 200],
  [undefined, 415],
  ["text/plain; application/json", 415],
]) {
  test(`Content-Type ${type ?? "absent"}: ${status}`, async () => {
    const headers = type === undefined ? {} : { "content-type": type };
    const reply = await worker.request("POST", "/tools/call", { headers, body: CALL });
    assert.equal(reply.status, status);
    if (status === 415) assert.equal(reply.json.message, "The request body must be JSON");
  });
}

for (const [bytes, chunked, status] of [
  [LIMIT, false, 200],
  [LIMIT, true, 200],
  [LIMIT + 1, false, 413],
  [LIMIT + 1, true, 413],
  [LIMIT * 100, false, 413],
  [LIMIT * 100, true, 413],
]) {
  test(`${bytes} bytes ${chunked ? "in chunks" : "of declared length"} with a limit of ${LIMIT}: ${status}`, async () => {
    const reply = await worker.post(padded(bytes), { chunked });
    assert.equal(reply.status, status);
    if (status === 413) {
      assert.deepEqual(reply.json, {
        message: "The request body is too large",
        developer_message: `it may have at most ${LIMIT} bytes`,
      });
    } else {
      assert.equal(reply.json.value, 3);
    }
  });
}

for (const [bytes, status] of [[262144, 200], [262145, 413]]) {
  test(`${bytes} bytes without MAX_BODY_BYTES: ${status}`, async () => {
    assert.equal((await standard.post(padded(bytes))).status, status);
  });
}

test("a body of exactly the limit is read completely", async () => {
  const reply = await worker.post(`${CALL.padEnd(LIMIT - 1, " ")}x`);
  assert.equal(reply.status, 400);
  assert.match(reply.json.developer_message, /trailing characters/);
});

const HEAD = ["Host: localhost", "Content-Type: application/json"];

/** Begins a request on its own socket; `received(pattern)` waits until the response matches, which may arrive in pieces. */
async function begun(headers, body, path = "/tools/call") {
  const { hostname: host, port } = new URL(guarded.address);
  const socket = connect({ host, port });
  socket.on("error", () => {});
  socket.write([`POST ${path} HTTP/1.1`, ...HEAD, ...headers, "", body].join("\r\n"));
  const received = async (pattern) => {
    let text = "";
    for await (const [part] of on(socket, "data", { close: ["close"] })) {
      text += part;
      if (pattern.test(text)) return;
    }
    assert.fail(`the connection was closed after: ${text}`);
  };
  return { socket, received };
}

// Nothing is sent after the first piece: a server that waited for more would not respond.
const PIECE = "x".repeat(4096);
const chunk = (text) => `${text.length.toString(16)}\r\n${text}\r\n`;
for (const [what, length, body] of [
  ["8 MiB", "Content-Length: 8388608", PIECE],
  ["9 KB", "Content-Length: 9216", PIECE],
  ["chunks without end", "Transfer-Encoding: chunked", chunk(PIECE)],
]) {
  for (const [who, key] of [["no key", []], ["a wrong key", [`Authorization: Bearer ${CANARY}-wrong`]]]) {
    test(`${what} with ${who}: 401 without waiting for the body`, { timeout: 120_000 }, async () => {
      const { socket, received } = await begun([...key, length], body);
      await received(/^HTTP\/1\.1 401 /);
      socket.destroy();
    });
  }
}

// The rest of the body never arrives either. Clients that get no id show nothing of the error.
for (const [what, length, body, id] of [
  ["9 KB with the id first", "Content-Length: 9216", `{"jsonrpc":"2.0","id":"c7","method":"${PIECE}`, '"c7"'],
  ["chunks without end", "Transfer-Encoding: chunked", chunk(`{"jsonrpc":"2.0","id":7,"method":"${PIECE}`), "7"],
  ["20 KB with the id last", "Content-Length: 20480", `{"method":"${"x".repeat(20_480 - 20)}","id":7}`, "null"],
  ["nothing of 9 KB", "Content-Length: 9216", "", "null"],
]) {
  test(`MC12 ${what} at /mcp without a key: 401 with the id ${id}`, { timeout: 120_000 }, async () => {
    const { socket, received } = await begun([length], body, "/mcp");
    await received(new RegExp(`^HTTP/1\\.1 401 [^]*"id":${id},`));
    socket.destroy();
  });
}

for (const [limit, which] of [[LIMIT, () => worker], [262_144, () => standard]]) {
  for (const chunked of [false, true]) {
    test(`MC12 more than ${limit} bytes at /mcp ${chunked ? "in chunks" : "of declared length"}: 413 with the id`, async () => {
      const body = `{"jsonrpc":"2.0","id":"c7","method":"ping"}`.padEnd(limit + 1, " ");
      const reply = await which().post(body, { path: "/mcp", chunked });
      assert.deepEqual([reply.status, reply.json.id], [413, "c7"]);
    });
  }
}

for (const chunked of [false, true]) {
  test(`a long body ${chunked ? "in chunks" : "of declared length"} from a known caller is read`, async () => {
    const headers = { authorization: `Bearer ${KEY}` };
    const reply = await guarded.post(padded(100_000), { headers, chunked });
    assert.deepEqual([reply.status, reply.json.value], [200, 3]);
  });
}

// What becomes of bytes on their way through the runtime; the other faults of JSON are native: server::body.
for (const [name, body, why] of [
  ["nothing", "", /EOF/],
  ["half a surrogate pair", '{"tool_id":"\\ud800"}', /hex escape/],
  ["a byte order mark", `\ufeff${CALL}`, /expected value at line 1 column 1/],
  ["invalid UTF-8 after a byte order mark", Buffer.from(`\xef\xbb\xbf{"tool_id":"x\xff\xe2\x82y"}`, "latin1"), /not UTF-8/],
  ["invalid UTF-8", Buffer.from(`{"tool_id":"\xff"}`, "latin1"), /not UTF-8/],
  ["longer invalid UTF-8", Buffer.from(`{"tool_id":"é\xe2\x82"}`, "latin1"), /not UTF-8/],
  ["UTF-16", Buffer.from(CALL, "utf16le"), /expected|key must be/],
]) {
  test(`X16 ${name} is 400`, async () => {
    const reply = await worker.post(body);
    assert.equal(reply.status, 400);
    assert.equal(reply.json.message, "The request body is not valid JSON");
    assert.match(reply.json.developer_message, why);
  });
}

test("a byte order mark in chunks is 400 too", async () => {
  const reply = await worker.post(`\ufeff${CALL}`, { chunked: true });
  assert.equal(reply.status, 400);
  assert.equal(reply.json.message, "The request body is not valid JSON");
});

test("a hundred thousand levels are rejected", async () => {
  // The Wasm stack is smaller than that of native tests.
  assert.equal((await standard.post(`{"tool_id":"A.B","input":${"[".repeat(1e5)}${"]".repeat(1e5)}}`)).status, 400);
});
