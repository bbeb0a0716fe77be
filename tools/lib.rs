//! The catalogue: a folder a toolkit, with its definitions (`<Tool>@<version>.json`) and its
//! functions (`mod.rs`). A new toolkit needs its `mod` line here; `make tool` writes it.
#![forbid(unsafe_code)]

mod calculator;
mod doorbell;
mod github;
mod text;
mod weather;

use toolbooth::tool::Variable;

/// The variables that the tools read.
const VARIABLES: &[Variable] = &[github::API_URL, weather::FORECAST_URL, weather::GEOCODING_URL];

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

#[cfg(test)]
mod parity;
#[cfg(test)]
mod tests;
