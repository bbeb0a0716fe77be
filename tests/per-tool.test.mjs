// One address with tools for everyone and tools that need a sign-in (MCP_PER_TOOL_AUTHORIZATION): what each client of docs/CLIENTS.md
// does there, and what nobody reaches without a sign-in, by any protocol. Native tests: crates/toolbooth/src/protocol/mcp/tests/per_tool.rs.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import * as v2 from "@modelcontextprotocol/client";
import { UnauthorizedError as UnauthorizedV1 } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { entryOf } from "../packages/toolbooth/src/credentials.js";
import { freePort } from "./support/commands.mjs";
import { legacy, modern } from "./support/mcp.mjs";
import { addresses, payload, pathOf } from "./support/protocols.mjs";
import { Person } from "./support/sign-in.mjs";
import { CANARY, FIXTURES, start } from "./support/worker.mjs";

const KEY = `${CANARY}-key-of-ada`;
const REDIRECT = "http://localhost:3118/callback";
const [RUN, TELL] = ["fixture:run", "fixture:tell"];
const SCHEMES = [{ type: "oauth2", scopes: [RUN, TELL] }];
const OPEN = "Fixture_Silent";
const PROTECTED = "Fixture_Scoped";
// Needs the account of a user, a secret of theirs and a scope.
const OF_USER = "Fixture_Private";

let worker, address, without;
before(async () => {
  const port = await freePort();
  address = `http://127.0.0.1:${port}`;
  const vars = {
    AUTH: "none, sign-in, api-key",
    ANONYMOUS_SCOPES: undefined,
    API_KEYS: JSON.stringify([entryOf(KEY, "Ada", [RUN, TELL])]),
    PUBLIC_URL: address,
    STATE_KEY: `${CANARY}-state-key-of-at-least-32-bytes`,
  };
  worker = await start(FIXTURES, { port, vars: { ...vars, MCP_PER_TOOL_AUTHORIZATION: "true" } });
  without = await start(FIXTURES, { vars });
});
after(() => Promise.all([worker?.close(), without?.close()]));

/** The challenge of a header or of a result as an object. */
const parsed = (challenge) => Object.fromEntries([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));

/** The calls of a protected tool that have run. */
async function runs() {
  const events = await worker.events();
  return events.filter((it) => it["gen_ai.tool.name"] === PROTECTED && it.outcome === "done").length;
}

// What nobody reaches

test("without the option, lists leave protected tools out and calls of them are 403", async () => {
  const { json } = await legacy(without, "tools/list");
  assert.ok(!json.result.tools.some(({ name, securitySchemes }) => name === PROTECTED || securitySchemes));
  const reply = await legacy(without, "tools/call", { name: PROTECTED, arguments: {} });
  assert.deepEqual([reply.status, parsed(reply.headers["www-authenticate"]).error], [403, "insufficient_scope"]);
});

test("lists of the other protocols stay as they are", async () => {
  const lists = (await addresses(worker)).filter(({ method, path }) => method === "GET" && path !== "/" && !path.endsWith("/health"));
  assert.ok(lists.length > 10);
  for (const { path } of lists) {
    const [one, other] = await Promise.all([worker.get(path), without.get(path)]);
    const local = (text) => text.replaceAll(address, "").replaceAll(without.address, "");
    assert.deepEqual([one.status, local(one.text)], [other.status, local(other.text)], path);
    assert.doesNotMatch(one.text, /Fixture[_.]Scoped|securitySchemes":\[/, path);
  }
});

test("without a sign-in no protocol runs a protected tool, and each says so in its own way", async () => {
  const before = await runs();
  const calls = (await addresses(worker)).filter(({ method }) => method === "POST");
  assert.ok(calls.length > 10);
  for (const { path, protocol, form } of calls) {
    for (const [name, context] of [[PROTECTED], [OF_USER, { user_id: "ada", secrets: [{ id: "KEY", value: "k" }] }]]) {
      const reply = await worker.post(form.body(name, {}, context), { path: pathOf(path, name) });
      assert.equal(reply.status, protocol === "mcp" ? 401 : form.scope, `${path} ${reply.text}`);
      assert.match(protocol === "mcp" ? reply.json.error.message : form.failure(payload(reply)), /credentials/, path);
    }
  }
  for (const [method, params, path] of [
    ["tools/call", { name: "call_tool", arguments: { name: PROTECTED, arguments: {} } }],
    ["tools/call", { name: "call_tool", arguments: { name: PROTECTED, arguments: {} } }, "/mcp?tools=search"],
    ["tools/call", { name: "Fixture.Scoped@1.0.0", arguments: {} }],
    ["tools/call", { name: `${PROTECTED}__1_0_0`, arguments: {} }],
    ["resources/read", { uri: "toolbooth://tools/Fixture.Scoped@1.0.0" }],
    ["prompts/get", { name: PROTECTED }],
    ["completion/complete", { ref: { type: "ref/prompt", name: PROTECTED }, argument: { name: "a", value: "" } }],
  ]) {
    const can = { extensions: { "io.modelcontextprotocol/tasks": {} } };
    for (const reply of [await modern(worker, method, params, { path, can }), await legacy(worker, method, params, { path })]) {
      assert.ok(reply.json.error, `${method} ${reply.text}`);
    }
  }
  const call = { jsonrpc: "2.0", method: "tools/call", params: { name: PROTECTED, arguments: {} } };
  for (const body of [call, [{ ...call, id: 1 }], { ...call, id: 1, params: { ...call.params, name: [PROTECTED] } }]) {
    const { text } = await worker.post(body, { path: "/mcp" });
    assert.doesNotMatch(text, /"result"/);
  }
  assert.equal(await runs(), before);
});

test("credentials that are not valid are 401, also for what is open", async () => {
  for (const headers of [{ authorization: "Bearer e30.e30.e30" }, { "x-api-key": `${KEY}-of-another` }, { authorization: "Basic YTpi" }]) {
    for (const [method, params] of [["tools/list"], ["initialize"], ["tools/call", { name: OPEN, arguments: {} }], ["tools/call", { name: PROTECTED, arguments: {} }]]) {
      const reply = await legacy(worker, method, params, { headers });
      assert.deepEqual([reply.status, parsed(reply.headers["www-authenticate"]).error], [401, "invalid_token"], method);
    }
  }
});

// What clients do

/** An `OAuthClientProvider` that keeps everything in memory. */
class Store {
  saved = {};
  asked = [];
  redirectUrl = REDIRECT;
  clientMetadata = { client_name: "Test", redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" };
  state = () => "s";
  clientInformation = () => this.saved.client;
  saveClientInformation = (client) => { this.saved.client = client; };
  tokens = () => this.saved.tokens;
  saveTokens = (tokens) => { this.saved.tokens = tokens; };
  redirectToAuthorization = (url) => { this.asked.push(url); };
  saveCodeVerifier = (verifier) => { this.saved.verifier = verifier; };
  codeVerifier = () => this.saved.verifier;
  saveDiscoveryState = (state) => { this.saved.discovery = state; };
  discoveryState = () => this.saved.discovery;
}

const versions = (mode) => ({ versionNegotiation: { mode } });
const SDKS = {
  "client 2.4, modern": { Client: v2.Client, options: versions({ pin: "2026-07-28" }), Transport: v2.StreamableHTTPClientTransport, Unauthorized: v2.UnauthorizedError },
  "client 2.4, legacy": { Client: v2.Client, options: versions("legacy"), Transport: v2.StreamableHTTPClientTransport, Unauthorized: v2.UnauthorizedError },
  "sdk 1.32": { Client: ClientV1, options: {}, Transport: TransportV1, Unauthorized: UnauthorizedV1 },
};

for (const [name, { Client, options, Transport, Unauthorized }] of Object.entries(SDKS)) {
  test(`${name} connects without a sign-in, signs in when a tool needs it, and repeats the call`, async () => {
    const store = new Store();
    const transport = new Transport(new URL("/mcp", address), { authProvider: store });
    const client = new Client({ name: "test", version: "1" }, options);
    await client.connect(transport);
    const { tools } = await client.listTools();
    const meta = (tool) => tools.find(({ name }) => name === tool)._meta.securitySchemes;
    assert.deepEqual([meta(OPEN), meta(PROTECTED)], [[{ type: "noauth" }], SCHEMES]);
    assert.ok(!(await client.callTool({ name: OPEN, arguments: {} })).isError);
    assert.deepEqual(store.asked, [], "nobody was asked yet");
    const call = () => client.callTool({ name: PROTECTED, arguments: {} });
    await assert.rejects(call(), Unauthorized);
    const [url] = store.asked;
    assert.match(url.searchParams.get("scope"), /^fixture:run fixture:tell\b/);
    const back = (await new Person().agree(url, KEY)).searchParams;
    await transport.finishAuth(Client === v2.Client ? back : back.get("code"));
    const { content, isError } = await call();
    assert.ok(!isError);
    assert.match(content[0].text, /api-key:Ada/);
    // A token that lacks a scope: the client asks for one that has it.
    const store2 = new Store();
    Object.assign(store2.saved, { client: store.saved.client, tokens: await narrow(store.saved.client) });
    const second = new Transport(new URL("/mcp", address), { authProvider: store2 });
    const again = new Client({ name: "test", version: "1" }, options);
    await again.connect(second);
    assert.ok((await again.listTools()).tools.some((tool) => tool.name === PROTECTED));
    await assert.rejects(again.callTool({ name: PROTECTED, arguments: {} }), Unauthorized);
    assert.ok(store2.asked[0].searchParams.get("scope").split(" ").includes(TELL), "the client asks for the scope that is missing");
    await Promise.all([client.close(), again.close()]);
  });
}

/** The access token of a registered client, with one of the two scopes. With a refresh token, SDK 1 asks for no scope (typescript-sdk#2255). */
async function narrow({ client_id }) {
  const { refresh_token, ...tokens } = await signIn(`${address}/oauth/authorize`, `${address}/oauth/token`, client_id, RUN, `${address}/mcp`);
  assert.ok(refresh_token);
  assert.equal(tokens.scope, RUN);
  return tokens;
}

/** What a client does at an authorization server: a person agrees, and the client exchanges the code. */
async function signIn(authorize, token, client_id, scope, resource) {
  const verifier = randomBytes(32).toString("base64url");
  const code_challenge = createHash("sha256").update(verifier).digest("base64url");
  const url = new URL(authorize);
  const query = { client_id, response_type: "code", redirect_uri: REDIRECT, state: "s", code_challenge, code_challenge_method: "S256", scope, resource };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const code = (await new Person().agree(url, KEY)).searchParams.get("code");
  const body = new URLSearchParams({ grant_type: "authorization_code", client_id, code, redirect_uri: REDIRECT, code_verifier: verifier, resource });
  const response = await fetch(token, { method: "POST", body });
  assert.equal(response.status, 200);
  return response.json();
}

// The requests of ChatGPT, as OpenAI's documentation for apps and the logs of public servers have them.
test("ChatGPT (replayed): connects, finds what needs a sign-in, and reacts to the result", async () => {
  const agent = { "user-agent": "openai-mcp/1.0.0" };
  const info = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "openai-mcp", version: "1.0.0" } };
  assert.equal((await legacy(worker, "initialize", info, { headers: agent })).status, 200);
  const { tools } = (await legacy(worker, "tools/list", {}, { headers: agent })).json.result;
  assert.deepEqual(tools.find(({ name }) => name === PROTECTED).securitySchemes, SCHEMES);
  const call = (headers) => legacy(worker, "tools/call", { name: PROTECTED, arguments: {} }, { headers: { ...agent, ...headers } });
  const asked = await call();
  assert.equal(asked.status, 200, asked.text);
  const { isError, content, _meta } = asked.json.result;
  assert.ok(isError && content[0].text.includes("Sign in"));
  const [header] = _meta["mcp/www_authenticate"];
  assert.ok(header.startsWith("Bearer "));
  const { resource_metadata, scope, error, error_description } = parsed(header);
  assert.ok(error && error_description);
  const metadata = await (await fetch(resource_metadata)).json();
  const [issuer] = metadata.authorization_servers;
  const server = await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json();
  const registration = { client_name: "ChatGPT", redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" };
  const headers = { "content-type": "application/json" };
  const { client_id } = await (await fetch(server.registration_endpoint, { method: "POST", headers, body: JSON.stringify(registration) })).json();
  const at = [server.authorization_endpoint, server.token_endpoint, client_id];
  const bearer = ({ access_token }) => ({ authorization: `Bearer ${access_token}` });
  const done = await call(bearer(await signIn(...at, scope, metadata.resource)));
  assert.match(done.json.result.content[0].text, /api-key:Ada/);
  assert.ok((await runs()) > 0);
  // With a token that lacks a scope, it asks for that one.
  const less = await call(bearer(await signIn(...at, RUN, metadata.resource)));
  assert.equal(less.status, 200);
  const step = parsed(less.json.result._meta["mcp/www_authenticate"][0]);
  assert.equal(step.error, "insufficient_scope");
  assert.ok(step.scope.split(" ").includes(TELL), step.scope);
});

// As the logs of public servers have them: they speak the revision of their time, and name themselves in User-Agent only.
for (const agent of ["Claude-User", "claude-code/2.1.332 (cli)", "Cursor/1.0.0", "Visual Studio Code/1.120.0", "node", ""]) {
  test(`${agent || "a client that says nothing of itself"} (replayed) gets 401 with the address and the scopes`, async () => {
    const reply = await legacy(worker, "tools/call", { name: PROTECTED, arguments: {} }, { headers: { "user-agent": agent } });
    assert.equal(reply.status, 401, reply.text);
    const { resource_metadata, scope, error } = parsed(reply.headers["www-authenticate"]);
    assert.deepEqual([resource_metadata, scope, error], [`${address}/.well-known/oauth-protected-resource/mcp`, `${RUN} ${TELL}`, undefined]);
    assert.equal(reply.headers["cache-control"], "no-store");
  });
}

test("the search finds protected tools, and calling one asks for a sign-in", async () => {
  const path = "/mcp?tools=search";
  const { tools } = (await legacy(worker, "tools/list", {}, { path })).json.result;
  const both = [{ type: "noauth" }, { type: "oauth2" }];
  for (const { name, securitySchemes, _meta } of tools.slice(0, 2)) assert.deepEqual([securitySchemes, _meta.securitySchemes], [both, both], name);
  const call = (name, args) => legacy(worker, "tools/call", { name, arguments: args }, { path });
  const find = async (on) => {
    const reply = await legacy(on, "tools/call", { name: "search_tools", arguments: { query: "returns the caller; requires two scopes", limit: 20 } }, { path });
    return reply.json.result.structuredContent.tools.map(({ name }) => name);
  };
  assert.ok((await find(worker)).includes(PROTECTED));
  assert.ok(!(await find(without)).includes(PROTECTED));
  assert.equal((await call("call_tool", { name: PROTECTED, arguments: {} })).status, 401);
  assert.equal((await call("call_tool", { name: OPEN, arguments: {} })).status, 200);
  // The same search by another protocol finds what it always found.
  const rest = await worker.post({ query: "returns the caller; requires two scopes", limit: 20 }, { path: "/rest/search_tools" });
  assert.doesNotMatch(rest.text, /Fixture_Scoped/);
});

test("an address for clients that begin to sign in only when they connect", async () => {
  const path = "/mcp?auth=required";
  for (const send of [legacy, modern]) {
    const reply = await send(worker, send === legacy ? "initialize" : "server/discover", {}, { path });
    assert.equal(reply.status, 401);
    assert.match(reply.headers["www-authenticate"], /resource_metadata=/);
    assert.equal((await send(worker, "tools/list", {}, { path, headers: { "x-api-key": KEY } })).status, 200);
  }
});
