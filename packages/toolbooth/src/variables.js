// The variables that `toolbooth dev` sets. Nothing else of the environment reaches the Worker.

/** What every Worker reads: docs/CONFIGURATION.md describes it. */
const OF_WORKER = [
  ...["AUTH", "ANONYMOUS_SCOPES", "API_KEYS", "JWT_SECRET", "JWT_SECRET_PREVIOUS", "JWKS_URL", "JWT_ISSUER", "JWT_AUDIENCE", "JWT_LEEWAY", "JWT_TENANT_CLAIM", "TENANTS", "TEAMS"],
  ...["SIGN_IN_ALLOWED", "SIGN_IN_DENIED", "SIGN_IN_TOKEN_SECONDS", "SIGN_IN_CONNECTION_DAYS", "SIGN_IN_REGISTRATION", "SIGN_IN_CLIENT_DOMAINS"],
  ...["SIGN_IN_CLIENTS", "SIGN_IN_REDIRECT_SCHEMES", "ACCESS_TEAM_DOMAIN", "ACCESS_AUDIENCE", "ENTERPRISE_ISSUERS"],
  ...["TOOL_ALLOWLIST", "TOOL_ALLOWLIST_MODE", "TOOLS_LIST", "ALLOWED_ORIGINS", "ALLOWED_HEADERS", "SITE", "LOG", "LOG_SAMPLE", "DEVELOPMENT"],
  ...["MAX_BODY_BYTES", "MAX_ARGUMENT_BYTES", "MAX_TOOL_CALLS", "TOOL_TIMEOUT_MS", "MAX_TOOL_DESCRIPTION", "MCP_REGISTRY_AUTH", "MCP_INSTRUCTIONS", "MCP_WEBSITE_URL", "MCP_ICONS", "MCP_SERVER_NAME", "MCP_DESCRIPTION", "MCP_PER_TOOL_AUTHORIZATION", "MCP_AUTH_CHALLENGE", "MAX_TASKS", "TASK_HOURS"],
  ...["OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "GEMINI_API_KEY", "GEMINI_BASE_URL"],
  ...["PROVIDERS", "MODELS", "GATEWAY_CALLER_KEYS", "GATEWAY_TIMEOUT_MS", "GATEWAY_DEADLINE_MS", "GATEWAY_MAX_SUBREQUESTS", "GATEWAY_MAX_BODY_BYTES", "AGENT_MAX_TOOLS", "AGENT_MAX_TOOL_DESCRIPTION"],
  ...["GATEWAY_TOOLS", "GATEWAY_TOOL_ALLOWLIST", "GATEWAY_TOOL_ALLOWLIST_MODE"],
  ...["OAUTH_PROVIDERS", "PUBLIC_URL", "STATE_KEY", "STATE_KEY_PREVIOUS", "GRANT_KEYS", "UNVERIFIED_USERS"],
];
/** What it reads for each id in a list of providers: the part before the id, and those after it. */
const OF_PROVIDERS = {
  PROVIDERS: ["", ["BASE_URL", "API", "API_KEY", "DIALECT"]],
  OAUTH_PROVIDERS: [
    "OAUTH_",
    ["CLIENT_ID", "CLIENT_SECRET", "ISSUER", "AUTHORIZE_URL", "TOKEN_URL", "REVOKE_URL", "USERINFO_URL", "SCOPES", "TITLE", "CLIENT_AUTH"],
  ],
};

/** The bindings of every Worker: docs/CONFIGURATION.md. */
const BINDINGS = ["KV", "LEDGER", "TASKS", "ASSETS", "RATE_LIMIT", "TOOL_CALL_LIMITER", "SIGN_IN_LIMITER"];

/** How names begin that no tool may use, as crates/toolbooth-build/src/http/reserved.rs has them. */
const PREFIXES = ["AGENT_", "OAUTH_", "SIGN_IN_", "JWT_", "JWKS_", "API_KEYS", "ACCESS_", "ENTERPRISE_", "GATEWAY_", "STATE_KEY", "GRANT_KEY", "TOOL_"];

/** Whether the Worker itself uses the name, so that a variable of a tool must have another one. */
export function isOfWorker(name) {
  return [...OF_WORKER, ...BINDINGS].includes(name) || PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** The names that the Worker and its tools (`ofTools`) read; `value` returns the lists of providers. */
function known(value, ofTools) {
  const ofProviders = Object.entries(OF_PROVIDERS).flatMap(([list, [prefix, suffixes]]) => {
    const ids = String(value(list) ?? "").split(",").map((id) => id.trim()).filter(Boolean);
    return ids.flatMap((id) => suffixes.map((suffix) => `${prefix}${id.toUpperCase().replaceAll("-", "_")}_${suffix}`));
  });
  return [...OF_WORKER, ...ofProviders, ...ofTools];
}

/**
 * The values of the environment, or else of .dev.vars (`file`), for the variables of the Worker, of its tools (`ofTools`),
 * and of those that wrangler.toml (`configured`) and .dev.vars set. An empty value counts as not set, except for `texts`: a password
 * may be empty.
 */
export function variables(environment, file, configured, ofTools, texts = []) {
  const value = (name) => environment[name] || (file[name] ?? environment[name]);
  const names = [...known((list) => value(list) ?? configured[list], ofTools), ...Object.keys(configured), ...Object.keys(file)];
  return Object.fromEntries(names.map((name) => [name, value(name)]).filter(([name, value]) => value || (value === "" && texts.includes(name))));
}

/** A sentence for each variable in `set` that nothing reads, and whose name resembles one that is read. */
export function misspelled(set, ofTools) {
  const read = known((list) => set[list], ofTools);
  return Object.keys(set).filter((name) => !read.includes(name)).flatMap((name) => {
    const meant = read.find((one) => one.length > 4 && distance(name, one) <= 2);
    return meant === undefined ? [] : [`${name} is not a variable that the Worker or its tools read: did you mean ${meant}?`];
  });
}

/** The most bytes of a variable or a secret at Cloudflare (developers.cloudflare.com/workers/platform/limits, 2026-11). */
const MOST_BYTES = 5 * 1024;
const number = new Intl.NumberFormat("en");

/** A sentence for each variable in `set` that Cloudflare does not store, because it is too long. */
export function oversized(set) {
  return Object.entries(set).flatMap(([name, value]) => {
    const bytes = Buffer.byteLength(typeof value === "string" ? value : JSON.stringify(value) ?? "");
    return bytes <= MOST_BYTES ? [] : [`${name} has ${number.format(bytes)} bytes. Cloudflare stores at most ${number.format(MOST_BYTES)} of a variable or a secret, and rejects the deployment`];
  });
}

/** The number of letters to add, remove or replace until the texts are the same (Levenshtein). */
export function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [line, letter] of [...one].entries()) {
    const next = [line + 1];
    for (let at = 0; at < other.length; at += 1) next.push(Math.min(next[at] + 1, row[at + 1] + 1, row[at] + (letter === other[at] ? 0 : 1)));
    row = next;
  }
  return row[other.length];
}
