//! Whether a value is as a schema says.

use std::cmp::Ordering;

use super::{Keyword, Number, Properties, Schema};
use crate::json::{Object, Value};
use crate::names::{order, same};

impl Schema {
    /// Whether `value` is as the schema says. Allocates nothing, but where names of properties,
    /// many items or unevaluated parts are checked.
    pub fn is_valid(&self, value: &Value<'_>) -> bool {
        for keyword in self.keywords {
            let holds = match keyword {
                // Most schemas have one.
                Keyword::Type(types) => types.contain(value),
                _ => keyword.holds(self, value),
            };
            if !holds {
                return false;
            }
        }
        true
    }
}

impl Keyword {
    /// Whether the rule, which is one of `schema`, holds for `value`.
    pub(crate) fn holds(&self, schema: &Schema, value: &Value<'_>) -> bool {
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
            _ => match value {
                Value::String(text) => self.holds_for_text(text),
                Value::Number(number) => self.holds_for_number(number.into()),
                Value::Array(items) => self.holds_for_items(schema, items, value),
                Value::Object(members) => self.holds_for_members(schema, members, value),
                Value::Null | Value::Bool(_) => true,
            },
        }
    }

    fn holds_for_text(&self, text: &str) -> bool {
        match self {
            Self::MinLength(least) => {
                // A character has four bytes at most: most texts need no counting.
                text.len() as u64 / 4 >= *least || length(text) >= *least
            }
            Self::MaxLength(most) => text.len() as u64 <= *most || length(text) <= *most,
            Self::Pattern(pattern) => pattern.matches(text),
            Self::Format(_, is_valid) => is_valid(text),
            _ => true,
        }
    }

    fn holds_for_number(&self, number: Number) -> bool {
        let against = |limit: &Number| number.order(*limit);
        match self {
            Self::Minimum(limit) => against(limit) != Ordering::Less,
            Self::Maximum(limit) => against(limit) != Ordering::Greater,
            Self::ExclusiveMinimum(limit) => against(limit) == Ordering::Greater,
            Self::ExclusiveMaximum(limit) => against(limit) == Ordering::Less,
            Self::MultipleOf(divisor, is_multiple) => is_multiple(number, *divisor),
            _ => true,
        }
    }

    fn holds_for_items(&self, schema: &Schema, items: &[Value<'_>], value: &Value<'_>) -> bool {
        let count = items.len() as u64;
        match self {
            Self::MinItems(least) => count >= *least,
            Self::MaxItems(most) => count <= *most,
            Self::UniqueItems(is_unique) => is_unique(items),
            Self::PrefixItems(schemas) => {
                schemas.iter().zip(items).all(|(schema, item)| schema.is_valid(item))
            }
            Self::Items(from, schema) => items.iter().skip(*from).all(|item| schema.is_valid(item)),
            Self::Contains(wanted, least, most) => {
                let found = items.iter().filter(|item| wanted.is_valid(item));
                // No further than what decides.
                let enough = most.map_or(*least, |most| most.saturating_add(1));
                let found =
                    found.take(usize::try_from(enough).unwrap_or(usize::MAX)).count() as u64;
                found >= *least && most.is_none_or(|most| found <= most)
            }
            Self::UnevaluatedItems(rest, evaluated) => {
                let evaluated = evaluated(schema, value);
                evaluated.iter().zip(items).all(|(known, item)| *known || rest.is_valid(item))
            }
            _ => true,
        }
    }

    fn holds_for_members(&self, schema: &Schema, members: &Object<'_>, value: &Value<'_>) -> bool {
        let count = members.len() as u64;
        let has = |name: &&str| members.contains(name);
        match self {
            Self::MinProperties(least) => count >= *least,
            Self::MaxProperties(most) => count <= *most,
            Self::Required(names) => {
                for name in *names {
                    if !members.contains(name) {
                        return false;
                    }
                }
                true
            }
            Self::DependentRequired(dependencies) => {
                dependencies.iter().all(|(name, needed)| !has(name) || needed.iter().all(has))
            }
            Self::DependentSchemas(dependencies) => {
                dependencies.iter().all(|(name, schema)| !has(name) || schema.is_valid(value))
            }
            Self::PropertyNames(schema) => {
                members.iter().all(|(name, _)| schema.is_valid(&Value::from(&**name)))
            }
            Self::Properties(properties) => properties.hold(members),
            Self::UnevaluatedProperties(rest, evaluated) => {
                let evaluated = evaluated(schema, value);
                let mut members = evaluated.iter().zip(members.iter());
                members.all(|(known, (_, member))| *known || rest.is_valid(member))
            }
            _ => true,
        }
    }
}

impl Properties {
    fn hold(&self, members: &Object<'_>) -> bool {
        // Members and properties stand sorted by name, and are gone through together.
        let mut rest = self.named;
        for (name, member) in members.iter() {
            let mut named = None;
            while let [(known, schema), others @ ..] = rest {
                if same(known, name) {
                    (named, rest) = (Some(schema), others);
                    break;
                }
                if order(known, name).is_gt() {
                    break;
                }
                rest = others;
            }
            if !self.fit(name, named, member) {
                return false;
            }
        }
        true
    }

    /// Whether a member fits, of whose name `properties` has this schema.
    fn fit(&self, name: &str, named: Option<&Schema>, member: &Value<'_>) -> bool {
        if named.is_some_and(|schema| !schema.is_valid(member)) {
            return false;
        }
        let mut known = named.is_some();
        for schema in self.matching(name) {
            known = true;
            if !schema.is_valid(member) {
                return false;
            }
        }
        known || self.additional.is_none_or(|schema| schema.is_valid(member))
    }
}

fn length(text: &str) -> u64 {
    text.chars().count() as u64
}
