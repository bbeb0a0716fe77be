// What the authorization server rejects, and in which words of OAuth: requests of oauth4webapi to a running Worker, each wrong in
// one way. Native tests in crates/toolbooth-sign-in have what needs a clock or a store.
import assert from "node:assert/strict";
import { createHmac, createSign, randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import * as oauth from "oauth4webapi";
import { discover, flow, options, register } from "./support/oauth-client.mjs";
import { Person, clientKeys, sha256 } from "./support/sign-in.mjs";
import { KEY, REDIRECT, STATE_KEY, hostClient, startSignIn } from "./support/sign-in-server.mjs";
import { CANARY } from "./support/worker.mjs";

const OPERATOR = { client_id: "connector", secret: `${CANARY}-secret-of-the-connector` };

let worker, address, documents, keys;
before(async () => {
  ({ documents, keys } = await hostClient());
  const { client_id: id, secret } = OPERATOR;
  const clients = [{ id, name: "Connector", redirect_uris: [REDIRECT], secret_hash: sha256(secret) }];
  worker = await startSignIn({ SIGN_IN_CLIENTS: JSON.stringify(clients) });
  ({ address } = worker);
});
after(async () => {
  await worker?.close();
  await documents?.close();
});

const begin = (more = {}) => flow(address, { redirect: REDIRECT, key: KEY, ...more });

/** A flow with its code. */
async function consented(more) {
  const one = await begin(more);
  const back = await one.agree();
  return { ...one, code: back.searchParams.get("code") };
}

/** The error of a promise in OAuth's words, with the status: `invalid_grant 400`; `none` if there is none. */
async function errorOf(promise) {
  try {
    await promise;
    return "none";
  } catch (problem) {
    if (problem instanceof oauth.WWWAuthenticateChallengeError) {
      const [{ scheme, parameters }] = problem.cause;
      return `${scheme} ${parameters.error ?? (await problem.response.clone().json()).error} ${problem.status}`;
    }
    assert.ok(problem.error, problem);
    return `${problem.error} ${problem.status}`;
  }
}

/** A request to the token endpoint with exactly these parameters, of those that are defined. */
async function token({ as, client }, auth, parameters) {
  const { grant_type, ...rest } = parameters;
  const fields = new URLSearchParams(Object.entries(rest).filter(([, value]) => value !== undefined));
  const response = await oauth.genericTokenEndpointRequest(as, client, auth, grant_type, fields, options);
  return oauth.processGenericTokenEndpointResponse(as, client, response);
}

/** The parameters that exchange the code of a flow. */
const exchange = ({ code, verifier, redirect }) => ({
  grant_type: "authorization_code",
  code,
  redirect_uri: redirect,
  code_verifier: verifier,
  resource: `${address}/mcp`,
});

/** Tokens of a new flow. */
async function issued(more, auth = oauth.None()) {
  const one = await consented(more);
  const tokens = await token(one, auth, exchange(one));
  return { ...one, ...tokens };
}

const refresh = ({ refresh_token }) => ({ grant_type: "refresh_token", refresh_token });

test("authorization requests", async (t) => {
  const rows = [
    ["an implicit flow", { response_type: "token" }, "unsupported_response_type"],
    ["no response type", { response_type: undefined }, "invalid_request"],
    ["a fragment as response", { response_mode: "fragment" }, "invalid_request"],
    ["no PKCE", { code_challenge: undefined, code_challenge_method: undefined }, "invalid_request"],
    ["PKCE with plain", { code_challenge_method: "plain" }, "invalid_request"],
    ["PKCE without a method, which means plain", { code_challenge_method: undefined }, "invalid_request"],
    ["a challenge that is no hash", { code_challenge: "short" }, "invalid_request"],
    ["a different resource", { resource: "https://other.example/mcp" }, "invalid_target"],
    ["no scope of this server", { scope: "calendar:read" }, "invalid_scope"],
    ["a state of 1,025 bytes", { state: "s".repeat(1025) }, "invalid_request"],
  ];
  for (const [what, changes, expected] of rows) {
    await t.test(`${what}: ${expected}`, async () => {
      const { as, client, url } = await begin({ changes });
      const reply = await new Person().visit(url);
      assert.equal(reply.status, 303, reply.text);
      const state = changes.state ?? "some state";
      assert.throws(
        () => oauth.validateAuthResponse(as, client, new URL(reply.location), state),
        (problem) => problem.error === expected,
      );
    });
  }
  const unsafe = [
    ["a redirect URI with a different path", { redirect_uri: "http://localhost:3118/other" }],
    ["a redirect URI of a different host", { redirect_uri: "http://127.0.0.1:3118/callback" }],
    ["a redirect URI with https", { redirect_uri: "https://localhost:3118/callback" }],
    ["a redirect URI with a query", { redirect_uri: `${REDIRECT}?x=1` }],
    ["an unknown client", { client_id: "unknown" }],
    ["a client id of this server that was changed", (id) => ({ client_id: `${id.slice(0, -2)}AA` })],
    ["a client id at a private address", { client_id: "https://10.0.0.1/client.json" }],
  ];
  for (const [what, changes] of unsafe) {
    await t.test(`${what}: a page, and no redirect`, async () => {
      const { as } = await begin();
      const client = await register(as, { redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" });
      const changed = typeof changes === "function" ? changes(client.client_id) : changes;
      const { url } = await begin({ client, changes: changed });
      const reply = await new Person().visit(url);
      assert.deepEqual([reply.status, reply.location], [400, undefined], reply.text);
    });
  }
  await t.test("a parameter that is repeated: a page, and no redirect", async () => {
    const { url } = await begin();
    url.searchParams.append("state", "other");
    const reply = await new Person().visit(url);
    assert.deepEqual([reply.status, reply.location], [400, undefined]);
  });
});

test("requests for tokens with a code", async (t) => {
  const other = await consented();
  const rows = [
    ["a code that was never issued", { code: "AAAA" }, "invalid_grant 400"],
    ["a code that was changed", ({ code }) => ({ code: `${code.slice(0, -2)}AA` }), "invalid_grant 400"],
    ["no code", { code: undefined }, "invalid_request 400"],
    ["a code of a different client", () => ({ code: other.code, code_verifier: other.verifier }), "invalid_grant 400"],
    ["the verifier of a different flow", { code_verifier: oauth.generateRandomCodeVerifier() }, "invalid_grant 400"],
    ["no verifier", { code_verifier: undefined }, "invalid_request 400"],
    ["a verifier of 42 characters", { code_verifier: "a".repeat(42) }, "invalid_request 400"],
    ["a verifier of 129 characters", { code_verifier: "a".repeat(129) }, "invalid_request 400"],
    ["a verifier with a space", { code_verifier: `${"a".repeat(42)} ` }, "invalid_request 400"],
    ["a different redirect URI", { redirect_uri: "http://localhost:3118/other" }, "invalid_grant 400"],
    ["a different port of the redirect URI", { redirect_uri: "http://localhost:3119/callback" }, "invalid_grant 400"],
    ["a different resource", { resource: "https://other.example/mcp" }, "invalid_target 400"],
    ["a password", { grant_type: "password" }, "unsupported_grant_type 400"],
    ["credentials of the client", { grant_type: "client_credentials" }, "unauthorized_client 400"],
    ["a grant type with a space", { grant_type: "authorization_code " }, "unsupported_grant_type 400"],
  ];
  for (const [what, changes, expected] of rows) {
    await t.test(`${what}: ${expected}`, async () => {
      const one = await consented();
      const parameters = { ...exchange(one), ...(typeof changes === "function" ? changes(one) : changes) };
      assert.equal(await errorOf(token(one, oauth.None(), parameters)), expected);
      assert.equal(await errorOf(token(one, oauth.None(), exchange(one))), "none", "the request without the mistake");
    });
  }
  await t.test("a code that is used twice: invalid_grant 400, and its refresh token too", async () => {
    const one = await issued();
    assert.equal(await errorOf(token(one, oauth.None(), exchange(one))), "invalid_grant 400");
    assert.equal(await errorOf(token(one, oauth.None(), refresh(one))), "invalid_grant 400");
  });
  await t.test("a parameter that is repeated: invalid_request 400", async () => {
    const one = await consented();
    const fields = new URLSearchParams({ ...exchange(one), grant_type: "authorization_code" });
    fields.append("code", "AAAA");
    fields.delete("grant_type");
    const response = await oauth.genericTokenEndpointRequest(one.as, one.client, oauth.None(), "authorization_code", fields, options);
    assert.equal(await errorOf(oauth.processGenericTokenEndpointResponse(one.as, one.client, response)), "invalid_request 400");
  });
});

test("refresh tokens", async (t) => {
  const rows = [
    ["one that was never issued", () => ({ refresh_token: "AAAA" }), "invalid_grant 400"],
    ["none", () => ({ refresh_token: undefined }), "invalid_request 400"],
    ["an access token", ({ access_token }) => ({ refresh_token: access_token }), "invalid_grant 400"],
    ["a code", ({ code }) => ({ refresh_token: code }), "invalid_grant 400"],
    ["more scopes than were granted", () => ({ scope: "github:write" }), "invalid_scope 400"],
    ["a different resource", () => ({ resource: "https://other.example/mcp" }), "invalid_target 400"],
  ];
  for (const [what, changes, expected] of rows) {
    await t.test(`${what}: ${expected}`, async () => {
      const one = await issued();
      assert.equal(await errorOf(token(one, oauth.None(), { ...refresh(one), ...changes(one) })), expected);
      assert.equal(await errorOf(token(one, oauth.None(), refresh(one))), "none", "the request without the mistake");
    });
  }
  await t.test("one of a different client: invalid_grant 400", async () => {
    const [one, other] = [await issued(), await issued()];
    assert.equal(await errorOf(token(other, oauth.None(), refresh(one))), "invalid_grant 400");
  });
  await t.test("one that was replaced, after its successor was used: invalid_grant 400, and the grant ends", async () => {
    const one = await issued();
    const second = await token(one, oauth.None(), refresh(one));
    const third = await token(one, oauth.None(), refresh(second));
    assert.equal(await errorOf(token(one, oauth.None(), refresh(one))), "invalid_grant 400");
    assert.equal(await errorOf(token(one, oauth.None(), refresh(third))), "invalid_grant 400");
  });
  await t.test("one that was revoked: invalid_grant 400; revoking that of a different client ends nothing", async () => {
    const [one, other] = [await issued(), await issued()];
    const revoke = (client, value) => oauth.revocationRequest(one.as, client, oauth.None(), value, options);
    await oauth.processRevocationResponse(await revoke(other.client, one.refresh_token));
    const next = await token(one, oauth.None(), refresh(one));
    await oauth.processRevocationResponse(await revoke(one.client, next.refresh_token));
    assert.equal(await errorOf(token(one, oauth.None(), refresh(next))), "invalid_grant 400");
  });
});

test("clients that do not authenticate", async (t) => {
  const operator = { client_id: OPERATOR.client_id };
  const both = (as, client, body, headers) => {
    oauth.ClientSecretPost(OPERATOR.secret)(as, client, body, headers);
    oauth.ClientSecretBasic(OPERATOR.secret)(as, client, body, headers);
  };
  const rows = [
    ["no secret", oauth.None(), "invalid_client 401"],
    ["a wrong secret in the body", oauth.ClientSecretPost("wrong"), "invalid_client 401"],
    ["a wrong secret in the header", oauth.ClientSecretBasic("wrong"), "basic invalid_client 401"],
    ["two ways at once", both, "invalid_request 400"],
    ["a different client in the header", (as, client, body, headers) => {
      oauth.ClientSecretBasic("wrong")(as, { client_id: "other" }, body, headers);
      body.set("client_id", client.client_id);
    }, "basic invalid_client 401"],
    ["no client id", (as, client, body) => body.delete("client_id"), "invalid_client 401"],
    ["an assertion of an unknown type", (as, client, body) => {
      body.set("client_id", client.client_id);
      body.set("client_assertion", "a.b.c");
      body.set("client_assertion_type", "urn:example");
    }, "invalid_client 401"],
  ];
  for (const [what, auth, expected] of rows) {
    await t.test(`${what}: ${expected}`, async () => {
      const one = await consented({ client: operator });
      assert.equal(await errorOf(token(one, auth, exchange(one))), expected);
      assert.equal(await errorOf(token(one, oauth.ClientSecretBasic(OPERATOR.secret), exchange(one))), "none");
    });
  }
  await t.test("an unknown client: invalid_client 401", async () => {
    const one = await consented();
    assert.equal(await errorOf(token({ ...one, client: { client_id: "unknown" } }, oauth.None(), exchange(one))), "invalid_client 401");
  });
});

const encoded = (part) => Buffer.from(JSON.stringify(part)).toString("base64url");
const SIGNERS = {
  none: () => "",
  RS256: (message) => createSign("RSA-SHA256").update(message).sign(keys.privateKey, "base64url"),
  // The confusion of algorithms: the public key as a secret.
  HS256: (message) => createHmac("sha256", JSON.stringify(keys.jwk)).update(message).digest("base64url"),
};

/** A `client_assertion`. */
function assertion(alg, claims, signer = SIGNERS[alg]) {
  const message = `${encoded({ alg, kid: "1", typ: "JWT" })}.${encoded(claims)}`;
  return `${message}.${signer(message)}`;
}

test("private_key_jwt", async (t) => {
  const client = { client_id: `${documents.base}/client.json` };
  const now = Math.floor(Date.now() / 1000);
  const right = () => ({ iss: client.client_id, sub: client.client_id, aud: address, jti: randomUUID(), iat: now, exp: now + 300 });
  const signed = (value) => (_as, _client, body) => {
    body.set("client_id", client.client_id);
    body.set("client_assertion", value);
    body.set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
  };
  const rows = [
    ["alg none", () => assertion("none", right())],
    ["the public key as a secret", () => assertion("HS256", right())],
    ["the key of a stranger", () => {
      const stranger = clientKeys().privateKey;
      return assertion("RS256", right(), (message) => createSign("RSA-SHA256").update(message).sign(stranger, "base64url"));
    }],
    ["a different issuer", () => assertion("RS256", { ...right(), iss: "https://other.example" })],
    ["a different subject", () => assertion("RS256", { ...right(), sub: "https://other.example/client.json" })],
    ["a different audience", () => assertion("RS256", { ...right(), aud: "https://other.example" })],
    ["one that has expired", () => assertion("RS256", { ...right(), exp: now - 60 })],
    ["one that expires in a year", () => assertion("RS256", { ...right(), exp: now + 86_400 * 365 })],
    ["one that never expires", () => assertion("RS256", { ...right(), exp: undefined })],
    ["no assertion", () => undefined],
  ];
  for (const [what, make] of rows) {
    await t.test(`${what}: invalid_client 401`, async () => {
      const one = await consented({ client });
      const value = make();
      const auth = value === undefined ? oauth.None() : signed(value);
      assert.equal(await errorOf(token(one, auth, exchange(one))), "invalid_client 401");
      assert.equal(await errorOf(token(one, signed(assertion("RS256", right())), exchange(one))), "none");
    });
  }
  await t.test("one that was used before: invalid_client 401", async () => {
    const [one, other] = [await consented({ client }), await consented({ client })];
    const value = assertion("RS256", right());
    assert.equal(await errorOf(token(one, signed(value), exchange(one))), "none");
    assert.equal(await errorOf(token(other, signed(value), exchange(other))), "invalid_client 401");
  });
});

test("access tokens that are not valid here", async (t) => {
  const one = await issued();
  const [, claims] = one.access_token.split(".");
  const right = JSON.parse(Buffer.from(claims, "base64url"));
  // The server's own key, as it derives it from STATE_KEY: only the claim in question is wrong.
  const name = "access token";
  const length = Buffer.alloc(8);
  length.writeUInt32LE(name.length);
  const own = createHmac("sha256", STATE_KEY).update(length).update(name).digest("base64url");
  const sign = (changes, { alg = "HS256", typ = "at+jwt", secret = own } = {}) => {
    const message = `${encoded({ alg, typ })}.${encoded({ ...right, ...changes })}`;
    return `${message}.${alg === "none" ? "" : createHmac("sha256", secret).update(message).digest("base64url")}`;
  };
  const call = (value) => {
    const headers = new Headers({ "content-type": "application/json", accept: "application/json, text/event-stream" });
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
    return oauth.protectedResourceRequest(value, "POST", new URL(`${address}/mcp`), headers, body, options);
  };
  assert.equal(await errorOf(call(sign({}))), "none", "the test signs as the server does");
  const rows = [
    ["alg none", sign({}, { alg: "none" })],
    ["a different key", sign({}, { secret: "another secret of at least 32 bytes" })],
    ["a different type of token", sign({}, { typ: "id+jwt" })],
    ["a different issuer", sign({ iss: "https://other.example" })],
    ["a different audience", sign({ aud: "https://other.example/mcp" })],
    ["one that has expired", sign({ exp: right.iat - 60 })],
    ["one that never expires", sign({ exp: undefined })],
    ["one that is not valid yet", sign({ nbf: right.exp })],
    ["no holder", sign({ holder: undefined })],
    ["the holder of nothing", sign({ holder: "AAAA" })],
    ["one that is bound to a key", sign({ cnf: { jkt: "x" } })],
    ["a refresh token", one.refresh_token],
    ["a code", one.code],
  ];
  for (const [what, value] of rows) {
    await t.test(`${what}: bearer invalid_token 401`, async () => {
      assert.equal(await errorOf(call(value)), "bearer invalid_token 401");
    });
  }
});

test("registrations", async (t) => {
  const as = await discover(address);
  const rows = [
    ["a scheme that runs code", { redirect_uris: ["javascript:alert(1)"] }, "invalid_redirect_uri 400"],
    ["http of a different machine", { redirect_uris: ["http://client.example/cb"] }, "invalid_redirect_uri 400"],
    ["a fragment", { redirect_uris: ["https://client.example/cb#x"] }, "invalid_redirect_uri 400"],
    ["a user in the URL", { redirect_uris: ["https://a@client.example/cb"] }, "invalid_redirect_uri 400"],
    ["no redirect URI", { redirect_uris: [] }, "invalid_redirect_uri 400"],
    ["a method that is not supported", { token_endpoint_auth_method: "tls_client_auth" }, "invalid_client_metadata 400"],
    ["a grant type without codes", { grant_types: ["client_credentials"] }, "invalid_client_metadata 400"],
    ["a response type without codes", { response_types: ["token"] }, "invalid_client_metadata 400"],
  ];
  for (const [what, metadata, expected] of rows) {
    await t.test(`${what}: ${expected}`, async () => {
      assert.equal(await errorOf(register(as, { redirect_uris: [REDIRECT], ...metadata })), expected);
    });
  }
});
