// No output and no error contains a secret, token or input. Every test on workerd searches for them
// (support/leaks.mjs); these tests show that the search works, and that no test bypasses it.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { claims, hmac, token } from "./support/issuer.mjs";
import { entrusted, errors, issued, printedLeaks, values } from "./support/leaks.mjs";
import { SAMPLES, CANARY, start } from "./support/worker.mjs";

const TOKEN = token({ alg: "HS256" }, claims(), hmac("a secret of no worth"));
const [, PAYLOAD, SIGNATURE] = TOKEN.split(".");
const base64 = (text) => Buffer.from(text).toString("base64");

for (const [name, line, found] of [
  ["nothing", "{\"event\":\"jwks\"}", false],
  ["an input", `the city ${CANARY}-berlin`, true],
  ["an input in capitals", CANARY.toUpperCase(), true],
  ["an input in base64", base64(`${CANARY}-berlin`), true],
  ["an input in base64, one byte later", base64(`x${CANARY}-berlin`), true],
  ["an input in base64, two bytes later", base64(`xx${CANARY}-berlin`), true],
  ["a token", `Bearer ${TOKEN}`, true],
  ["the payload of a token", PAYLOAD, true],
  ["the signature of a token", SIGNATURE, true],
  ["a code in a URL", "/callback?code=0123456789abcdef%2B0", true],
]) {
  test(`leaks in the output: ${name}`, () => {
    const known = new Set([...entrusted({ authorization: `Bearer ${TOKEN}` }, "/"), ...entrusted({}, "/auth/callback?code=0123456789abcdef%2B0")]);
    assert.equal(printedLeaks(`first\n${line}\nlast`, known).length, found ? 1 : 0);
  });
}

for (const [name, headers, path, expected] of [
  ["no credentials", { "content-type": "application/json" }, "/tools?include=a", []],
  ["a key", { "OXP-API-Key": `${CANARY}-key` }, "/", [`${CANARY}-key`]],
  ["OTC's key", { "otc-api-key": `${CANARY}-key` }, "/", [`${CANARY}-key`]],
  ["a key in X-API-Key", { "X-API-Key": `${CANARY}-key` }, "/", [`${CANARY}-key`]],
  ["a key in X-Auth-Token", { "x-auth-token": `${CANARY}-key` }, "/", [`${CANARY}-key`]],
  ["a key as bearer", { authorization: `bearer ${CANARY}-key` }, "/", [`${CANARY}-key`]],
  ["a cookie", { cookie: "__Host-a=0123456789abcdef; b=1" }, "/", ["0123456789abcdef"]],
]) {
  test(`secrets in a request: ${name}`, () => {
    assert.deepEqual([...new Set(entrusted(headers, path))], expected);
  });
}

const SECRET = "0123456789abcdef";
test("secrets in the form of a request", () => {
  const form = { "content-type": "application/x-www-form-urlencoded" };
  for (const name of ["code", "code_verifier", "refresh_token", "token", "client_secret", "api_key"]) {
    assert.deepEqual([...new Set(entrusted(form, "/oauth/token", `grant_type=any&${name}=${SECRET}`))], [SECRET], name);
  }
  assert.deepEqual(entrusted({ "content-type": "application/json" }, "/oauth/token", `code=${SECRET}`), []);
});

test("secrets that a response issues", () => {
  for (const [name, headers, json, expected] of [
    ["nothing", {}, { value: SECRET }, []],
    ["a cookie", { "set-cookie": [`__Host-a=${SECRET}; Secure`] }, {}, [SECRET]],
    ["a code", { location: `https://client.example/callback?code=${SECRET}&iss=a` }, {}, [SECRET]],
    ["tokens", {}, { access_token: `${SECRET}1`, refresh_token: `${SECRET}2`, expires_in: 900 }, [`${SECRET}1`, `${SECRET}2`]],
    ["the secret of a client", {}, { client_id: "a", client_secret: SECRET }, [SECRET]],
  ]) {
    assert.deepEqual([...new Set(issued({ headers, text: JSON.stringify(json) }))], expected, name);
  }
});

for (const [name, body, expected] of [
  ["no body", undefined, []],
  ["an input", { tool_id: `${CANARY}.Tool`, input: { city: `${CANARY}-1`, [`${CANARY}-key`]: [`${CANARY}-2`] } }, [`${CANARY}-1`, `${CANARY}-2`]],
  ["tokens and secrets", { context: { authorization: [{ id: "mail", token: `${CANARY}-t` }] } }, [`${CANARY}-t`]],
  ["arguments in a text", { name: CANARY, arguments: JSON.stringify({ city: `${CANARY}-1` }) }, [`${CANARY}-1`]],
  ["invalid JSON", `{"city": "${CANARY}-1", `, [`${CANARY}-1`]],
]) {
  test(`the values of a body: ${name}`, () => {
    assert.deepEqual(values(typeof body === "object" ? JSON.stringify(body) : body), expected);
  });
}

for (const [name, status, text, expected] of [
  ["a value", 200, { value: CANARY }, []],
  ["a rejection", 400, { message: CANARY }, [`{"message":"${CANARY}"}`]],
  ["OXP's failure", 200, { success: false, error: { message: CANARY } }, [`{"message":"${CANARY}"}`]],
  ["a member of a batch", 200, [{ result: CANARY }, { error: { message: CANARY } }], [`{"message":"${CANARY}"}`]],
  ["a provider's result", 200, { messages: [{ content: "Error: it failed" }] }, ["Error: it failed"]],
]) {
  test(`the errors in a response: ${name}`, () => {
    assert.deepEqual(errors({ status, headers: {}, text: JSON.stringify(text) }), expected);
  });
}

test("the errors in a response: a stream, and headers", () => {
  const text = `event:start\ndata:{}\n\nevent:error\ndata:{"error":1}\n\n`;
  const headers = { "content-type": "text/event-stream", "www-authenticate": "Bearer x" };
  assert.deepEqual(errors({ status: 200, headers, text }), ["Bearer x", `event:error\ndata:{"error":1}`]);
});

// A Worker that leaks what it was sent.
const betraying = (statement) => `
export default { async fetch(request, env, context) {
  const headers = request.headers;
  const body = await request.clone().text();
  ${statement}
  return Worker.fetch(request, env, context);
} };`;

for (const [name, statement] of [
  ["logs a token", 'console.log("called with", headers.get("authorization"));'],
  ["logs a token's signature", 'console.warn({ signature: headers.get("authorization").split(".")[2] });'],
  ["logs an input", "console.error(body);"],
  ["logs an input in base64", "console.debug(btoa(body));"],
  ["logs an object with an input in it", "console.log({ call: { body } });"],
]) {
  test(`a Worker that ${name} does not pass`, async () => {
    const worker = await start(SAMPLES, { around: betraying(statement) });
    const headers = { authorization: `Bearer ${TOKEN}` };
    const { status } = await worker.post({ tool_id: "Text.Slugify", input: { text: `${CANARY} berlin` } }, { headers });
    assert.equal(status, 200);
    await assert.rejects(worker.close(), /the runtime printed what a caller sent/);
  });
}

const refusing = (message) => `return Response.json({ message: ${message} }, { status: 400, headers: { "oxp-version": "1.0" } });`;
for (const [name, statement] of [
  ["a token", refusing('headers.get("authorization")')],
  ["a key", refusing('headers.get("oxp-api-key")')],
  ["an input", refusing("JSON.parse(body).input.text")],
  ["the whole body", refusing("body")],
  ["an input as it crashes", "throw new Error(body);"],
]) {
  test(`an error that repeats ${name} does not pass`, async () => {
    const worker = await start(SAMPLES, { around: betraying(statement) });
    const headers = { authorization: `Bearer ${TOKEN}`, "oxp-api-key": `${CANARY}-key` };
    try {
      const call = { tool_id: "Text.Slugify", input: { text: `${CANARY} berlin` } };
      await assert.rejects(worker.post(call, { headers }), /an error repeats what a caller sent/);
    } finally {
      await worker.close();
    }
  });
}

test("an error that repeats what another caller sent does not pass", async () => {
  const remembering = `let kept; export default { async fetch(request) {
    const before = kept;
    kept = request.headers.get("oxp-api-key");
    return Response.json({ message: before ?? "first" }, { status: 400, headers: { "oxp-version": "1.0" } });
  } };`;
  const worker = await start(SAMPLES, { around: remembering });
  try {
    const call = (key) => worker.post({ tool_id: "Text.Slugify" }, { headers: { "oxp-api-key": `${CANARY}-${key}` } });
    await call("first");
    await assert.rejects(call("second"), /an error repeats what a caller sent/);
  } finally {
    await worker.close();
  }
});

test("every test starts Workers through the watching helpers", () => {
  const folder = new URL("./", import.meta.url);
  const files = readdirSync(folder, { recursive: true }).filter((name) => /\.(mjs|py)$/.test(name));
  const text = (name) => readFileSync(new URL(name, folder), "utf8");
  const starting = files.filter((name) => /(?:from |\()"(?:miniflare|workerd)"/.test(text(name)) && name !== "leaks.test.mjs");
  assert.deepEqual(starting.sort(), ["support/leaks.mjs", "support/worker.mjs"]);
  assert.match(text("support/worker.mjs"), /await checkPrinted\(\)/);
  assert.match(text("support/http.mjs"), /^ +watch\(/m);
});
