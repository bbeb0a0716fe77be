//! What a provider keeps of what models have added to their messages: reasoning, signatures and the ids of calls.

use std::borrow::Cow;

use crate::gateway::dialect::{Dialect, Feature};
use crate::gateway::format::adapter::conversation::object_arguments;
use crate::gateway::format::adapter::job::Job;
use crate::gateway::ids;
use crate::gateway::notes::Notes;
use crate::gateway::provider_state::REASONING;
use crate::wire::Json;
use toolbooth::json::{self, Object, Value};

const EXTRA: &str = "extra_content";

/// What a provider keeps.
pub(super) struct Kept<'n> {
    /// Whether it is OpenAI itself.
    strict: bool,
    dialect: &'static Dialect,
    notes: &'n Notes,
}

impl<'n> Kept<'n> {
    pub(super) fn of(job: &Job<'n>, strict: bool) -> Self {
        Self { strict, dialect: job.options.dialect, notes: job.notes }
    }

    /// The id of a call in a form that the provider accepts.
    pub(super) fn id<'i>(&self, id: Cow<'i, str>) -> Cow<'i, str> {
        match self.strict {
            true => ids::portable(id),
            false if self.dialect.has_nine_character_ids() => ids::nine(id),
            false => ids::short(id),
        }
    }

    /// Gives the member `name`, the id of a call, a form that the provider accepts. Returns whether it had another.
    pub(super) fn change_id(&self, object: &mut Object<'_>, name: &'static str) -> bool {
        let Some(Value::String(id)) = object.get(name) else { return false };
        let accepted = self.id(id.clone());
        let is_changed = accepted != *id;
        if is_changed {
            object.insert(name.into(), Value::String(accepted));
        }
        is_changed
    }

    /// The arguments of a function's call, which is at `path`, as the provider takes them. Servers that read them for a chat template
    /// reject a conversation with others for ever.
    pub(super) fn arguments<'a>(&self, text: Cow<'a, str>, path: &str) -> Cow<'a, str> {
        if text.trim().is_empty() {
            return "{}".into();
        }
        if self.strict || self.dialect.takes(Feature::MalformedArguments) {
            return text;
        }
        match object_arguments(text, || format!("{path}.function.arguments"), self.notes) {
            Json::Text(text) => text,
            json => json::to_string(&json).into(),
        }
    }

    /// Gives a call, which is at `path`, the type and the arguments in the form that providers take. Returns whether they had another.
    pub(super) fn change_call(&self, call: &mut Object<'_>, path: &str) -> bool {
        let has_type = call.get("type").and_then(Value::as_str).is_some();
        let Some(Value::Object(function)) = call.get("function") else { return false };
        let written = match function.get("arguments") {
            Some(Value::String(text)) => Some(text.clone()),
            _ => None,
        };
        let text = match (&written, function.get("arguments")) {
            (Some(text), _) => text.clone(),
            // Some clients write the object itself.
            (None, Some(object @ Value::Object(_))) => object.text().into(),
            (None, _) => "".into(),
        };
        let sent = self.arguments(text, path);
        if has_type && written.as_ref() == Some(&sent) {
            return false;
        }
        let Some(Value::Object(mut function)) = call.take("function") else { return false };
        function.insert("arguments".into(), Value::String(sent));
        call.insert("type".into(), "function".into());
        call.insert("function".into(), Value::Object(function));
        true
    }

    /// What the provider gets of the `extra_content` at `path`. What Anthropic and OpenAI have thought, other providers reject, and must
    /// not see.
    pub(super) fn extra_content<'t>(&self, extra: &Object<'t>, path: &str) -> Option<Value<'t>> {
        let takes_others = !self.strict && self.dialect.takes(Feature::ExtraContent);
        let mut kept = Object::default();
        for (name, value) in extra.iter().filter(|(name, _)| **name != *"toolbooth") {
            match takes_others && !matches!(&**name, "anthropic" | "openai") {
                true => kept.insert(name.clone(), value.clone()),
                false => self.notes.drop_member(&format!("{path}.{EXTRA}.{name}")),
            }
        }
        (!kept.is_empty()).then_some(Value::Object(kept))
    }

    /// Leaves that of a message, or of a call. Returns whether anything changes.
    pub(super) fn leave_extra(&self, object: &mut Object<'_>, path: &str) -> bool {
        let extra = match object.take(EXTRA) {
            None => return false,
            Some(Value::Object(extra)) => extra,
            Some(_) => return true,
        };
        if self.strict {
            if extra.iter().any(|(name, _)| **name != *"toolbooth") {
                self.notes.drop_member(&format!("{path}.{EXTRA}"));
            }
            return true;
        }
        // The same thoughts as text.
        if extra.contains("anthropic") && object.take("reasoning_content").is_some() {
            self.notes.drop_member(&format!("{path}.reasoning_content"));
        }
        let kept = self.extra_content(&extra, path);
        let is_changed = kept.as_ref().and_then(Value::as_object) != Some(&extra);
        if let Some(kept) = kept {
            object.insert(EXTRA.into(), kept);
        }
        is_changed
    }

    /// Leaves the reasoning that the dialect takes back, in the members that it has for that. Returns whether anything changes.
    pub(super) fn leave_reasoning(
        &self,
        message: &mut Object<'_>,
        has_calls: bool,
        path: &str,
    ) -> bool {
        let before = message.len();
        message.retain(|name, value| {
            let is_known = !self.strict && self.dialect.takes_reasoning(name);
            let keep = is_known || !REASONING.contains(&name);
            if !keep && !value.is_null() {
                self.notes.drop_member(&format!("{path}.{name}"));
            }
            keep
        });
        let mut is_changed = message.len() < before;
        let needed = self.dialect.needed_reasoning().filter(|_| has_calls && !self.strict);
        if let Some(name) = needed
            && message.get(name).and_then(Value::as_str).is_none()
        {
            message.insert(name.to_owned().into(), "".into());
            is_changed = true;
        }
        is_changed
    }
}
