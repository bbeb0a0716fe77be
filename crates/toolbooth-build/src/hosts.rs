//! Warns about what MCP allows and hosts pass on to a model provider that rejects it: then a whole session fails.

use toolbooth::protocol::keywords::properties;

use crate::entry::{Entry, is_latest};
use crate::problem::Problem;

/// What Claude Code puts before the name of a tool, if the server is named as in docs/CLIENTS.md.
const PREFIX: &str = "mcp__toolbooth__";
/// The longest name, and the longest property name, that Anthropic's API takes.
const MAX_NAME: usize = 64;
/// Keywords that its API rejects at the root of an input.
const UNIONS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Warnings for the tools in MCP's list.
pub(crate) fn warnings(entries: &[Entry]) -> Vec<Problem> {
    let latest = entries
        .iter()
        .enumerate()
        .filter(|(at, entry)| is_latest(entries, *at) && entry.listed.is_listed());
    latest.flat_map(|(_, entry)| of(entry)).collect()
}

fn of(entry: &Entry) -> Vec<Problem> {
    let mut problems = Vec::new();
    let name = &entry.listed.name;
    let longest = MAX_NAME - PREFIX.len();
    if name.len() > longest {
        let message = format!(
            "has {} characters; expected at most {longest}, because MCP hosts such as Claude Code call the tool {PREFIX}{name}, and Anthropic's API rejects names of more than {MAX_NAME} characters",
            name.len()
        );
        problems.push(entry.problem("name", message));
    }
    let input = &entry.listed.input_schema;
    for union in UNIONS.iter().filter(|union| input.contains_key(**union)) {
        let message = format!(
            "has {union:?} at its root, which Anthropic's API rejects: MCP hosts that pass the schema on lose the session; describe the rule, or put it into a property"
        );
        problems.push(entry.problem("input_schema", message));
    }
    let is_plain = |name: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(plain)
    };
    for (name, ..) in properties(input).filter(|(name, ..)| !is_plain(name)) {
        let message = format!(
            "is a name that Anthropic's API rejects: MCP hosts that pass the schema on lose the session; expected 1 to {MAX_NAME} letters, digits, _, . or -"
        );
        problems.push(entry.problem(format!("input_schema.properties.{name}"), message));
    }
    problems
}
