//! A Worker with the sample tools, which tests and benchmarks call. `tools/` deploys the same tools
//! through links; what is added or removed there changes nothing here.

mod calculator;
mod doorbell;
mod github;
mod text;
mod weather;

use toolbooth::tool::Variable;

/// The configuration variables that the tools read.
const VARIABLES: &[Variable] = &[github::API_URL, weather::FORECAST_URL, weather::GEOCODING_URL];

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

toolbooth_worker::serve!(
    CATALOG,
    [ACCOUNT, CHALLENGES, GATEWAY, MCP, PROVIDERS, REST, SEARCH, SIGN_IN, TASKS, USAGE, XAIBO]
);

#[cfg(test)]
mod tests;
