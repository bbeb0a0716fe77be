//! The deployed Worker: serves the tools of `tools/`. `wrangler.toml` configures it.

toolbooth_worker::serve!(tools::CATALOG, [ACCOUNT, CHALLENGES, GATEWAY, MCP, PROVIDERS, REST, SEARCH, SIGN_IN, TASKS, USAGE, XAIBO]);
