//! JSON documents that are put together from parts: values, and text that is JSON already.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::json::{self, Object, Rendered, Value};

/// A JSON value to be written.
#[derive(Debug, Clone)]
pub(super) enum Node<'t> {
    /// A value.
    Value(Value<'t>),
    /// A value that is kept elsewhere.
    Ref(&'t Value<'t>),
    /// Text that is JSON.
    Raw(Cow<'t, str>),
    /// An array.
    List(Vec<Node<'t>>),
    /// An object.
    Object(Members<'t>),
}

/// The members of an object, in the order in which they are written. Names do not repeat.
#[derive(Debug, Clone, Default)]
pub(super) struct Members<'t>(Vec<(Cow<'t, str>, Node<'t>)>);

impl<'t> Members<'t> {
    /// Adds a member.
    pub(super) fn put(&mut self, name: impl Into<Cow<'t, str>>, value: impl Into<Node<'t>>) {
        self.push(name.into(), value.into());
    }

    /// Adds a member if there is a value.
    pub(super) fn put_some(
        &mut self,
        name: impl Into<Cow<'t, str>>,
        value: Option<impl Into<Node<'t>>>,
    ) {
        if let Some(value) = value {
            self.push(name.into(), value.into());
        }
    }

    /// Adds the members of an object, except those that are there already.
    pub(super) fn put_all(&mut self, object: &'t Object<'t>) {
        for (name, value) in object.iter() {
            if !self.0.iter().any(|(known, _)| known == name) {
                self.push(Cow::Borrowed(name), Node::Ref(value));
            }
        }
    }

    /// Whether there are no members.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn push(&mut self, name: Cow<'t, str>, value: Node<'t>) {
        self.0.push((name, value));
    }

    /// The JSON.
    pub(super) fn to_vec(&self) -> Vec<u8> {
        json::to_vec(self)
    }
}

/// An object with these members.
pub(super) fn object<'t, const N: usize>(members: [(&'static str, Node<'t>); N]) -> Node<'t> {
    Node::Object(members_of(members))
}

/// These members.
pub(super) fn members_of<'t, const N: usize>(
    members: [(&'static str, Node<'t>); N],
) -> Members<'t> {
    Members(members.into_iter().map(|(name, value)| (Cow::Borrowed(name), value)).collect())
}

impl<'t> From<Value<'t>> for Node<'t> {
    fn from(value: Value<'t>) -> Self {
        Self::Value(value)
    }
}

impl<'t> From<&'t str> for Node<'t> {
    fn from(text: &'t str) -> Self {
        Self::Value(Value::String(Cow::Borrowed(text)))
    }
}

impl From<String> for Node<'_> {
    fn from(text: String) -> Self {
        Self::Value(Value::String(Cow::Owned(text)))
    }
}

impl<'t> From<Cow<'t, str>> for Node<'t> {
    fn from(text: Cow<'t, str>) -> Self {
        Self::Value(Value::String(text))
    }
}

impl From<u64> for Node<'_> {
    fn from(number: u64) -> Self {
        Self::Value(Value::Number(number.into()))
    }
}

impl From<usize> for Node<'_> {
    fn from(number: usize) -> Self {
        Self::Value(Value::Number(number.into()))
    }
}

impl From<bool> for Node<'_> {
    fn from(truth: bool) -> Self {
        Self::Value(Value::Bool(truth))
    }
}

impl<'t> From<Vec<Node<'t>>> for Node<'t> {
    fn from(items: Vec<Node<'t>>) -> Self {
        Self::List(items)
    }
}

impl<'t> From<Members<'t>> for Node<'t> {
    fn from(members: Members<'t>) -> Self {
        Self::Object(members)
    }
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::Ref(value) => value.serialize(serializer),
            Self::Raw(text) => Rendered(text).serialize(serializer),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(members) => members.serialize(serializer),
        }
    }
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
