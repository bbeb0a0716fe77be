//! A Worker whose tools use the Worker's bindings and the store, and crash while the `worker` crate is linked, and the sample
//! `samples/report`.

mod platform;
mod report;

use toolbooth::tool::Variable;

const VARIABLES: &[Variable] = &[platform::KEY, report::PAGES_URL];

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

toolbooth_worker::serve!(
    CATALOG,
    [ACCOUNT, CHALLENGES, GATEWAY, MCP, PROVIDERS, REST, SEARCH, SIGN_IN, USAGE, XAIBO]
);
