//! Objects that are read member by member, so that nothing is lost unnoticed.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::gateway::conversation::tool::Approval;
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::facts::Effort;
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::{parse, raw_items};
use toolbooth::json::{Object, Value};
use toolbooth::schema::text::excerpt;

/// An object that is read member by member. What is left in the end is reported as dropped.
pub(super) struct Fields<'t> {
    object: Object<'t>,
    /// Where it is in the request.
    pub(super) path: String,
    pub(super) notes: &'t Notes,
}

impl<'t> Fields<'t> {
    /// The members of `value`, which is at `path` and must be an object.
    pub(super) fn of(value: Value<'t>, path: String, notes: &'t Notes) -> Result<Self> {
        match value {
            Value::Object(mut object) => {
                object.retain(|_, value| !value.is_null());
                Ok(Self { object, path, notes })
            }
            _ => Err(GatewayError::expected(&path, "an object")),
        }
    }

    pub(super) fn of_json(json: &'t str, path: String, notes: &'t Notes) -> Result<Self> {
        Self::of(parse(json, &path)?, path, notes)
    }

    /// The objects of an array, which is at `path`, each with its JSON; `json` is that of the array. An absent one is empty.
    pub(super) fn of_array<'j>(
        array: Option<Value<'t>>,
        json: Option<&'j RawValue>,
        path: &str,
        notes: &'t Notes,
    ) -> Result<impl Iterator<Item = Result<(Self, &'j RawValue)>>> {
        let items = match array {
            None => Vec::new(),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(GatewayError::expected(path, "an array")),
        };
        let items = items.into_iter().zip(raw_items(json)).enumerate();
        Ok(items.map(move |(index, (item, json))| {
            Ok((Self::of(item, format!("{path}[{index}]"), notes)?, json))
        }))
    }

    /// Where its member `name` is in the request.
    pub(super) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// The error that the member `name` is not what is expected.
    pub(super) fn expected<T>(&self, name: &str, expected: &str) -> Result<T> {
        Err(GatewayError::expected(&self.path_of(name), expected))
    }

    /// The member `name`, unless it is `null`.
    pub(super) fn take(&mut self, name: &str) -> Option<Value<'t>> {
        self.object.take(name)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value<'t>> {
        self.object.get(name)
    }

    /// The member `name`, if it is there: what `read` makes of it, which is `expected`.
    fn optional<T>(
        &mut self,
        name: &str,
        expected: &str,
        read: impl FnOnce(Value<'t>) -> Option<T>,
    ) -> Result<Option<T>> {
        match self.take(name).map(read) {
            None => Ok(None),
            Some(None) => self.expected(name, expected),
            Some(value) => Ok(value),
        }
    }

    pub(super) fn text(&mut self, name: &str) -> Result<Option<Cow<'t, str>>> {
        self.optional(name, "a string", |value| match value {
            Value::String(text) => Some(text),
            _ => None,
        })
    }

    pub(super) fn required_text(&mut self, name: &str) -> Result<Cow<'t, str>> {
        self.text(name)?.map_or_else(|| self.expected(name, "a string"), Ok)
    }

    /// The member `name`, a string that is not empty; otherwise the error says what is expected.
    pub(super) fn name(&mut self, name: &str, expected: &str) -> Result<String> {
        match self.take(name) {
            Some(Value::String(text)) if !text.is_empty() => Ok(text.into_owned()),
            _ => self.expected(name, expected),
        }
    }

    pub(super) fn number(&mut self, name: &str) -> Result<Option<Value<'t>>> {
        self.optional(name, "a number", |value| value.as_number().is_some().then_some(value))
    }

    /// The member `name`, a whole number above 0.
    pub(super) fn count(&mut self, name: &str) -> Result<Option<u64>> {
        self.optional(name, "a positive integer", |value| {
            value.as_number()?.as_u64().filter(|count| *count > 0)
        })
    }

    /// `max_completion_tokens`, or the older `max_tokens`.
    pub(super) fn max_tokens(&mut self) -> Result<Option<u64>> {
        let newer = self.count("max_completion_tokens")?;
        let older = self.count("max_tokens")?;
        if newer.is_some() && older.is_some_and(|older| Some(older) != newer) {
            self.notes.drop_member("max_tokens");
        }
        Ok(newer.or(older))
    }

    /// The items of the member `name`, or the member itself.
    pub(super) fn list(&mut self, name: &str) -> Vec<Value<'t>> {
        match self.take(name) {
            Some(Value::Array(items)) => items,
            one => one.into_iter().collect(),
        }
    }

    pub(super) fn boolean(&mut self, name: &str) -> Result<Option<bool>> {
        self.optional(name, "a boolean", |value| match value {
            Value::Bool(value) => Some(value),
            _ => None,
        })
    }

    /// The member `name`, an array of strings.
    pub(super) fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>> {
        self.optional(name, "an array of strings", |value| value.texts())
    }

    /// The member `name`, names of tools: an array, or an object with `tool_names`.
    pub(super) fn tool_names(&mut self, name: &str) -> Result<Option<Vec<String>>> {
        if !matches!(self.get(name), Some(Value::Object(_))) {
            return self.texts(name);
        }
        let mut filter = self.required_fields(name)?;
        let names = filter.texts("tool_names")?;
        filter.reject_others("tool_names")?;
        Ok(names)
    }

    /// `require_approval`: which calls of compiled-in tools the user must approve.
    pub(super) fn approval(&mut self) -> Result<Approval> {
        const NAME: &str = "require_approval";
        if matches!(self.get(NAME), Some(Value::Object(_))) {
            let mut filter = self.required_fields(NAME)?;
            let always = filter.tool_names("always")?.unwrap_or_default();
            let never = filter.tool_names("never")?.unwrap_or_default();
            filter.reject_others("always and never")?;
            return Ok(Approval::ByTool { always, never });
        }
        let expected = "never, always, or an object with the names of tools for each";
        match self.take(NAME).as_ref().map(Value::as_str) {
            None => Ok(Approval::UnlessReadOnly),
            Some(Some("never")) => Ok(Approval::Never),
            Some(Some("always")) => Ok(Approval::Always),
            Some(_) => self.expected(NAME, expected),
        }
    }

    /// The member `name`, with which the model must search for compiled-in tools: where it is, if it is true.
    pub(super) fn search(&mut self, name: &str) -> Result<Option<String>> {
        Ok(self.boolean(name)?.unwrap_or(false).then(|| self.path_of(name)))
    }

    /// `reasoning_effort`, or else what Anthropic's `thinking` means.
    pub(super) fn effort(&mut self) -> Result<Option<Effort>> {
        let expected = "one of none, minimal, low, medium, high, xhigh, max";
        if self.get("reasoning_effort").is_none() {
            let effort = self.get("thinking").and_then(effort_of);
            if effort.is_some() {
                self.take("thinking");
            }
            return Ok(effort);
        }
        self.optional("reasoning_effort", expected, |word| Effort::of(word.as_str()?))
    }

    pub(super) fn fields(&mut self, name: &str) -> Result<Option<Self>> {
        self.take(name).map(|value| Self::of(value, self.path_of(name), self.notes)).transpose()
    }

    pub(super) fn required_fields(&mut self, name: &str) -> Result<Self> {
        self.fields(name)?.map_or_else(|| self.expected(name, "an object"), Ok)
    }

    /// What was not taken.
    pub(super) fn object(&self) -> &Object<'t> {
        &self.object
    }

    pub(super) fn into_object(self) -> Object<'t> {
        self.object
    }

    /// An error if there is a member that was not taken: `known` are those that there may be.
    pub(super) fn reject_others(self, known: &str) -> Result<()> {
        let Some((name, _)) = self.object.iter().next() else { return Ok(()) };
        let path = self.path_of(&excerpt(name));
        let place = if self.path.is_empty() { "the request" } else { &self.path };
        let message = format!("{path} is unknown; {place} may have {known}");
        Err(GatewayError::invalid(path, message))
    }

    /// Reports the members that were not taken.
    pub(super) fn finish(self) {
        for (name, _) in self.object.iter() {
            self.notes.drop_member(&self.path_of(name));
        }
    }
}

/// The effort that Anthropic's `thinking` asks for; `None` if the model decides.
pub(super) fn effort_of(thinking: &Value<'_>) -> Option<Effort> {
    match thinking.get("type")?.as_str()? {
        "disabled" | "between_tools" => Some(Effort::None),
        "enabled" => Some(match thinking.get("budget_tokens")?.as_number()?.as_u64()? {
            0..4096 => Effort::Low,
            4096..16384 => Effort::Medium,
            _ => Effort::High,
        }),
        _ => None,
    }
}
