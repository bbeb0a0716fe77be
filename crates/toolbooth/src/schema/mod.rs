//! Schemas as data: what a tool takes and gives, checked by one walk over static tables.
//!
//! A [`Schema`] says what JSON Schema 2020-12 says with the keywords that a definition may use
//! (all but references). `toolbooth-build` writes them as statics; nothing is compiled or read while
//! a request waits, and a further tool adds a few hundred bytes of data and no code.
//!
//! A keyword that few schemas use and that needs code of its own (`multipleOf`, `uniqueItems`,
//! `unevaluated…`, `format`, the costliest patterns) names its function in the data. What no schema
//! of a catalogue names is not linked.

mod automaton;
mod fault;
pub mod formats;
mod literal;
mod multiple;
mod nulls;
mod number;
mod pattern;
mod unevaluated;
mod unique;
mod valid;

#[cfg(test)]
mod tests;

pub use automaton::Automaton;
pub(crate) use fault::{Fault, Path};
pub use literal::Literal;
pub use multiple::is_multiple;
pub use number::Number;
pub use pattern::{Engine, Matcher, Pattern, regex};
pub use unevaluated::evaluated;
pub use unique::is_unique;

use crate::json::Value;
use crate::names::order;

/// A schema: all of its keywords must hold. `true` is the schema without keywords.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    /// The keywords, in the order in which their faults are told.
    pub keywords: &'static [Keyword],
}

/// A rule for a value. One that speaks of a type of values holds for values of other types.
#[derive(Debug, Clone, Copy)]
pub enum Keyword {
    /// The schema `false`: holds for nothing.
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
    /// `if`, `then`, `else`: what is not there is the schema without keywords.
    If(&'static Schema, &'static Schema, &'static Schema),
    /// `minLength`, in code points.
    MinLength(u64),
    /// `maxLength`, in code points.
    MaxLength(u64),
    /// `pattern`.
    Pattern(&'static Pattern),
    /// `format`: its name, and what checks it (see [`formats`]).
    Format(&'static str, fn(&str) -> bool),
    /// `minimum`.
    Minimum(Number),
    /// `maximum`.
    Maximum(Number),
    /// `exclusiveMinimum`.
    ExclusiveMinimum(Number),
    /// `exclusiveMaximum`.
    ExclusiveMaximum(Number),
    /// `multipleOf`: the divisor, and [`is_multiple`].
    MultipleOf(Number, fn(Number, Number) -> bool),
    /// `minItems`.
    MinItems(u64),
    /// `maxItems`.
    MaxItems(u64),
    /// `uniqueItems`: [`is_unique`].
    UniqueItems(fn(&[Value<'_>]) -> bool),
    /// `prefixItems`.
    PrefixItems(&'static [Schema]),
    /// `items`, from the item at this place on: those before it are for `prefixItems`.
    Items(usize, &'static Schema),
    /// `contains`, with `minContains` and `maxContains`.
    Contains(&'static Schema, u64, Option<u64>),
    /// `unevaluatedItems`: the schema, and [`evaluated`].
    UnevaluatedItems(&'static Schema, Evaluated),
    /// `minProperties`.
    MinProperties(u64),
    /// `maxProperties`.
    MaxProperties(u64),
    /// `required`.
    Required(&'static [&'static str]),
    /// `dependentRequired`.
    DependentRequired(&'static [(&'static str, &'static [&'static str])]),
    /// `dependentSchemas`.
    DependentSchemas(&'static [(&'static str, Schema)]),
    /// `propertyNames`.
    PropertyNames(&'static Schema),
    /// `properties`, `patternProperties` and `additionalProperties`.
    Properties(&'static Properties),
    /// `unevaluatedProperties`: the schema, and [`evaluated`].
    UnevaluatedProperties(&'static Schema, Evaluated),
}

/// Says of each item or member of a value, in order, whether a schema's keywords evaluate it.
pub type Evaluated = fn(&Schema, &Value<'_>) -> Vec<bool>;

/// What a schema says of the members of an object.
#[derive(Debug, Clone, Copy)]
pub struct Properties {
    /// `properties`, sorted by name.
    pub named: &'static [(&'static str, Schema)],
    /// `patternProperties`.
    pub patterns: &'static [(&'static Pattern, Schema)],
    /// `additionalProperties`: for members that neither names.
    pub additional: Option<&'static Schema>,
}

impl Properties {
    /// The schema that `properties` has for `name`.
    pub(crate) fn named(&self, name: &str) -> Option<&'static Schema> {
        let at = self.named.binary_search_by(|(known, _)| order(known, name)).ok()?;
        self.named.get(at).map(|(_, schema)| schema)
    }

    /// The schemas that `patternProperties` has for `name`.
    pub(crate) fn matching(&self, name: &str) -> impl Iterator<Item = &'static Schema> {
        let matching = self.patterns.iter().filter(move |(pattern, _)| pattern.matches(name));
        matching.map(|(_, schema)| schema)
    }
}

/// A set of the types of JSON Schema, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Types(pub u8);

impl Types {
    /// The names of the types; the place of a name is the bit of its type.
    pub const NAMES: [&'static str; 7] =
        ["null", "boolean", "integer", "number", "string", "array", "object"];

    /// Whether a value is of one of the types. A number without fraction is an integer (1.0 too).
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
