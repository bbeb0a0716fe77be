// A Worker with workers-oauth-provider, as its README and docs/consent-page.md show: one Worker, dynamic registration, and a
// consent page where everybody is the same user. Its form has the fields of ours, so that the same script sends it.
import { env } from "cloudflare:workers";
import { AuthorizationError, OAuthProvider } from "@cloudflare/workers-oauth-provider";

// Those of Toolbooth's sample tools.
const SCOPES = ["github:read", "github:write"];
const escape = (value) => value.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

const consentPage = ({ clientName, redirectHost, scope }, handle) => `<!doctype html>
<meta charset="utf-8">
<h1>Allow ${escape(clientName)} to access your account?</h1>
<p>Access will be sent to <strong>${escape(redirectHost)}</strong>: ${escape(scope.join(" "))}</p>
<form method="post" action="/authorize"><input type="hidden" name="with" value="key"><input type="hidden" name="handle" value="${escape(handle)}"><button>Allow</button></form>`;

async function authorize(request, oauth) {
  if (request.method === "GET") {
    const asked = await oauth.parseAuthRequest(request);
    const details = await oauth.describeConsent(asked);
    const { handle, headers } = await oauth.beginConsent(asked);
    headers.set("content-type", "text/html; charset=utf-8");
    return new Response(consentPage(details, handle), { headers });
  }
  const form = await request.formData();
  const approved = await oauth.approveConsent(request, String(form.get("handle")));
  const { redirectTo } = await oauth.completeAuthorization({
    request: approved.request,
    userId: "ada",
    metadata: {},
    scope: approved.request.scope,
    props: { userId: "ada" },
  });
  approved.headers.set("location", redirectTo);
  return new Response(null, { status: 303, headers: approved.headers });
}

const defaultHandler = {
  async fetch(request, env) {
    if (new URL(request.url).pathname !== "/authorize") return new Response("Not found", { status: 404 });
    try {
      return await authorize(request, env.OAUTH_PROVIDER);
    } catch (error) {
      if (!(error instanceof AuthorizationError)) throw error;
      if (error.redirectTo) return Response.redirect(error.redirectTo, 302);
      return new Response(escape(error.description), { status: 400 });
    }
  },
};

/** `tools/call` with a tool that adds. */
const apiHandler = {
  async fetch(request) {
    const { id, params } = await request.json();
    const sum = { result: params.arguments.a + params.arguments.b };
    const result = { content: [{ type: "text", text: JSON.stringify(sum) }], structuredContent: sum };
    return Response.json({ jsonrpc: "2.0", id, result });
  },
};

export default new OAuthProvider({
  apiRoute: "/mcp",
  apiHandler,
  defaultHandler,
  authorizeEndpoint: "/authorize",
  tokenEndpoint: "/oauth/token",
  clientRegistrationEndpoint: "/oauth/register",
  scopesSupported: [...SCOPES, "offline_access"],
  requiredScopes: SCOPES,
  resourceMetadata: { resource: `${env.PUBLIC_URL}/mcp`, authorization_servers: [env.PUBLIC_URL] },
  clientIdMetadataDocumentEnabled: true,
  onError() {},
});
