//! Items and parts of types that this server does not know. OpenAI adds some each month, so that they are no reason to fail.

use crate::gateway::conversation::MessageBody;
use crate::gateway::error::Result;
use crate::gateway::fields::Fields;
use crate::gateway::format::front::address;
use crate::gateway::format::front::unknown::{UNREADABLE, defines, is_tool, may_define};
use crate::gateway::format::responses::front::input::Input;
use toolbooth::json::Value;
use toolbooth::schema::text::excerpt;

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
