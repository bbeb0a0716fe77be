//! A Worker whose tools have no function: their definitions describe the requests, and `toolkit.json` the variables.

use toolbooth::tool::Variable;

/// The variables that functions read. Those of definitions are in `library/toolkit.json`.
const VARIABLES: &[Variable] = &[];

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

toolbooth_worker::serve!(CATALOG, [CHALLENGES, MCP, REST]);

#[cfg(test)]
mod tests;
