// A Worker with workers-oauth-provider that accepts assertions of companies, as its docs/advanced-configuration.md shows.
import { env } from "cloudflare:workers";
import { OAuthProvider } from "@cloudflare/workers-oauth-provider";

const defaultHandler = { fetch: () => new Response("Not found", { status: 404 }) };

export default new OAuthProvider({
  apiRoute: "/mcp",
  apiHandler: { fetch: () => new Response("ok") },
  defaultHandler,
  authorizeEndpoint: "/authorize",
  tokenEndpoint: "/oauth/token",
  clientRegistrationEndpoint: "/oauth/register",
  scopesSupported: ["github:read", "github:write"],
  resourceMetadata: { resource: `${env.PUBLIC_URL}/mcp`, authorization_servers: [env.PUBLIC_URL] },
  enterpriseManagedAuthorization: {
    trustedIssuers: async ({ iss }) =>
      JSON.parse(env.ISSUERS).includes(iss) ? { issuer: iss, jwksUri: `${iss}/keys`, algorithms: ["RS256", "ES256"] } : null,
    mapClaims: async ({ claims, requestedScope }) => ({
      userId: `enterprise-${encodeURIComponent(claims.sub)}`,
      scope: requestedScope,
      metadata: { issuer: claims.iss, subject: claims.sub },
      props: { subject: claims.sub, email: claims.email },
    }),
  },
  onError() {},
});
