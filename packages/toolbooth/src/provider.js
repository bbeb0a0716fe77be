// A stand-in for the OAuth providers of the tools, so that the flow in which users authorize tools works without any of
// them. Its tokens are worthless: services reject them.
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { createServer } from "node:http";

const CLIENT = "development";

/** Starts the provider on this machine. `vars` configures a Worker at `address` that uses it for the providers `ids`. */
export async function standIn(ids, address) {
  const codes = new Map();
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, "http://localhost");
    if (url.pathname === "/authorize") return authorize(url.searchParams, codes, response);
    if (url.pathname === "/token" && request.method === "POST") {
      const { status, body } = token(new URLSearchParams(await new Response(request).text()), codes);
      return response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" }).end(JSON.stringify(body));
    }
    response.writeHead(404).end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${server.address().port}`;
  const vars = {
    OAUTH_PROVIDERS: ids.join(","),
    PUBLIC_URL: address,
    GRANT_KEYS: `development:${randomBytes(32).toString("base64")}`,
  };
  for (const id of ids) {
    const name = `OAUTH_${id.toUpperCase().replaceAll("-", "_")}`;
    vars[`${name}_CLIENT_ID`] = CLIENT;
    vars[`${name}_AUTHORIZE_URL`] = `${base}/authorize`;
    vars[`${name}_TOKEN_URL`] = `${base}/token`;
    vars[`${name}_TITLE`] = `${id} (stand-in)`;
  }
  return { base, vars, close: () => server.close() };
}

/** The page on which the user agrees or refuses. */
function authorize(query, codes, response) {
  const target = (answer) => {
    const url = new URL(query.get("redirect_uri"));
    for (const [name, value] of Object.entries({ ...answer, state: query.get("state") })) url.searchParams.set(name, value);
    return escape(url.href);
  };
  const code = randomUUID();
  codes.set(code, query.get("code_challenge"));
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(`<!doctype html>
<title>Stand-in provider</title>
<h1>Stand-in provider</h1>
<p>The Worker asks for these scopes: ${escape(query.get("scope") || "none")}</p>
<p><a href="${target({ code })}">Allow</a> <a href="${target({ error: "access_denied" })}">Deny</a></p>
`);
}

/** The response to a request for tokens: by a code, once, or by a refresh token. */
function token(form, codes) {
  const code = form.get("code");
  const verifier = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
  const valid = form.get("grant_type") === "refresh_token" || (codes.has(code) && codes.get(code) === verifier);
  codes.delete(code);
  if (!valid) return { status: 400, body: { error: "invalid_grant" } };
  const [access_token, refresh_token] = [randomUUID(), randomUUID()];
  return { status: 200, body: { access_token, token_type: "bearer", expires_in: 3600, refresh_token } };
}

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escape = (text) => text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character]);
