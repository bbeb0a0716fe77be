//! A Worker with a tool that takes minutes: it runs as a task, in steps that survive restarts.

mod report;

use toolbooth::tool::Variable;

/// The variables that functions read.
const VARIABLES: &[Variable] = &[report::PAGES_URL];

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

toolbooth_worker::serve!(CATALOG, [MCP, REST]);

#[cfg(test)]
mod stand_in;
#[cfg(test)]
mod tests;
