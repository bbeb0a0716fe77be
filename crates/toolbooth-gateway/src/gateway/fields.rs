//! What a translation loses or changes, and objects that are read member by member so that nothing is lost unnoticed.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;

use super::builder::MAX_WARNINGS;
use super::error::GatewayError;
use super::{ChatRequest, FunctionTool};
use toolbooth::json::{self, Object, Value};

/// What the client is told about a translation.
#[derive(Debug, Default)]
pub(super) struct Notes {
    dropped: BTreeSet<String>,
    warnings: Vec<String>,
}

impl Notes {
    /// The provider does not get the member at `path`. Positions become `[]`, so that a long conversation has a short
    /// list.
    pub(super) fn drop_member(&mut self, path: &str) {
        let mut name = String::with_capacity(path.len());
        let mut inside = false;
        for character in path.chars() {
            inside &= character != ']';
            if !inside {
                name.push(character);
            }
            inside |= character == '[';
        }
        self.dropped.insert(name);
    }

    /// Something is sent in another way than the client asked for.
    pub(super) fn warn(&mut self, warning: String) {
        if self.warnings.len() < MAX_WARNINGS && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Without tools, there is nothing to choose.
    pub(super) fn drop_choice(&mut self, request: &ChatRequest, parallel: Option<bool>) {
        if request.tool_choice.is_some() {
            self.drop_member("tool_choice");
        }
        if parallel.is_some() {
            self.drop_member("parallel_tool_calls");
        }
    }

    pub(super) fn into_parts(self) -> (Vec<String>, Vec<String>) {
        (self.dropped.into_iter().collect(), self.warnings)
    }
}

/// An object that is read member by member. What is left in the end is reported as dropped.
#[derive(Debug)]
pub(super) struct Fields<'t> {
    object: Object<'t>,
    path: String,
}

impl<'t> Fields<'t> {
    /// The members of `value`, which is at `path`.
    ///
    /// # Errors
    /// It is not an object.
    pub(super) fn of(value: Value<'t>, path: String) -> Result<Self, GatewayError> {
        match value {
            Value::Object(mut object) => {
                object.retain(|_, value| !value.is_null());
                Ok(Self { object, path })
            }
            _ => Err(GatewayError::expected(&path, "an object")),
        }
    }

    /// The members of an object in the request.
    ///
    /// # Errors
    /// It is not an object.
    pub(super) fn of_json(json: &'t RawValue, path: String) -> Result<Self, GatewayError> {
        let value = json::parse_within(json.get(), &mut { usize::MAX })
            .map_err(|_| GatewayError::expected(&path, "valid JSON"))?;
        Self::of(value, path)
    }

    /// Where it is in the request.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Where its member `name` is in the request.
    pub(super) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// The member `name`, unless it is `null`.
    pub(super) fn take(&mut self, name: &str) -> Option<Value<'t>> {
        self.object.take(name)
    }

    /// The member `name`.
    ///
    /// # Errors
    /// It is not a string.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<Cow<'t, str>>, GatewayError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(GatewayError::expected(&self.path_of(name), "a string")),
        }
    }

    /// The member `name`.
    ///
    /// # Errors
    /// It is missing, or not a string.
    pub(super) fn required_text(&mut self, name: &str) -> Result<Cow<'t, str>, GatewayError> {
        self.text(name)?.ok_or_else(|| GatewayError::expected(&self.path_of(name), "a string"))
    }

    /// The member `name`, a string that is not empty.
    ///
    /// # Errors
    /// It is not; `expected` says what it is.
    pub(super) fn name(&mut self, name: &str, expected: &str) -> Result<String, GatewayError> {
        match self.take(name) {
            Some(Value::String(text)) if !text.is_empty() => Ok(text.into_owned()),
            _ => Err(GatewayError::expected(&self.path_of(name), expected)),
        }
    }

    /// The member `name`, a number.
    ///
    /// # Errors
    /// It is not a number.
    pub(super) fn number(&mut self, name: &str) -> Result<Option<Value<'t>>, GatewayError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(Some(Value::Number(number))),
            Some(_) => Err(GatewayError::expected(&self.path_of(name), "a number")),
        }
    }

    /// The member `name`, a positive integer.
    ///
    /// # Errors
    /// It is not.
    pub(super) fn count(&mut self, name: &str) -> Result<Option<u64>, GatewayError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        match value.as_number().and_then(serde_json::Number::as_u64) {
            Some(count) if count > 0 => Ok(Some(count)),
            _ => Err(GatewayError::expected(&self.path_of(name), "a positive integer")),
        }
    }

    /// `max_completion_tokens`, or the older `max_tokens`.
    ///
    /// # Errors
    /// One of them is not a positive integer.
    pub(super) fn max_tokens(&mut self, notes: &mut Notes) -> Result<Option<u64>, GatewayError> {
        let newer = self.count("max_completion_tokens")?;
        let older = self.count("max_tokens")?;
        if newer.is_some() && older.is_some_and(|older| Some(older) != newer) {
            notes.drop_member("max_tokens");
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

    /// The member `name`, a boolean.
    ///
    /// # Errors
    /// It is not a boolean.
    pub(super) fn boolean(&mut self, name: &str) -> Result<Option<bool>, GatewayError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(value)),
            Some(_) => Err(GatewayError::expected(&self.path_of(name), "a boolean")),
        }
    }

    /// The member `name`, an object.
    ///
    /// # Errors
    /// It is not an object.
    pub(super) fn fields(&mut self, name: &str) -> Result<Option<Self>, GatewayError> {
        self.take(name).map(|value| Self::of(value, self.path_of(name))).transpose()
    }

    /// The members that are left.
    pub(super) fn into_object(self) -> Object<'t> {
        self.object
    }

    /// Reports the members that nobody has taken.
    pub(super) fn finish(self, notes: &mut Notes) {
        for (name, _) in self.object.iter() {
            notes.drop_member(&self.path_of(name));
        }
    }
}

/// The JSON of a member of a member, as deep as there are names.
pub(super) fn raw_member<'t>(mut json: &'t RawValue, names: &[&str]) -> Option<&'t RawValue> {
    for name in names {
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(json.get()).ok()?;
        json = *members.get(*name)?;
    }
    Some(json)
}

impl FunctionTool {
    /// Reports the members that are not translated, except `kept`: takes the first of these that there is.
    ///
    /// # Errors
    /// The definition is malformed.
    pub(super) fn finish(
        &self,
        path: String,
        kept: &[&str],
        notes: &mut Notes,
    ) -> Result<Option<Value<'_>>, GatewayError> {
        let mut definition = Fields::of_json(&self.json, path)?;
        definition.take("type");
        let mut taken = kept.iter().find_map(|name| definition.take(name));
        if let Some(mut function) = definition.fields("function")? {
            for known in ["name", "description", "parameters", "strict"] {
                function.take(known);
            }
            taken = taken.or_else(|| kept.iter().find_map(|name| function.take(name)));
            function.finish(notes);
        }
        definition.finish(notes);
        Ok(taken)
    }
}
