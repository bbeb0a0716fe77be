// How every protocol rejects a call because of credentials, scopes, limits or requirements (T4, T5, T37 to
// T43, X4, X5, X20, X35 to X49, OT3, OT4, 7.4). The endpoints are those of the index, so new protocols are
// covered automatically. auth.test.mjs tests which credentials are valid.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { claims, hmac, token } from "./support/issuer.mjs";
import { FORMS, addresses, pathOf, payload } from "./support/protocols.mjs";
import { SAMPLES, CANARY, FIXTURES, start } from "./support/worker.mjs";

const KEYS = { full: `${CANARY}-key-of-full`, few: `${CANARY}-key-of-few` };
const SECRET = `${CANARY} of at least thirty-two bytes`;
const entry = (name, scopes = []) => entryOf(KEYS[name] ?? `${CANARY}-key-${name}`, name, scopes);
const API_KEYS = JSON.stringify([entry("full", ["fixture:run", "fixture:tell"]), entry("few", ["fixture:run"])]);
const bearer = (value) => ({ authorization: `Bearer ${value}` });
const signed = (more, secret = SECRET) => bearer(token({ alg: "HS256" }, claims(more), hmac(secret)));
const PUBLIC = "https://tools.example";

const index = await start(FIXTURES);
const ALL = await addresses(index);
await index.close();
const isOpen = ({ path }) => path === "/" || path.endsWith("/health");
const GUARDED = ALL.filter((one) => !isOpen(one));
// At the root, the response has the form of the call once it has been read.
const AT_THE_ROOT = ["otc", "oxp-envelope", "opentool"].map((spoken) => ({ protocol: "root", method: "POST", path: "/call", form: FORMS[spoken], spoken }));
const CALLS = [...ALL.filter(({ method }) => method === "POST"), ...AT_THE_ROOT];
const LISTS = GUARDED.filter(({ method }) => method === "GET");
const named = ({ method, path, spoken }) => `${method} ${path}${spoken ? ` in the form of ${spoken}` : ""}`;
// The form of a request that was rejected before it was read.
const before_reading = ({ protocol, form }) => FORMS[protocol] ?? form;

const workers = {};
before(async () => {
  // A key for each endpoint that accepts calls, because limits are per caller.
  const limited = JSON.stringify([...CALLS.keys()].map((at) => entry(`${at}`)));
  const oauth = {
    AUTH: "jwt",
    JWT_SECRET: SECRET,
    OAUTH_PROVIDERS: "github",
    UNVERIFIED_USERS: "allow",
    PUBLIC_URL: PUBLIC,
    STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`,
    GRANT_KEYS: `a:${Buffer.alloc(32, CANARY).toString("base64")}`,
    OAUTH_GITHUB_CLIENT_ID: "booth",
    OAUTH_GITHUB_CLIENT_SECRET: `${CANARY}-client-secret`,
  };
  [workers.unset, workers.key, workers.jwt, workers.none, workers.one, workers.five, workers.oauth] = await Promise.all([
    start(FIXTURES, { vars: { AUTH: undefined } }),
    start(FIXTURES, { vars: { AUTH: "api-key", API_KEYS } }),
    start(FIXTURES, { vars: { AUTH: "jwt", JWT_SECRET: SECRET } }),
    start(FIXTURES, { vars: { ALLOWED_ORIGINS: "https://a.example" } }),
    start(FIXTURES, { vars: { AUTH: "api-key", API_KEYS: limited }, limit: 1 }),
    start(FIXTURES, { vars: { AUTH: "api-key", API_KEYS: limited }, limit: 5 }),
    start(SAMPLES, { vars: oauth }),
  ]);
  workers.allowing = await start(SAMPLES, { vars: { TOOL_ALLOWLIST: "Calculator.*" } });
  const keyed = [entry("full", ["*"]), { ...entry("few", ["*"]), tools: ["Calculator.*"] }];
  workers.keyed = await start(SAMPLES, { vars: { AUTH: "api-key", API_KEYS: JSON.stringify(keyed) } });
});
after(() => Promise.all(Object.values(workers).map((worker) => worker.close())));

/** Sends a request to an endpoint, with `body` if it accepts calls. */
function ask(worker, { method, path }, headers, body, tool = "Fixture_Silent") {
  return method === "GET" ? worker.get(path, headers) : worker.post(body, { path: pathOf(path, tool), headers });
}

const post = (worker, one, [name, input, context], headers) => ask(worker, one, headers, one.form.body(name, input, context), name);

/** Checks a reply that rejects the whole request: its status, form and message. */
function isTurnedAway(reply, one, status, text) {
  assert.equal(reply.status, status, reply.text);
  const { mark, rejection } = before_reading(one);
  const body = payload(reply);
  for (const [name, value] of Object.entries(mark)) assert.equal(body[name], value, reply.text);
  assert.match(rejection(body), text);
  assert.equal(reply.headers["cache-control"], "no-store");
}

const REALM = 'Bearer realm="toolbooth"';
const invalid = (why) => `${REALM}, error="invalid_token", error_description="${why}"`;
const NOT_VALID = "the credentials are not valid";
const WANTED = /send an API key|send a token|send an API key or a token/;
const BAD = [
  ["key", "no credentials", () => ({}), WANTED, REALM],
  ["key", "a wrong OXP-API-Key", () => ({ "oxp-api-key": `${CANARY}-wrong` }), /not valid/, invalid(NOT_VALID)],
  ["key", "a wrong OTC-API-Key", () => ({ "otc-api-key": `${CANARY}-wrong` }), /not valid/, invalid(NOT_VALID)],
  ["key", "a wrong bearer key", () => bearer(`${CANARY}-wrong`), /not valid/, invalid(NOT_VALID)],
  ["key", "a token where keys are asked for", () => signed(), /not valid/, invalid(NOT_VALID)],
  ["jwt", "no token", () => ({}), /Authorization: Bearer/, REALM],
  ["jwt", "a token of another secret", () => signed({}, `${SECRET}!`), /not valid/, invalid(NOT_VALID)],
  ["jwt", "a token that has expired", () => signed({ exp: 1 }), /has expired/, invalid("the token has expired")],
  ["unset", "the right key where AUTH is not set", () => bearer(KEYS.full), /its log names the variables to set/, REALM],
];

for (const one of GUARDED) {
  test(`T4 T5 T37 T38 X4 X5 X37 X41 OT3 ${named(one)}: bad credentials are 401 in the form of ${one.protocol}`, async () => {
    for (const [worker, name, headers, text, challenge] of BAD) {
      const reply = await ask(workers[worker], one, headers(), "{");
      isTurnedAway(reply, one, 401, text);
      assert.equal(reply.headers["www-authenticate"], challenge, name);
    }
    if (one.method === "GET") {
      const head = await workers.key.request("HEAD", one.path);
      assert.deepEqual([head.status, head.text, head.headers["www-authenticate"]], [401, "", REALM]);
    }
  });
}

for (const one of ALL.filter(isOpen)) {
  test(`T3 X3 ${named(one)} needs no credentials`, async () => {
    for (const worker of ["key", "jwt", "none"]) {
      for (const headers of [{}, bearer(`${CANARY}-wrong`), { "oxp-api-key": "" }]) {
        assert.equal((await ask(workers[worker], one, headers)).status, 200);
      }
    }
    if (one.path !== "/") {
      const reply = await ask(workers.unset, one, {});
      assert.deepEqual([reply.status, reply.json], [503, { status: "unavailable" }]);
    }
  });
}

for (const one of ALL) {
  test(`OPTIONS ${one.path} needs no credentials`, async () => {
    const preflight = { origin: "https://a.example", "access-control-request-method": one.method };
    for (const [worker, headers, status] of [
      ["key", {}, 204],
      ["unset", bearer(`${CANARY}-wrong`), 204],
      ["none", preflight, 204],
      ["key", preflight, 403],
    ]) {
      const reply = await workers[worker].request("OPTIONS", one.path, { headers });
      assert.equal(reply.status, status, reply.text);
      assert.equal(reply.headers["www-authenticate"], undefined);
    }
  });

  test(`T36 X35 OT4 ${named(one)}: with AUTH=none credentials are ignored`, async () => {
    const body = one.form.body?.("Fixture_Silent", {});
    const expected = await ask(workers.none, one, {}, body);
    assert.equal(expected.status, 200, expected.text);
    const timeless = ({ text }) => text.replace(/"call_id":"[^"]*"|"duration":\d+/g, "");
    for (const headers of [bearer(`${CANARY}-wrong`), { authorization: "?" }, { "otc-api-key": KEYS.few }, { "oxp-api-key": "" }]) {
      const reply = await ask(workers.none, one, headers, body);
      assert.deepEqual([reply.status, timeless(reply)], [200, timeless(expected)]);
      assert.deepEqual([reply.headers.etag, reply.headers.vary], [expected.headers.etag, expected.headers.vary]);
    }
  });
}

for (const one of CALLS) {
  test(`${named(one)}: a missing scope is reported, and with it the tool runs`, async () => {
    const { scope, failure, mark } = one.form;
    const reply = await post(workers.key, one, ["Fixture_Scoped", {}], bearer(KEYS.few));
    assert.equal(reply.status, scope, reply.text);
    assert.match(failure(payload(reply)), /credentials/);
    if (mark.$schema) assert.equal(reply.json.$schema, mark.$schema);
    const challenge = `${REALM}, error="insufficient_scope", scope="fixture:run fixture:tell"`;
    assert.equal(reply.headers["www-authenticate"], scope === 403 ? challenge : undefined);
    const ran = await post(workers.key, one, ["Fixture_Scoped", {}], bearer(KEYS.full));
    assert.equal(ran.status, 200, ran.text);
    assert.ok(ran.text.includes("key full"), ran.text);
  });
}

for (const [at, one] of CALLS.entries()) {
  const caller = bearer(`${CANARY}-key-${at}`);

  test(`7.4 X46 ${named(one)}: more calls than the limit are 429 in the form of ${one.protocol}`, async () => {
    // The count restarts at the full minute, so a second call may be allowed.
    let reply;
    for (let calls = 0; calls < 3 && reply?.status !== 429; calls += 1) {
      reply = await post(workers.one, one, ["Fixture_Silent", {}], caller);
    }
    isTurnedAway(reply, one, 429, /Too many requests.*try again after 60 seconds/);
    assert.equal(reply.headers["retry-after"], "60");
    assert.equal(reply.headers["www-authenticate"], undefined);
  });

  // A stream has a single call.
  if (one.form.many === undefined || one.path.endsWith("/streamCall")) continue;
  test(`7.4 ${named(one)}: a request with five calls counts as five`, async () => {
    const many = (worker, count) => ask(worker, one, caller, one.form.many(count, "Fixture_Silent", {}));
    const five = await many(workers.five, 5);
    assert.equal(five.status, 200, five.text);
    // Too many even if a new minute begins in between.
    const eleven = await many(workers.five, 11);
    isTurnedAway(eleven, one, 429, /Too many requests/);
  });
}

test("7.4 a list does not count as a call", async () => {
  const caller = bearer(`${CANARY}-key-0`);
  for (const { path } of [...LISTS, ...LISTS]) assert.equal((await workers.one.get(path, caller)).status, 200, path);
});

for (const one of LISTS) {
  test(`${named(one)} shows what the caller may run, and is not shared by caches`, async () => {
    const get = (name, more) => workers.key.get(one.path, { ...bearer(KEYS[name]), ...more });
    const [full, few] = [await get("full"), await get("few")];
    const shows = ({ text }) => /Fixture[_.]Scoped/.test(text);
    assert.ok(!shows(few));
    // A response that does not depend on tools is the same for all callers.
    const differs = full.text !== few.text;
    assert.equal(shows(full), differs);
    assert.equal(full.headers.etag !== few.headers.etag, differs, "each version of the list has its own tag");
    for (const [name, mine, other] of [["full", full, few], ["few", few, full]]) {
      const same = await get(name, { "if-none-match": mine.headers.etag });
      assert.deepEqual([same.status, same.text], [304, ""]);
      const others = await get(name, { "if-none-match": other.headers.etag });
      assert.equal(others.status, differs ? 200 : 304, "the tag of another caller's list");
      const head = await workers.key.request("HEAD", one.path, { headers: bearer(KEYS[name]) });
      assert.equal(head.headers.etag, mine.headers.etag);
      for (const { headers } of [mine, same, others, head]) {
        assert.equal(headers["cache-control"], "private, no-cache");
        assert.match(headers.vary, /Authorization, OTC-API-Key, OXP-API-Key/);
      }
    }
    const stranger = await workers.key.get(one.path, { "if-none-match": full.headers.etag });
    assert.deepEqual([stranger.status, stranger.headers.etag], [401, undefined]);
    const open = await workers.none.get(one.path);
    assert.equal(open.headers["cache-control"], "no-cache");
    assert.ok(!shows(open), "anonymous callers have no scopes");
  });
}

for (const { path } of LISTS.filter(({ form, path }) => form.query && path.includes("/tools"))) {
  test(`${path}: asking by name for a tool without its scope is 403`, async () => {
    const ask = (key) => workers.key.get(`${path}&include=Fixture_Scoped`, bearer(key));
    const reply = await ask(KEYS.few);
    assert.equal(reply.status, 403);
    const { code, type, message } = reply.json.error;
    assert.deepEqual([code, type], ["missing_scope", "permission_error"]);
    assert.equal(message, "Tool 'Fixture_Scoped' may not be called with these credentials: it requires the scopes: fixture:run fixture:tell");
    assert.match(reply.headers["www-authenticate"], /error="insufficient_scope", scope="fixture:run fixture:tell"$/);
    assert.equal((await ask(KEYS.full)).status, 200);
  });
}

test("T7.2 PC13 XB9 tools that TOOL_ALLOWLIST does not contain are neither listed nor run", async () => {
  for (const one of LISTS) {
    const { text } = await workers.allowing.get(one.path);
    assert.ok(!text.includes("Doorbell"), named(one));
  }
  for (const one of CALLS) {
    const reply = await post(workers.allowing, one, ["Doorbell_Ring", { doorbell_id: "doorbell42" }]);
    assert.match(one.form.failure(payload(reply)), /may not be called|Permission denied/, named(one));
  }
});

test("T7.2 PC13 XB9 tools that an API key does not name are neither listed nor run", async () => {
  const [full, few] = [bearer(KEYS.full), bearer(KEYS.few)];
  for (const one of LISTS) {
    const [whole, part] = [await workers.keyed.get(one.path, full), await workers.keyed.get(one.path, few)];
    assert.ok(!part.text.includes("Doorbell"), named(one));
    assert.equal(whole.text.includes("Doorbell"), whole.text !== part.text, named(one));
    assert.equal(part.text.includes("Calculator"), whole.text.includes("Calculator"), named(one));
  }
  for (const one of CALLS) {
    const ring = ["Doorbell_Ring", { doorbell_id: "doorbell42" }];
    const reply = await post(workers.keyed, one, ring, few);
    assert.match(one.form.failure(payload(reply)), /may not be called with these credentials|Permission denied/, named(one));
    assert.doesNotMatch((await post(workers.keyed, one, ring, full)).text, /may not be called|Permission denied/, named(one));
    const sum = await post(workers.keyed, one, ["Calculator_Add", { a: 10, b: 5 }], few);
    assert.equal(sum.status, 200, `${named(one)}: ${sum.text}`);
  }
});

const CONTEXT = {
  authorization: [{ id: "mail", token: `${CANARY}-token` }],
  secrets: [{ id: "KEY", value: `${CANARY}-secret` }],
  user_id: `${CANARY}-user`,
};
const LACKING = { authorization: /\bmail\b/, secrets: /\bKEY\b/, user_id: /\buser/ };

/** The status of a call with unmet requirements. */
const unmet = ({ form }) => form.unmet;

for (const one of CALLS) {
  for (const missing of Object.keys(one.form.takesContext ? LACKING : {})) {
    test(`T41 T42 X48 X49 ${named(one)}: a call without ${missing} is rejected and names it`, async () => {
      const { [missing]: left_out, ...context } = CONTEXT;
      const reply = await post(workers.none, one, ["Fixture_Private", {}, context]);
      assert.equal(reply.status, unmet(one), reply.text);
      for (const [name, pattern] of Object.entries(LACKING)) {
        const text = one.form.failure(payload(reply)).split("lacks").at(-1);
        if (name === missing) assert.match(text, pattern);
        else assert.doesNotMatch(text, pattern);
      }
    });
  }

  test(`T41 T42 X48 X49 ${named(one)}: a call without anything is rejected and names everything`, async () => {
    const reply = await post(workers.none, one, ["Fixture_Private", {}]);
    assert.equal(reply.status, unmet(one), reply.text);
    for (const pattern of Object.values(LACKING)) assert.match(one.form.failure(payload(reply)), pattern);
  });
}

/** Where each form has its challenges, if it does; the others have the link in their message. */
const CHALLENGES = {
  root: ({ missing_requirements }) => missing_requirements.authorization,
  oxp: ({ missing_requirements }) => missing_requirements.authorization,
  "oxp-envelope": ({ missing_requirements }) => missing_requirements.authorization,
  langchain: ({ missing_requirements }) => missing_requirements.authorization,
  opentool: ({ error }) => error.data.missing_requirements.challenges,
  jsonrpc: ({ error }) => error.data.missing_requirements.challenges,
  mcp: ({ result }) => result._meta["toolbooth/authorization"],
  rest: ({ authorization }) => authorization,
};

for (const one of CALLS) {
  test(`X20 X21 T43 ${named(one)}: without a grant the response has the link for the user`, async () => {
    const list = ["GitHub_ListIssues", { owner: "octocat", repository: "hello-world" }];
    // If a call has no field for a user, the token identifies the user.
    const reply = await post(workers.oauth, one, list, signed({ sub: `${CANARY}-user`, scope: "github:read" }));
    assert.equal(reply.status, unmet(one), reply.text);
    const body = payload(reply);
    const words = one.form.failure(body);
    const challenges = CHALLENGES[one.spoken ?? one.protocol]?.(body);
    let { url, check_url } = challenges?.[0] ?? {};
    if (challenges) {
      assert.equal(challenges.length, 1);
      assert.deepEqual(Object.keys(challenges[0]).sort(), ["check_url", "id", "url"]);
    } else {
      assert.equal(body.missing_requirements, undefined, "T43");
      [, url] = /the user can grant it at (https:[^\s]+?)[.:]?(\s|$)/.exec(words);
      check_url = url.replace("/auth/start", "/auth/check");
    }
    assert.ok(url.startsWith(`${PUBLIC}/auth/start?c=`), url);
    const page = await workers.oauth.get(url.slice(PUBLIC.length));
    assert.equal(page.status, 200);
    assert.match(page.text, /GitHub\.ListIssues/);
    const check = await workers.oauth.get(check_url.slice(PUBLIC.length));
    assert.deepEqual(check.json, { status: "pending", provider: "GitHub" });
  });
}
