// A user authorizes a tool (X20, X21): the tests that need no browser. The rest is in browser.test.mjs.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { entryOf, token } from "../packages/toolbooth/src/credentials.js";
import { Browser, authorizing, path } from "./support/authorizing.mjs";
import { CLIENT } from "./support/oauth.mjs";
import { listen } from "./support/server.mjs";
import { SAMPLES, CANARY, start } from "./support/worker.mjs";

// The calling application. The pages and the check need no key, because users and browsers have none.
const KEY = { "oxp-api-key": `${CANARY}-key-of-the-calendar` };
const READER = { "oxp-api-key": `${CANARY}-key-that-may-read` };
const NOTHING = { "oxp-api-key": `${CANARY}-key-without-scopes` };
const ISSUE = { number: 1347, title: "Found a bug", state: "open", url: "https://github.com/octocat/hello-world/issues/1347" };

let services, provider, api, vars, worker;
before(async () => {
  services = await authorizing();
  ({ provider, api } = services);
  const API_KEYS = JSON.stringify([
    entryOf(KEY["oxp-api-key"], "Calendar", ["github:read", "github:write"]),
    entryOf(READER["oxp-api-key"], "Reader", ["github:read"]),
    entryOf(NOTHING["oxp-api-key"], "Nothing", []),
  ]);
  vars = { ...services.vars, AUTH: "api-key", API_KEYS };
  worker = await start(SAMPLES, { vars });
});
beforeEach(() => {
  for (const key of Object.keys(provider.now)) delete provider.now[key];
  api.tokens.splice(0);
});
after(async () => {
  await worker.close();
  await services.close();
});

// Each test has its own user, because grants persist.
let users = 0;
const newUser = () => `${CANARY}-user-${(users += 1)}`;

const INPUT = { owner: "octocat", repository: "hello-world", title: "Found a bug" };
const create = (user_id, context = {}) =>
  worker.post({ tool_id: "GitHub.CreateIssue", input: INPUT, context: { user_id, ...context } }, { headers: KEY });

/** The challenge in the response to a call. */
async function challenge(user) {
  const { status, json } = await create(user);
  assert.equal(status, 400);
  assert.equal(json.message, "Authorization required");
  const [one, ...more] = json.missing_requirements.authorization;
  assert.deepEqual([Object.keys(one).sort(), more], [["check_url", "id", "url"], []]);
  return one;
}

const check = async ({ check_url }) => (await worker.get(path(check_url))).json.status;

async function granted() {
  const user = newUser();
  assert.equal((await new Browser(worker).grant(await challenge(user))).status, 200);
  return user;
}

test("X20 X21 a call, a challenge, a grant, and the call again", async () => {
  const user = newUser();
  const asked = await challenge(user);
  assert.equal(await check(asked), "pending");
  assert.equal((await new Browser(worker).grant(asked)).status, 200);
  assert.equal(await check(asked), "completed");
  const { status, json } = await create(user);
  assert.equal(status, 200);
  assert.deepEqual(json.value, ISSUE);
  assert.match(api.tokens.at(-1), /-access-/);
  assert.equal((await create(newUser())).status, 400, "another user has granted nothing");
});

test("a key without the scope uses no grant", async () => {
  const context = { user_id: newUser() };
  const [list, make] = [["GitHub.ListIssues", { owner: "octocat", repository: "hello-world" }], ["GitHub.CreateIssue", INPUT]];
  const call = ([tool_id, input], headers) => worker.post({ tool_id, input, context }, { headers });
  const [asked] = (await call(list, READER)).json.missing_requirements.authorization;
  await new Browser(worker).grant(asked);
  assert.equal((await call(list, READER)).status, 200, "the user has granted it to this key");
  const arrived = api.requests.length;
  for (const [one, headers] of [[make, READER], [make, NOTHING], [list, NOTHING]]) {
    const { status, json } = await call(one, headers);
    assert.equal(status, 403);
    assert.match(json.developer_message, /^it requires the scopes: github:(read|write)$/);
  }
  assert.equal(api.requests.length, arrived, "no request reaches GitHub");
});

test("X21 the proof from the check works like the grant, for this user only", async () => {
  const user = newUser();
  const asked = await challenge(user);
  assert.equal((await worker.get(path(asked.check_url))).json.proof, undefined);
  await new Browser(worker).grant(asked);
  const { proof } = (await worker.get(path(asked.check_url))).json;
  const authorization = [{ id: "github", token: proof }];
  assert.equal((await create(user, { authorization })).status, 200);
  assert.equal((await create(newUser(), { authorization })).status, 400);
  assert.equal((await worker.request("DELETE", `/auth/grants/github?user_id=${user}`, { headers: KEY })).status, 204);
  assert.equal((await create(user, { authorization })).status, 400, "it is invalid without the grant");
  assert.ok(!api.tokens.includes(proof), "it is never sent to the service");
});

test("X21 an invalid challenge has failed, and any page may check it", async () => {
  const { check_url } = await challenge(newUser());
  const [, token] = check_url.split("?c=");
  const changed = (token.startsWith("A") ? "B" : "A") + token.slice(1);
  for (const query of ["", "?c=", "?c=a.b", `?c=${changed}`]) {
    const reply = await worker.get(`/auth/check${query}`, { origin: "https://a.example" });
    assert.deepEqual([reply.status, reply.json], [200, { status: "failed" }]);
    assert.equal(reply.headers["access-control-allow-origin"], "*");
  }
});

test("a repeated callback is harmless", async () => {
  const user = newUser();
  const asked = await challenge(user);
  const browser = new Browser(worker);
  const back = await browser.leave(asked);
  const early = Object.assign(new Browser(worker), { cookies: new Map(browser.cookies) });
  for (const [who, status] of [[browser, 200], [browser, 200], [early, 400]]) {
    assert.equal((await who.visit("GET", back)).status, status);
    assert.equal(await check(asked), "completed");
  }
  assert.equal((await create(user)).status, 200);
});

test("a redirect is not followed: neither the client's secret nor a token goes elsewhere", async () => {
  const asked = await challenge(newUser());
  const browser = new Browser(worker);
  const back = await browser.leave(asked);
  const came = [];
  const elsewhere = await listen((request, response) => {
    came.push(request.url);
    response.end();
  });
  try {
    provider.now.location = `${elsewhere.base}/token`;
    assert.equal((await browser.visit("GET", back)).status, 502);
    assert.deepEqual(came, []);
  } finally {
    await elsewhere.close();
  }
  const input = { owner: "octocat", repository: "moved" };
  const authorization = [{ id: "github", token: `${CANARY}-own` }];
  const call = { tool_id: "GitHub.ListIssues", input, context: { authorization } };
  const { json } = await worker.post(call, { headers: KEY });
  assert.equal(json.error.message, "The repository was renamed");
  assert.equal(api.tokens.length, 1);
});

test("calls of one request refresh once", async () => {
  const secret = `${CANARY}-secret-of-at-least-32-bytes`;
  const own = await start(SAMPLES, { vars: { ...vars, AUTH: "jwt", JWT_SECRET: secret } });
  const headers = { authorization: `Bearer ${token({ sub: newUser(), scope: "github:read", exp: Math.floor(Date.now() / 1000) + 600 }, secret)}` };
  const calls = [1, 2, 3].map((id) => ({
    jsonrpc: "2.0",
    method: "GitHub_ListIssues",
    params: { owner: "octocat", repository: "hello-world" },
    id,
  }));
  try {
    const { json } = await own.post({ tool_id: "GitHub.ListIssues", input: calls[0].params }, { headers });
    const [asked] = json.missing_requirements.authorization;
    provider.now.expires_in = 0;
    assert.equal((await new Browser(own).grant(asked)).status, 200);
    provider.now.expires_in = 3600;
    const batch = await own.post(calls, { path: "/jsonrpc", headers });
    assert.deepEqual(batch.json.map(({ id, result }) => [id, result?.issues.length]), [[1, 1], [2, 1], [3, 1]], batch.text);
    assert.equal(new Set(api.tokens).size, 1);
  } finally {
    await own.close();
  }
});

test("a grant that is deleted", async () => {
  const user = await granted();
  assert.equal((await create(user)).status, 200);
  const access_token = api.tokens.at(-1);
  const forget = (rest, headers = KEY) => worker.request("DELETE", `/auth/grants/${rest}`, { headers });
  assert.equal((await forget(`github?user_id=${user}`, {})).status, 401);
  assert.equal((await forget(`github?user_id=${user}`)).status, 204);
  const basic = `Basic ${Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString("base64")}`;
  const { body, ...rest } = provider.revoked.at(-1);
  assert.deepEqual(rest, { method: "DELETE", pathname: `/applications/${CLIENT.id}/grant`, authorization: basic });
  assert.deepEqual(JSON.parse(body), { access_token });
  // The user can agree again immediately.
  assert.equal((await new Browser(worker).grant(await challenge(user))).status, 200);
  assert.equal((await create(user)).status, 200);
  provider.now.broken = true;
  assert.equal((await forget(`github?user_id=${user}`)).status, 204, "even if the provider fails");
  await challenge(user);
  assert.equal((await forget("github")).status, 400);
  assert.equal((await forget(`none?user_id=${user}`)).status, 404);
});

test("methods that a path does not allow", async () => {
  for (const [method, at] of [["PUT", "/auth/start"], ["POST", "/auth/callback/github"], ["POST", "/auth/check"], ["GET", "/auth/grants/github"]]) {
    assert.equal((await worker.request(method, at)).status, 405, `${method} ${at}`);
    assert.equal((await worker.request("OPTIONS", at)).status, 204, at);
  }
  assert.equal((await worker.get("/auth/nothing")).status, 404);
});

test("requests without credentials are limited by network: a page for users, JSON for programs", async () => {
  const limited = await start(SAMPLES, { vars, limiters: { SIGN_IN_LIMITER: 1 } });
  try {
    assert.equal((await limited.get("/auth/check?c=a")).status, 200);
    for (const [at, type] of [["/auth/check?c=a", "application/json"], ["/auth/start?c=a", "text/html; charset=utf-8"]]) {
      // The count restarts at the full minute, so that one more may be allowed.
      const replies = [await limited.get(at), await limited.get(at)];
      const { status, headers } = replies.find(({ status }) => status === 429) ?? replies[0];
      assert.deepEqual([status, headers["content-type"], headers["retry-after"]], [429, type, "60"], at);
    }
  } finally {
    await limited.close();
  }
});

test("a store that fails: the call reports it, the check decides nothing", async () => {
  const asked = await challenge(newUser());
  const failing = await start(SAMPLES, { vars, kv: "failing" });
  try {
    const call = { tool_id: "GitHub.ListIssues", input: { owner: "a", repository: "b" }, context: { user_id: CANARY } };
    const { status, json } = await failing.post(call, { headers: KEY });
    assert.deepEqual([status, json.developer_message], [400, "its KV namespace does not answer"]);
    assert.equal((await failing.get(path(asked.check_url))).json.status, "pending");
  } finally {
    await failing.close();
  }
});

test("X48 without providers a tool needs the client's own token", async () => {
  const plain = await start(SAMPLES, { vars: { GITHUB_API_URL: api.base } });
  try {
    const input = { owner: "octocat", repository: "hello-world" };
    const without = await plain.call("GitHub.ListIssues", input);
    assert.equal(without.json.developer_message, 'the call lacks context.authorization with id "github"');
    const authorization = [{ id: "github", token: `${CANARY}-own` }];
    const { json } = await plain.call("GitHub.ListIssues", input, { context: { authorization } });
    assert.deepEqual(json.value, { issues: [ISSUE], next_page: null });
    assert.equal(api.tokens.at(-1), `${CANARY}-own`);
  } finally {
    await plain.close();
  }
});
