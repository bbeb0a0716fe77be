//! The catalogue: a folder a toolkit, with its definitions (`<Tool>@<version>.json`) and its
//! functions (`mod.rs`). A new toolkit needs its `mod` line here; `make tool` writes it.
#![forbid(unsafe_code)]

mod calculator;
mod doorbell;
mod text;
mod weather;

use toolbooth::config::Variable;

/// The variables that the tools read.
const VARIABLES: &[Variable] = weather::VARIABLES;

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

#[cfg(test)]
mod parity;
#[cfg(test)]
mod tests;
