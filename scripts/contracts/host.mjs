// What belongs to no protocol that runs tools: the index, user authorization, and the metadata for OAuth clients.
import {
  about,
  array,
  boolean,
  choice,
  constant,
  document,
  header,
  mapValues,
  nonEmpty,
  object,
  open,
  operation,
  path,
  pattern,
  response,
  schema,
  string,
  text,
} from "./openapi.mjs";
import { openToolPaths, openToolTexts } from "./json-rpc.mjs";
import { documentPaths, documentTexts } from "./rest.mjs";
import * as shared from "./shared.mjs";
import { POST, READ, cached, ifNoneMatch, oxpVersion, security, uncached } from "./shared.mjs";

export const root = document({
  title: "Toolbooth: the root",
  description: "What the root of the host has in addition to the protocols that share it.",
  servers: [{ url: "/", description: "The root." }],
  everywhere: { "OXP-Version": "OxpVersion" },
  implied: ["MethodNotAllowed", "OriginNotAllowed", "Options"],
  paths: {
    "/": path({
      get: {
        operationId: "index",
        summary: "The protocols and their paths",
        parameters: [oxpVersion, ifNoneMatch],
        responses: { 200: "Index", 304: "NotModified", 400: "Rejected", 403: "OriginNotAllowed" },
      },
    }),
    ...openToolPaths([oxpVersion], { 400: "Rejected" }),
    ...documentPaths([oxpVersion], { 400: "Rejected" }),
  },
  securitySchemes: shared.securitySchemes,
  headers: shared.headers(READ, POST),
  responses: {
    ...shared.errors("Error"),
    ...openToolTexts.responses,
    ...documentTexts.responses,
    Index: response("Each protocol with its paths.", "Index", cached),
    Rejected: response("The server does not serve the version in OXP-Version, or has no such toolkit.", "Error"),
  },
  schemas: {
    Error: shared.plainError,
    Index: object({ name: string, version: string, protocols: nonEmpty(schema("Protocol")) }),
    Protocol: object({
      name: about("A short name.", string),
      title: string,
      endpoints: nonEmpty(object({ method: choice("GET", "POST", "DELETE"), path: pattern("^/") })),
    }),
    ...openToolTexts.schemas,
    ...documentTexts.schemas,
  },
});

// User authorization

const parameter = (where, name, description, schema = string, required = true) => ({
  name,
  in: where,
  required,
  description,
  schema,
});
const challenge = parameter("query", "c", "The challenge.");
const anyChallenge = parameter("query", "c", "The challenge. Without it, the response is that of an unknown one.", string, false);
const provider = parameter(
  "path",
  "provider",
  "The provider. Its redirection is rejected at the path of another provider (RFC 9700, 4.4.2.2).",
);
const required = parameter("path", "provider", "A provider that a tool requires.");
const secured = {
  "Content-Security-Policy": "Policy",
  ...uncached,
  "Referrer-Policy": "SameOrigin",
  "X-Frame-Options": "Deny",
  "Cross-Origin-Opener-Policy": "OpenerPolicy",
  "Strict-Transport-Security": "StrictTransport",
};
const retryLater = { "Retry-After": "RetryAfter", ...uncached };
const readableByAnyPage = { "Access-Control-Allow-Origin": "AnyOrigin" };
const page = (description, headers = {}) => ({
  description,
  headers: { ...secured, ...headers },
  content: { "text/html": {} },
});
const options = { summary: "The methods of this path", responses: { 204: "Options" } };
const pageErrors = { 403: "Page", 502: "Page", 503: "Page" };
const errors = shared.errors("Error");

export const auth = document({
  title: "Toolbooth: user authorization",
  description: "Where users authorize tools, and where clients ask for the state of an authorization. Belongs to no protocol.",
  servers: [{ url: "/auth", description: "Next to all protocols." }],
  implied: ["NotFound", "MethodNotAllowed", "Options"],
  paths: {
    "/start": path({
      get: {
        operationId: "consent-page",
        summary: "Asks the user, once they are known",
        description:
          "A user of sign-in is redirected to the page where people sign in; a user of an application with verify_url is redirected there, with state, and comes back with v.",
        parameters: [challenge, parameter("query", "v", "The one-time value of the application's confirmation.", string, false)],
        responses: { 200: "Page", 303: "Redirect", 400: "Page", 403: "Page", 404: "NotFound", 429: "TooManyPages", 503: "Page" },
      },
      post: {
        operationId: "begin",
        summary: "Binds the browser and redirects it to the provider, or fails the challenge",
        parameters: [challenge, parameter("query", "deny", "Present if the user refuses.", string, false)],
        responses: { 303: "Redirect", 400: "Page", ...pageErrors, 404: "NotFound", 429: "TooManyPages" },
      },
      options,
    }),
    "/callback/{provider}": mapValues(
      {
        get: {
          operationId: "callback",
          summary: "The redirection from the provider (RFC 6749, 4.1.2)",
          parameters: [
            provider,
            parameter("query", "state", "The value that the server sent to the provider."),
            parameter("query", "code", "The authorization code.", string, false),
            parameter("query", "error", "Why there is no code.", string, false),
            parameter("query", "iss", "The provider's issuer (RFC 9207).", string, false),
          ],
          responses: { 200: "Page", 303: "SignedIn", 400: "Page", ...pageErrors, 404: "NotFound", 429: "TooManyPages" },
        },
        options: { ...options, parameters: [provider] },
      },
      operation,
    ),
    "/help/{provider}": path({
      get: {
        operationId: "help",
        summary: "Explains to developers how calls are authorized at a provider",
        parameters: [required],
        responses: { 200: "Page", 404: "NotFound" },
      },
      options: { ...options, parameters: [required] },
    }),
    "/check": path({
      get: {
        operationId: "check",
        summary: "The state of a challenge",
        description: "With and without a slash at the end.",
        parameters: [anyChallenge],
        responses: { 200: "Check", 404: "NotFound", 429: "TooManyChecks" },
      },
      options: { summary: "The methods of this path, readable by every page", responses: { 204: "OpenOptions" } },
    }),
    "/confirm": path({
      post: {
        operationId: "confirm",
        summary: "Confirms who uses the browser that an application got with state",
        description: "Only the application that the challenge was issued to may confirm it, with its key.",
        security,
        requestBody: "Confirmation",
        responses: {
          200: "Confirmed",
          400: "Rejected",
          401: "Unauthenticated",
          404: "Rejected",
          413: "TooLarge",
          415: "UnsupportedMediaType",
          429: "TooManyRequests",
        },
      },
      options,
    }),
    "/grants/{provider}": path({
      delete: {
        operationId: "delete-grant",
        summary: "Deletes the user's grant, if there is one, and asks the provider to revoke it",
        security,
        parameters: [provider, parameter("query", "user_id", "The user of the caller.", { ...text, maxLength: 128 })],
        responses: {
          204: "Options",
          400: "Rejected",
          401: "Unauthenticated",
          403: "OriginNotAllowed",
          404: "Rejected",
          429: "TooManyRequests",
        },
      },
      options: { ...options, parameters: [provider], responses: { 204: "Options", 403: "OriginNotAllowed" } },
    }),
  },
  securitySchemes: shared.securitySchemes,
  headers: {
    ...shared.headers("GET, HEAD, POST, OPTIONS", "GET, OPTIONS", READ, POST, "DELETE, OPTIONS"),
    Policy: header(
      "Nothing but the page's own style sheet and form.",
      pattern("^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+'; (?:form-action 'none'; )?frame-ancestors 'none'; base-uri 'none'$"),
    ),
    SameOrigin: header("Other origins get no referrer.", constant("same-origin")),
    OpenerPolicy: header(
      "Other origins get no handle on the window. Absent at the callback of a sign-in: some clients wait for their window.",
      constant("same-origin"),
      false,
    ),
    Deny: header("No page may frame this one.", constant("DENY")),
    StrictTransport: header("Present if users reach the server over TLS, except on localhost.", constant("max-age=31536000"), false),
    AnyOrigin: header("Any page may read the response.", constant("*")),
    Location: header(
      "The provider's authorization endpoint, the application's verify_url, the page where people sign in, or this page.",
      pattern("^(https?://|/auth/start\\?|/oauth/authorize/sign-in\\?)"),
    ),
    ClientLocation: header(
      "The client's redirect URI with code or error, state and iss (RFC 9207); or a page of the server.",
      pattern("^([a-z][a-z0-9+.-]*:|/account$|/auth/start\\?|/oauth/authorize/sign-in)"),
    ),
  },
  requestBodies: {
    Confirmation: { required: true, description: shared.jsonBody, content: response("", "Confirmation").content },
  },
  responses: {
    ...errors,
    Page: page("A page for the user."),
    TooManyPages: page("A page for the user: too many requests from this network.", { "Retry-After": "RetryAfter" }),
    Redirect: {
      description: "To the provider, with a cookie that binds the browser; or to where the user becomes known.",
      headers: { ...secured, Location: "Location" },
    },
    SignedIn: {
      description: "The end of a sign-in (docs/contracts/oauth.json): back to the client, or to a page of the server.",
      headers: { ...secured, Location: "ClientLocation" },
    },
    Confirmed: response("Where to redirect the browser.", "ConfirmedUser", uncached),
    Check: response("Always 200; a challenge that is unknown, changed or expired has failed.", "AuthorizationChallengeCheckResponse", {
      ...readableByAnyPage,
      ...uncached,
    }),
    TooManyChecks: response("Too many requests from this network. Any page may read this too.", "Error", {
      ...retryLater,
      ...readableByAnyPage,
    }),
    TooManyRequests: response("Too many requests from this network.", "Error", retryLater),
    OpenOptions: response("The methods in Allow.", undefined, { ...readableByAnyPage, Allow: "Allow" }),
    Rejected: response("The request names no user or an unknown provider, or the store does not respond.", "Error", uncached),
    NotFound: response("There is nothing at this path, or no provider is configured.", "Error", uncached),
  },
  schemas: {
    AuthorizationChallengeCheckResponse: open({
      status: about("completed: the client can repeat the call.", choice("pending", "completed", "failed")),
      "provider?": about("The provider's name for people. Absent if check_url is not valid, or no longer.", string),
      "proof?": about(
        "Only with completed, for five minutes after the user has agreed. The client may send it as the token in context.authorization: the call then works even where the store does not have the grant yet.",
        pattern("^toolbooth-proof\\.[A-Za-z0-9_-]{43}$"),
      ),
    }),
    Confirmation: open({
      state: about("The parameter with which the browser came to verify_url.", string),
      user_id: about("The user who is signed in to the application with that browser.", string),
    }),
    ConfirmedUser: object({
      status: about("other_user: the challenge is for another user, and url shows that.", choice("verified", "other_user")),
      url: pattern("^https?://.*/auth/start\\?c=[\\w-]+&v=[\\w-]+$"),
    }),
    Error: shared.plainError,
  },
});

// Metadata

const authMethod = choice("none", "client_secret_basic", "client_secret_post", "private_key_jwt");
const metadata = (operationId) =>
  path({
    get: {
      operationId,
      summary: "The OAuth resource that MCP clients call (RFC 9728)",
      parameters: [ifNoneMatch],
      responses: { 200: "Metadata", 304: "NotModified", 403: "OriginNotAllowed", 404: "NotFound" },
    },
  });

// The server card of MCP, at three paths

const card = (operationId) =>
  path({
    get: {
      operationId,
      summary: "What the server is, and where MCP clients call it (SEP-2127)",
      parameters: [ifNoneMatch],
      responses: { 200: "Card", 304: "CardNotModified", 404: "NotFound" },
    },
  });
const cardHeaders = { ...readableByAnyPage, ETag: "ETag", "Cache-Control": "PublicCache" };
const cardComponents = {
  headers: {
    AnyOrigin: header("Any page may read the response.", constant("*")),
    PublicCache: header("Every cache may keep it for an hour.", constant("public, max-age=3600")),
  },
  responses: {
    Card: {
      ...response("The card. It contains nothing that needs credentials.", "ServerCard", cardHeaders),
      content: { "application/mcp-server-card+json": { schema: schema("ServerCard") } },
    },
    CardNotModified: response("The client has the current version.", undefined, cardHeaders),
  },
  schemas: {
    ServerCard: object({
      $schema: constant("https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"),
      name: about("MCP_SERVER_NAME, or the reversed host.", pattern("^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$")),
      version: text,
      title: { ...text, maxLength: 100 },
      description: { ...text, maxLength: 100 },
      "websiteUrl?": pattern("^https?://"),
      "icons?": array(open({ src: text })),
      remotes: array(
        object({
          type: constant("streamable-http"),
          url: pattern("^https?://.*/mcp$"),
          supportedProtocolVersions: nonEmpty(choice("2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26")),
          "headers?": array(
            open({ name: constant("Authorization"), isRequired: { type: "boolean" }, isSecret: constant(true) }),
            { minItems: 1, maxItems: 1 },
          ),
        }),
        { minItems: 1, maxItems: 1 },
      ),
    }),
  },
};

export const serverCard = document({
  title: "Toolbooth: MCP's server card",
  description: "Everyone may read it, also pages of other origins. 404 if the server does not know its address.",
  servers: [{ url: "/mcp/server-card", description: "Below the address of MCP, as SEP-2127 says." }],
  implied: shared.implied,
  paths: { "/": card("server-card") },
  headers: { ...shared.headers(READ), ...cardComponents.headers },
  responses: { ...shared.errors("Error"), ...cardComponents.responses },
  schemas: { ...cardComponents.schemas, Error: shared.plainError },
});

export const wellKnown = document({
  title: "Toolbooth: OAuth 2.0 metadata, the proof of the domain, and the server card",
  description:
    "Where MCP clients find the authorization server. Served if PUBLIC_URL is set and AUTH contains sign-in, or jwt with a JWT_ISSUER that is a URL; otherwise 404.",
  servers: [{ url: "/.well-known", description: "Below the origin, as RFC 8615 requires." }],
  implied: shared.implied,
  paths: {
    "/oauth-protected-resource/mcp": metadata("metadata"),
    "/oauth-protected-resource": metadata("host-metadata"),
    "/mcp-registry-auth": path({
      get: {
        operationId: "registry-proof",
        summary: "The public key of the domain, for MCP's registry: MCP_REGISTRY_AUTH",
        parameters: [ifNoneMatch],
        responses: { 200: "Proof", 304: "NotModified", 403: "OriginNotAllowed", 404: "NotFound" },
      },
    }),
    "/oauth-authorization-server": path({
      get: {
        operationId: "server-metadata",
        summary: "The authorization server, if people sign in to this one (RFC 8414)",
        responses: { 200: "ServerMetadata", 403: "OriginNotAllowed", 404: "NotFound", 503: "Unavailable" },
      },
    }),
    "/mcp/server-card.json": card("well-known-card-json"),
    "/mcp/server-card": card("well-known-card"),
  },
  headers: { ...shared.headers(READ), ...cardComponents.headers },
  responses: {
    ...shared.errors("Error"),
    NotModified: response("The client has the current version.", undefined, { ETag: "ETag" }),
    Metadata: response("The metadata.", "Metadata", { ETag: "ETag" }),
    Proof: { description: "A line of text.", headers: { ETag: "ETag" }, content: { "text/plain": {} } },
    ServerMetadata: response("The metadata.", "ServerMetadata"),
    ...cardComponents.responses,
  },
  schemas: {
    ...cardComponents.schemas,
    ServerMetadata: object({
      issuer: pattern("^https?://"),
      authorization_endpoint: pattern("/oauth/authorize$"),
      token_endpoint: pattern("/oauth/token$"),
      "registration_endpoint?": pattern("/oauth/register$"),
      revocation_endpoint: pattern("/oauth/revoke$"),
      response_types_supported: array(constant("code")),
      response_modes_supported: array(constant("query")),
      grant_types_supported: nonEmpty(choice("authorization_code", "refresh_token", "client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer", "urn:ietf:params:oauth:grant-type:token-exchange")),
      "authorization_grant_profiles_supported?": array(constant("urn:ietf:params:oauth:grant-profile:id-jag")),
      code_challenge_methods_supported: array(constant("S256")),
      token_endpoint_auth_methods_supported: nonEmpty(authMethod),
      token_endpoint_auth_signing_alg_values_supported: nonEmpty(text),
      revocation_endpoint_auth_methods_supported: nonEmpty(authMethod),
      dpop_signing_alg_values_supported: nonEmpty(text),
      scopes_supported: nonEmpty(text),
      client_id_metadata_document_supported: boolean,
      authorization_response_iss_parameter_supported: constant(true),
      protected_resources: nonEmpty(pattern("/mcp$")),
    }),
    Metadata: object({
      resource: pattern("/mcp$"),
      "resource_name?": text,
      authorization_servers: nonEmpty(text),
      bearer_methods_supported: array(constant("header")),
      "dpop_signing_alg_values_supported?": nonEmpty(text),
      "scopes_supported?": nonEmpty(text),
    }),
    Error: shared.plainError,
  },
});

export const registration = document({
  title: "Toolbooth: where OAuth clients do not register",
  description: "Clients that find no metadata register here (RFC 7591). They show people the description of the error, which says what to do instead.",
  servers: [{ url: "/register", description: "Next to all protocols." }],
  implied: shared.implied,
  paths: {
    "/": path({
      post: {
        operationId: "registration",
        summary: "Rejects the registration of a client",
        responses: { 400: "NotRegistered", 403: "OriginNotAllowed", 429: "TooManyRequests" },
      },
    }),
  },
  headers: shared.headers(POST),
  responses: {
    ...shared.errors("Error"),
    NotRegistered: response("Clients do not register here.", "OAuthError", shared.uncached),
  },
  schemas: {
    OAuthError: object({ error: constant("access_denied"), error_description: text }),
    Error: shared.plainError,
  },
});

export const doctor = document({
  title: "Toolbooth: what MCP clients still need",
  description: "What each MCP client with a connector still needs, from the settings alone. It contains nothing that needs credentials.",
  servers: [{ url: "/doctor", description: "Next to all protocols." }],
  implied: shared.implied,
  paths: {
    "/": path({
      get: {
        operationId: "doctor",
        summary: "The report",
        parameters: [ifNoneMatch],
        responses: { 200: "Report", 304: "NotModified", 403: "OriginNotAllowed" },
      },
    }),
  },
  headers: shared.headers(READ),
  responses: {
    ...shared.errors("Error"),
    Report: response("The checks that apply, and what failed for each client.", "Report", cached),
  },
  schemas: {
    Report: object({
      "url?": about("What people paste into the client.", pattern("/mcp$")),
      connectors: nonEmpty(
        object({
          id: schema("Connector"),
          title: text,
          ok: about("The client can work, as far as the settings show.", { type: "boolean" }),
          missing: about("The ids of the checks that failed and without which it cannot work.", array(text)),
          "note?": about("How it works, if people cannot sign in with it.", text),
        }),
      ),
      checks: nonEmpty(
        object({
          id: text,
          state: about(
            "failed: some client cannot work. info: it failed, and every client can work. unknown: it depends on another server, which is not asked, or on a variable that is not valid.",
            choice("passed", "failed", "info", "unknown"),
          ),
          meaning: about("What is the case in this state.", text),
          "fix?": text,
          connectors: nonEmpty(schema("Connector")),
        }),
      ),
    }),
    Connector: choice("claude", "chatgpt", "claude-code", "vscode", "cursor", "inspector"),
    Error: shared.plainError,
  },
});
