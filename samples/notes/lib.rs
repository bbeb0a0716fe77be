//! A Worker whose tools use Cloudflare's bindings: notes in D1 with full-text search, attachments in R2.

mod notes;

use toolbooth::tool::Variable;

/// The configuration variables that the tools read.
const VARIABLES: &[Variable] = &[];

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

toolbooth_worker::serve!(
    CATALOG,
    [ACCOUNT, CHALLENGES, GATEWAY, MCP, PROVIDERS, REST, SEARCH, SIGN_IN, TASKS, USAGE, XAIBO]
);
