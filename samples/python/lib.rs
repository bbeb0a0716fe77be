//! A Worker whose tool is run by another one: `python/` has that Worker.

use toolbooth::tool::Variable;

/// The variables that functions read.
const VARIABLES: &[Variable] = &[];

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

toolbooth_worker::serve!(CATALOG, [MCP, REST]);
