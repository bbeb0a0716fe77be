// The body of a call: its type, its size, its JSON and its shape.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { BOOTH, CANARY, start } from "./support/worker.mjs";

const LIMIT = 1000;
const KEY = `${CANARY}-key`;
const hash = createHash("sha256").update(KEY).digest("hex");
let worker, standard, guarded;
before(async () => {
  [worker, standard, guarded] = await Promise.all([
    start(BOOTH, { vars: { MAX_BODY_BYTES: String(LIMIT) } }),
    start(BOOTH),
    start(BOOTH, { vars: { AUTH: "api-key", API_KEYS: JSON.stringify([{ name: "one", hash, scopes: [] }]), MAX_BODY_BYTES: "8388608" } }),
  ]);
});
after(() => Promise.all([worker, standard, guarded].map((each) => each.close())));

const CALL = '{"tool_id":"Calculator.Add","input":{"a":1,"b":2}}';
const padded = (bytes) => CALL.padEnd(bytes, " ");

for (const [type, status] of [
  ["application/json", 200],
  ["Application/JSON", 200],
  ["application/json; charset=utf-8", 200],
  ["application/json;charset=UTF-8", 200],
  ["application/vnd.oxp+json", 200],
  [undefined, 415],
  ["", 415],
  ["text/plain", 415],
  ["text/plain; application/json", 415],
  ["text/json", 415],
  ["application/jsonx", 415],
  ["application/x-www-form-urlencoded", 415],
  ["multipart/form-data; boundary=x", 415],
  ["application/octet-stream", 415],
]) {
  test(`Content-Type ${type ?? "absent"}: ${status}`, async () => {
    const headers = type === undefined ? {} : { "content-type": type };
    const reply = await worker.request("POST", "/tools/call", { headers, body: CALL });
    assert.equal(reply.status, status);
    if (status === 415) assert.equal(reply.json.message, "The request is not JSON");
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
        message: "The request is too large",
        developer_message: `the body may have at most ${LIMIT} bytes`,
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

test("the size is in bytes, not characters", async () => {
  const trace_id = "é".repeat(LIMIT / 2);
  assert.equal((await worker.call("Calculator.Add", { a: 1, b: 2 }, { trace_id })).status, 413);
});

test("a body of exactly the limit is read completely", async () => {
  const reply = await worker.post(`${CALL.padEnd(LIMIT - 1, " ")}x`);
  assert.equal(reply.status, 400);
  assert.match(reply.json.developer_message, /trailing characters/);
});

for (const [values, status] of [[65_000, 422], [66_000, 400]]) {
  test(`${values} values: ${status}`, async () => {
    const reply = await standard.post(`{"tool_id":"Calculator.Add","input":{"a":[${Array(values).fill(0)}],"b":1}}`);
    assert.equal(reply.status, status);
    if (status === 400) assert.match(reply.json.developer_message, /: more than 65536 values at line 1 column /);
  });
}

const HEAD = ["POST /tools/call HTTP/1.1", "Host: localhost", "Content-Type: application/json"];

/** Begins a request on its own socket; `received()` waits for the first bytes of the response. */
async function begun(headers, body) {
  const { hostname: host, port } = new URL(guarded.address);
  const socket = connect({ host, port });
  socket.on("error", () => {});
  socket.write([...HEAD, ...headers, "", body].join("\r\n"));
  return { socket, received: async () => String((await once(socket, "data"))[0]) };
}

// Nothing is sent after the first piece: a server that waited for more would not respond.
const PIECE = "x".repeat(4096);
for (const [what, length, body] of [
  ["8 MiB", "Content-Length: 8388608", PIECE],
  ["9 KB", "Content-Length: 9216", PIECE],
  ["chunks without end", "Transfer-Encoding: chunked", `${PIECE.length.toString(16)}\r\n${PIECE}\r\n`],
]) {
  for (const [who, key] of [["no key", []], ["a wrong key", [`Authorization: Bearer ${CANARY}-wrong`]]]) {
    test(`${what} with ${who}: 401 without waiting for the body`, { timeout: 20_000 }, async () => {
      const { socket, received } = await begun([...key, length], body);
      assert.match(await received(), /^HTTP\/1\.1 401 /);
      socket.destroy();
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

// The body itself is the first level: {"input":{"a": … }} has two.
const nested = (depth) => `{"tool_id":"Calculator.Add","input":${"[".repeat(depth)}${"]".repeat(depth)}}`;

for (const [name, body, why] of [
  ["nothing", "", /EOF/],
  ["white space", " \n", /EOF/],
  ["not JSON", "tool_id=Calculator.Add", /expected/],
  ["a truncated body", CALL.slice(0, -1), /EOF/],
  ["trailing characters", `${CALL}x`, /trailing characters/],
  ["two values", CALL + CALL, /trailing characters/],
  ["a comment", `/* */${CALL}`, /expected value/],
  ["a trailing comma", CALL.replace("}}", "},}"), /trailing comma/],
  ["single quotes", CALL.replaceAll('"', "'"), /key must be a string/],
  ["NaN", CALL.replace("2", "NaN"), /expected value/],
  ["a number outside the range of doubles", CALL.replace("2", "1e999"), /number out of range/],
  ["a leading zero", CALL.replace("2", "02"), /invalid number/],
  ["a raw line feed in a text", '{"tool_id":"a\nb"}', /control character/],
  ["half a surrogate pair", '{"tool_id":"\\ud800"}', /hex escape/],
  ["a byte order mark", `\ufeff${CALL}`, /expected value at line 1 column 1/],
  ["invalid UTF-8 after a byte order mark", Buffer.from(`\xef\xbb\xbf{"tool_id":"x\xff\xe2\x82y"}`, "latin1"), /not UTF-8/],
  ["invalid UTF-8", Buffer.from(`{"tool_id":"\xff"}`, "latin1"), /not UTF-8/],
  ["invalid UTF-8 in a longer text", Buffer.from(`{"tool_id":"é\xe2\x82"}`, "latin1"), /not UTF-8/],
  ["UTF-16", Buffer.from(CALL, "utf16le"), /expected|key must be/],
  ["a repeated key", '{"tool_id":"Calculator.Add","tool_id":"Doorbell.Ring"}', /"tool_id" is repeated/],
  ["a repeated key, nested", CALL.replace('"b":2', '"b":2,"a":1'), /"a" is repeated/],
  ["a repeated key, escaped the second time", '{"tool_id":"A.B","\\u0074ool_id":"A.B"}', /"tool_id" is repeated/],
  ["65 levels", nested(64), /deeper than 64 levels/],
  ["400 levels", nested(400), /deeper than 64 levels/],
]) {
  test(`X16 ${name} is 400`, async () => {
    const reply = await worker.post(body);
    assert.equal(reply.status, 400);
    assert.equal(reply.json.message, "The request is malformed");
    assert.match(reply.json.developer_message, /^the body is not valid JSON: /);
    assert.match(reply.json.developer_message, why);
  });
}

test("a byte order mark in chunks is 400 too", async () => {
  const reply = await worker.post(`\ufeff${CALL}`, { chunked: true });
  assert.equal(reply.status, 400);
  assert.match(reply.json.developer_message, /^the body is not valid JSON: /);
});

test("64 levels are read", async () => {
  const reply = await worker.post(nested(63));
  assert.equal(reply.status, 422);
  assert.deepEqual(reply.json.parameter_errors, { input: "Must be an object" });
});

test("a hundred thousand levels are rejected too", async () => {
  assert.equal((await standard.post(nested(100000))).status, 400);
});

const AUTHORIZATION = "context.authorization must be an array of objects with the strings id and token";
const SECRETS = "context.secrets must be an array of objects with the strings id and value";
const A = "Calculator.Add";
for (const [name, body, developer_message] of [
  ["null", null, "the body must be an object with tool_id and input"],
  ["a text", '"Calculator.Add"', "the body must be an object with tool_id and input"],
  ["a list of calls", [{ tool_id: A }], "the body must be an object with tool_id and input"],
  ["no tool_id", {}, "tool_id is missing; it must be a string"],
  ["a tool_id that is not a string", { tool_id: 1 }, "tool_id must be a string"],
  ["a tool_id that is null", { tool_id: null }, "tool_id must be a string"],
  ["a call_id that is not a string", { tool_id: A, call_id: 1 }, "call_id must be a string"],
  ["a call_id that is null", { tool_id: A, call_id: null }, "call_id must be a string"],
  ["a trace_id that is not a string", { tool_id: A, trace_id: {} }, "trace_id must be a string"],
  ["a context that is not an object", { tool_id: A, context: [] }, "context must be an object"],
  ["a context that is null", { tool_id: A, context: null }, "context must be an object"],
  ["a user that is not a string", { tool_id: A, context: { user_id: 7 } }, "context.user_id must be a string"],
  ["authorization that is not an array", { tool_id: A, context: { authorization: {} } }, AUTHORIZATION],
  ["authorization of strings", { tool_id: A, context: { authorization: [CANARY] } }, AUTHORIZATION],
  ["authorization without token", { tool_id: A, context: { authorization: [{ id: "x" }] } }, AUTHORIZATION],
  ["authorization without id", { tool_id: A, context: { authorization: [{ token: CANARY }] } }, AUTHORIZATION],
  ["a token that is not a string", { tool_id: A, context: { authorization: [{ id: "x", token: 1 }] } }, AUTHORIZATION],
  ["secrets that are not an array", { tool_id: A, context: { secrets: CANARY } }, SECRETS],
  ["a secret without value", { tool_id: A, context: { secrets: [{ id: "x" }] } }, SECRETS],
  ["a secret that is not a string", { tool_id: A, context: { secrets: [{ id: "x", value: null }] } }, SECRETS],
  ["D2 inputs", { tool_id: A, inputs: { a: 1, b: 2 } }, "inputs is not a field; use input"],
  ["D2 inputs next to input", { tool_id: A, input: { a: 1, b: 2 }, inputs: {} }, "inputs is not a field; use input"],
  ["another field", { tool_id: A, input: { a: 1, b: 2 }, user_id: "x" },
    '"user_id" is not a field of a call; the fields are tool_id, call_id, trace_id, input and context'],
]) {
  test(`X16 ${name} is 400`, async () => {
    const reply = await worker.post(body);
    assert.equal(reply.status, 400);
    assert.deepEqual(reply.json, { message: "The request is malformed", developer_message });
  });
}

test("X16 $schema is 400 where bodies are flat", async () => {
  const reply = await worker.post({ $schema: "urn:oxp:1.0", tool_id: A }, { path: "/oxp/tools/call" });
  assert.equal(reply.status, 400);
  assert.match(reply.json.developer_message, /^"\$schema" is not a field of a call; /);
});

test("D2 inputs is reported before other unknown fields", async () => {
  const reply = await worker.post({ tool_id: A, inputs: {}, arguments: {} });
  assert.equal(reply.status, 400);
  assert.match(reply.json.developer_message, /use input/);
});

// Bodies in an envelope belong to other forms of the protocol.
for (const body of [
  { request: { tool_id: A, input: { a: 1, b: 2 } } },
  { $schema: "urn:oxp:1.0", request: { tool_id: A } },
  { $schema: "otc://1.0", request: { tool_id: A } },
  { tool_id: A, request: {} },
]) {
  test(`an envelope is 400 where bodies are flat: ${JSON.stringify(body)}`, async () => {
    const reply = await worker.post(body, { path: "/oxp/tools/call" });
    assert.equal(reply.status, 400);
    assert.match(reply.json.developer_message, /^request is an envelope, which \/otc and \/oxp\/1\.0 take/);
  });
}

test("errors in a body do not repeat its values", async () => {
  for (const body of [`{"tool_id":"${CANARY}"`, `{"tool_id":"${CANARY}"}`, `"${CANARY}"`, `{"call_id":["${CANARY}"]}`]) {
    const reply = await worker.post(body);
    assert.equal(reply.status, 400);
    assert.ok(!reply.text.includes(CANARY), reply.text);
  }
});
