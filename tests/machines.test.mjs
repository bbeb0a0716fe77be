// Clients that act for themselves (client_credentials): real clients with real keys, against a running Worker. The tables of what is
// rejected are in crates/toolbooth-sign-in/src/sign_in/tests/machines.rs.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, ClientCredentialsProvider, PrivateKeyJwtProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { decodeJwt, exportJWK, exportPKCS8, generateKeyPair } from "jose";
import * as oauth from "oauth4webapi";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { discover, exchange, flow, options } from "./support/oauth-client.mjs";
import { KEY, REDIRECT, startSignIn } from "./support/sign-in-server.mjs";
import { CANARY } from "./support/worker.mjs";

const SECRET = `${CANARY}-key-of-the-robot`;
const ROBOT = { client_id: "The robot: 1%" };
// Some clients do not encode what they send as HTTP Basic.
const PLAIN = { client_id: "plain" };
const KEYED = { client_id: "keyed" };
const AGENT = { client_id: "agent" };
const ALGORITHMS = ["ES256", "EdDSA", "RS256"];

let worker, address, as, keys;
before(async () => {
  keys = Object.fromEntries(await Promise.all(ALGORITHMS.map(async (alg) => [alg, await generateKeyPair(alg, { extractable: true })])));
  const jwks = { keys: await Promise.all(ALGORITHMS.map(async (alg) => ({ ...(await exportJWK(keys[alg].publicKey)), alg }))) };
  const entries = [entryOf(SECRET, ROBOT.client_id, ["github:read"]), entryOf(`${SECRET}-2`, PLAIN.client_id, []), entryOf(KEY, "Ada", ["*"]), { name: KEYED.client_id, scopes: [], jwks }];
  entries.push({ ...entryOf(`${SECRET}-3`, AGENT.client_id, []), may_act: ["github:read"] });
  worker = await startSignIn({ API_KEYS: JSON.stringify(entries) });
  ({ address } = worker);
  as = await discover(address);
});
after(() => worker?.close());

/** The tokens of a client that authenticates in this way. */
async function grant(client, auth, parameters = {}) {
  const response = await oauth.clientCredentialsGrantRequest(as, client, auth, parameters, options);
  return oauth.processClientCredentialsResponse(as, client, response);
}

/** The status of a call with a token. */
async function call(token) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return (await worker.request("POST", "/tools/call", { headers, body: JSON.stringify({ tool_id: "Calculator.Add", input: { a: 2, b: 40 } }) })).status;
}

test("oauth4webapi authenticates in every way that the metadata have", async (t) => {
  assert.ok(as.grant_types_supported.includes("client_credentials"));
  const { privateKey: strange } = await generateKeyPair("ES256");
  for (const [way, client, auth, expected] of [
    ["client_secret_basic", ROBOT, oauth.ClientSecretBasic(SECRET), "github:read"],
    ["client_secret_post", ROBOT, oauth.ClientSecretPost(SECRET), "github:read"],
    ...ALGORITHMS.map((alg) => [alg, KEYED, oauth.PrivateKeyJwt(keys[alg].privateKey), ""]),
    ["a different key", KEYED, oauth.PrivateKeyJwt(strange), undefined],
    ["a wrong secret", ROBOT, oauth.ClientSecretPost("wrong"), undefined],
    ["nothing", ROBOT, oauth.None(), undefined],
  ]) {
    await t.test(way, async () => {
      const issued = grant(client, auth, { resource: `${address}/mcp` });
      if (expected === undefined) return assert.rejects(issued, /server responded with|challenge/);
      const { access_token: token, scope, refresh_token: refresh } = await issued;
      assert.deepEqual([scope, refresh, await call(token)], [expected, undefined, 200]);
    });
  }
});

test("the providers of the MCP SDK call a tool, and learn that the server has the extension", async (t) => {
  for (const [name, authProvider] of [
    ["ClientCredentialsProvider", new ClientCredentialsProvider({ clientId: PLAIN.client_id, clientSecret: `${SECRET}-2`, expectedIssuer: address })],
    ["PrivateKeyJwtProvider", new PrivateKeyJwtProvider({
      clientId: KEYED.client_id,
      privateKey: await exportPKCS8(keys.ES256.privateKey),
      algorithm: "ES256",
      expectedIssuer: address,
    })],
  ]) {
    await t.test(name, async () => {
      const client = new Client({ name: "test", version: "1" });
      await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", address), { authProvider }));
      const { content } = await client.callTool({ name: "Calculator_Add", arguments: { a: 2, b: 40 } });
      assert.match(content[0].text, /42/);
      assert.deepEqual(client.getServerCapabilities().extensions["io.modelcontextprotocol/oauth-client-credentials"], {});
      await client.close();
    });
  }
});

test("an agent exchanges the token of a person for one that does less, bound to a key of its own", async () => {
  const person = await flow(address, { redirect: REDIRECT, key: KEY, scope: "github:read github:write" });
  const { access_token: subject } = await exchange(person, await person.agree());
  const TYPE = "urn:ietf:params:oauth:token-type:access_token";
  const parameters = new URLSearchParams({ subject_token: subject, subject_token_type: TYPE });
  const DPoP = oauth.DPoP(AGENT, await generateKeyPair("ES256"));
  const ask = async () => {
    const grantType = "urn:ietf:params:oauth:grant-type:token-exchange";
    const sent = await oauth.genericTokenEndpointRequest(as, AGENT, oauth.ClientSecretBasic(`${SECRET}-3`), grantType, parameters, { ...options, DPoP });
    return oauth.processGenericTokenEndpointResponse(as, AGENT, sent);
  };
  const issued = await ask().catch((error) => (oauth.isDPoPNonceError(error) ? ask() : Promise.reject(error)));
  assert.deepEqual([issued.token_type, issued.scope, issued.issued_token_type, issued.refresh_token], ["dpop", "github:read", TYPE, undefined]);
  const { sub, act, exp } = decodeJwt(issued.access_token);
  assert.deepEqual({ sub, act }, { sub: decodeJwt(subject).sub, act: { sub: "client.agent" } });
  assert.ok(exp <= decodeJwt(subject).exp);
  assert.equal(await call(issued.access_token), 401, "without a proof");
});
