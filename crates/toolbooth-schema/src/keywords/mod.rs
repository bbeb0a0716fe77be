//! The keywords, one file per family. Each file has the same parts in the same order: the keywords, check, describe
//! (error messages), and at build time read (from a schema's JSON) and codegen (to Rust).
//!
//! Every match on a family is exhaustive, so the compiler points at each place that a new keyword needs.

mod any;
mod array;
mod number;
mod object;
mod properties;
mod string;

use std::ops::ControlFlow;

pub use any::{AnyKeyword, Types};
pub use array::ArrayKeyword;
pub use number::NumberKeyword;
pub use object::ObjectKeyword;
pub use properties::Properties;
pub use string::StringKeyword;

use crate::describe::{ErrorSink, Path, ValidationError};
use crate::json::Value;
use crate::{Number, Schema};

/// A keyword, under the type of values that it constrains. It holds for values of any other type.
#[derive(Debug, Clone, Copy)]
pub enum Keyword {
    /// For values of any type.
    Any(AnyKeyword),
    /// For strings.
    String(StringKeyword),
    /// For numbers.
    Number(NumberKeyword),
    /// For arrays.
    Array(ArrayKeyword),
    /// For objects.
    Object(ObjectKeyword),
}

impl Keyword {
    /// Whether the keyword, which belongs to `schema`, holds for `value`.
    pub(crate) fn is_valid(&self, schema: &Schema, value: &Value<'_>) -> bool {
        match self {
            Self::Any(keyword) => keyword.is_valid(value),
            Self::String(keyword) => value.as_str().is_none_or(|text| keyword.is_valid(text)),
            Self::Number(keyword) => {
                value.as_number().is_none_or(|number| keyword.is_valid(Number::from(number)))
            }
            Self::Array(keyword) => {
                value.as_array().is_none_or(|items| keyword.is_valid(items, schema, value))
            }
            Self::Object(keyword) => {
                value.as_object().is_none_or(|members| keyword.is_valid(members, schema, value))
            }
        }
    }

    /// Reports why the keyword, which belongs to `schema`, does not hold for `value`.
    pub(crate) fn visit_errors(
        &self,
        schema: &Schema,
        value: &Value<'_>,
        path: &Path<'_>,
        sink: &mut ErrorSink<'_>,
    ) -> ControlFlow<()> {
        match self {
            Self::Any(keyword) => keyword.visit_errors(value, path, sink),
            Self::String(_) | Self::Number(_) => sink(path, ValidationError::Keyword(*self, value)),
            Self::Array(keyword) => keyword.visit_errors(value, path, sink),
            Self::Object(keyword) => keyword.visit_errors(schema, value, path, sink),
        }
    }

    /// What the value at `path` must be, beginning with "Must".
    pub(crate) fn describe(&self, value: &Value<'_>, path: &Path<'_>) -> String {
        match self {
            Self::Any(keyword) => keyword.describe(value, path),
            Self::String(keyword) => keyword.describe(),
            Self::Number(keyword) => keyword.describe(),
            Self::Array(keyword) => keyword.describe(),
            Self::Object(keyword) => keyword.describe(value, path),
        }
    }
}

/// `limit` of a noun: "1 item", "2 items", "2 properties".
fn count(limit: u64, noun: &str) -> String {
    match (limit, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{limit} {stem}ies"),
        (_, None) => format!("{limit} {noun}s"),
    }
}

/// The message of keywords whose errors are those of the schemas and names in them: rarely seen.
const APPLIED: &str = "Must match the schema";

#[cfg(feature = "build")]
mod build {
    use super::*;
    use crate::codegen::Statics;
    use crate::compile::SchemaObject;

    impl Keyword {
        pub(crate) fn read(schema: &SchemaObject<'_>) -> Vec<Self> {
            let mut keywords = Vec::new();
            keywords.extend(AnyKeyword::read(schema).into_iter().map(Self::Any));
            keywords.extend(StringKeyword::read(schema).into_iter().map(Self::String));
            keywords.extend(NumberKeyword::read(schema).into_iter().map(Self::Number));
            keywords.extend(ArrayKeyword::read(schema).into_iter().map(Self::Array));
            keywords.extend(ObjectKeyword::read(schema).into_iter().map(Self::Object));
            keywords
        }

        pub(crate) fn codegen(&self, statics: &mut Statics) -> String {
            match self {
                Self::Any(keyword) => format!("Keyword::Any({})", keyword.codegen(statics)),
                Self::String(keyword) => format!("Keyword::String({})", keyword.codegen(statics)),
                Self::Number(keyword) => format!("Keyword::Number({})", keyword.codegen()),
                Self::Array(keyword) => format!("Keyword::Array({})", keyword.codegen(statics)),
                Self::Object(keyword) => format!("Keyword::Object({})", keyword.codegen(statics)),
            }
        }
    }
}
