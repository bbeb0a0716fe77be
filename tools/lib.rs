//! The deployed tools: one folder per toolkit, with definitions (`<Tool>@<version>.json`) and
//! functions (`mod.rs`). A new toolkit needs a `mod` line here; `make tool` adds it.
//!
//! The folders here are links to the sample tools in `tests/samples`. Delete those that you do not want, with their
//! lines in this file and in `tests.rs`.
#![forbid(unsafe_code)]

mod calculator;
mod doorbell;
mod github;
mod text;
mod weather;

use toolbooth::tool::Variable;

/// The configuration variables that the tools read.
const VARIABLES: &[Variable] = &[github::API_URL, weather::FORECAST_URL, weather::GEOCODING_URL];

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

#[cfg(test)]
mod tests;
