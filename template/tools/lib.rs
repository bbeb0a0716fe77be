//! The tools: one folder per toolkit, with definitions (`<Tool>@<version>.json`) and functions, in Rust
//! (`mod.rs`) or TypeScript. A toolkit with `mod.rs` needs a `mod` line here; `npx toolbooth tool` adds it.
#![forbid(unsafe_code)]

{% if language == "rust" -%}
mod greeter;

{% endif -%}
use toolbooth::tool::Variable;

/// The configuration variables that the tools read.
const VARIABLES: &[Variable] = &[];

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

#[cfg(test)]
mod tests;
