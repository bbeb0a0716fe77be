//! A Worker with the tools, prompts and resources that MCP's conformance suite calls, with the
//! names and texts that it expects. The toolkit `styles` was imported from `scripts/parity/styles.json`.

#[cfg(test)]
mod properties;
mod tasks;
mod test;
#[cfg(test)]
mod tests;

use toolbooth::tool::Variable;

const VARIABLES: &[Variable] = &[];

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

// Without the search: the suite expects all of these tools in the list.
toolbooth_worker::serve!(
    CATALOG,
    [ACCOUNT, CHALLENGES, GATEWAY, MCP, PROVIDERS, REST, SIGN_IN, USAGE, XAIBO]
);
