//! A Worker with all shipped toolkits.

use toolbooth::tool::Variable;

/// The toolkits have definitions only.
const VARIABLES: &[Variable] = &[];

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

toolbooth_worker::serve!(
    CATALOG,
    [ACCOUNT, CHALLENGES, GATEWAY, MCP, PROVIDERS, REST, SEARCH, SIGN_IN, USAGE, XAIBO]
);
