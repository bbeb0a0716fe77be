// What a tool requires and what the call supplies (X20, X34, X47 to X50). Fixture.Private requires a
// token for "mail", the secret "KEY" and a user.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { CANARY, FIXTURES, start } from "./support/worker.mjs";

let worker;
before(async () => (worker = await start(FIXTURES)));
after(() => worker.close());

const TOKEN = { authorization: [{ id: "mail", token: `${CANARY}-token` }] };
const SECRET = { secrets: [{ id: "KEY", value: `${CANARY}-secret` }] };
const USER = { user_id: `${CANARY}-user` };
const privately = (context, input = {}) => worker.call("Fixture.Private", input, context && { context });

const LACKS_TOKEN = 'context.authorization with id "mail"';
const LACKS_SECRET = 'context.secrets with id "KEY"';
const LACKS_USER = "context.user_id";

for (const [name, context, message, lacks, machine] of [
  ["no context", undefined, "Authorization required", [LACKS_TOKEN, LACKS_SECRET, LACKS_USER],
    { user_id: true, secrets: ["KEY"] }],
  ["an empty context", {}, "Authorization required", [LACKS_TOKEN, LACKS_SECRET, LACKS_USER],
    { user_id: true, secrets: ["KEY"] }],
  ["no token", { ...SECRET, ...USER }, "Authorization required", [LACKS_TOKEN], undefined],
  ["a token of another provider", { ...SECRET, ...USER, authorization: [{ id: "files", token: CANARY }] },
    "Authorization required", [LACKS_TOKEN], undefined],
  ["no secret", { ...TOKEN, ...USER }, "The call lacks a secret", [LACKS_SECRET], { secrets: ["KEY"] }],
  ["another secret", { ...TOKEN, ...USER, secrets: [{ id: "key", value: CANARY }] },
    "The call lacks a secret", [LACKS_SECRET], { secrets: ["KEY"] }],
  ["no user", { ...TOKEN, ...SECRET }, "The call must say for which user it is", [LACKS_USER], { user_id: true }],
  ["an empty user", { ...TOKEN, ...SECRET, user_id: "" }, "The call must say for which user it is",
    [LACKS_USER], { user_id: true }],
]) {
  test(`X48 X49 ${name}: 400 that names what is missing`, async () => {
    const reply = await privately(context);
    assert.equal(reply.status, 400);
    assert.deepEqual(reply.json, {
      message,
      developer_message: `the call lacks ${lacks.join(", ")}`,
      ...(machine && { missing_requirements: machine }),
    });
    assert.ok(!reply.text.includes(CANARY));
  });
}

test("X48 an empty token is not valid, so it is missing", async () => {
  const authorization = [{ id: "mail", token: "" }];
  assert.equal((await privately({ ...SECRET, ...USER, authorization })).status, 400);
});

test("X48 X49 with all requirements the tool runs and receives them", async () => {
  const { status, json } = await privately({ ...TOKEN, ...SECRET, ...USER });
  assert.equal(status, 200);
  assert.deepEqual(json.value, {
    user_id: `${CANARY}-user`,
    token: `${CANARY}-token`,
    secret: `${CANARY}-secret`,
  });
});

test("X50 superfluous credentials are ignored, and of two with the same id the later counts", async () => {
  const { json } = await privately({
    ...USER,
    authorization: [{ id: "files", token: CANARY }, { id: "mail", token: `${CANARY}-1` }, { id: "mail", token: `${CANARY}-2` }],
    secrets: [...SECRET.secrets, { id: "OTHER", value: CANARY }],
  });
  assert.equal(json.value.token, `${CANARY}-2`);
});

test("X22 missing requirements are reported before the input is validated", async () => {
  assert.equal((await privately(undefined, { wrong: CANARY })).status, 400);
  assert.equal((await privately({ ...TOKEN, ...SECRET, ...USER }, { wrong: CANARY })).status, 422);
});

test("the credentials of a call do not leak into the next", async () => {
  assert.equal((await privately({ ...TOKEN, ...SECRET, ...USER })).status, 200);
  assert.equal((await privately({})).status, 400);
});

test("X47 a tool without requirements needs no context", async () => {
  assert.equal((await worker.post({ tool_id: "Fixture.Silent" })).status, 200);
});

// With AUTH=none every call is served, whatever credentials it carries.
for (const authorization of ["Bearer x", "Bearer ", "Basic dTpw", `Bearer ${CANARY}`]) {
  test(`X3 X4 "Authorization: ${authorization}" is ignored`, async () => {
    const headers = { authorization, "oxp-api-key": CANARY };
    assert.equal((await worker.get("/health", headers)).status, 200);
    assert.equal((await worker.get("/tools", headers)).status, 200);
    assert.equal((await worker.post({ tool_id: "Fixture.Silent" }, { headers })).status, 200);
  });
}
