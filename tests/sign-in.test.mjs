// Sign-in with real clients: from a bare 401 to a call, by registration, by a client document and with a client of the
// operator; then the flow and its negatives with oauth4webapi. Native tests in crates/toolbooth-sign-in have the rest.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";
import * as v2 from "@modelcontextprotocol/client";
import { UnauthorizedError as UnauthorizedV1 } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as oauth from "oauth4webapi";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { environment, freePort, listens, root } from "./support/commands.mjs";
import { exchange, flow as flowOf, options, rejects } from "./support/oauth-client.mjs";
import { CLIENT, openidProvider } from "./support/oidc.mjs";
import { Person, chatgpt, claude, claudeCode, clientKeys, hosting, sha256 } from "./support/sign-in.mjs";
import { SAMPLES, CANARY, start } from "./support/worker.mjs";

const KEY = `${CANARY}-key-of-ada`;
const KEY_OF_READER = `${CANARY}-key-that-may-read`;
const REDIRECT = "http://localhost:3118/callback";
const OPERATOR = { id: "connector", secret: `${CANARY}-secret-of-the-connector` };

let worker, vars, address, documents, keys, provider;
before(async () => {
  keys = clientKeys();
  documents = await hosting({
    "/oauth/mcp-oauth-client-metadata": claude,
    "/oauth/claude-code-client-metadata": claudeCode,
    "/oauth/abc/client.json": chatgpt,
    "/strict/client.json": (base) => ({
      ...chatgpt(base),
      client_id: `${base}/strict/client.json`,
      token_endpoint_auth_methods_supported: ["private_key_jwt"],
    }),
    "/oauth/jwks.json": () => ({ keys: [keys.jwk] }),
  });
  const port = await freePort();
  address = `http://127.0.0.1:${port}`;
  provider = await openidProvider(`${address}/auth/callback/corp`);
  vars = {
    AUTH: "sign-in, api-key",
    API_KEYS: JSON.stringify([entryOf(KEY, "Ada", ["*"]), entryOf(KEY_OF_READER, "Reader", ["github:read"])]),
    PUBLIC_URL: address,
    STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`,
    OAUTH_PROVIDERS: "corp",
    OAUTH_CORP_TITLE: "Corp",
    OAUTH_CORP_CLIENT_ID: CLIENT.id,
    OAUTH_CORP_CLIENT_SECRET: CLIENT.secret,
    OAUTH_CORP_ISSUER: provider.issuer,
    SIGN_IN_ALLOWED: [{ who: "corp:id/ada", scopes: ["*"] }],
    SIGN_IN_CLIENTS: JSON.stringify([
      { id: OPERATOR.id, name: "Connector", redirect_uris: [REDIRECT], secret_hash: sha256(OPERATOR.secret) },
    ]),
  };
  worker = await start(SAMPLES, { port, vars });
});
after(async () => {
  await worker.close();
  await Promise.all([documents.close(), provider.close()]);
});

/** An `OAuthClientProvider` that keeps everything in memory. */
class Store {
  saved = {};

  constructor(metadata, client) {
    this.clientMetadata = { client_name: "Test", redirect_uris: [this.redirectUrl], ...metadata };
    this.saved.client = client;
  }

  get redirectUrl() {
    return REDIRECT;
  }

  state = () => "some state";
  clientInformation = () => this.saved.client;
  saveClientInformation = (client) => { this.saved.client = client; };
  tokens = () => this.saved.tokens;
  saveTokens = (tokens) => { this.saved.tokens = tokens; };
  redirectToAuthorization = (url) => { this.url = url; };
  saveCodeVerifier = (verifier) => { this.saved.verifier = verifier; };
  codeVerifier = () => this.saved.verifier;
  saveDiscoveryState = (state) => { this.saved.discovery = state; };
  discoveryState = () => this.saved.discovery;
  invalidateCredentials = (kind) => {
    if (kind === "all" || kind === "tokens") delete this.saved.tokens;
    if (kind === "all" || kind === "client") delete this.saved.client;
  };
}

const SDKS = {
  "client 2": { Client: v2.Client, Transport: v2.StreamableHTTPClientTransport, Unauthorized: v2.UnauthorizedError },
  "sdk 1": { Client: ClientV1, Transport: TransportV1, Unauthorized: UnauthorizedV1 },
};

/** Connects from a bare 401: lets `agree` answer the consent page, and calls a tool. */
async function connected({ Client, Transport, Unauthorized }, store, agree) {
  const make = () => [new Client({ name: "test", version: "1" }), new Transport(new URL("/mcp", address), { authProvider: store })];
  const [first, transport] = make();
  await assert.rejects(first.connect(transport), Unauthorized);
  assert.equal(store.url.searchParams.get("resource"), `${address}/mcp`);
  const back = await agree(store.url);
  assert.equal(back.searchParams.get("state"), "some state");
  if (Client === v2.Client) await transport.finishAuth(back.searchParams);
  else await transport.finishAuth(back.searchParams.get("code"));
  const [client, again] = make();
  await client.connect(again);
  const { content } = await client.callTool({ name: "Calculator_Add", arguments: { a: 2, b: 40 } });
  assert.match(content[0].text, /42/);
  return client;
}

for (const [name, sdk] of Object.entries(SDKS)) {
  for (const metadata of [
    { token_endpoint_auth_method: "none", grant_types: ["authorization_code", "refresh_token"] },
    { token_endpoint_auth_method: "client_secret_post", grant_types: ["authorization_code", "refresh_token"] },
    { token_endpoint_auth_method: "client_secret_basic" },
    {},
  ]) {
    test(`${name} registers itself: ${JSON.stringify(metadata)}`, async () => {
      const store = new Store(metadata);
      const client = await connected(sdk, store, (url) => new Person().agree(url, KEY));
      await client.close();
      assert.ok(store.saved.tokens.refresh_token, "the client asks for offline_access, or for refresh tokens");
      const { expires_in, scope } = store.saved.tokens;
      assert.deepEqual([expires_in, scope], [3600, store.url.searchParams.get("scope")]);
      assert.match(scope, /^github:read github:write\b/);
    });
  }

  test(`${name} with a client of the operator`, async () => {
    const store = new Store({}, { client_id: OPERATOR.id, client_secret: OPERATOR.secret });
    await (await connected(sdk, store, (url) => new Person().agree(url, KEY))).close();
  });

  test(`${name} with Claude Code's document`, async () => {
    const store = new Store({}, { client_id: `${documents.base}/oauth/claude-code-client-metadata` });
    let page;
    const agree = async (url) => {
      const person = new Person();
      page = await person.visit(url);
      return new URL((await person.answer(page, "key", { api_key: KEY })).location);
    };
    await (await connected(sdk, store, agree)).close();
    assert.match(page.text, /Claude Code/);
    assert.match(page.text, /described by <strong><bdi>127\.0\.0\.1/);
    assert.match(page.text, /a program on this computer/);
  });

  test(`${name} refreshes by itself, and a revoked grant asks again`, async () => {
    const store = new Store({ token_endpoint_auth_method: "none", grant_types: ["authorization_code", "refresh_token"] });
    await (await connected(sdk, store, (url) => new Person().agree(url, KEY))).close();
    const before = store.saved.tokens;
    store.saved.tokens = { ...before, access_token: "expired" };
    const call = async () => {
      const client = new sdk.Client({ name: "test", version: "1" });
      await client.connect(new sdk.Transport(new URL("/mcp", address), { authProvider: store }));
      await client.close();
    };
    await call();
    assert.notEqual(store.saved.tokens.refresh_token, before.refresh_token);
    const { refresh_token: token } = store.saved.tokens;
    const body = new URLSearchParams({ token, client_id: store.saved.client.client_id });
    assert.equal((await fetch(`${address}/oauth/revoke`, { method: "POST", body })).status, 200);
    store.saved.tokens = { ...store.saved.tokens, access_token: "expired" };
    store.url = undefined;
    await assert.rejects(call(), sdk.Unauthorized);
    assert.ok(store.url, "the user is asked again");
  });
}

test("a tool that needs more scopes than the token has asks for these and those that the token has", async () => {
  const store = new Store({ token_endpoint_auth_method: "none" });
  const client = await connected(SDKS["client 2"], store, (url) => new Person().agree(url, KEY_OF_READER));
  await client.close();
  const token = store.saved.tokens.access_token;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/json, text/event-stream" };
  const params = { name: "GitHub_CreateIssue", arguments: { owner: "octocat", repository: "hello-world", title: "A" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const response = await fetch(`${address}/mcp`, { method: "POST", headers, body });
  assert.equal(response.status, 403);
  const challenge = response.headers.get("www-authenticate");
  assert.match(challenge, /error="insufficient_scope", scope="github:read github:write", resource_metadata=/);
});

test("somebody signs in at an OpenID provider", async () => {
  const store = new Store({ token_endpoint_auth_method: "none", scope: "github:read" });
  const through = (login) => async (url) => {
    const person = new Person();
    const page = await person.visit(url);
    assert.match(page.text, /sign in with <bdi>Corp<\/bdi>/);
    let reply = await person.answer(page, "provider");
    for (let hops = 0; hops < 12; hops += 1) {
      if (reply.status === 200) {
        // The pages of the provider: log in, then consent.
        const body = String(new URLSearchParams(/name="login"/.test(reply.text) ? { login } : { answer: "yes" }));
        const headers = { "content-type": "application/x-www-form-urlencoded" };
        reply = await person.visit(reply.url, { method: "POST", body, headers });
      } else if (reply.location?.startsWith(REDIRECT)) {
        return new URL(reply.location);
      } else if (reply.location) {
        reply = await person.visit(reply.location);
      } else {
        return reply;
      }
    }
    throw new Error(`too many redirects, at last ${reply.status} ${reply.url}`);
  };
  const client = await connected(SDKS["client 2"], store, through("ada"));
  await client.close();
  const [, claims] = store.saved.tokens.access_token.split(".");
  assert.equal(JSON.parse(Buffer.from(claims, "base64url")).sub, "corp:ada");
  const refused = await through("bob")(store.url);
  assert.equal(refused.status, 403);
  assert.match(refused.text, /This account may not sign in/);
});

const flow = (more = {}) => flowOf(address, { redirect: REDIRECT, key: KEY, ...more });

test("oauth4webapi: discovery, registration, code, refresh, revocation", async () => {
  const one = await flow();
  const tokens = await exchange(one, await one.agree());
  assert.equal(tokens.scope, "github:read offline_access");
  const { as, client } = one;
  const refresh = async (token) => {
    const response = await oauth.refreshTokenGrantRequest(as, client, oauth.None(), token, options);
    return oauth.processRefreshTokenResponse(as, client, response);
  };
  const next = await refresh(tokens.refresh_token);
  assert.ok(await refresh(tokens.refresh_token), "the response may have been lost");
  await oauth.processRevocationResponse(await oauth.revocationRequest(as, client, oauth.None(), next.refresh_token, options));
  await rejects(refresh(next.refresh_token), "invalid_grant");
});

test("oauth4webapi: a wrong verifier, and a code that is used twice", async () => {
  const one = await flow();
  const back = await one.agree();
  await rejects(exchange({ ...one, verifier: oauth.generateRandomCodeVerifier() }, back), "invalid_grant");
  const tokens = await exchange(one, back);
  await rejects(exchange(one, back), "invalid_grant");
  const { as, client } = one;
  const response = await oauth.refreshTokenGrantRequest(as, client, oauth.None(), tokens.refresh_token, options);
  await rejects(oauth.processRefreshTokenResponse(as, client, response), "invalid_grant");
});

test("oauth4webapi: requests that are rejected", async () => {
  for (const [changes, error] of [
    [{ code_challenge_method: "plain" }, "invalid_request"],
    [{ code_challenge_method: undefined }, "invalid_request"],
    [{ code_challenge: undefined }, "invalid_request"],
    [{ response_type: "token" }, "unsupported_response_type"],
    [{ resource: "https://other.example/mcp" }, "invalid_target"],
  ]) {
    const { as, client, url } = await flow({ changes });
    const reply = await new Person().visit(url);
    assert.equal(reply.status, 303, reply.text);
    const problem = (() => {
      try {
        return oauth.validateAuthResponse(as, client, new URL(reply.location), "some state");
      } catch (caught) {
        return caught;
      }
    })();
    assert.equal(problem.error, error, JSON.stringify(changes));
  }
  for (const redirect_uri of ["http://localhost:3118/other", "http://127.0.0.1:3118/callback", "https://localhost:3118/callback"]) {
    const { url } = await flow({ changes: { redirect_uri } });
    const reply = await new Person().visit(url);
    assert.deepEqual([reply.status, reply.location], [400, undefined], redirect_uri);
  }
  const https = await flow({ redirect: "https://client.example/cb", changes: { redirect_uri: "https://client.example:8443/cb" } });
  assert.equal((await new Person().visit(https.url)).status, 400, "only loopback ports may differ");
  const port = await flow({ changes: { redirect_uri: "http://localhost:50000/callback" } });
  assert.equal((await new Person().visit(port.url)).status, 200);
});

test("oauth4webapi: another issuer's response is not accepted", async () => {
  const one = await flow();
  const back = await one.agree();
  const other = { ...one.as, issuer: "http://other.example" };
  assert.throws(() => oauth.validateAuthResponse(other, one.client, back, "some state"), /iss/);
  back.searchParams.delete("iss");
  assert.throws(() => oauth.validateAuthResponse(one.as, one.client, back, "some state"), /iss/);
});

test("the documents of Claude and ChatGPT", async () => {
  const https = async (path, redirect, auth, status) => {
    const one = await flow({ client: { client_id: `${documents.base}${path}` }, redirect });
    const back = await one.agree();
    if (status) return rejects(exchange(one, back, auth), "invalid_client", status);
    const tokens = await exchange(one, back, auth);
    assert.ok(tokens.refresh_token);
  };
  const key = await crypto.subtle.importKey(
    "jwk", keys.privateKey.export({ format: "jwk" }), { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, false, ["sign"],
  );
  const stranger = await crypto.subtle.importKey(
    "jwk", clientKeys().privateKey.export({ format: "jwk" }), { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, false, ["sign"],
  );
  const signed = (key) => oauth.PrivateKeyJwt({ key, kid: "1" });
  await https("/oauth/mcp-oauth-client-metadata", "https://claude.ai/api/mcp/auth_callback", oauth.None());
  const chat = "https://chatgpt.com/connector/oauth/abc";
  await https("/oauth/abc/client.json", chat, oauth.None());
  await https("/oauth/abc/client.json", chat, signed(key));
  await https("/oauth/abc/client.json", chat, signed(stranger), 401);
  await https("/strict/client.json", chat, oauth.None(), 401);
  await https("/strict/client.json", chat, signed(key));
});

test("pages of other sites can neither send the form nor read the endpoints", async () => {
  const { url, agree } = await flow();
  await agree();
  const page = await new Person().visit(url);
  assert.match(page.headers["content-security-policy"], /frame-ancestors 'none'/);
  const headers = { "content-type": "application/x-www-form-urlencoded", origin: "https://evil.example" };
  const forged = await new Person().visit(`${address}/oauth/authorize`, { method: "POST", headers, body: "request=x&with=session" });
  assert.equal(forged.status, 403);
  const token = await new Person().visit(`${address}/oauth/token`, { method: "POST", headers, body: "grant_type=refresh_token" });
  assert.equal(token.status, 403);
});

/** Sends a form to an endpoint of another instance; checks the reply against the contract. */
const form = (instance, path, fields) =>
  instance.request("POST", path, {
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: String(new URLSearchParams(fields)),
  });

test("another instance, whose store knows nothing, exchanges the code and refreshes; one whose store fails does not", async () => {
  // Without the ledger, which would decide instead of the store.
  const without = { vars, ledger: false };
  const [behind, failing] = await Promise.all([start(SAMPLES, without), start(SAMPLES, { ...without, kv: "failing" })]);
  try {
    const one = await flow();
    const code = (await one.agree()).searchParams.get("code");
    const { client_id } = one.client;
    const exchange = { grant_type: "authorization_code", client_id, code, redirect_uri: REDIRECT, code_verifier: one.verifier };
    const refused = await form(failing, "/oauth/token", exchange);
    assert.deepEqual([refused.status, refused.json.error, refused.headers["retry-after"]], [503, "temporarily_unavailable", "5"]);
    const issued = await form(behind, "/oauth/token", exchange);
    assert.equal(issued.status, 200, issued.text);
    const refresh = { grant_type: "refresh_token", client_id, refresh_token: issued.json.refresh_token };
    assert.equal((await form(failing, "/oauth/token", refresh)).status, 503);
    assert.equal((await form(failing, "/oauth/revoke", { client_id, token: issued.json.refresh_token })).status, 503);
    assert.equal((await form(worker, "/oauth/token", refresh)).status, 200);
    const call = { tool_id: "Calculator.Add", input: { a: 1, b: 2 } };
    const headers = { authorization: `Bearer ${issued.json.access_token}` };
    assert.equal((await failing.post(call, { headers })).status, 200, "calls do not need the store");
    const again = await form(behind, "/oauth/token", exchange);
    assert.deepEqual([again.status, again.json.error], [400, "invalid_grant"]);
  } finally {
    assert.ok((await failing.logs()).every(({ message }) => message.includes('"event":"store"')));
    await Promise.all([behind.close(), failing.close()]);
  }
});

test("sign-ins, and tokens that are issued, rejected and revoked, are logged", async () => {
  const instance = await start(SAMPLES, { vars });
  try {
    const one = await flow();
    const code = (await one.agree()).searchParams.get("code");
    const { client_id } = one.client;
    const exchange = { grant_type: "authorization_code", client_id, code, redirect_uri: REDIRECT, code_verifier: one.verifier };
    const { json } = await form(instance, "/oauth/token", exchange);
    await form(instance, "/oauth/token", { ...exchange, client_id: "unknown" });
    await form(instance, "/oauth/revoke", { client_id, token: json.access_token });
    const lines = await instance.events();
    const seen = lines.map(({ event, level, caller, audit, client, scope, ...rest }) => [event, level, caller?.split(":")[0], ...Object.values(rest)]);
    assert.deepEqual(seen, [
      ["tokens_issued", "log", "user", "done", "authorization_code"],
      ["tokens_rejected", "warn", undefined, "rejected", "authorization_code", "invalid_client", "the client is not registered"],
      ["client_revoked", "log", "user", "done", "requested"],
    ]);
    assert.ok((await worker.events()).some(({ event, method }) => event === "signed_in" && method === "api-key"));
  } finally {
    await instance.close();
  }
});

test("MCP's conformance suite for authorization servers passes", async () => {
  const port = await freePort();
  const metadata = { redirect_uris: ["http://127.0.0.1/callback"], token_endpoint_auth_method: "none" };
  const { json } = await worker.post(metadata, { path: "/oauth/register" });
  const options = ["--url", address, "--client-id", json.client_id, "--resource", `${address}/mcp`, "--port", `${port}`];
  const suite = spawn("node_modules/.bin/conformance", ["authorization", ...options], { cwd: root, env: environment() });
  let text = "", visited;
  suite.stdout.on("data", (part) => {
    text += part;
    const [url] = /http:\S+\/oauth\/authorize\?\S+(?=\n)/.exec(text) ?? [];
    visited ??= url && agree(url);
  });
  const agree = async (url) => {
    const back = await new Person().agree(url, KEY);
    // The suite prints the address before it listens.
    await listens(port);
    return fetch(back);
  };
  const code = await new Promise((resolve) => suite.on("close", resolve));
  assert.equal((await visited)?.status, 200, text);
  assert.equal(code, 0, text);
  assert.doesNotMatch(text, /SKIPPED|WARNING/, text);
});
