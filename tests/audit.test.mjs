// The log as an audit: a day of mixed traffic over all protocols and endpoints, of which each decision has exactly one line, and each
// line is valid by docs/audit.schema.json. Whether a line contains a secret is searched by support/leaks.mjs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import Ajv from "ajv/dist/2020.js";
import { SignJWT, exportJWK, generateKeyPair } from "jose";
import * as oauth from "oauth4webapi";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { Browser, authorizing } from "./support/authorizing.mjs";
import { freePort } from "./support/commands.mjs";
import { exchange, flow, options } from "./support/oauth-client.mjs";
import { CLIENT, openidProvider } from "./support/oidc.mjs";
import { addresses, pathOf } from "./support/protocols.mjs";
import { standIn } from "./support/providers/stand-in.mjs";
import { Person, sha256 } from "./support/sign-in.mjs";
import { listen } from "./support/server.mjs";
import { CANARY, SAMPLES, start } from "./support/worker.mjs";

const isValid = new Ajv({ strict: true, strictRequired: false, allErrors: true }).compile(
  JSON.parse(readFileSync(new URL("../docs/audit.schema.json", import.meta.url))),
);
const KEYS = Object.fromEntries(["ops", "ada", "bob", "spent"].map((name) => [name, `${CANARY}-key-of-${name}`]));
const as = (name) => ({ "x-api-key": KEYS[name] });
const AGENT = { id: "agent", secret: `${CANARY}-secret-of-the-agent` };
const REDIRECT = "http://localhost:3118/callback";
const ADD = { a: 1, b: 2 };

/** The requests of the day: each stand-in for a client counts its own. */
let requests = 0;
/** The Workers: one with people, teams and models, one where users authorize tools, and one with small limits. */
let main, granting, limited;
let address, services, corp, company, companyKeys, model;
const stop = [];

before(async () => {
  const port = await freePort();
  address = `http://127.0.0.1:${port}`;
  const groups = (name) => (name === "grace" ? ["engineering"] : []);
  [services, corp, companyKeys, model] = await Promise.all([
    authorizing(),
    openidProvider(`${address}/auth/callback/corp`, { groups }),
    generateKeyPair("ES256"),
    standIn("openai"),
  ]);
  const keys = [{ ...(await exportJWK(companyKeys.publicKey)), kid: "1", alg: "ES256" }];
  company = await listen((_, response) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ keys })));
  const API_KEYS = JSON.stringify([
    entryOf(KEYS.ops, "ops", ["*"]),
    entryOf(KEYS.ada, "ada", ["gateway"]),
    entryOf(KEYS.bob, "bob", []),
    { ...entryOf(KEYS.spent, "spent", []), budgets: [{ window: "30d", tool_calls: 1 }] },
  ]);
  const vars = {
    AUTH: "api-key, sign-in",
    API_KEYS,
    TEAMS: JSON.stringify([{ name: "research", rules: ["key:ada", "corp:group/engineering"], scopes: ["gateway", "github:read"] }]),
    PUBLIC_URL: address,
    STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`,
    OAUTH_PROVIDERS: "corp",
    OAUTH_CORP_CLIENT_ID: CLIENT.id,
    OAUTH_CORP_CLIENT_SECRET: CLIENT.secret,
    OAUTH_CORP_ISSUER: corp.issuer,
    OAUTH_CORP_SCOPES: "offline_access groups",
    SIGN_IN_CLIENTS: JSON.stringify([{ id: AGENT.id, name: "Agent", redirect_uris: [REDIRECT], secret_hash: sha256(AGENT.secret) }]),
    ENTERPRISE_ISSUERS: JSON.stringify([
      { issuer: corp.issuer, sign_in: true, rules: { engineering: { scopes: [] } } },
      { issuer: company.base, jwks_uri: `${company.base}/keys`, clients: [AGENT.id], rules: { sales: { scopes: ["github:read"] } } },
    ]),
    OPENAI_API_KEY: model.key,
    OPENAI_BASE_URL: `${model.base}/v1`,
  };
  const grantVars = { ...services.vars, AUTH: "api-key", API_KEYS: JSON.stringify([entryOf(KEYS.ops, "Calendar", ["github:write"])]) };
  [main, granting, limited] = await Promise.all([
    start(SAMPLES, { port, vars }),
    start(SAMPLES, { vars: grantVars }),
    start(SAMPLES, { vars: { AUTH: "api-key", API_KEYS }, limit: 1 }),
  ]);
  stop.push(main, granting, limited, services, corp, company, model);
});
after(() => Promise.all(stop.map((one) => one.close())));

const count = (promise, sent = 1) => {
  requests += sent;
  return promise;
};
const post = (worker, body, path, headers) => count(worker.post(body, { path, headers }));
const call = (name, caller, outcome, more = {}) => ({ event: "call", "gen_ai.tool.name": name, caller: `key:${caller}`, outcome, ...more });
const rejected = (caller, error, more = {}) => ({ event: "call", caller: `key:${caller}`, outcome: "rejected", "error.type": error, ...more });

/** A form for one of the endpoints of clients. */
async function form(path, fields) {
  const reply = await count(fetch(`${address}${path}`, { method: "POST", body: new URLSearchParams(fields) }));
  return { status: reply.status, json: await reply.json().catch(() => undefined) };
}

/** A client that registers itself, and the callback of a person with a key who agrees: four requests with the exchange. */
async function connect() {
  const started = await count(flow(address, { redirect: REDIRECT, key: KEYS.ops, scope: "github:read offline_access" }), 2);
  const back = await count(started.agree(), 2);
  const tokens = await count(exchange(started, back));
  const client = /^client:[\w-]{16}$/;
  const person = { caller: /^user:/, client };
  const lines = [
    { event: "client_registered", outcome: "done", auth_method: "none", client },
    { event: "signed_in", outcome: "done", method: "api-key", purpose: "client", ...person },
    { event: "tokens_issued", outcome: "done", grant_type: "authorization_code", scope: /^github:read/, ...person },
  ];
  return { ...started, tokens, lines, person, id: started.client.client_id };
}

/** Grace, whose groups are in the ID token of her company, signs in at its provider for a client of the operator. */
async function corporate(login) {
  const started = await count(flow(address, { client: { client_id: AGENT.id }, redirect: REDIRECT, scope: "github:read" }), 1);
  const person = new Person();
  let reply = await count(person.answer(await count(person.visit(started.url)), "provider"));
  for (let hops = 0; hops < 12 && !reply.location?.startsWith(REDIRECT); hops += 1) {
    const isOurs = reply.location?.startsWith(address);
    if (reply.status === 200) {
      const body = String(new URLSearchParams(/name="login"/.test(reply.text) ? { login } : { answer: "yes" }));
      reply = await person.visit(reply.url, { method: "POST", body, headers: { "content-type": "application/x-www-form-urlencoded" } });
    } else if (reply.location) reply = await count(person.visit(reply.location), isOurs ? 1 : 0);
    else break;
  }
  return { started, reply };
}

const assertion = (changes) => {
  const now = Math.floor(Date.now() / 1000);
  const claims = { sub: "ada", aud: address, client_id: AGENT.id, jti: crypto.randomUUID(), iat: now, exp: now + 60, groups: ["sales"], ...changes };
  return new SignJWT({ iss: company.base, ...claims }).setProtectedHeader({ alg: "ES256", kid: "1", typ: "oauth-id-jag+jwt" }).sign(companyKeys.privateKey);
};
const asserted = async (changes) =>
  form("/oauth/token", { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", client_id: AGENT.id, client_secret: AGENT.secret, assertion: await assertion(changes), scope: "github:read" });

const ISSUE = { owner: "octocat", repository: "hello-world", title: "A" };
/** A call of a tool that acts for a user; each user has not been seen before. */
let users = 0;
const asUser = (user_id) => post(granting, { tool_id: "GitHub.CreateIssue", input: ISSUE, context: { user_id } }, "/tools/call", as("ops"));
const CALENDAR = { caller: "key:Calendar", provider: "github" };
async function challenged() {
  const user = `user-${(users += 1)}`;
  const [challenge] = (await asUser(user)).json.missing_requirements.authorization;
  const lines = [{ event: "challenge_issued", outcome: "done", ...CALENDAR }, { event: "call", caller: "key:Calendar", outcome: "rejected", "error.type": "missing_requirements" }];
  return { user, challenge, lines };
}

/** What happens on the day: the Worker, and a function that sends requests and returns the decisions about them. */
const SCENES = {
  "a batch": () => [main, async () => {
    await post(main, Array.from({ length: 3 }, (_, id) => ({ jsonrpc: "2.0", id, method: "Calculator_Add", params: ADD })), "/jsonrpc", as("ops"));
    return Array.from({ length: 3 }, () => call("Calculator_Add", "ops", "done", { protocol: "jsonrpc" }));
  }],
  "input that is not valid": () => [main, async () => {
    await post(main, { tool_id: "Calculator.Add", input: { a: CANARY } }, "/tools/call", as("ops"));
    return [call("Calculator_Add", "ops", "invalid_input", { "error.type": "invalid_input" })];
  }],
  "a scope that is missing": () => [main, async () => {
    await post(main, { tool_id: "GitHub.CreateIssue", input: ISSUE }, "/tools/call", as("bob"));
    return [call("GitHub_CreateIssue", "bob", "rejected", { "error.type": "missing_scope", scope: "github:write" })];
  }],
  "a tool that does not exist": () => [main, async () => {
    await post(main, { tool_id: `${CANARY}.Tool`, input: {} }, "/tools/call", as("ada"));
    return [rejected("ada", "tool_not_found", { team: "research" })];
  }],
  "no credentials, and wrong ones": () => [main, async () => {
    await post(main, { tool_id: "Calculator.Add", input: ADD }, "/tools/call");
    await post(main, { tool_id: "Calculator.Add", input: ADD }, "/jsonrpc", { "x-api-key": `${CANARY}-wrong` });
    await count(main.get("/mcp"));
    return [
      { event: "credentials_missing", outcome: "rejected" },
      { event: "credentials_rejected", outcome: "rejected" },
      { event: "credentials_missing", outcome: "rejected", protocol: "mcp" },
    ];
  }],
  "lists and documents, which decide nothing": () => [main, async () => {
    for (const path of ["/", "/health", "/tools", "/openapi.json", "/doctor", "/.well-known/oauth-authorization-server", "/usage", "/v1/models"]) await count(main.get(path, as("ops")));
    await count(main.get("/no-such-path", as("ops")));
    return [];
  }],
  "a page of a different site": () => [main, async () => {
    await count(main.get("/tools", { ...as("ops"), origin: "https://other.example" }));
    return [{ event: "request_rejected", outcome: "rejected", caller: "anonymous", "error.type": "origin_not_allowed", "http.response.status_code": 403 }];
  }],
  "a budget that is spent": () => [main, async () => {
    const reply = await post(main, { tool_id: "Calculator.Add", input: ADD }, "/tools/call", as("spent"));
    return [reply.status === 200 ? call("Calculator_Add", "spent", "done") : rejected("spent", "budget_exceeded", { "http.response.status_code": 429 })];
  }],
  "a chat, and one without the scope": () => [main, async () => {
    model.script({ text: "Sunny" });
    const body = { model: "openai/gpt-4.1", messages: [{ role: "user", content: "canary" }] };
    await post(main, body, "/v1/chat/completions", as("ada"));
    await post(main, body, "/v1/chat/completions", as("bob"));
    return [
      { event: "chat", outcome: "done", caller: "key:ada", team: "research", "gen_ai.provider.name": "openai" },
      { event: "chat", outcome: "rejected", caller: "key:bob", "http.response.status_code": 403 },
    ];
  }],
  "the life of a connection": () => [main, async () => {
    const { id, tokens, lines, person } = await connect();
    await post(main, { tool_id: "Calculator.Add", input: ADD }, "/tools/call", { authorization: `Bearer ${tokens.access_token}` });
    const refreshed = await form("/oauth/token", { grant_type: "refresh_token", client_id: id, refresh_token: tokens.refresh_token });
    assert.equal(refreshed.status, 200);
    assert.equal((await form("/oauth/token", { grant_type: "authorization_code", client_id: id, code: `${CANARY}-code`, code_verifier: "x".repeat(43) })).status, 400);
    assert.equal((await form("/oauth/revoke", { client_id: AGENT.id, token: tokens.refresh_token })).status, 401);
    assert.equal((await form("/oauth/revoke", { client_id: id, token: refreshed.json.refresh_token })).status, 200);
    return [
      ...lines,
      { event: "call", outcome: "done", ...person },
      { event: "tokens_issued", outcome: "done", grant_type: "refresh_token", ...person },
      { event: "tokens_rejected", outcome: "rejected", grant_type: "authorization_code", error: "invalid_grant", client: person.client },
      { event: "revocation_rejected", outcome: "rejected", error: "invalid_client" },
      { event: "client_revoked", outcome: "done", reason: "requested", ...person },
    ];
  }],
  "people who do not agree, and one with a wrong key": () => [main, async () => {
    const { url } = await count(flow(address, { client: { client_id: AGENT.id }, redirect: REDIRECT }), 1);
    const person = new Person();
    await count(person.answer(await count(person.visit(url)), "denial"));
    await count(person.answer(await count(person.visit(url)), "key", { api_key: `${CANARY}-wrong` }));
    await count(person.visit(`${address}/oauth/authorize?client_id=unknown`));
    return [
      { event: "sign_in_declined", outcome: "rejected", purpose: "client", client: AGENT.id },
      { event: "sign_in_rejected", outcome: "rejected", reason: "wrong_key" },
      { event: "sign_in_rejected", outcome: "rejected", reason: "unknown_client" },
    ];
  }],
  "clients that are not registered": () => [main, async () => {
    await post(main, { redirect_uris: ["javascript:alert(1)"] }, "/oauth/register");
    return [{ event: "client_rejected", outcome: "rejected", error: "invalid_redirect_uri" }];
  }],
  "people of a company, by their groups": () => [main, async () => {
    const grace = await corporate("grace");
    const back = new URL(grace.reply.location);
    const parameters = oauth.validateAuthResponse(grace.started.as, grace.started.client, back, "some state");
    const { code } = Object.fromEntries(parameters);
    const fields = { grant_type: "authorization_code", client_id: AGENT.id, client_secret: AGENT.secret, code, redirect_uri: REDIRECT, code_verifier: grace.started.verifier };
    const issued = await form("/oauth/token", fields);
    assert.deepEqual([issued.status, issued.json.scope], [200, "github:read"]);
    await post(main, { tool_id: "Calculator.Add", input: ADD }, "/tools/call", { authorization: `Bearer ${issued.json.access_token}` });
    const stranger = await corporate("heidi");
    assert.equal(stranger.reply.status, 403);
    const known = { caller: /^user:/, client: AGENT.id, team: "research" };
    return [
      { event: "signed_in", outcome: "done", method: "corp", purpose: "client", ...known },
      { event: "tokens_issued", outcome: "done", scope: "github:read", ...known },
      { event: "call", outcome: "done", ...known },
      { event: "sign_in_rejected", outcome: "rejected", reason: "account_not_allowed", account: "corp:id/heidi" },
    ];
  }],
  "assertions of a company": () => [main, async () => {
    assert.equal((await asserted()).status, 200);
    assert.equal((await asserted({ groups: ["others"] })).status, 400);
    assert.equal((await asserted({ aud: "https://other.example" })).status, 400);
    const grant_type = "urn:ietf:params:oauth:grant-type:jwt-bearer";
    const refused = { event: "tokens_rejected", outcome: "rejected", error: "invalid_grant", grant_type, client: AGENT.id };
    return [{ event: "tokens_issued", outcome: "done", grant_type, client: AGENT.id, caller: /^user:/, scope: "github:read" }, refused, refused];
  }],
  "a machine": () => [main, async () => {
    const fields = { grant_type: "client_credentials", client_id: "ada", client_secret: KEYS.ada, scope: "no-such-scope" };
    assert.equal((await form("/oauth/token", fields)).status, 400);
    assert.equal((await form("/oauth/token", { ...fields, client_secret: `${CANARY}-wrong` })).status, 401);
    const issued = await form("/oauth/token", { ...fields, scope: "gateway" });
    await post(main, { tool_id: "Calculator.Add", input: ADD }, "/tools/call", { authorization: `Bearer ${issued.json.access_token}` });
    const refused = (error) => ({ event: "tokens_rejected", outcome: "rejected", error, grant_type: "client_credentials", client: "ada" });
    const known = { outcome: "done", caller: "key:ada", team: "research" };
    return [refused("invalid_scope"), refused("invalid_client"), { event: "tokens_issued", scope: "gateway", client: "ada", ...known }, { event: "call", ...known }];
  }],
  "a user who authorizes a tool": () => [granting, async () => {
    const { user, challenge, lines } = await challenged();
    assert.equal((await count(new Browser(granting).grant(challenge), 3)).status, 200);
    assert.equal((await asUser(user)).status, 200);
    assert.equal((await count(granting.request("DELETE", `/auth/grants/github?user_id=${user}`, { headers: as("ops") }))).status, 204);
    const events = ["grant_created", "grant_deleted", "grant_revoked"].map((event) => ({ event, outcome: "done", ...CALENDAR }));
    return [...lines, { event: "call", outcome: "done", caller: "key:Calendar", scope: "github:write" }, ...events];
  }],
  "a user who declines": () => [granting, async () => {
    const { challenge, lines } = await challenged();
    const browser = new Browser(granting);
    const page = await count(browser.visit("GET", challenge.url));
    const [, action] = /<form method="post" action="([^"]+deny[^"]*)">/.exec(page.text);
    await count(browser.visit("POST", new URL(action.replaceAll("&amp;", "&"), challenge.url).href));
    return [...lines, { event: "authorization_rejected", outcome: "rejected", reason: "declined", ...CALENDAR }];
  }],
  "a limit of calls": () => [limited, async () => {
    const [first, second] = [await post(limited, { tool_id: "Calculator.Add", input: ADD }, "/tools/call", as("bob")), await count(limited.get("/tools", as("bob")))];
    const one = first.status === 200 ? call("Calculator_Add", "bob", "done") : rejected("bob", "too_many_requests");
    return second.status === 429 ? [one, { event: "request_rejected", outcome: "rejected", caller: "key:bob", "error.type": "too_many_requests", "http.response.status_code": 429 }] : [one];
  }],
};

/** Whether a line has all members of what is expected. */
const matches = (line, expected) => Object.entries(expected).every(([name, value]) => (value instanceof RegExp ? value.test(line[name]) : line[name] === value));

/** Plays a scene, and compares its lines with its decisions: each has one, and there are no others. */
async function play(name, [worker, run]) {
  const known = (await worker.events()).length;
  const expected = await run();
  const lines = (await worker.events()).slice(known);
  for (const { level, ...line } of lines) assert.ok(isValid(line), `${name}: ${JSON.stringify(line)} ${JSON.stringify(isValid.errors)}`);
  const left = [...lines];
  for (const one of expected) {
    const at = left.findIndex((line) => matches(line, one));
    assert.notEqual(at, -1, `${name}: no line for ${JSON.stringify(one, (_, value) => (value instanceof RegExp ? String(value) : value))} in ${JSON.stringify(lines)}`);
    left.splice(at, 1);
  }
  assert.deepEqual(left, [], `${name}: lines for no decision`);
  return lines.length;
}

test("each decision of a day of traffic has exactly one line, and each line fits the schema", async () => {
  const scenes = Object.entries(SCENES).map(([name, scene]) => [name, scene()]);
  for (const { method, path, protocol, form } of await addresses(main)) {
    if (method !== "POST") continue;
    const at = pathOf(path, "Calculator_Add");
    scenes.push([`a call at ${at}`, [main, async () => {
      assert.equal((await post(main, form.body("Calculator_Add", ADD), at, as("ada"))).status, 200);
      return [call("Calculator_Add", "ada", "done", { protocol, team: "research" })];
    }]]);
  }
  // Always the same order: each scene many times, mixed.
  let seed = 1;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const day = [0, 1, 2, 3].flatMap(() => scenes).map((scene) => [random(), scene]).sort(([one], [other]) => one - other);
  let lines = 0;
  const failures = new Set();
  for (const [, [name, scene]] of day) {
    try {
      lines += await play(name, scene);
    } catch (error) {
      failures.add(error.stack);
    }
  }
  assert.deepEqual([...failures], []);
  assert.ok(requests > 300 && lines > 250, `${requests} requests, ${lines} lines`);
});
