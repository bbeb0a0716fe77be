//! JSON as it was written, with its order of members and its form of numbers, and small objects.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::gateway::error::{ErrorKind, GatewayError, Result};
use toolbooth::json::{self, Object, Value};

/// The most JSON values in a request. A conversation is larger than the input of a tool.
const MAX_VALUES: usize = 262_144;

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

/// The members of an object that is kept, each as JSON, in the order in which the client wrote them. None of them is `null`.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawMembers(Vec<(String, Box<RawValue>)>);

impl RawMembers {
    pub(super) fn get(&self, name: &str) -> Option<&RawValue> {
        self.iter().find(|(known, _)| *known == name).map(|(_, json)| json)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Box<RawValue>> {
        self.0.iter_mut().find(|(known, _)| known == name).map(|(_, json)| json)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(name, json)| (name.as_str(), &**json))
    }

    /// Adds a member, if it is there.
    pub(super) fn add(&mut self, name: &str, json: Option<&RawValue>) {
        self.0.extend(json.map(|json| (name.to_owned(), json.to_owned())));
    }

    /// Adds a member that the client has written in a different form.
    pub(super) fn add_value(
        &mut self,
        name: &str,
        value: &(impl Serialize + ?Sized),
    ) -> Result<()> {
        self.0.push((name.to_owned(), to_raw(value)?));
        Ok(())
    }
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

/// The JSON at `path` in the request, which was read before with its limit of values.
pub(super) fn parse<'t>(json: &'t str, path: &str) -> Result<Value<'t>> {
    json::parse_within(json, &mut { usize::MAX })
        .map_err(|_| GatewayError::expected(path, "valid JSON"))
}

/// The JSON of a value.
pub(super) fn to_raw(value: &(impl Serialize + ?Sized)) -> Result<Box<RawValue>> {
    RawValue::from_string(json::to_string(value))
        .map_err(|_| GatewayError::new(ErrorKind::Internal, "The request cannot be written"))
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
