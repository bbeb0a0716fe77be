//! What clients write that this server does not know. It passes to a provider with their format, unless it can give the model something
//! that no limit has checked.

use toolbooth::json::{Object, Value};

/// What a call has returned whose result has no text that this server knows.
pub(in crate::gateway::format) const UNREADABLE: &str =
    "The result has a form that this model cannot read.";

/// Parts of names of members that can give the model a tool or a server, or ask another model.
const DEFINING: [&str; 8] =
    ["tool", "model", "server", "function", "connector", "plugin", "definition", "authorization"];

/// The endings of names of members that only mention one.
const MENTIONING: [&str; 3] = ["_id", "_name", "_label"];

/// The beginnings of types of tools.
const TOOLS: [&str; 12] = [
    "apply_patch",
    "code_interpreter",
    "computer",
    "custom",
    "file_search",
    "function",
    "image_generation",
    "local_shell",
    "mcp",
    "shell",
    "tool",
    "web_search",
];

/// The endings of types of items that use a tool, and define none.
const USES: [&str; 6] = ["_call", "_output", "_reference", "_response", "_result", "_use"];

/// Whether a value that this server does not know can give the model something that no limit has checked.
pub(in crate::gateway::format) fn may_define(value: &Value<'_>) -> bool {
    match value {
        Value::Array(items) => items.iter().any(may_define),
        Value::Object(members) => defines(members),
        _ => false,
    }
}

/// The same for the members of an object.
pub(in crate::gateway::format) fn defines(members: &Object<'_>) -> bool {
    members.iter().any(|(name, value)| match value {
        Value::String(kind) if name == "type" => is_tool(kind),
        value => {
            let is_mentioned = MENTIONING.iter().any(|end| name.ends_with(end));
            !is_mentioned && DEFINING.iter().any(|word| name.contains(word)) || may_define(value)
        }
    })
}

/// Whether a type is that of a tool, as far as names tell.
pub(in crate::gateway::format) fn is_tool(kind: &str) -> bool {
    let is_use = USES.iter().any(|end| kind.ends_with(end));
    !is_use && TOOLS.iter().any(|start| kind.starts_with(start))
}
