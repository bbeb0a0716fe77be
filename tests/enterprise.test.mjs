// Sign-in with a company: assertions of its identity provider (ID-JAG), with real signatures, against a running Worker. What needs
// a clock is in crates/toolbooth-sign-in/src/sign_in/tests/enterprise.
import assert from "node:assert/strict";
import { createHmac, randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { Client, CrossAppAccessProvider, StreamableHTTPClientTransport, requestJwtAuthorizationGrant } from "@modelcontextprotocol/client";
import { CompactSign, SignJWT, UnsecuredJWT, exportJWK, exportSPKI, generateKeyPair, importJWK } from "jose";
import * as oauth from "oauth4webapi";
import { discover, options, register } from "./support/oauth-client.mjs";
import { DESKTOP, openidProvider } from "./support/oidc.mjs";
import { Person, sha256 } from "./support/sign-in.mjs";
import { KEY, REDIRECT, hostClient, startSignIn } from "./support/sign-in-server.mjs";
import { listen } from "./support/server.mjs";
import { CANARY } from "./support/worker.mjs";

const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TYPE = "oauth-id-jag+jwt";
const AGENT = { client_id: "agent", secret: `${CANARY}-secret-of-the-agent` };
const OTHER = { client_id: "other", secret: `${CANARY}-secret-of-the-other` };

/** A company's identity provider: its discovery document, its keys, and the token exchange for assertions (RFC 8693). */
async function company() {
  const keys = await generateKeyPair("ES256");
  const publicKeys = [{ ...(await exportJWK(keys.publicKey)), kid: "1", alg: "ES256", use: "sig" }];
  const one = { ...keys, exchanges: [], publicKeys };
  const { base, close } = await listen(async (request, response) => {
    const answers = {
      "/.well-known/openid-configuration": () => ({ issuer: base, jwks_uri: `${base}/keys` }),
      "/keys": () => ({ keys: one.publicKeys }),
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answers[request.url]?.() ?? {}));
  });
  return Object.assign(one, { issuer: base, close });
}

let worker, address, as, idp, stranger, oidc, documents, clientKeys;
before(async () => {
  const assertions = { client_id: AGENT.client_id };
  const starting = [company(), company(), openidProvider(REDIRECT, { assertions }), hostClient()];
  [idp, stranger, oidc, { documents, keys: clientKeys }] = await Promise.all(starting);
  const clients = [AGENT, OTHER].map(({ client_id: id, secret }) => ({ id, name: id, redirect_uris: [REDIRECT], secret_hash: sha256(secret) }));
  worker = await startSignIn({
    SIGN_IN_CLIENTS: JSON.stringify([...clients, { id: "public", name: "Public", redirect_uris: [REDIRECT] }]),
    ENTERPRISE_ISSUERS: JSON.stringify([
      {
        issuer: idp.issuer,
        clients: [AGENT.client_id, "public", `${documents.base}/client.json`],
        rules: { engineering: { scopes: ["github:read"] }, sales: { scopes: [] } },
        allowed: ["@acme.example"],
      },
      { issuer: oidc.issuer, clients: [AGENT.client_id], scopes: ["github:read"] },
    ]),
  });
  ({ address } = worker);
  as = await discover(address);
});
after(async () => {
  await worker?.close();
  await Promise.all([idp?.close(), stranger?.close(), oidc?.close(), documents?.close()]);
});

const now = () => Math.floor(Date.now() / 1000);

/** The claims of a good assertion, with changes; `undefined` omits one. */
const claims = (changes = {}) => ({
  iss: idp.issuer,
  sub: "ada",
  aud: address,
  resource: `${address}/mcp`,
  client_id: AGENT.client_id,
  jti: randomUUID(),
  iat: now(),
  exp: now() + 300,
  scope: "github:read",
  email: "ada@acme.example",
  groups: ["engineering"],
  ...changes,
});

const HEADER = { alg: "ES256", kid: "1", typ: TYPE };
const sign = (payload, header = HEADER, key = idp.privateKey) =>
  new SignJWT(JSON.parse(JSON.stringify(payload))).setProtectedHeader(JSON.parse(JSON.stringify(header))).sign(key);

/** A request to the token endpoint with these parameters, of those that are defined. */
async function token(client, auth, parameters) {
  const { grant_type = GRANT, ...rest } = parameters;
  const fields = new URLSearchParams(Object.entries(rest).filter(([, value]) => value !== undefined));
  const response = await oauth.genericTokenEndpointRequest(as, client, auth, grant_type, fields, options);
  return oauth.processGenericTokenEndpointResponse(as, client, response);
}

const asAgent = (parameters) => token(AGENT, oauth.ClientSecretPost(AGENT.secret), parameters);

/** The error of a promise in OAuth's words, with the status: `invalid_grant 400`; `none` if there is none. */
async function errorOf(promise) {
  try {
    await promise;
    return "none";
  } catch (problem) {
    if (!(problem instanceof oauth.WWWAuthenticateChallengeError)) {
      assert.ok(problem.error, problem);
      return `${problem.error} ${problem.status}`;
    }
    return `${(await problem.response.clone().json()).error} ${problem.status}`;
  }
}

test("the tokens of a good assertion", async () => {
  assert.ok(as.grant_types_supported.includes(GRANT));
  const issued = await asAgent({ assertion: await sign(claims()), resource: `${address}/mcp`, scope: "github:read github:write" });
  assert.deepEqual([issued.token_type, issued.scope, issued.refresh_token], ["bearer", "github:read", undefined]);
  const call = { headers: { authorization: `Bearer ${issued.access_token}`, "content-type": "application/json" } };
  const body = JSON.stringify({ tool_id: "Calculator.Add", input: { a: 2, b: 40 } });
  const { status, json } = await worker.request("POST", "/tools/call", { ...call, body });
  assert.equal(status, 200, JSON.stringify(json));
});

test("an assertion with the key that oidc-provider publishes, as its discovery document says", async () => {
  const published = await (await fetch(`${oidc.issuer}/jwks`)).json();
  const header = { alg: "RS256", kid: published.keys[0].kid, typ: TYPE };
  const of = (changes) => sign(claims({ iss: oidc.issuer, ...changes }), header, oidc.signingKey);
  assert.equal((await asAgent({ assertion: await of({}) })).scope, "github:read");
  assert.equal(await errorOf(asAgent({ assertion: await of({ iss: idp.issuer }) })), "invalid_grant 400", "it does not speak for another company");
});

test("what is not accepted", async (t) => {
  const { privateKey: wrongKey } = await generateKeyPair("ES256");
  const rsa = await generateKeyPair("RS256", { modulusLength: 2048 });
  const pem = await exportSPKI(idp.publicKey);
  const hs = (secret, payload) => {
    const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const message = `${part({ ...HEADER, alg: "HS256" })}.${part(payload)}`;
    return `${message}.${createHmac("sha256", secret).update(message).digest("base64url")}`;
  };
  const changed = (changes, header) => async () => ({ assertion: await sign(claims(changes), { ...HEADER, ...header }) });
  const BAD = "invalid_grant 400";
  const rows = [
    // The token as such.
    ["no assertion", () => ({}), "invalid_request 400"],
    ["no token", () => ({ assertion: "x" }), BAD],
    ["two parts", async () => ({ assertion: (await sign(claims())).split(".").slice(0, 2).join(".") }), BAD],
    ["an assertion of 8,200 bytes", changed({ filler: "f".repeat(8200) }), BAD],
    ["a changed signature", async () => ({ assertion: (await sign(claims())).replace(/.{4}$/, "AAAA") }), BAD],
    ["changed claims", async () => {
      const [header, , signature] = (await sign(claims())).split(".");
      return { assertion: `${header}.${Buffer.from(JSON.stringify(claims({ sub: "eve" }))).toString("base64url")}.${signature}` };
    }, BAD],
    ["claims that are no object", async () => ({
      assertion: await new CompactSign(new TextEncoder().encode("[]")).setProtectedHeader(HEADER).sign(idp.privateKey),
    }), BAD],
    ["a different key with the same id", async () => ({ assertion: await sign(claims(), HEADER, wrongKey) }), BAD],
    ["a key of a different algorithm", async () => ({ assertion: await sign(claims(), { ...HEADER, alg: "RS256" }, rsa.privateKey) }), BAD],
    ["an unknown key id", changed({}, { kid: "2" }), BAD],
    ["a key id that is no string", changed({}, { kid: 1 }), BAD],
    ["a key in the header", async () => ({
      assertion: await sign(claims(), { ...HEADER, kid: undefined, jwk: await exportJWK(rsa.publicKey), alg: "RS256" }, rsa.privateKey),
    }), BAD],
    ["no signature", () => ({ assertion: new UnsecuredJWT(claims()).encode() }), BAD],
    ["HS256 with the public key as the secret", () => ({ assertion: hs(pem, claims()) }), BAD],
    ["HS256 with the client's secret", () => ({ assertion: hs(AGENT.secret, claims()) }), BAD],
    ["an unknown critical extension", async () => ({
      assertion: await new SignJWT(claims()).setProtectedHeader({ ...HEADER, crit: ["x"], x: 1 }).sign(idp.privateKey, { crit: { x: true } }),
    }), BAD],
    ["no type", changed({}, { typ: undefined }), BAD],
    ["the type JWT", changed({}, { typ: "JWT" }), BAD],
    ["the type of an access token", changed({}, { typ: "at+jwt" }), BAD],
    // The issuer.
    ["an issuer that is not trusted", async () => ({ assertion: await sign(claims({ iss: stranger.issuer }), HEADER, stranger.privateKey) }), BAD],
    ["the key of a different issuer", async () => ({ assertion: await sign(claims(), HEADER, stranger.privateKey) }), BAD],
    ["the issuer with a slash", () => changed({ iss: `${idp.issuer}/` })(), BAD],
    ["no issuer", changed({ iss: undefined }), BAD],
    // Whom it is for.
    ["a different audience", changed({ aud: "https://other.example" }), BAD],
    ["the resource as the audience", () => changed({ aud: `${address}/mcp` })(), BAD],
    ["the token endpoint as the audience", () => changed({ aud: `${address}/oauth/token` })(), BAD],
    ["two audiences", () => changed({ aud: [address, "https://other.example"] })(), BAD],
    ["no audience", changed({ aud: undefined }), BAD],
    ["a different resource", changed({ resource: "https://other.example/mcp" }), BAD],
    ["a resource that begins like ours", () => changed({ resource: `${address}/mcp/other` })(), BAD],
    ["two resources", () => changed({ resource: [`${address}/mcp`, "https://other.example/mcp"] })(), BAD],
    ["no resource in the list", changed({ resource: [] }), BAD],
    ["a request for a different resource", async () => ({ assertion: await sign(claims()), resource: "https://other.example/mcp" }), "invalid_target 400"],
    // The client.
    ["a different client", changed({ client_id: OTHER.client_id }), BAD],
    ["no client", changed({ client_id: undefined }), BAD],
    // The times.
    ["one that has expired", () => changed({ iat: now() - 400, exp: now() - 100 })(), BAD],
    ["one from the future", () => changed({ iat: now() + 60, exp: now() + 300 })(), BAD],
    ["one that is not valid yet", () => changed({ nbf: now() + 60 })(), BAD],
    ["a lifetime of 301 seconds", (iat = now()) => changed({ exp: iat + 301, iat })(), BAD],
    ["no end", changed({ exp: undefined }), BAD],
    ["no start", changed({ iat: undefined }), BAD],
    ["a time that is a text", () => changed({ exp: String(now() + 300) })(), BAD],
    // The person.
    ["no subject", changed({ sub: undefined }), BAD],
    ["an empty subject", changed({ sub: "" }), BAD],
    ["a subject that is a number", changed({ sub: 7 }), BAD],
    ["a person without a rule", changed({ groups: ["finance"] }), BAD],
    ["an address of a different domain", changed({ email: "ada@other.example" }), BAD],
    ["an address that is not verified", changed({ email_verified: false }), BAD],
    // The rest.
    ["no id", changed({ jti: undefined }), BAD],
    ["an empty id", changed({ jti: "" }), BAD],
    ["an id of 257 bytes", changed({ jti: "j".repeat(257) }), BAD],
    ["one that is bound to a key", changed({ cnf: { jkt: "x" } }), BAD],
    ["scopes that are not asserted", async () => ({ assertion: await sign(claims({ scope: "github:write" })), scope: "github:read" }), "invalid_scope 400"],
    ["scopes that no rule gives", changed({ groups: ["sales"] }), "invalid_scope 400"],
  ];
  for (const [what, parameters, expected] of rows) {
    await t.test(`${what}: ${expected}`, async () => {
      assert.equal(await errorOf(asAgent(await parameters())), expected);
    });
  }
  assert.equal(await errorOf(asAgent({ assertion: await sign(claims()) })), "none", "the request without a mistake");
});

test("which clients may use it", async (t) => {
  const document = { client_id: `${documents.base}/client.json` };
  const key = await importJWK({ ...clientKeys.privateKey.export({ format: "jwk" }), alg: "RS256" }, "RS256");
  const registered = await register(as, { redirect_uris: [REDIRECT], token_endpoint_auth_method: "client_secret_post" });
  const rows = [
    ["with the secret in the header", AGENT, oauth.ClientSecretBasic(AGENT.secret), "none"],
    ["with a document and its key", document, oauth.PrivateKeyJwt({ key, kid: "1" }), "none"],
    ["with a document, without a key", document, oauth.None(), "invalid_client 401"],
    ["with a wrong secret", AGENT, oauth.ClientSecretPost("wrong"), "invalid_client 401"],
    ["without its secret", AGENT, oauth.None(), "invalid_client 401"],
    ["a public one", { client_id: "public" }, oauth.None(), "invalid_client 401"],
    ["one that has registered itself", registered, oauth.ClientSecretPost(registered.client_secret), "invalid_client 401"],
    ["one of an unknown document", { client_id: `${documents.base}/other.json` }, oauth.None(), "invalid_client 401"],
    ["one that the issuer does not have", OTHER, oauth.ClientSecretPost(OTHER.secret), "invalid_grant 400"],
  ];
  for (const [what, client, auth, expected] of rows) {
    await t.test(`${what}: ${expected}`, async () => {
      const assertion = await sign(claims({ client_id: client.client_id }));
      assert.equal(await errorOf(token(client, auth, { assertion })), expected);
    });
  }
});

test("1,000 requests at the same time with one assertion: exactly one passes", async () => {
  const assertion = await sign(claims());
  const body = String(new URLSearchParams({ grant_type: GRANT, assertion, client_id: AGENT.client_id, client_secret: AGENT.secret }));
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const replies = await Promise.all(Array.from({ length: 1000 }, () => worker.request("POST", "/oauth/token", { headers, body })));
  const results = replies.map(({ status, json }) => json.error ?? status);
  assert.deepEqual([results.filter((it) => it === 200).length, results.filter((it) => it === "invalid_grant").length], [1, 999]);
});

test("CrossAppAccessProvider of the SDK calls a tool without a page", async () => {
  const asked = [];
  const authProvider = new CrossAppAccessProvider({
    clientId: AGENT.client_id,
    clientSecret: AGENT.secret,
    expectedIssuer: address,
    assertion: async ({ authorizationServerUrl, resourceUrl, scope }) => {
      asked.push({ authorizationServerUrl, resourceUrl });
      return sign(claims({ aud: authorizationServerUrl, resource: resourceUrl, scope }));
    },
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", address), { authProvider }));
  const { content } = await client.callTool({ name: "Calculator_Add", arguments: { a: 2, b: 40 } });
  assert.match(content[0].text, /42/);
  await client.close();
  assert.equal(asked.length, 1);
});

/** Signs a person in at oidc-provider, as a client on a desktop does: with their browser, once. Returns the ID token. */
async function idToken(name) {
  const issuer = new URL(oidc.issuer);
  const company = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, options));
  const client = { client_id: DESKTOP.id };
  const verifier = oauth.generateRandomCodeVerifier();
  const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
  const url = new URL(company.authorization_endpoint);
  const challenge = { code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" };
  url.search = new URLSearchParams({ ...client, ...challenge, response_type: "code", redirect_uri: REDIRECT, scope: "openid", state, nonce });
  const person = new Person();
  const follow = async (reply) => {
    while (reply.location && !reply.location.startsWith(REDIRECT)) reply = await person.visit(reply.location);
    return reply;
  };
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const answer = (page, fields) => person.visit(page.url, { method: "POST", headers, body: String(new URLSearchParams(fields)) });
  let page = await follow(await person.visit(url));
  for (const fields of [{ login: name }, { answer: "yes" }]) page = await follow(await answer(page, fields));
  const back = oauth.validateAuthResponse(company, client, new URL(page.location), state);
  const reply = await oauth.authorizationCodeGrantRequest(company, client, oauth.None(), back, REDIRECT, verifier, options);
  return { company, token: (await oauth.processAuthorizationCodeResponse(company, client, reply, { expectedNonce: nonce })).id_token };
}

// This does not run mcpc. By its source, `mcpc login --grant id-jag` (0.6.0 and later) uses the same provider and function of the SDK.
test("after signing in at oidc-provider once, each session exchanges the ID token there and calls a tool", async () => {
  oidc.events.length = 0;
  const { company, token: subject } = await idToken("ada");
  for (const b of [40, 41]) {
    const authProvider = new CrossAppAccessProvider({
      clientId: AGENT.client_id,
      clientSecret: AGENT.secret,
      expectedIssuer: address,
      assertion: async ({ authorizationServerUrl: audience, resourceUrl: resource, scope, fetchFn }) => {
        const request = { tokenEndpoint: company.token_endpoint, audience, resource, scope, idToken: subject, clientId: DESKTOP.id, fetchFn };
        return (await requestJwtAuthorizationGrant(request)).jwtAuthGrant;
      },
    });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", address), { authProvider }));
    const { content } = await client.callTool({ name: "Calculator_Add", arguments: { a: 2, b } });
    assert.match(content[0].text, new RegExp(String(2 + b)));
    await client.close();
  }
  const exchanged = "urn:ietf:params:oauth:grant-type:token-exchange";
  assert.deepEqual(oidc.events, ["authorization_code", exchanged, exchanged]);
});
