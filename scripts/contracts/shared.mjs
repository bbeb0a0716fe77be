// What several documents share: authentication, headers, error responses and the schemas of tools.
import { about, array, boolean, choice, constant, header, natural, object, open, orNull, pattern, response, string, text } from "./openapi.mjs";

// Authentication

export const securitySchemes = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description: "A JSON Web Token or an API key; AUTH decides which of them the server accepts.",
  },
  oxpApiKey: { type: "apiKey", in: "header", name: "OXP-API-Key" },
  otcApiKey: { type: "apiKey", in: "header", name: "OTC-API-Key" },
  xApiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
  xAuthToken: { type: "apiKey", in: "header", name: "X-Auth-Token" },
};
/** Any of the schemes, or none if AUTH is `none`. */
export const security = [{ bearer: [] }, { oxpApiKey: [] }, { otcApiKey: [] }, { xApiKey: [] }, { xAuthToken: [] }, {}];

// Headers

const challenge = pattern('^(Bearer|DPoP) realm="toolbooth"(, [a-z_]+="[^"]+")*$');

/** Components for the headers; `methods` are the values that `Allow` can have. */
export const headers = (...methods) => ({
  ETag: header("Changes when the body does.", pattern('^"[^"]+"$')),
  CacheControl: header(
    "private if the list depends on the credentials. Clients must revalidate before each use.",
    choice("no-cache", "private, no-cache"),
  ),
  NoStore: header("No cache keeps the response.", constant("no-store")),
  WWWAuthenticate: header("How to authenticate (RFC 6750, RFC 9449); error tells what was wrong with the credentials.", challenge),
  ScopeChallenge: header("The scopes that the tool requires (RFC 6750, 3.1); absent if scopes are not the reason.", challenge, false),
  RetryAfter: header("Seconds until the next attempt can succeed.", pattern("^[0-9]+$")),
  Allow: header("The methods of this path.", choice(...methods)),
  OxpVersion: header("The version that the server speaks. Every response has it.", constant("1.0")),
});
export const READ = "GET, HEAD, OPTIONS";
export const POST = "POST, OPTIONS";

/** The headers of what clients may keep and revalidate. */
export const cached = { ETag: "ETag", "Cache-Control": "CacheControl" };
export const uncached = { "Cache-Control": "NoStore" };

export const ifNoneMatch = {
  name: "If-None-Match",
  in: "header",
  description: "Entity tags that the client has. If one of them is current, the response is 304.",
  schema: string,
};

/** What narrows a list of tools, if the Worker serves the search. */
export const search = {
  name: "query",
  in: "query",
  description: "Only the 20 tools that fit these words best, the best first. 400 if the Worker does not serve the search.",
  schema: string,
};

/** The version at the mounts that read it, which are the root and `/oxp`. */
export const oxpVersion = {
  name: "OXP-Version",
  in: "header",
  description: "The version that the client speaks. Absent or empty means 1.0. Any other is rejected with 400.",
  schema: choice("1.0", "1", "1.0.0", ""),
};

// Responses

/** The responses that mean the same in every protocol, with a body of the schema `error`. */
export const errors = (error) => ({
  NotModified: response("The client has the current version.", undefined, cached),
  Unauthenticated: response("The request has no credentials, or invalid ones.", error, {
    "WWW-Authenticate": "WWWAuthenticate",
    ...uncached,
  }),
  Forbidden: response(
    "The credentials lack a scope that the tool requires; or a web page sent the request, and its origin is not allowed.",
    error,
    { "WWW-Authenticate": "ScopeChallenge", ...uncached },
  ),
  OriginNotAllowed: response("A web page sent the request, and ALLOWED_ORIGINS does not contain its origin.", error, uncached),
  NotFound: response("There is nothing at this path. The response of every path that this document does not list.", error),
  MethodNotAllowed: response("The response of every method that this document does not list for the path.", error, {
    Allow: "Allow",
  }),
  TooLarge: response("The body is larger than MAX_BODY_BYTES.", error),
  UnsupportedMediaType: response("The content type is not JSON.", error),
  TooManyRequests: response(
    "The caller has reached the rate limit, or a budget of the caller does not cover the request. A request counts as many calls as it contains; none of them ran.",
    error,
    { "Retry-After": "RetryAfter", ...uncached },
  ),
  Failed: response("The server failed, for example because a tool crashed. Calls of the same request may have run.", error),
  Unavailable: response("The server's configuration is wrong, or budgets cannot be counted; its log contains the reason. No call ran.", error),
  Options: response("The methods in Allow; for a CORS preflight, what the page may send."),
});
/** The components of `errors` that answer what a document does not list. */
export const implied = ["NotFound", "MethodNotAllowed", "OriginNotAllowed", "Options"];

/** The error statuses of a list, and of a call whose protocol reports the tool's errors with 200. */
export const listErrors = { 304: "NotModified", 401: "Unauthenticated", 403: "OriginNotAllowed" };
export const callErrors = {
  400: "Rejected",
  401: "Unauthenticated",
  403: "OriginNotAllowed",
  413: "TooLarge",
  429: "TooManyRequests",
};

export const jsonBody = "application/json, or a type that ends in +json. Repeated keys and more than 64 levels are rejected.";

// Schemas

/** The body of an error that belongs to no protocol. */
export const plainError = object({ message: text, "developer_message?": string });

export const toolName = pattern("^[A-Za-z0-9_-]{1,64}$");

export const context = about(
  "The user that the call is for, and the tokens and secrets that the tool requires. Other fields are ignored.",
  open({
    "user_id?": orNull(string),
    "authorization?": orNull(array(open({ id: string, token: string }))),
    "secrets?": orNull(array(open({ id: string, value: string }))),
  }),
);

/** What a failed tool reports, without its message. */
export const failureDetails = {
  "developer_message?": about("For a log.", string),
  "additional_prompt_content?": about("What helps a model to do better, such as the allowed values.", string),
  "retry_after_ms?": about("Milliseconds to wait before the next attempt.", natural),
};
export const canRetry = about("Whether the same call, or one with better input, may succeed.", boolean);

export const parameterErrors = about(
  "What each invalid parameter must be, by its path, such as order.lines[1].price; input is the input as a whole.",
  { type: "object", minProperties: 1, additionalProperties: text },
);

export const authorizationChallenge = about(
  "Where the user can grant the authorization: url is a page for the user, check_url returns the state of the challenge. Without check_url, id is the provider, and url explains to developers what the call must send.",
  object({ id: string, url: string, "check_url?": string }),
);
