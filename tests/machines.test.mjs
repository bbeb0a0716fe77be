// Clients that act for themselves (client_credentials): real clients with real keys, against a running Worker. The tables of what is
// rejected are in crates/toolbooth-sign-in/src/sign_in/tests/machines.rs.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, ClientCredentialsProvider, PrivateKeyJwtProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { exportJWK, exportPKCS8, generateKeyPair } from "jose";
import * as oauth from "oauth4webapi";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { discover, options } from "./support/oauth-client.mjs";
import { startSignIn } from "./support/sign-in-server.mjs";
import { CANARY } from "./support/worker.mjs";

const SECRET = `${CANARY}-key-of-the-robot`;
const ROBOT = { client_id: "The robot: 1%" };
// Some clients do not encode what they send as HTTP Basic.
const PLAIN = { client_id: "plain" };
const KEYED = { client_id: "keyed" };
const ALGORITHMS = ["ES256", "EdDSA", "RS256"];

let worker, address, as, keys;
before(async () => {
  keys = Object.fromEntries(await Promise.all(ALGORITHMS.map(async (alg) => [alg, await generateKeyPair(alg, { extractable: true })])));
  const jwks = { keys: await Promise.all(ALGORITHMS.map(async (alg) => ({ ...(await exportJWK(keys[alg].publicKey)), alg }))) };
  const entries = [entryOf(SECRET, ROBOT.client_id, ["github:read"]), entryOf(`${SECRET}-2`, PLAIN.client_id, []), { name: KEYED.client_id, scopes: [], jwks }];
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
