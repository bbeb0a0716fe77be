// A client with oauth4webapi and plain requests, for any authorization server that registers clients.
import * as oauth from "oauth4webapi";
import { Person } from "../../tests/support/sign-in.mjs";
import { KEY } from "./servers.mjs";

export const REDIRECT = "http://localhost:3118/callback";
export const SCOPE = "github:read offline_access";
const STATE = "some state";

const options = (server, place, more) => ({ [oauth.allowInsecureRequests]: true, [oauth.customFetch]: server.fetch[place], ...more });

export async function discover(server, place = "main") {
  const issuer = new URL(server.base);
  return oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { ...options(server, place), algorithm: "oauth2" }));
}

export async function register(server, metadata = {}, place = "main") {
  const as = await discover(server);
  const sent = { client_name: "Test", redirect_uris: [REDIRECT], token_endpoint_auth_method: "none", ...metadata };
  return oauth.processDynamicClientRegistrationResponse(await oauth.dynamicClientRegistrationRequest(as, sent, options(server, place)));
}

/** An authorization that has not been agreed to. `changes` are parameters of its URL; undefined removes one. */
export async function begin(server, { client, metadata, changes = {}, redirect = REDIRECT } = {}) {
  const as = await discover(server);
  client ??= await register(server, { redirect_uris: [redirect], ...metadata });
  const verifier = oauth.generateRandomCodeVerifier();
  const url = new URL(as.authorization_endpoint);
  const parameters = {
    client_id: client.client_id,
    redirect_uri: redirect,
    response_type: "code",
    scope: SCOPE,
    state: STATE,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    resource: `${server.base}/mcp`,
    ...changes,
  };
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
  return { server, as, client, verifier, redirect: parameters.redirect_uri, url };
}

/** Agrees, and returns the parameters of the callback. */
export async function agree({ as, client, url }) {
  return oauth.validateAuthResponse(as, client, await new Person().agree(url, KEY), STATE);
}

/** What the authorization endpoint answers: a page, or an error for the client. */
export async function visit({ as, client, url, server }, place = "main") {
  const reply = await server.fetch[place](url);
  await reply.arrayBuffer();
  if (reply.status < 300 || reply.status > 399) return `page ${reply.status}`;
  try {
    oauth.validateAuthResponse(as, client, new URL(reply.headers.get("location")), STATE);
    return "redirect with a code";
  } catch (problem) {
    return `redirect with ${problem.error ?? problem.message}`;
  }
}

const authentication = ({ client_secret, token_endpoint_auth_method: method }) => {
  if (!client_secret) return oauth.None();
  return method === "client_secret_post" ? oauth.ClientSecretPost(client_secret) : oauth.ClientSecretBasic(client_secret);
};

export async function exchange({ server, as, client, redirect, verifier }, callback, { place = "main", resource = `${server.base}/mcp` } = {}) {
  const more = options(server, place, { additionalParameters: { resource } });
  const response = await oauth.authorizationCodeGrantRequest(as, client, authentication(client), callback, redirect, verifier, more);
  return oauth.processAuthorizationCodeResponse(as, client, response);
}

export async function refresh({ server, as, client }, token, { place = "main", ...parameters } = {}) {
  const more = options(server, place, { additionalParameters: parameters });
  const response = await oauth.refreshTokenGrantRequest(as, client, authentication(client), token, more);
  return oauth.processRefreshTokenResponse(as, client, response);
}

export async function revoke({ server, as, client }, token, place = "main") {
  return oauth.processRevocationResponse(await oauth.revocationRequest(as, client, authentication(client), token, options(server, place)));
}

/** A grant with its tokens. */
export async function connect(server, settings) {
  const one = await begin(server, settings);
  const callback = await agree(one);
  return { ...one, callback, tokens: await exchange(one, callback) };
}

const CALL = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "Calculator_Add", arguments: { a: 2, b: 40 } } };

/** A request that calls a tool. */
export const toolCall = (token) => ({
  method: "POST",
  headers: {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(token && { authorization: `Bearer ${token}` }),
  },
  body: JSON.stringify(CALL),
});

/** The status of a call of a tool, and what its challenge has. */
export async function call(server, token, place = "main") {
  const reply = await server.fetch[place](`${server.base}/mcp`, toolCall(token));
  const text = await reply.text();
  if (reply.status === 200) return text.includes("42") ? "200" : `200 without the result: ${text}`;
  const challenge = reply.headers.get("www-authenticate") ?? "";
  const parts = [/error="(\w+)"/.exec(challenge)?.[1], /resource_metadata="/.test(challenge) && "resource_metadata"];
  return [reply.status, ...parts].filter(Boolean).join(" ");
}

const body = (response) => response.json().catch(() => undefined);

/** `describe` of the value, or the error that the server reports. */
export async function outcome(promise, describe = () => "ok") {
  try {
    return describe(await promise);
  } catch (problem) {
    if (problem.error) return `${problem.status} ${problem.error}`;
    // A response with a challenge, or one that is not of OAuth.
    const response = problem.response ?? problem.cause?.response ?? problem.cause;
    if (response?.status) return `${response.status} ${(await body(response))?.error ?? "without an OAuth error"}`;
    throw problem;
  }
}

/** The outcomes of steps, one after the other. */
export async function inOrder(steps) {
  const outcomes = [];
  for (const step of steps) outcomes.push(await step());
  return outcomes.join(", then ");
}
