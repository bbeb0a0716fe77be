//! The tools: one folder per toolkit, with definitions (`<Tool>@<version>.json`) and functions
//! (`mod.rs`). A new toolkit needs a `mod` line here; `npx toolbooth tool` adds it.
#![forbid(unsafe_code)]

mod greeter;

use toolbooth::tool::Variable;

/// The configuration variables that the tools read.
const VARIABLES: &[Variable] = &[];

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

#[cfg(test)]
mod tests;
