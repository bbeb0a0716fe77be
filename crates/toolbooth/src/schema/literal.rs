//! Values that a schema names.

use super::Number;
use crate::json::Value;
use crate::names::same;

/// A value that `const` or `enum` names.
#[derive(Debug, Clone, Copy)]
pub enum Literal {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    String(&'static str),
    /// An array.
    Array(&'static [Literal]),
    /// An object: its names differ.
    Object(&'static [(&'static str, Literal)]),
}

impl Literal {
    /// Whether a value is this one, as JSON Schema means it: numbers by what they mean, members in
    /// any order.
    pub(crate) fn equals(&self, value: &Value<'_>) -> bool {
        match (self, value) {
            (Self::Null, Value::Null) => true,
            (Self::Bool(a), Value::Bool(b)) => a == b,
            (Self::Number(a), Value::Number(b)) => a.order(b.into()).is_eq(),
            (Self::String(a), Value::String(b)) => same(a, b),
            (Self::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b))
            }
            (Self::Object(a), Value::Object(b)) => {
                a.len() == b.len()
                    && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| a.equals(b)))
            }
            _ => false,
        }
    }
}

impl From<Literal> for serde_json::Value {
    fn from(literal: Literal) -> Self {
        match literal {
            Literal::Null => Self::Null,
            Literal::Bool(flag) => flag.into(),
            Literal::Number(number) => number.into(),
            Literal::String(text) => text.into(),
            Literal::Array(items) => Self::Array(items.iter().map(|item| (*item).into()).collect()),
            Literal::Object(members) => {
                let mut map = serde_json::Map::new();
                for (name, value) in members {
                    map.insert((*name).to_owned(), (*value).into());
                }
                Self::Object(map)
            }
        }
    }
}
