//! What a translation loses or changes, and objects that are read member by member so that nothing is lost unnoticed.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::value::RawValue;

use super::TranslateError;
use crate::gateway::builder::MAX_WARNINGS;
use crate::json::{self, Object, Value};

/// What the client is told about a translation.
#[derive(Debug, Default)]
pub(super) struct Report {
    dropped: BTreeSet<String>,
    warnings: Vec<String>,
}

impl Report {
    /// The provider does not get the member at `path`. Positions become `[]`, so that a long conversation has a short
    /// report.
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
    pub(super) fn of(value: Value<'t>, path: String) -> Result<Self, TranslateError> {
        match value {
            Value::Object(mut object) => {
                object.retain(|_, value| !value.is_null());
                Ok(Self { object, path })
            }
            _ => Err(TranslateError::expected(&path, "an object")),
        }
    }

    /// The members of an object in the request.
    ///
    /// # Errors
    /// It is not an object.
    pub(super) fn of_json(json: &'t RawValue, path: String) -> Result<Self, TranslateError> {
        let value = json::parse_within(json.get(), &mut { usize::MAX })
            .map_err(|_| TranslateError::expected(&path, "valid JSON"))?;
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
    pub(super) fn text(&mut self, name: &str) -> Result<Option<Cow<'t, str>>, TranslateError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(TranslateError::expected(&self.path_of(name), "a string")),
        }
    }

    /// The member `name`.
    ///
    /// # Errors
    /// It is missing, or not a string.
    pub(super) fn required_text(&mut self, name: &str) -> Result<Cow<'t, str>, TranslateError> {
        self.text(name)?.ok_or_else(|| TranslateError::expected(&self.path_of(name), "a string"))
    }

    /// The member `name`, a number.
    ///
    /// # Errors
    /// It is not a number.
    pub(super) fn number(&mut self, name: &str) -> Result<Option<Value<'t>>, TranslateError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(Some(Value::Number(number))),
            Some(_) => Err(TranslateError::expected(&self.path_of(name), "a number")),
        }
    }

    /// The member `name`, a positive integer.
    ///
    /// # Errors
    /// It is not.
    pub(super) fn count(&mut self, name: &str) -> Result<Option<u64>, TranslateError> {
        let Some(value) = self.take(name) else { return Ok(None) };
        match value.as_number().and_then(serde_json::Number::as_u64) {
            Some(count) if count > 0 => Ok(Some(count)),
            _ => Err(TranslateError::expected(&self.path_of(name), "a positive integer")),
        }
    }

    /// The member `name`, a boolean.
    ///
    /// # Errors
    /// It is not a boolean.
    pub(super) fn boolean(&mut self, name: &str) -> Result<Option<bool>, TranslateError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(value)),
            Some(_) => Err(TranslateError::expected(&self.path_of(name), "a boolean")),
        }
    }

    /// The member `name`, an object.
    ///
    /// # Errors
    /// It is not an object.
    pub(super) fn fields(&mut self, name: &str) -> Result<Option<Self>, TranslateError> {
        self.take(name).map(|value| Self::of(value, self.path_of(name))).transpose()
    }

    /// The members that are left.
    pub(super) fn into_object(self) -> Object<'t> {
        self.object
    }

    /// Reports the members that nobody has taken.
    pub(super) fn finish(self, report: &mut Report) {
        for (name, _) in self.object.iter() {
            report.drop_member(&self.path_of(name));
        }
    }
}
