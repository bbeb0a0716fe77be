//! The names that the Worker itself reads.

/// Whether the Worker itself uses this variable, secret or binding, so that no tool may: a definition could send the
/// Worker's own secrets to a service.
pub fn is_of_worker(name: &str) -> bool {
    PREFIXES.iter().any(|prefix| name.starts_with(prefix)) || NAMES.contains(&name)
}

/// How names begin that no tool may use: those of providers, and those of settings that may follow.
const PREFIXES: &[&str] = &[
    "AGENT_",
    "OAUTH_",
    "SIGN_IN_",
    "JWT_",
    "JWKS_",
    "API_KEYS",
    "ACCESS_",
    "ENTERPRISE_",
    "GATEWAY_",
    "STATE_KEY",
    "GRANT_KEY",
    "TOOL_",
];

const NAMES: &[&str] = &[
    "ALLOWED_HEADERS",
    "ALLOWED_ORIGINS",
    "ANONYMOUS_SCOPES",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "ASSETS",
    "AUTH",
    "DEVELOPMENT",
    "GEMINI_API_KEY",
    "GEMINI_BASE_URL",
    "KV",
    "LEDGER",
    "LOG",
    "LOG_SAMPLE",
    "MAX_ARGUMENT_BYTES",
    "MAX_BODY_BYTES",
    "MAX_TASKS",
    "MAX_TOOL_CALLS",
    "MAX_TOOL_DESCRIPTION",
    "MCP_AUTH_CHALLENGE",
    "MCP_DESCRIPTION",
    "MCP_ICONS",
    "MCP_INSTRUCTIONS",
    "MCP_PER_TOOL_AUTHORIZATION",
    "MCP_REGISTRY_AUTH",
    "MCP_SERVER_NAME",
    "MCP_WEBSITE_URL",
    "MODELS",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "PROVIDERS",
    "PUBLIC_URL",
    "RATE_LIMIT",
    "SITE",
    "TASKS",
    "TASK_HOURS",
    "TENANTS",
    "TEAMS",
    "TOOLS_LIST",
    "UNVERIFIED_USERS",
];
