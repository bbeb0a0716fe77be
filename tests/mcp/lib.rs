//! A Worker of the tools, prompts and resources that the conformance suite of MCP asks for, by the
//! names and with the texts that it expects.

#[cfg(test)]
mod properties;
mod test;
#[cfg(test)]
mod tests;

use toolbooth::tool::Variable;

const VARIABLES: &[Variable] = &[];

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

toolbooth_worker::serve!(CATALOG);
