//! The deployed tools: one folder per toolkit, with definitions (`<Tool>@<version>.json`) and
//! functions (`mod.rs`). A new toolkit needs a `mod` line here; `make tool` adds it.
//!
//! The folders here are links to the sample tools in `tests/samples`. Delete those that you do not want, with their
//! lines in this file. `toolkits.json` names the shipped toolkits.
#![forbid(unsafe_code)]

mod calculator;
mod doorbell;
mod text;

use toolbooth::tool::Variable;

/// The configuration variables that the tools read.
const VARIABLES: &[Variable] = &[];

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

#[cfg(test)]
mod tests;
