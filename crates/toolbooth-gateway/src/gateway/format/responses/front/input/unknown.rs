//! Items and parts of types that this server does not know. OpenAI adds some each month, so that they are no reason to fail.

use crate::gateway::conversation::MessageBody;
use crate::gateway::error::Result;
use crate::gateway::fields::Fields;
use crate::gateway::format::front::address;
use crate::gateway::format::responses::front::input::Input;
use toolbooth::json::{Object, Value};
use toolbooth::schema::text::excerpt;

/// What a call has returned whose output has no text.
const UNREADABLE: &str = "The result has a form that this model cannot read.";

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

impl Input<'_> {
    /// What an agent has written to another one: to a model that does not know it, a message of the user.
    pub(super) fn agent_message(&mut self, item: Fields<'_>) -> Result<()> {
        self.say(item, MessageBody::User)
    }

    /// An item of a type that this server does not know. A provider with this format gets it, unless it can define what no limit has
    /// checked, or has an address that is not allowed.
    pub(super) fn unknown(&mut self, index: usize, kind: &str, item: Fields<'_>) -> Result<()> {
        let name = format!("input[].{}", excerpt(kind));
        let call_id = item.get("call_id").and_then(Value::as_str).map(str::to_owned);
        let output = item.get("output");
        let is_output = output.is_some() || kind.ends_with("_output") || kind.ends_with("_result");
        let text = output.and_then(Value::as_str).unwrap_or(UNREADABLE).to_owned();
        let path = item.path.clone();
        let value = Value::Object(item.into_object());
        self.is_incomplete = true;
        if is_tool(kind) || may_define(&value) || address::check(&path, &value).is_err() {
            self.removed.push(index);
            self.notes.drop_member(&name);
        }
        self.tools.lost.push(name);
        match call_id {
            Some(id) if is_output && self.is_open(&id) => self.result(&id, text.into(), &path),
            id => {
                self.left_out.extend(id);
                Ok(())
            }
        }
    }

    /// A part of a type that this server does not know.
    pub(super) fn unknown_part(&mut self, kind: &str, part: Fields<'_>) {
        self.tools.lost.push(format!("{} ({})", part.path, excerpt(kind)));
        self.is_incomplete = true;
        self.needs_translation |= is_tool(kind) || defines(&part.into_object());
    }

    /// Whether a call has no result yet.
    pub(super) fn is_open(&self, id: &str) -> bool {
        let mut calls = self.open.iter().flat_map(|open| &open.calls);
        self.pending.has(id) || calls.any(|(call, _)| *call.id == *id)
    }
}

/// Whether a value that this server does not know can give the model something that no limit has checked.
fn may_define(value: &Value<'_>) -> bool {
    match value {
        Value::Array(items) => items.iter().any(may_define),
        Value::Object(members) => defines(members),
        _ => false,
    }
}

/// The same for the members of an object.
pub(super) fn defines(members: &Object<'_>) -> bool {
    members.iter().any(|(name, value)| match value {
        Value::String(kind) if name == "type" => is_tool(kind),
        value => {
            let is_mentioned = MENTIONING.iter().any(|end| name.ends_with(end));
            !is_mentioned && DEFINING.iter().any(|word| name.contains(word)) || may_define(value)
        }
    })
}

/// Whether a type is that of a tool, as far as names tell.
fn is_tool(kind: &str) -> bool {
    let is_use = USES.iter().any(|end| kind.ends_with(end));
    !is_use && TOOLS.iter().any(|start| kind.starts_with(start))
}
