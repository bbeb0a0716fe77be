//! Keywords for values of any type: `type`, `const`, `enum`, and those that combine schemas.

use std::ops::ControlFlow;

use super::APPLIED;
use crate::branches::{Branch, list};
use crate::describe::{ErrorSink, Path, ValidationError, describe_alternatives};
use crate::json::Value;
use crate::{Keyword, Literal, Reference, Schema};

/// A keyword for values of any type.
#[derive(Debug, Clone, Copy)]
pub enum AnyKeyword {
    /// The schema `false`: nothing is valid.
    False,
    /// `type`.
    Type(Types),
    /// `const`.
    Const(Literal),
    /// `enum`.
    Enum(&'static [Literal]),
    /// `allOf`.
    AllOf(&'static [Schema]),
    /// `anyOf`.
    AnyOf(&'static [Schema]),
    /// `oneOf`.
    OneOf(&'static [Schema]),
    /// `not`.
    Not(&'static Schema),
    /// `if`, `then` and `else`; a missing one is the schema without keywords.
    If(&'static Schema, &'static Schema, &'static Schema),
    /// `$ref`, in recursive schemas.
    Ref(Reference),
}

/// A set of JSON Schema types, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Types(pub u8);

impl Types {
    /// The names of the types; the index of a name is the bit of its type.
    pub const NAMES: [&'static str; 7] =
        ["null", "boolean", "integer", "number", "string", "array", "object"];

    /// Whether a value has one of the types. A number without a fraction is an integer, also 1.0.
    pub(crate) fn contain(self, value: &Value<'_>) -> bool {
        let bits = match value {
            Value::Null => 1,
            Value::Bool(_) => 1 << 1,
            Value::Number(number) if !number.is_f64() || is_whole(number) => 0b1100,
            Value::Number(_) => 1 << 3,
            Value::String(_) => 1 << 4,
            Value::Array(_) => 1 << 5,
            Value::Object(_) => 1 << 6,
        };
        self.0 & bits != 0
    }
}

fn is_whole(number: &serde_json::Number) -> bool {
    number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

impl AnyKeyword {
    pub(super) fn is_valid(&self, value: &Value<'_>) -> bool {
        match self {
            Self::False => false,
            Self::Type(types) => types.contain(value),
            Self::Const(literal) => literal.equals(value),
            Self::Enum(literals) => literals.iter().any(|literal| literal.equals(value)),
            Self::AllOf(schemas) => schemas.iter().all(|schema| schema.is_valid(value)),
            Self::AnyOf(schemas) => schemas.iter().any(|schema| schema.is_valid(value)),
            Self::OneOf(schemas) => {
                schemas.iter().filter(|schema| schema.is_valid(value)).take(2).count() == 1
            }
            Self::Not(schema) => !schema.is_valid(value),
            Self::If(condition, then, otherwise) => {
                if condition.is_valid(value) { then } else { otherwise }.is_valid(value)
            }
            Self::Ref(reference) => reference.schema().is_valid(value),
        }
    }

    pub(super) fn visit_errors(
        &self,
        value: &Value<'_>,
        path: &Path<'_>,
        sink: &mut ErrorSink<'_>,
    ) -> ControlFlow<()> {
        match self {
            Self::AllOf(schemas) => {
                schemas.iter().try_for_each(|schema| schema.visit_errors(value, path, sink))
            }
            Self::If(condition, then, otherwise) => {
                let schema = if condition.is_valid(value) { then } else { otherwise };
                schema.visit_errors(value, path, sink)
            }
            Self::AnyOf(schemas) | Self::OneOf(schemas) => {
                self.visit_branch(schemas, value, path, sink)
            }
            Self::Ref(reference) => reference.schema().visit_errors(value, path, sink),
            Self::False | Self::Type(_) | Self::Const(_) | Self::Enum(_) | Self::Not(_) => {
                sink(path, ValidationError::Keyword(Keyword::Any(*self), value))
            }
        }
    }

    /// Reports the errors of the schema that a value was meant for, if that is known; otherwise those of the union.
    fn visit_branch(
        &self,
        schemas: &'static [Schema],
        value: &Value<'_>,
        path: &Path<'_>,
        sink: &mut ErrorSink<'_>,
    ) -> ControlFlow<()> {
        // Of `oneOf`, several may match.
        let matches = || schemas.iter().any(|schema| schema.is_valid(value));
        match Branch::find(schemas, value).filter(|_| !matches()) {
            Some(Branch::Only(schema)) => schema.visit_errors(value, path, sink),
            Some(Branch::Chosen(schema, discriminator)) => {
                schema.visit_errors(value, path, sink)?;
                sink(path, ValidationError::Union(discriminator, value))
            }
            Some(Branch::Unknown(discriminator)) => {
                sink(path, ValidationError::Union(discriminator, value))
            }
            None => sink(path, ValidationError::Keyword(Keyword::Any(*self), value)),
        }
    }

    pub(super) fn describe(&self, value: &Value<'_>, path: &Path<'_>) -> String {
        match self {
            Self::False => "Must be left out".to_owned(),
            Self::Type(types) => {
                let hint =
                    if types.is_json_in_a_string(value) { ", not a string with JSON" } else { "" };
                format!("Must be {}{hint}", types.describe())
            }
            Self::Const(expected) => format!("Must be {}", expected.describe()),
            Self::Enum(options) => format!("Must be one of: {}", list(options.iter())),
            Self::AnyOf(schemas) => {
                let alternatives = describe_alternatives(schemas, value, path);
                format!("Must match at least one of: {alternatives}")
            }
            Self::OneOf(schemas) if schemas.iter().any(|schema| schema.is_valid(value)) => {
                "Must match exactly one of the allowed schemas".to_owned()
            }
            Self::OneOf(schemas) => {
                format!("Must match one of: {}", describe_alternatives(schemas, value, path))
            }
            Self::Not(_) => "Must not match the schema in \"not\"".to_owned(),
            Self::AllOf(_) | Self::If(..) | Self::Ref(_) => APPLIED.to_owned(),
        }
    }
}

impl Types {
    /// Whether a value that has none of the types is a string which looks like an array or object, if one is expected.
    fn is_json_in_a_string(self, value: &Value<'_>) -> bool {
        let text = value.as_str().map(str::trim_ascii).unwrap_or_default();
        let is = |bit: u8, start, end| {
            self.0 & (1 << bit) != 0 && text.starts_with(start) && text.ends_with(end)
        };
        is(5, '[', ']') || is(6, '{', '}')
    }

    fn describe(self) -> String {
        const NOUNS: [&str; 7] = [
            "null",
            "true or false",
            "an integer",
            "a number",
            "a string",
            "an array",
            "an object",
        ];
        let nouns = NOUNS.iter().enumerate().filter(|(bit, _)| self.0 & (1 << bit) != 0);
        let mut nouns: Vec<_> = nouns.map(|(_, noun)| *noun).collect();
        match nouns.pop() {
            None => "nothing".to_owned(),
            Some(last) if nouns.is_empty() => last.to_owned(),
            Some(last) => format!("{} or {last}", nouns.join(", ")),
        }
    }
}

#[cfg(feature = "build")]
mod build {
    use super::*;
    use crate::codegen::{Statics, each};
    use crate::compile::{SchemaObject, leak_all};

    impl AnyKeyword {
        pub(in crate::keywords) fn read(schema: &SchemaObject<'_>) -> Vec<Self> {
            const TRUE: &Schema = &Schema { keywords: &[] };
            let branch = |keyword| schema.schema(keyword).unwrap_or(TRUE);
            let keywords = [
                schema.get("type").map(|names| Self::Type(Types::read(names))),
                schema.get("const").map(|value| Self::Const(Literal::read(value))),
                schema.list("enum").map(|values| Self::Enum(leak_all(values, Literal::read))),
                schema.schemas("allOf").map(Self::AllOf),
                schema.schemas("anyOf").map(Self::AnyOf),
                schema.schemas("oneOf").map(Self::OneOf),
                schema.schema("not").map(Self::Not),
                schema.schema("if").map(|it| Self::If(it, branch("then"), branch("else"))),
                schema.reference().map(Self::Ref),
            ];
            keywords.into_iter().flatten().collect()
        }

        pub(in crate::keywords) fn codegen(&self, statics: &mut Statics) -> String {
            let keyword = match self {
                Self::False | Self::Type(_) => format!("{self:?}"),
                Self::Const(value) => format!("Const({})", value.codegen()),
                Self::Enum(values) => format!("Enum({})", each(values, Literal::codegen)),
                Self::AllOf(schemas) => format!("AllOf({})", statics.schemas(schemas)),
                Self::AnyOf(schemas) => format!("AnyOf({})", statics.schemas(schemas)),
                Self::OneOf(schemas) => format!("OneOf({})", statics.schemas(schemas)),
                Self::Not(schema) => format!("Not(&{})", statics.schema(schema)),
                Self::If(condition, then, otherwise) => format!(
                    "If(&{}, &{}, &{})",
                    statics.schema(condition),
                    statics.schema(then),
                    statics.schema(otherwise)
                ),
                Self::Ref(reference) => {
                    let name = statics.reference(reference.schema());
                    format!("Ref(Reference::Static(&{name}))")
                }
            };
            format!("AnyKeyword::{keyword}")
        }
    }

    impl Types {
        fn read(names: &serde_json::Value) -> Self {
            let one = std::slice::from_ref(names);
            let names = names.as_array().map_or(one, Vec::as_slice);
            let bit = |name: &serde_json::Value| Self::NAMES.iter().position(|known| name == known);
            Self(names.iter().filter_map(bit).fold(0, |set, bit| set | 1 << bit))
        }
    }
}
