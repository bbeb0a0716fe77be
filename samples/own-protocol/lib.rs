//! A Worker that adds a protocol and a page of its own to the built-in ones.

mod calculator;
mod plain_text;

use toolbooth::tool::Variable;

/// The configuration variables that the tools read.
const VARIABLES: &[Variable] = &[];

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

toolbooth_worker::serve!(CATALOG, [MCP, REST, plain_text::CAPABILITY]);

#[cfg(test)]
mod tests;
