// A real authorization server on a loopback port: `oidc-provider`, with simple pages to log in and to
// consent. Its access tokens are opaque: an API looks them up with `account`.
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import { SignJWT } from "jose";
import Provider, { errors } from "oidc-provider";
import MemoryAdapter from "oidc-provider/lib/adapters/memory_adapter.js";
import { listen } from "./server.mjs";
import { CANARY } from "./worker.mjs";

export const CLIENT = { id: "booth", secret: `${CANARY}-client-secret` };
/** A public client that gets assertions (ID-JAG) for ID tokens, if `openidProvider` has `assertions`. */
export const DESKTOP = { id: "desktop" };
const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const TOKEN_TYPE = "urn:ietf:params:oauth:token-type:";

const page = (title, form) =>
  `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1><form method="post">${form}</form>`;
const PAGES = {
  login: page("Log in", '<label>Name <input name="login" autofocus></label><button>Log in</button>'),
  consent: page("Consent", '<button name="answer" value="yes">Allow</button><button name="answer" value="no">Deny</button>'),
};

/**
 * Starts it, with one client whose callback is `redirectUri`. ID tokens have the claim `groups`, if `groups` says what a user is in. `now` controls its behaviour: `down` makes its
 * token endpoint drop connections, `expires_in` is the reported lifetime of access tokens. `events` has
 * the names of events since it was last emptied, `secrets` all codes and tokens. `assertions` are the claims of the assertions that it
 * issues to `DESKTOP`, besides those which follow from the request: above all the `client_id` of that client elsewhere.
 */
export async function openidProvider(redirectUri, { groups, assertions } = {}) {
  const now = {};
  const events = [];
  const secrets = new Set();
  const signingKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const { base: issuer, close } = await listen((request, response) => respond(request, response));
  const provider = new Provider(issuer, {
    // A subclass, because the adapter prints a warning under its own name.
    adapter: class extends MemoryAdapter {},
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUri],
        grant_types: ["authorization_code", "refresh_token"],
      },
      ...(assertions
        ? [
            {
              client_id: DESKTOP.id,
              application_type: "native",
              token_endpoint_auth_method: "none",
              redirect_uris: [redirectUri],
              grant_types: ["authorization_code", "refresh_token", EXCHANGE],
            },
          ]
        : []),
    ],
    cookies: { keys: [CANARY] },
    expiresWithSession: () => false,
    features: { devInteractions: { enabled: false }, revocation: { enabled: true, allowedPolicy: () => true } },
    claims: { openid: ["sub"], ...(groups && { groups: ["groups"] }) },
    conformIdTokenClaims: false,
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, ...(groups && { groups: groups(sub) }) }) }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: () => true,
    jwks: { keys: [{ ...signingKey.export({ format: "jwk" }), kid: "1" }] },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    scopes: ["openid", "offline_access", "repo", ...(groups ? ["groups"] : [])],
    ttl: { AccessToken: 3600, Grant: 86400, IdToken: 3600, Interaction: 600, RefreshToken: 86400, Session: 86400, AuthorizationCode: 600 },
  });
  /** Exchanges an ID token for an assertion (RFC 8693). The package has no such grant. */
  async function exchange(context) {
    const { client, params } = context.oidc;
    const types = [params.requested_token_type, params.subject_token_type];
    if (String(types) !== `${TOKEN_TYPE}id-jag,${TOKEN_TYPE}id_token`) throw new errors.InvalidRequest("other types of tokens");
    const { payload } = await provider.IdToken.validate(params.subject_token, client).catch((error) => {
      throw new errors.InvalidGrant(error.message);
    });
    const { audience: aud, resource, scope } = params;
    const token = new SignJWT({ iss: issuer, sub: payload.sub, aud, resource, scope, jti: randomUUID(), ...assertions });
    token.setProtectedHeader({ alg: "RS256", kid: "1", typ: "oauth-id-jag+jwt" }).setIssuedAt().setExpirationTime("5m");
    const access_token = await token.sign(signingKey);
    context.body = { issued_token_type: types[0], access_token, token_type: "N_A", expires_in: 300, scope };
  }
  if (assertions) {
    const parameters = ["audience", "resource", "scope", "requested_token_type", "subject_token", "subject_token_type"];
    provider.registerGrantType(EXCHANGE, exchange, parameters);
  }
  provider.on("grant.success", ({ oidc }) => events.push(oidc.params.grant_type));
  provider.on("grant.error", (_, { error }) => events.push(error));
  provider.on("grant.revoked", () => events.push("revoked"));
  provider.use(async (context, next) => {
    await next();
    if (context.path !== "/token" || context.status !== 200) return;
    const { access_token, refresh_token } = context.body;
    for (const secret of [context.oidc.params.code, access_token, refresh_token]) if (secret) secrets.add(secret);
    if (now.expires_in !== undefined) context.body.expires_in = now.expires_in;
  });

  async function interact(request, response) {
    const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
    if (request.method === "GET") {
      return response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(PAGES[prompt.name]);
    }
    const form = new URLSearchParams(await text(request));
    const result = {};
    if (prompt.name === "login") {
      result.login = { accountId: form.get("login") };
    } else if (form.get("answer") === "yes") {
      const granted = { accountId: session.accountId, clientId: params.client_id };
      const grant = (grantId && (await provider.Grant.find(grantId))) || new provider.Grant(granted);
      grant.addOIDCScope(params.scope);
      result.consent = { grantId: await grant.save() };
    } else {
      result.error = "access_denied";
    }
    await provider.interactionFinished(request, response, result);
  }

  const answer = provider.callback();
  const respond = async (request, response) => {
    if (now.down && request.url === "/token") return request.socket.destroy();
    if (!request.url.startsWith("/interaction/")) return answer(request, response);
    await interact(request, response).catch((error) => response.writeHead(400).end(error.message));
  };
  return {
    issuer,
    now,
    events,
    secrets,
    /** The private key whose public part it publishes. */
    signingKey,
    /** The account of a valid access token. */
    async account(token) {
      const found = await provider.AccessToken.find(token);
      return found?.scopes.has("repo") ? found.accountId : undefined;
    },
    /** Revokes a token, as its client may (RFC 7009). */
    async revoke(token) {
      const authorization = `Basic ${btoa(`${CLIENT.id}:${CLIENT.secret}`)}`;
      const body = new URLSearchParams({ token });
      return (await fetch(`${issuer}/token/revocation`, { method: "POST", headers: { authorization }, body })).status;
    },
    close,
  };
}
