// A stand-in authorization server on a loopback port that authorizes every user without asking. It has no
// discovery document; codes (with PKCE) and refresh tokens are single-use. oidc.mjs has a real server.
import { createHash } from "node:crypto";
import { listen } from "./server.mjs";
import { CANARY } from "./worker.mjs";

export const CLIENT = { id: "booth", secret: `${CANARY}-client-secret` };
const hash = (text) => createHash("sha256").update(text).digest("base64url");

/** Starts it. `now` controls its behaviour: `location` redirects token requests, `expires_in` is the lifetime
 * of tokens, `scope` what they grant, `broken` makes revocations fail. `revoked` has the revocation requests. */
export async function authorizationServer() {
  const now = {};
  const codes = new Map();
  const refreshTokens = new Set();
  const revoked = [];
  let issued = 0;

  function authorize(query, response) {
    const back = new URL(query.get("redirect_uri"));
    back.searchParams.set("state", query.get("state"));
    const code = `${CANARY}-code-${codes.size}`;
    codes.set(code, query);
    back.searchParams.set("code", code);
    response.writeHead(302, { location: back.href }).end();
  }

  function isValid(form) {
    if (form.get("client_id") !== CLIENT.id || form.get("client_secret") !== CLIENT.secret) return false;
    if (form.get("grant_type") === "refresh_token") return refreshTokens.delete(form.get("refresh_token"));
    const asked = codes.get(form.get("code"));
    codes.delete(form.get("code"));
    return (
      asked?.get("redirect_uri") === form.get("redirect_uri") &&
      asked.get("code_challenge_method") === "S256" &&
      asked.get("code_challenge") === hash(form.get("code_verifier"))
    );
  }

  function token(form, response) {
    const answer = (status, body) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (now.location) return response.writeHead(307, { location: now.location }).end();
    if (!isValid(form)) return answer(400, { error: "invalid_grant" });
    issued += 1;
    const refresh_token = `${CANARY}-refresh-${issued}`;
    refreshTokens.add(refresh_token);
    const { expires_in, scope = "repo" } = now;
    answer(200, { access_token: `${CANARY}-access-${issued}`, token_type: "bearer", refresh_token, expires_in, scope });
  }

  const server = await listen(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://localhost");
    if (pathname === "/authorize") return authorize(searchParams, response);
    let body = "";
    for await (const part of request) body += part;
    if (pathname.startsWith("/applications/")) {
      const { method, headers } = request;
      revoked.push({ method, pathname, authorization: headers.authorization, body });
      return response.writeHead(now.broken ? 503 : 204).end();
    }
    token(new URLSearchParams(body), response);
  });
  return { ...server, now, revoked };
}
