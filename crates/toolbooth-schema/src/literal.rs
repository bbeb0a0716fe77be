//! Values that a schema contains.

use crate::Number;
use crate::json::{Value, to_string};
use crate::text::is_equal;

/// A value of `const` or `enum`.
#[derive(Debug, Clone, Copy)]
pub enum Literal {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(&'static str),
    /// An array.
    Array(&'static [Literal]),
    /// An object, sorted by name.
    Object(&'static [(&'static str, Literal)]),
}

impl Literal {
    /// Whether a value equals this one in the sense of JSON Schema: 1 equals 1.0, and the order of members
    /// does not matter.
    pub(crate) fn equals(&self, value: &Value<'_>) -> bool {
        match (self, value) {
            (Self::Null, Value::Null) => true,
            (Self::Bool(a), Value::Bool(b)) => a == b,
            (Self::Number(a), Value::Number(b)) => a.order(b.into()).is_eq(),
            (Self::String(a), Value::String(b)) => is_equal(a, b),
            (Self::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b))
            }
            (Self::Object(a), Value::Object(b)) => {
                a.len() == b.len()
                    && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| a.equals(b)))
            }
            // Values of different types.
            _ => false,
        }
    }

    pub(crate) fn describe(&self) -> String {
        to_string(&Value::from(*self))
    }
}

impl From<Literal> for Value<'static> {
    fn from(literal: Literal) -> Self {
        match literal {
            Literal::Null => Self::Null,
            Literal::Bool(flag) => Self::Bool(flag),
            Literal::Number(number) => Self::Number(number.into()),
            Literal::String(text) => text.into(),
            Literal::Array(items) => Self::Array(items.iter().map(|item| (*item).into()).collect()),
            Literal::Object(members) => {
                Self::Object(members.iter().map(|(name, value)| (*name, *value)).collect())
            }
        }
    }
}

#[cfg(feature = "build")]
mod build {
    use super::*;
    use crate::codegen::each;
    use crate::compile::{leak, leak_all, leak_text, sorted};

    impl Literal {
        pub(crate) fn read(value: &serde_json::Value) -> Self {
            match value {
                serde_json::Value::Null => Self::Null,
                serde_json::Value::Bool(flag) => Self::Bool(*flag),
                serde_json::Value::Number(number) => Self::Number(number.into()),
                serde_json::Value::String(text) => Self::String(leak_text(text)),
                serde_json::Value::Array(items) => Self::Array(leak_all(items, Self::read)),
                serde_json::Value::Object(members) => {
                    let members = sorted(members).map(|(name, value)| (name, Self::read(value)));
                    Self::Object(leak(members.collect()))
                }
            }
        }

        pub(crate) fn codegen(&self) -> String {
            match self {
                Self::Null => "Literal::Null".to_owned(),
                Self::Bool(flag) => format!("Literal::Bool({flag})"),
                Self::Number(number) => format!("Literal::Number({})", number.codegen()),
                Self::String(text) => format!("Literal::String({text:?})"),
                Self::Array(items) => format!("Literal::Array({})", each(items, Self::codegen)),
                Self::Object(members) => {
                    let member =
                        |(name, value): &(&str, Self)| format!("({name:?}, {})", value.codegen());
                    format!("Literal::Object({})", each(members, member))
                }
            }
        }
    }
}
