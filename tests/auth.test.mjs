// Authentication (X5, X36 to X46, T37): what needs the real runtime, its cryptography and its rate limit. The tables of
// variables, keys and claims are native: auth::tests. access.test.mjs has the responses of every protocol.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { claims, hmac, issued, issuer, keyPair, signature, token } from "./support/issuer.mjs";
import { SAMPLES, CANARY, FIXTURES, start } from "./support/worker.mjs";

const KEYS = { full: `${CANARY}-full`, few: `${CANARY}-few` };
const hash = (key) => createHash("sha256").update(key).digest("hex");
const API_KEYS = JSON.stringify([
  { name: "full", scopes: ["fixture:tell", "fixture:run"], hash: hash(KEYS.full) },
  { name: "few", scopes: ["fixture:run"], hash: hash(KEYS.few) },
]);
const SECRET = `${CANARY} of at least thirty-two bytes`;
const OPEN = 'Bearer realm="toolbooth"';
const INVALID = "the credentials are not valid";

const [RSA, EC, ED] = ["RS256", "ES256", "EdDSA"].map((kind) => keyPair(kind));
const [SHORT, WIDE] = ["RS1024", "ES384"].map((kind) => keyPair(kind));
const OPENED = keyPair("ES256", "opened");
OPENED.jwk = { ...OPENED.privateKey.export({ format: "jwk" }), kid: OPENED.kid };

let keys;
const workers = {};
before(async () => {
  keys = await issuer(RSA, EC, ED, SHORT, WIDE, OPENED);
  const jwt = { JWT_SECRET: SECRET, JWKS_URL: keys.url, JWT_AUDIENCE: "us, tests", JWT_ISSUER: MEANT.iss };
  [workers.key, workers.jwt] = await Promise.all([
    start(FIXTURES, { vars: { AUTH: "api-key", API_KEYS } }),
    start(FIXTURES, { vars: { AUTH: "jwt", ...jwt } }),
  ]);
});
after(async () => {
  await Promise.all(Object.values(workers).map((worker) => worker.close()));
  await keys.close();
});

const CALL = { tool_id: "Fixture.Scoped", input: {} };
/** The claims that tokens of the issuer must have. */
const MEANT = { aud: "us", iss: "https://issuer.example" };
const WHOSE = { JWT_AUDIENCE: MEANT.aud, JWT_ISSUER: MEANT.iss };
const bearer = (value) => ({ authorization: `Bearer ${value}` });

function isRejected(reply, reason) {
  assert.equal(reply.status, 401, reply.text);
  assert.deepEqual(reply.json, { message: "The request needs valid credentials", developer_message: reason });
  assert.equal(reply.headers["cache-control"], "no-store");
  assert.ok(!reply.text.includes(CANARY) && !reply.headers["www-authenticate"].includes(CANARY));
}

for (const [name, vars, expected] of [
  ["AUTH is not set", { AUTH: undefined }, /^AUTH is not set, so every call is rejected with 401; it can be api-key/],
  ["the key set URL has no TLS", { AUTH: "jwt", JWKS_URL: "http://issuer.example/", ...WHOSE }, /^JWKS_URL must be an https/],
]) {
  test(`X5 where ${name}, every call is rejected and the log says why`, async () => {
    const worker = await start(SAMPLES, { vars });
    try {
      const health = await worker.get("/health");
      assert.deepEqual([health.status, health.json], [503, { status: "unavailable" }]);
      const [{ event, problem }, ...more] = (await worker.logs()).map(({ message }) => JSON.parse(message));
      assert.deepEqual([event, more], ["configuration", []]);
      assert.match(problem, expected);
      for (const sent of [{}, bearer(KEYS.full), { "oxp-api-key": KEYS.full }]) {
        assert.equal((await worker.get("/tools", sent)).status, 401);
        assert.equal((await worker.post(CALL, { headers: sent })).status, 401);
      }
      assert.equal((await worker.get("/")).status, 200, "the index is public");
    } finally {
      await worker.close();
    }
  });
}

for (const [clause, name, headers] of [
  ["X36", "OXP-API-Key", { "oxp-api-key": KEYS.full }],
  ["X36", "OXP-API-Key in capitals", { "OXP-API-KEY": KEYS.full }],
  ["T37", "OTC-API-Key", { "otc-api-key": KEYS.full }],
  ["X36", "X-API-Key", { "x-api-key": KEYS.full }],
  ["X36", "X-Auth-Token", { "x-auth-token": KEYS.full }],
  ["OT3", "Authorization: Bearer", bearer(KEYS.full)],
  ["OT3", "authorization: bearer", { authorization: `bearer ${KEYS.full}` }],
]) {
  test(`${clause} a key in ${name} is accepted, and the tool knows its name`, async () => {
    const reply = await workers.key.post(CALL, { headers });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.json.value, "key full");
  });
}

for (const [name, headers] of [
  ["a key of 9 KiB", { "oxp-api-key": CANARY.repeat(1500) }],
  ["bytes that are not text", { "oxp-api-key": "\u00ff\u00fe" }],
  ["a good key after a bad one", { "oxp-api-key": CANARY, ...bearer(KEYS.full) }],
]) {
  test(`X37 T37 ${name}: 401`, async () => {
    const reply = await workers.key.post(CALL, { headers });
    isRejected(reply, INVALID);
    const challenge = `${OPEN}, error="invalid_token", error_description="${INVALID}"`;
    assert.equal(reply.headers["www-authenticate"], challenge);
  });
}

// Tokens, and the reason for which each is rejected.
const now = () => Math.floor(Date.now() / 1000);
const expired = "the token has expired";
for (const [clause, name, make, reason] of [
  ["X40", "HS256", () => token({ alg: "HS256" }, claims(MEANT), hmac(SECRET))],
  ["X43", "HS256 without aud", () => token({ alg: "HS256" }, claims({ iss: MEANT.iss }), hmac(SECRET))],
  ["X40", "RS256", () => issued(RSA, MEANT)],
  ["X40", "ES256", () => issued(EC, MEANT)],
  ["X40", "EdDSA", () => issued(ED, MEANT)],
  ["X43", "several aud", () => issued(EC, { ...MEANT, aud: ["x", "tests"] })],
  ["X40", "RS256 without key id, the only one long enough", () => issued(RSA, MEANT, { kid: undefined })],
  ["X41", "alg none", () => token({ alg: "none" }, claims(MEANT), () => ""), INVALID],
  ["X40", "HS256 with another secret", () => token({ alg: "HS256" }, claims(MEANT), hmac(`${SECRET}!`)), INVALID],
  ["X40", "HS256 with the public key as secret (PEM)", () => token({ alg: "HS256", kid: RSA.kid }, claims(MEANT), hmac(RSA.pem)), INVALID],
  ["X40", "HS256 with the public key as secret (JWK)", () => token({ alg: "HS256", kid: RSA.kid }, claims(MEANT), hmac(JSON.stringify(RSA.jwk))), INVALID],
  ["X40", "RS256 that is an HMAC of the secret", () => token({ alg: "RS256", kid: RSA.kid }, claims(MEANT), hmac(SECRET)), INVALID],
  ["X40", "RS256 by another key of that id", () => issued(keyPair("RS256"), MEANT), INVALID],
  ["X40", "ES256 by another key of that id", () => issued(keyPair("ES256"), MEANT), INVALID],
  ["X40", "EdDSA by another key of that id", () => issued(keyPair("EdDSA"), MEANT), INVALID],
  ["X40", "RS256 with the id of an ES256 key", () => issued(RSA, MEANT, { kid: EC.kid }), INVALID],
  ["X40", "ES256 with an RSA signature", () => token({ alg: "ES256", kid: EC.kid }, claims(MEANT), signature(RSA)), INVALID],
  ["X40", "ES256 with a signature in DER", () => token({ alg: "ES256", kid: EC.kid }, claims(MEANT), signature(EC, "der")), INVALID],
  ["X40", "ES256 with a signature of zeros", () => token({ alg: "ES256", kid: EC.kid }, claims(MEANT), () => Buffer.alloc(64)), INVALID],
  ["X40", "EdDSA without signature", () => token({ alg: "EdDSA", kid: ED.kid }, claims(MEANT), () => ""), INVALID],
  ["X40", "RS256 by a key of 1024 bits", () => issued(SHORT, MEANT, { alg: "RS256" }), INVALID],
  ["X40", "ES256 by a key on another curve", () => issued(WIDE, MEANT, { alg: "ES256" }), INVALID],
  ["X40", "RS512", () => issued(RSA, MEANT, { alg: "RS512" }), INVALID],
  ["X40", "a key inside the token", () => { const own = keyPair("RS256", "own"); return issued(own, MEANT, { jwk: own.jwk }); }, INVALID],
  ["X40", "ES256 by a key whose private part is published", () => issued(OPENED, MEANT), INVALID],
  ["X40", "kid is a path", () => issued(RSA, MEANT, { kid: "../../dev/null" }), INVALID],
  ["X40", "kid is an address", () => issued(RSA, MEANT, { kid: "http://127.0.0.1:9/canary" }), INVALID],
  ["X40", "other claims than were signed", () => issued(RSA, MEANT).replace(/\.(.*)\./, `.${Buffer.from(JSON.stringify(claims(MEANT))).toString("base64url")}A.`), INVALID],
  ["X41", "RS256, expired", () => issued(RSA, { ...MEANT, exp: now() - 60 }), expired],
  ["X43", "another aud", () => issued(EC, { ...MEANT, aud: "them" }), "the token is for another audience"],
]) {
  test(`${clause} a token: ${name}: ${reason ? "401" : "accepted"}`, async () => {
    const reply = await workers.jwt.get("/tools", bearer(make()));
    if (reason === undefined) assert.equal(reply.status, 200, reply.text);
    else isRejected(reply, reason);
  });
}

test("a token has the user and the scopes", async () => {
  const scoped = (more) => workers.jwt.post(CALL, { headers: bearer(issued(EC, { ...MEANT, ...more })) });
  for (const more of [{ scope: "fixture:run fixture:tell" }, { scp: ["fixture:tell", "fixture:run"] }]) {
    const reply = await scoped(more);
    assert.equal(reply.json.value, "user canary-alice", reply.text);
  }
  assert.equal((await scoped({ scope: "fixture:run" })).status, 403);
});

/** A clock that stands still from the first look at it. */
const STANDING = "const real = Date.now; let now; Date.now = () => (now ??= real()); ";

test("keys of an issuer: fetched once, cached while it is down, and rejected if it never responded", async () => {
  const own = await issuer(EC);
  const vars = { AUTH: "jwt", JWKS_URL: own.url, ...WHOSE };
  const list = (worker, pair) => worker.get("/tools", bearer(issued(pair, MEANT)));
  let worker = await start(FIXTURES, { vars });
  try {
    for (let call = 0; call < 5; call += 1) assert.equal((await list(worker, EC)).status, 200);
    isRejected(await list(worker, ED), INVALID);
    own.publish(EC, ED);
    isRejected(await list(worker, ED), INVALID);
    assert.equal(own.requests, 1, "an unknown key is requested at most once a minute");
    own.status = 500;
    assert.equal((await list(worker, EC)).status, 200, "the keys are still valid");
    await worker.close();
    // A new instance has no keys.
    worker = await start(FIXTURES, { vars });
    const reply = await list(worker, EC);
    assert.equal(reply.status, 400);
    assert.equal(reply.json.developer_message, "the keys that verify tokens cannot be fetched");
    assert.equal((await worker.get("/health")).status, 200);
    const logged = (await worker.logs()).map(({ message }) => JSON.parse(message));
    assert.deepEqual(logged, [{ event: "jwks", problem: "JWKS_URL responded with status 500" }]);
  } finally {
    await worker.close();
    await own.close();
  }
});

test("keys of an issuer: a redirect is not followed", async () => {
  const [own, elsewhere] = [await issuer(EC), await issuer(EC)];
  Object.assign(own, { status: 302, location: elsewhere.url });
  const worker = await start(FIXTURES, { vars: { AUTH: "jwt", JWKS_URL: own.url, ...WHOSE } });
  try {
    const reply = await worker.get("/tools", bearer(issued(EC, MEANT)));
    assert.equal(reply.json.developer_message, "the keys that verify tokens cannot be fetched");
    assert.deepEqual([own.requests, elsewhere.requests], [1, 0]);
  } finally {
    await worker.close();
    await own.close();
    await elsewhere.close();
  }
});

test("keys of an issuer: twenty tokens at once on a cold server cause one fetch, and bad ones none", async () => {
  const own = await issuer(EC);
  // The clock stands still: if the fetch took long, another request would fetch, too.
  const around = `${STANDING}export default Worker;`;
  const worker = await start(FIXTURES, { vars: { AUTH: "jwt", JWKS_URL: own.url, ...WHOSE }, around });
  const statuses = async (make) => {
    const replies = await Promise.all(Array.from({ length: 20 }, (_, at) => worker.get("/tools", bearer(make(at)))));
    return new Set(replies.map(({ status }) => status));
  };
  try {
    const bad = [
      { ...MEANT, exp: now() - 60 },
      { ...MEANT, iss: "https://evil.example" },
      { ...MEANT, aud: "them" },
    ];
    assert.deepEqual(await statuses((at) => issued(EC, bad[at % 3], { kid: `made up ${at}` })), new Set([401]));
    assert.equal(own.requests, 0);
    assert.deepEqual(await statuses(() => issued(EC, MEANT)), new Set([200]));
    assert.equal(own.requests, 1);
    assert.deepEqual(await statuses((at) => issued(EC, MEANT, { kid: `made up ${at}` })), new Set([401]));
    assert.equal(own.requests, 1);
  } finally {
    await worker.close();
    await own.close();
  }
});

// Locally, the runtime does not notice that a connection has ended. It ends a request whose client is a Worker that leaves.
// Its clock stands still but for a step when the client has left, after which one of the others fetches again.
const LEAVING = `${STANDING}let client; export default { async fetch(request, env, context) {
  const { pathname } = new URL(request.url);
  if (pathname === "/leave") {
    client.abort();
    now += 3_000;
  }
  if (!["/leave", "/leaving"].includes(pathname)) return Worker.fetch(request, env, context);
  if (pathname === "/leaving") {
    client = new AbortController();
    await env.SELF.fetch("http://worker/tools", { headers: request.headers, signal: client.signal }).catch(() => {});
  }
  return new Response();
} };`;

test("keys of an issuer: a client that disconnects during its fetch does not stop the others", async () => {
  const own = await issuer(EC);
  own.silent = 1;
  const bindings = { SELF: { type: "worker", worker: "worker" } };
  const worker = await start(FIXTURES, { vars: { AUTH: "jwt", JWKS_URL: own.url, ...WHOSE }, around: LEAVING, bindings });
  const headers = bearer(issued(EC, MEANT));
  try {
    const arrived = once(own.server, "request");
    const first = fetch(`${worker.address}/leaving`, { headers });
    const [, asked] = await arrived;
    const closed = once(asked, "close");
    const others = Array.from({ length: 5 }, () => worker.get("/tools", headers));
    await fetch(`${worker.address}/leave`);
    // The runtime has cancelled the request that fetched.
    await Promise.all([closed, first]);
    const replies = await Promise.all(others);
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
    assert.equal(own.requests, 2, "one of the others fetched again");
  } finally {
    await worker.close();
    await own.close();
  }
});

test("X46 a rate limit: 429 with Retry-After, per caller, and only for calls", async () => {
  const worker = await start(FIXTURES, { vars: { AUTH: "api-key", API_KEYS }, limit: 3 });
  try {
    const call = (key) => worker.post({ tool_id: "Fixture.Silent" }, { headers: bearer(key) });
    for (let calls = 0; calls < 3; calls += 1) assert.equal((await call(KEYS.full)).status, 200);
    // The count restarts at the full minute, so up to three more may be allowed.
    let reply;
    for (let calls = 0; calls < 4 && reply?.status !== 429; calls += 1) reply = await call(KEYS.full);
    assert.equal(reply.status, 429);
    assert.equal(reply.headers["retry-after"], "60");
    assert.deepEqual(reply.json, { message: "Too many requests", developer_message: "try again after 60 seconds" });
    assert.equal((await call(KEYS.few)).status, 200, "another caller");
    assert.equal((await worker.get("/tools", bearer(KEYS.full))).status, 200, "a list does not count as a call");
    assert.equal((await call("x")).status, 401, "an invalid key is still a 401");
  } finally {
    await worker.close();
  }
});
