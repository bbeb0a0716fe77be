//! Objects that are read member by member, so that nothing is lost unnoticed, and notes of everything that is.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::builder::MAX_WARNINGS;
use super::{Approval, ErrorKind, FunctionTool, GatewayError, Result};
use toolbooth::json::{self, Object, Value};
use toolbooth::schema::text::excerpt;

/// The most JSON values in a request. A conversation is larger than the input of a tool.
const MAX_VALUES: usize = 262_144;

/// The longest value of a header with warnings, in bytes.
const MAX_HEADER: usize = 1024;

/// The members that a request loses, and warnings about everything that is done differently than the client asked for. Each
/// translation repeats them.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Notes {
    #[serde(skip_serializing_if = "is_empty")]
    warnings: RefCell<Vec<String>>,
    /// The members that a provider does not get, sorted.
    #[serde(skip_serializing_if = "is_empty")]
    dropped: RefCell<Vec<String>>,
}

fn is_empty(list: &RefCell<Vec<String>>) -> bool {
    list.borrow().is_empty()
}

impl Notes {
    /// The provider does not get the member at `path`. Positions become `[]`, so that a long conversation has a short
    /// list.
    pub(super) fn drop_member(&self, path: &str) {
        let mut name = String::with_capacity(path.len());
        let mut inside = false;
        for character in path.chars() {
            inside &= character != ']';
            if !inside {
                name.push(character);
            }
            inside |= character == '[';
        }
        self.drop_name(name);
    }

    fn drop_name(&self, name: String) {
        let mut dropped = self.dropped.borrow_mut();
        // A request can have very many.
        if let Err(at) = dropped.binary_search(&name)
            && dropped.len() < MAX_WARNINGS
        {
            dropped.insert(at, name);
        }
    }

    /// No provider gets the members of a request that are in none of these lists.
    pub(super) fn drop_unknown(&self, members: &[(String, &RawValue)], known: &[&[&str]]) {
        let is_known = |name: &str| known.iter().any(|list| list.contains(&name));
        for (name, _) in members.iter().filter(|(name, _)| !is_known(name)) {
            let name = excerpt(name);
            self.drop_member(&name);
            self.warn(format!(
                "{name}: the gateway does not know this member, so no provider gets it"
            ));
        }
    }

    /// Adds other notes. `names` are members, and what the client calls them.
    pub(super) fn add(&self, others: &Self, names: &[(&str, &str)]) {
        others.dropped.borrow().iter().for_each(|name| self.drop_name(renamed(name, names)));
        others.warnings.borrow().iter().for_each(|warning| self.warn(warning.as_str()));
    }

    /// All of them as the value of a header, if there are any; of those for which it has no room, or no characters, the number.
    pub(super) fn header(&self) -> Option<String> {
        let (warnings, dropped) = (self.warnings.borrow(), self.dropped.borrow());
        let dropped = dropped.iter().map(|name| format!("{name} is dropped"));
        let all: Vec<_> = warnings.iter().cloned().chain(dropped).collect();
        let mut value = String::new();
        let mut left_out = 0;
        for note in &all {
            let is_plain = note.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
            if !is_plain || value.len() + note.len() > MAX_HEADER {
                left_out += 1;
                continue;
            }
            value.push_str(if value.is_empty() { "" } else { "; " });
            value.push_str(note);
        }
        if left_out > 0 {
            value.push_str(if value.is_empty() { "" } else { "; " });
            value.push_str(&format!("and {left_out} more"));
        }
        (!value.is_empty()).then_some(value)
    }

    pub(super) fn warn(&self, warning: impl Into<String>) {
        let (mut warnings, warning) = (self.warnings.borrow_mut(), warning.into());
        if warnings.len() < MAX_WARNINGS && !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
}

/// The JSON at `path` in the request, which was read before with its limit of values.
pub(super) fn parse<'t>(json: &'t str, path: &str) -> Result<Value<'t>> {
    json::parse_within(json, &mut { usize::MAX })
        .map_err(|_| GatewayError::expected(path, "valid JSON"))
}

/// An object with two members. One copy of the code serves all objects of messages.
#[inline(never)]
pub(super) fn pair<'t>(
    first: (&'static str, Value<'t>),
    second: (&'static str, Value<'t>),
) -> Object<'t> {
    let mut object = Object::default();
    for (name, value) in [first, second] {
        object.insert(name.into(), value);
    }
    object
}

/// An object with one member.
#[inline(never)]
pub(super) fn nested<'t>(name: &'static str, value: Value<'t>) -> Value<'t> {
    let mut object = Object::default();
    object.insert(name.into(), value);
    Value::Object(object)
}

/// An object of OpenAI Chat Completions whose member is named after its type, such as a part of a message.
pub(super) fn typed<'t>(kind: &'static str, value: Value<'t>) -> Value<'t> {
    Value::Object(pair(("type", kind.into()), (kind, value)))
}

/// The JSON of a value.
pub(super) fn to_raw(value: &(impl Serialize + ?Sized)) -> Result<Box<RawValue>> {
    RawValue::from_string(json::to_string(value))
        .map_err(|_| GatewayError::new(ErrorKind::Internal, "The request cannot be written"))
}

/// The members of an object in the order in which they are written, each with its JSON.
struct OrderedMembers<'t>(Vec<(String, &'t RawValue)>);

impl<'t> Deserialize<'t> for OrderedMembers<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(OrderedVisitor)
    }
}

struct OrderedVisitor;

impl<'t> Visitor<'t> for OrderedVisitor {
    type Value = OrderedMembers<'t>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((name, json)) = map.next_entry::<String, &RawValue>()? {
            members.push((name, json));
        }
        Ok(OrderedMembers(members))
    }
}

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

    /// `reasoning_effort`, or else what Anthropic's `thinking` means: what `of` has for this word.
    pub(super) fn effort<T>(&mut self, of: fn(&str) -> Option<T>) -> Result<Option<T>> {
        let expected = "one of none, minimal, low, medium, high, xhigh, max";
        if self.get("reasoning_effort").is_none() {
            let word = self.get("thinking").and_then(effort_of);
            if word.is_some() {
                self.take("thinking");
            }
            return Ok(word.and_then(of));
        }
        self.optional("reasoning_effort", expected, |word| of(word.as_str()?))
    }

    pub(super) fn fields(&mut self, name: &str) -> Result<Option<Self>> {
        self.take(name).map(|value| Self::of(value, self.path_of(name), self.notes)).transpose()
    }

    pub(super) fn required_fields(&mut self, name: &str) -> Result<Self> {
        self.fields(name)?.map_or_else(|| self.expected(name, "an object"), Ok)
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

/// A path whose first members may have other names.
pub(super) fn renamed(path: &str, names: &[(&str, &str)]) -> String {
    let own = names.iter().find_map(|(from, to)| {
        let rest = path.strip_prefix(from)?;
        (rest.is_empty() || rest.starts_with(['.', '['])).then(|| format!("{to}{rest}"))
    });
    own.unwrap_or_else(|| path.to_owned())
}

/// The effort that Anthropic's `thinking` asks for; `None` if the model decides.
fn effort_of(thinking: &Value<'_>) -> Option<&'static str> {
    match thinking.get("type")?.as_str()? {
        "disabled" => Some("none"),
        "enabled" => Some(match thinking.get("budget_tokens")?.as_number()?.as_u64()? {
            0..4096 => "low",
            4096..16384 => "medium",
            _ => "high",
        }),
        _ => None,
    }
}

/// The members of the body of a request: read, and as JSON in the client's order. `null` is no member.
pub(super) fn body_members(body: &str) -> Result<(Value<'_>, Vec<(String, &RawValue)>)> {
    body_members_within(body, MAX_VALUES)
}

/// The same for a body of at most so many JSON values.
pub(super) fn body_members_within(
    body: &str,
    mut most: usize,
) -> Result<(Value<'_>, Vec<(String, &RawValue)>)> {
    let invalid = |message: String| GatewayError::new(ErrorKind::InvalidRequest, message);
    let value = json::parse_within(body, &mut most)
        .map_err(|error| invalid(format!("The body is not valid JSON: {error}")))?;
    // The same text again, now for the JSON of each member.
    let Some(mut members) = raw_members(body) else {
        return Err(invalid("The body must be an object".to_owned()));
    };
    members.retain(|(_, json)| json.get() != "null");
    Ok((value, members))
}

/// The members of an object in the order in which they are written, each with its JSON.
pub(super) fn raw_members(object: &str) -> Option<Vec<(String, &RawValue)>> {
    serde_json::from_str(object).ok().map(|OrderedMembers(members)| members)
}

/// The JSON of a member: the last with this name.
pub(super) fn raw_of<'t>(members: &[(String, &'t RawValue)], name: &str) -> Option<&'t RawValue> {
    members.iter().rfind(|(known, _)| known == name).map(|(_, json)| *json)
}

/// The JSON of each item of an array.
pub(super) fn raw_items(array: Option<&RawValue>) -> Vec<&RawValue> {
    array.and_then(|json| serde_json::from_str(json.get()).ok()).unwrap_or_default()
}

/// The JSON of a member of a member, as deep as there are names.
pub(super) fn raw_member<'t>(mut json: &'t RawValue, names: &[&str]) -> Option<&'t RawValue> {
    for name in names {
        json = raw_of(&raw_members(json.get())?, name)?;
    }
    Some(json)
}

/// JSON as it was written, without the white space between its tokens. A value that was read has neither the order of its
/// members nor the form of its numbers.
pub(super) fn compact(json: &RawValue) -> String {
    let mut text = String::with_capacity(json.get().len());
    let (mut in_string, mut is_escaped) = (false, false);
    for character in json.get().chars() {
        if !in_string && character.is_ascii_whitespace() {
            continue;
        }
        in_string ^= character == '"' && !is_escaped;
        is_escaped = in_string && character == '\\' && !is_escaped;
        text.push(character);
    }
    text
}

impl FunctionTool {
    /// Reports the members that are not translated, except `kept`, which may be in the definition or in its function.
    pub(super) fn finish<'t>(
        &'t self,
        path: String,
        kept: Option<&str>,
        notes: &'t Notes,
    ) -> Result<Option<Value<'t>>> {
        let mut definition = Fields::of_json(self.json.get(), path, notes)?;
        definition.take("type");
        let mut taken = kept.and_then(|name| definition.take(name));
        if let Some(mut function) = definition.fields("function")? {
            for known in ["name", "description", "parameters", "strict"] {
                function.take(known);
            }
            if taken.is_none() {
                taken = kept.and_then(|name| function.take(name));
            }
            function.finish();
        }
        definition.finish();
        Ok(taken)
    }
}
