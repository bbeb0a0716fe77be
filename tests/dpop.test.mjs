// Tokens that are bound to a key of the client (DPoP): real clients and signatures, against a running Worker with the ledger. The
// table of proofs is in crates/toolbooth-sign-in/src/sign_in/tests/dpop.rs.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, ClientCredentialsProvider, DpopSession, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { calculateJwkThumbprint, decodeJwt, exportJWK, generateKeyPair } from "jose";
import * as oauth from "oauth4webapi";
import { discover, exchange, flow, options } from "./support/oauth-client.mjs";
import { KEY, REDIRECT, startSignIn } from "./support/sign-in-server.mjs";

let worker, address;
before(async () => {
  worker = await startSignIn();
  ({ address } = worker);
});
after(() => worker?.close());

const CALL = JSON.stringify({ tool_id: "Calculator.Add", input: { a: 2, b: 40 } });

/** The response to a call with a token that is bound to a key. */
const call = (token, DPoP, headers = { "content-type": "application/json" }) =>
  oauth.protectedResourceRequest(token, "POST", new URL("/tools/call", address), new Headers(headers), CALL, { ...options, DPoP });

/** What a function returns, called again if its response has only told the client the nonce. */
const withNonce = (action) => action().catch((error) => (oauth.isDPoPNonceError(error) ? action() : Promise.reject(error)));

for (const alg of ["ES256", "Ed25519", "RS256"]) {
  test(`oauth4webapi with ${alg}: from the code to calls and a refresh`, async () => {
    const keys = await generateKeyPair(alg, { extractable: true });
    const DPoP = oauth.DPoP({ client_id: "x" }, keys);
    const thumbprint = await calculateJwkThumbprint(await exportJWK(keys.publicKey));
    const one = await flow(address, { redirect: REDIRECT, key: KEY, changes: { dpop_jkt: thumbprint } });
    assert.ok(one.as.dpop_signing_alg_values_supported.includes(alg));
    const parameters = oauth.validateAuthResponse(one.as, one.client, await one.agree(), "some state");
    const tokens = await withNonce(async () => {
      const sent = await oauth.authorizationCodeGrantRequest(one.as, one.client, oauth.None(), parameters, REDIRECT, one.verifier, { ...options, DPoP });
      return oauth.processAuthorizationCodeResponse(one.as, one.client, sent);
    });
    assert.equal(tokens.token_type, "dpop");
    assert.deepEqual(decodeJwt(tokens.access_token).cnf, { jkt: thumbprint }, "the thumbprint that jose computes");
    assert.equal((await withNonce(() => call(tokens.access_token, DPoP))).status, 200);
    const bearer = { authorization: `Bearer ${tokens.access_token}`, "content-type": "application/json" };
    assert.equal((await worker.request("POST", "/tools/call", { headers: bearer, body: CALL })).status, 401);
    const thief = oauth.DPoP({ client_id: "x" }, await generateKeyPair(alg));
    await assert.rejects(withNonce(() => call(tokens.access_token, thief)), /invalid_dpop_proof|challenge/);
    const refresh = (proof) => withNonce(async () => {
      const sent = await oauth.refreshTokenGrantRequest(one.as, one.client, oauth.None(), tokens.refresh_token, { ...options, DPoP: proof });
      return oauth.processRefreshTokenResponse(one.as, one.client, sent);
    });
    await assert.rejects(refresh(thief), { error: "invalid_dpop_proof" });
    await assert.rejects(refresh(undefined), { error: "invalid_dpop_proof" });
    const next = await refresh(DPoP);
    assert.equal((await withNonce(() => call(next.access_token, DPoP))).status, 200);
  });
}

test("a client that does not offer a proof gets a bearer token", async () => {
  const one = await flow(address, { redirect: REDIRECT, key: KEY });
  const { token_type: type, access_token: token } = await exchange(one, await one.agree());
  assert.deepEqual([type, decodeJwt(token).cnf], ["bearer", undefined]);
});

test("100 requests at the same time with one proof: exactly one passes", async () => {
  let proof;
  const DPoP = oauth.DPoP({ client_id: "x" }, await generateKeyPair("ES256"));
  const seen = { ...options, DPoP, [oauth.customFetch]: (url, init) => ((proof = new Headers(init.headers).get("dpop")), fetch(url, init)) };
  const as = await discover(address);
  const client = { client_id: "Ada" };
  await withNonce(async () => oauth.processClientCredentialsResponse(as, client, await oauth.clientCredentialsGrantRequest(as, client, oauth.ClientSecretPost(KEY), {}, seen)));
  // A proof with the nonce that has not been used: the request that it was made for is not sent.
  seen[oauth.customFetch] = (_, init) => ((proof = new Headers(init.headers).get("dpop")), Promise.reject(new Error("not sent")));
  await assert.rejects(oauth.clientCredentialsGrantRequest(as, client, oauth.ClientSecretPost(KEY), {}, seen), /not sent/);
  const body = String(new URLSearchParams({ grant_type: "client_credentials", client_id: "Ada", client_secret: KEY }));
  const headers = { "content-type": "application/x-www-form-urlencoded", dpop: proof };
  const replies = await Promise.all(Array.from({ length: 100 }, () => worker.request("POST", "/oauth/token", { headers, body })));
  const results = replies.map(({ status, json }) => json.error ?? status);
  assert.deepEqual([results.filter((it) => it === 200).length, results.filter((it) => it === "invalid_dpop_proof").length], [1, 99]);
});

test("the MCP SDK calls a tool with a bound token", async () => {
  const session = await DpopSession.create();
  const authProvider = new ClientCredentialsProvider({ clientId: "Ada", clientSecret: KEY, expectedIssuer: address });
  authProvider.dpop = () => session;
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", address), { authProvider }));
  const { content } = await client.callTool({ name: "Calculator_Add", arguments: { a: 2, b: 40 } });
  assert.match(content[0].text, /42/);
  assert.equal(authProvider.tokens().token_type.toLowerCase(), "dpop");
  assert.equal(decodeJwt(authProvider.tokens().access_token).cnf.jkt, session.thumbprint);
  await client.close();
});
