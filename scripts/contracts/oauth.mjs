// The authorization server: the consent page, and the endpoints for clients.
import { about, array, choice, constant, document, header, nonEmpty, object, open, path, pattern, response, string, text } from "./openapi.mjs";
import * as shared from "./shared.mjs";
import { POST, READ, uncached } from "./shared.mjs";

const FORM = "application/x-www-form-urlencoded";
const parameter = (name, description, schema = string, required = false) => ({ name, in: "query", required, description, schema });
const secured = {
  "Content-Security-Policy": "Policy",
  ...uncached,
  "Referrer-Policy": "SameOrigin",
  "X-Frame-Options": "Deny",
  "Strict-Transport-Security": "StrictTransport",
};
const page = (description, headers = {}) => ({ description, headers: { ...secured, ...headers }, content: { "text/html": {} } });
const form = (description, members) => ({ required: true, description, content: { [FORM]: { schema: open(members) } } });
const redirect = (description) => ({ description, headers: { ...secured, Location: "Location" } });
const clientMembers = {
  "client_id?": about("Absent if the client authenticates with HTTP Basic or an assertion.", string),
  "client_secret?": string,
  "client_assertion_type?": constant("urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
  "client_assertion?": about("A JSON Web Token (RFC 7523).", string),
};
const clientErrors = { 400: "Rejected", 401: "InvalidClient", 403: "OriginNotAllowed", 404: "NotFound", 413: "TooLarge", 429: "TooManyRequests", 503: "Unavailable" };
const pages = { 400: "Page", 403: "Page", 404: "NotFound", 429: "TooManyPages", 502: "Page", 503: "Page" };

export const oauth = document({
  title: "Toolbooth: authorization server",
  description: "OAuth 2.1 for MCP clients. Served if AUTH contains sign-in; otherwise 404. /.well-known/oauth-authorization-server names the endpoints.",
  servers: [{ url: "/oauth", description: "Next to all protocols." }],
  implied: ["NotFound", "MethodNotAllowed", "OriginNotAllowed", "Options"],
  paths: {
    "/authorize": path({
      get: {
        operationId: "authorize",
        summary: "Asks a person for consent (RFC 6749, 4.1.1)",
        parameters: [
          parameter("response_type", "Must be code.", string, true),
          parameter("client_id", "A registered client, or the URL of a client ID metadata document.", string, true),
          parameter("redirect_uri", "One of the client's. Only the port of a URL of the person's machine may differ.", string, true),
          parameter("code_challenge", "The SHA-256 of the verifier, in base64url (RFC 7636).", string, true),
          parameter("code_challenge_method", "Must be S256.", string, true),
          parameter("scope", "What the client asks for. Unknown scopes are ignored."),
          parameter("state", "Returned to the client, at most 1,024 bytes."),
          parameter("resource", "Must be this server (RFC 8707)."),
          parameter("response_mode", "Must be query."),
          parameter("dpop_jkt", "The thumbprint of the key that the tokens will be bound to (RFC 9449, 10)."),
        ],
        responses: { 200: "Page", 303: "Redirect", ...pages },
      },
      post: {
        operationId: "consent",
        summary: "Receives the form of the consent page. Only that page may send it",
        requestBody: "Consent",
        responses: { 303: "Redirect", ...pages },
      },
      options: { summary: "The methods of this path", responses: { 204: "Options" } },
    }),
    "/authorize/sign-in": path({
      get: {
        operationId: "sign-in",
        summary: "A person signs in to open their account or a challenge",
        parameters: [parameter("c", "The challenge. Without it, the account follows.")],
        responses: { 200: "OwnPage", 400: "OwnPage", 404: "NotFound", 429: "TooManyPages", 503: "Page" },
      },
      options: { summary: "The methods of this path", responses: { 204: "Options" } },
    }),
    "/token": path({
      post: {
        operationId: "token",
        summary: "Exchanges a code or a refresh token for tokens (RFC 6749, 3.2)",
        requestBody: "Grant",
        responses: { 200: "Tokens", ...clientErrors, 500: "Failed" },
      },
    }),
    "/register": path({
      post: {
        operationId: "register",
        summary: "Registers a client (RFC 7591)",
        requestBody: "Registration",
        responses: { 201: "Registered", 400: "Rejected", 403: "OriginNotAllowed", 404: "NotFound", 413: "TooLarge", 415: "UnsupportedMediaType", 429: "TooManyRequests", 503: "Unavailable" },
      },
    }),
    "/revoke": path({
      post: {
        operationId: "revoke",
        summary: "Revokes the grant of the client (RFC 7009)",
        requestBody: "Revocation",
        responses: { 200: "Revoked", ...clientErrors },
      },
    }),
  },
  headers: {
    ...shared.headers("GET, HEAD, POST, OPTIONS", POST, READ),
    Policy: header(
      "Nothing but the page's own style sheet and form.",
      pattern("^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+'; (?:form-action 'none'; )?frame-ancestors 'none'; base-uri 'none'$"),
    ),
    SameOrigin: header("Other origins get no referrer.", constant("same-origin")),
    Deny: header("No page may frame this one.", constant("DENY")),
    StrictTransport: header("Present if users reach the server over TLS, except on localhost.", constant("max-age=31536000"), false),
    Location: header(
      "The client's redirect URI with code or error, state and iss (RFC 9207); a provider where the person signs in; or a page of the server.",
      pattern("^([a-z][a-z0-9+.-]*:|/account$|/auth/start\\?|/oauth/authorize/sign-in)"),
    ),
    Opener: header("Other pages get no handle on the window.", constant("same-origin")),
    Basic: header("Present if the client tried to authenticate with HTTP Basic.", constant('Basic realm="toolbooth"'), false),
    Nonce: header("For the next proof (RFC 9449, 8); only if the request has one.", text, false),
    RetryLater: header("Seconds until the next attempt can succeed.", pattern("^[0-9]+$"), false),
  },
  requestBodies: {
    Consent: form("What the form of the page contains.", {
      request: about("The sealed request.", string),
      with: choice("access", "denial", "developer", "key", "provider", "session"),
      "api_key?": string,
      "provider?": string,
    }),
    Grant: form("A code with its verifier, a refresh token, the credentials of a machine, an assertion of a company, or a person's access token to exchange. Unknown members are ignored.", {
      grant_type: choice("authorization_code", "refresh_token", "client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer", "urn:ietf:params:oauth:grant-type:token-exchange"),
      ...clientMembers,
      "code?": string,
      "redirect_uri?": string,
      "code_verifier?": string,
      "refresh_token?": string,
      "assertion?": string,
      "subject_token?": string,
      "subject_token_type?": constant("urn:ietf:params:oauth:token-type:access_token"),
      "requested_token_type?": constant("urn:ietf:params:oauth:token-type:access_token"),
      "audience?": string,
      "scope?": string,
      "resource?": string,
    }),
    Registration: {
      required: true,
      description: shared.jsonBody,
      content: response("", "ClientMetadata").content,
    },
    Revocation: form("A refresh token or an access token.", { token: string, "token_type_hint?": string, ...clientMembers }),
  },
  responses: {
    ...shared.errors("Error"),
    Page: page("A page for the person: the consent page, or what is wrong."),
    OwnPage: page("A page of the server for the person.", { "Cross-Origin-Opener-Policy": "Opener" }),
    TooManyPages: page("A page for the person: too many requests from this network.", { "Retry-After": "RetryAfter" }),
    Redirect: redirect("Back to the client, or to a provider, with a cookie that binds the browser."),
    Tokens: response("The tokens.", "Tokens", { ...uncached, "DPoP-Nonce": "Nonce" }),
    Registered: response("The registration. It is sealed into client_id, and nothing is stored.", "Client", uncached),
    Revoked: response("The grant is revoked, or the token is not one of this client.", undefined, uncached),
    Rejected: response("The request is not valid.", "Error", { ...uncached, "DPoP-Nonce": "Nonce" }),
    InvalidClient: response("The client is unknown, or has not authenticated.", "Error", { ...uncached, "WWW-Authenticate": "Basic", "DPoP-Nonce": "Nonce" }),
    TooManyRequests: response("Too many requests from this network.", "Error", { "Retry-After": "RetryAfter", ...uncached }),
    Failed: response("What the person's identity provider says about them cannot be used.", "Error", uncached),
    Unavailable: response("The store does not respond, or the server's configuration is wrong.", "Error", { ...uncached, "Retry-After": "RetryLater" }),
  },
  schemas: {
    Tokens: object({
      access_token: about("A JSON Web Token for the resource.", pattern("^[\\w-]+\\.[\\w-]+\\.[\\w-]+$")),
      token_type: choice("Bearer", "DPoP"),
      expires_in: { type: "integer", minimum: 0 },
      "issued_token_type?": constant("urn:ietf:params:oauth:token-type:access_token"),
      "refresh_token?": text,
      scope: string,
      "name?": about("What the person is called. Only for the pages of the server itself, whose redirect URI is /signed-in.", string),
      "available_scope?": about("The scopes that the person can give to a client. Only for the same pages.", string),
    }),
    ClientMetadata: about(
      "Other members, and unknown grant types, are ignored. One redirect URI must be https, or http on the person's machine.",
      open({
        redirect_uris: nonEmpty(string),
        "client_name?": string,
        "token_endpoint_auth_method?": choice("none", "client_secret_basic", "client_secret_post"),
        "grant_types?": array(string),
        "response_types?": array(string),
      }),
    ),
    Client: object({
      client_id: text,
      client_id_issued_at: { type: "integer", minimum: 0 },
      "client_secret?": text,
      "client_secret_expires_at?": constant(0),
      client_name: text,
      redirect_uris: nonEmpty(text),
      grant_types: nonEmpty(choice("authorization_code", "refresh_token")),
      response_types: array(constant("code")),
      token_endpoint_auth_method: choice("none", "client_secret_basic", "client_secret_post"),
    }),
    Error: object({
      error: choice(
        ...["access_denied", "invalid_client", "invalid_client_metadata", "invalid_dpop_proof", "invalid_grant", "invalid_redirect_uri", "invalid_request"],
        ...["invalid_scope", "invalid_target", "server_error", "temporarily_unavailable", "unauthorized_client", "unsupported_grant_type", "unsupported_response_type", "use_dpop_nonce"],
      ),
      error_description: string,
    }),
  },
});

export const account = document({
  title: "Toolbooth: account",
  description: "What a person has allowed, and how they take it back. Served if AUTH contains sign-in; otherwise 404.",
  servers: [{ url: "/account", description: "Next to all protocols." }],
  implied: ["NotFound", "MethodNotAllowed", "OriginNotAllowed", "Options"],
  paths: {
    "/": path({
      get: {
        operationId: "account",
        summary: "The page. Without a session, it redirects to the page where people sign in",
        parameters: [
          parameter("from", "The address of the site's page that links here, such as `/playground#Calculator.Add`. The page links back to it."),
          parameter("done", "What a form of the page has changed: `revoked` or `disconnected`."),
        ],
        responses: { 200: "Page", 303: "Redirect", 404: "NotFound", 429: "TooManyPages", 503: "Page" },
      },
      post: {
        operationId: "change-account",
        summary: "Receives a form of the page. Only that page may send it",
        requestBody: "Change",
        responses: { 200: "Page", 303: "Redirect", 400: "Page", 403: "Page", 404: "NotFound", 410: "Page", 429: "TooManyPages", 503: "Page" },
      },
      options: { summary: "The methods of this path", responses: { 204: "Options" } },
    }),
  },
  headers: {
    ...shared.headers("GET, HEAD, POST, OPTIONS"),
    Policy: oauth.components.headers.Policy,
    SameOrigin: header("Other origins get no referrer and no handle on the window.", constant("same-origin")),
    Deny: oauth.components.headers.Deny,
    StrictTransport: oauth.components.headers.StrictTransport,
    Location: header("This page, or the page where people sign in.", pattern("^/account(\\?|$)|^/oauth/authorize/sign-in$")),
  },
  requestBodies: {
    Change: form("What a form of the page contains.", {
      form: about("The sealed form.", string),
      do: choice("disconnect", "revoke", "sign-out"),
      "client?": string,
      "provider?": string,
      "from?": about("The parameter of the page.", string),
    }),
  },
  responses: {
    ...shared.errors("Error"),
    Page: page("A page for the person."),
    TooManyPages: page("A page for the person: too many requests from this network.", { "Retry-After": "RetryAfter" }),
    Redirect: redirect("To the page, or to the page where people sign in."),
  },
  schemas: { Error: shared.plainError },
});
