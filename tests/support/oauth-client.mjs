// Flows of oauth4webapi with a server: from discovery and registration to the callback, and the exchange of the code.
import assert from "node:assert/strict";
import * as oauth from "oauth4webapi";
import { Person } from "./sign-in.mjs";

export const options = { [oauth.allowInsecureRequests]: true };

/** The server's metadata, as the client reads them. */
export async function discover(address) {
  const issuer = new URL(address);
  const response = await oauth.discoveryRequest(issuer, { ...options, algorithm: "oauth2" });
  return oauth.processDiscoveryResponse(issuer, response);
}

/** Registers a client. */
export async function register(as, metadata) {
  return oauth.processDynamicClientRegistrationResponse(await oauth.dynamicClientRegistrationRequest(as, metadata, options));
}

/** A flow up to the callback. `changes` replace parameters of the authorization request; `undefined` omits one. */
export async function flow(
  address,
  { client, redirect, changes = {}, verifier = oauth.generateRandomCodeVerifier(), key, scope = "github:read offline_access" },
) {
  const as = await discover(address);
  client ??= await register(as, { redirect_uris: [redirect], token_endpoint_auth_method: "none" });
  const url = new URL(as.authorization_endpoint);
  const parameters = {
    client_id: client.client_id,
    redirect_uri: redirect,
    response_type: "code",
    scope,
    state: "some state",
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    resource: `${address}/mcp`,
    ...changes,
  };
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.set(name, value);
  return { as, client, url, verifier, redirect, agree: () => new Person().agree(url, key) };
}

/** Exchanges the code of a callback. */
export async function exchange({ as, client, verifier, redirect }, back, auth = oauth.None()) {
  const parameters = oauth.validateAuthResponse(as, client, back, "some state");
  const response = await oauth.authorizationCodeGrantRequest(as, client, auth, parameters, redirect, verifier, options);
  return oauth.processAuthorizationCodeResponse(as, client, response);
}

export const rejects = (promise, error, status = 400) =>
  assert.rejects(promise, (problem) => {
    assert.equal(problem.error, error, problem.message);
    assert.equal(problem.status, status);
    return true;
  });
