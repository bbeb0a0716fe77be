//! The deployed Worker: serves the tools of `tools/`. `wrangler.toml` configures it, and
//! `crates/toolbooth-worker/js/entry.js` handles the fetch event.

toolbooth_worker::serve!(
    toolbooth_tools::CATALOG,
    [ACCOUNT, CHALLENGES, GATEWAY, MCP, PROVIDERS, REST, SEARCH, SIGN_IN, TASKS, USAGE, XAIBO]
);
