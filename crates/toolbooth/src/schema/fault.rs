//! What is wrong with a value, one fault after the other.

use std::ops::ControlFlow;

use super::{Keyword, Properties, Schema};
use crate::json::{Object, Value};

/// Where a value stands: steps from the root.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Path<'a> {
    /// The root.
    Root,
    /// A member of the object at a path.
    Member(&'a Path<'a>, &'a str),
    /// An item of the array at a path.
    Item(&'a Path<'a>, usize),
}

/// What is wrong with the value at a path.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault<'a> {
    /// A rule does not hold for it.
    Broken(&'a Keyword, &'a Value<'a>),
    /// A member is not there.
    Missing(&'a str),
    /// No schema allows a member of this name.
    Unknown(&'a str),
}

/// Hears of each fault, and says whether to go on.
pub(crate) type Hear<'a> = dyn FnMut(&Path<'_>, Fault<'_>) -> ControlFlow<()> + 'a;

impl Schema {
    /// Tells what is wrong with `value`, which stands at `path`: the keywords in their order, what
    /// is in the value in its own.
    pub(crate) fn faults(
        &self,
        value: &Value<'_>,
        path: &Path<'_>,
        hear: &mut Hear<'_>,
    ) -> ControlFlow<()> {
        for keyword in self.keywords {
            if !keyword.holds(self, value) {
                keyword.faults(self, value, path, hear)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn is_false(&self) -> bool {
        matches!(self.keywords, [Keyword::False])
    }
}

impl Keyword {
    /// Tells why the rule, which is one of `schema`, does not hold for `value`.
    fn faults(
        &self,
        schema: &Schema,
        value: &Value<'_>,
        path: &Path<'_>,
        hear: &mut Hear<'_>,
    ) -> ControlFlow<()> {
        match (self, value) {
            (Self::AllOf(schemas), _) => {
                schemas.iter().try_for_each(|schema| schema.faults(value, path, hear))
            }
            (Self::If(condition, then, otherwise), _) => {
                if condition.is_valid(value) { then } else { otherwise }.faults(value, path, hear)
            }
            (Self::PrefixItems(schemas), Value::Array(items)) => {
                let mut pairs = schemas.iter().zip(items).enumerate();
                pairs.try_for_each(|(at, (schema, item))| {
                    schema.faults(item, &Path::Item(path, at), hear)
                })
            }
            (Self::Items(from, schema), Value::Array(items)) => items
                .iter()
                .enumerate()
                .skip(*from)
                .try_for_each(|(at, item)| schema.faults(item, &Path::Item(path, at), hear)),
            (Self::Required(names), Value::Object(members)) => names
                .iter()
                .filter(|name| !members.contains(name))
                .try_for_each(|name| hear(path, Fault::Missing(name))),
            (Self::DependentRequired(dependencies), Value::Object(members)) => dependencies
                .iter()
                .filter(|(name, _)| members.contains(name))
                .flat_map(|(_, needed)| *needed)
                .filter(|name| !members.contains(name))
                .try_for_each(|name| hear(path, Fault::Missing(name))),
            (Self::DependentSchemas(dependencies), Value::Object(members)) => dependencies
                .iter()
                .filter(|(name, _)| members.contains(name))
                .try_for_each(|(_, schema)| schema.faults(value, path, hear)),
            (Self::Properties(properties), Value::Object(members)) => {
                properties.faults(members, path, hear)
            }
            (Self::UnevaluatedProperties(rest, evaluated), Value::Object(members)) => {
                let evaluated = evaluated(schema, value);
                let unknown = members.iter().zip(evaluated);
                unknown
                    .filter(|((_, member), evaluated)| !evaluated && !rest.is_valid(member))
                    .try_for_each(|((name, _), _)| hear(path, Fault::Unknown(name)))
            }
            _ => hear(path, Fault::Broken(self, value)),
        }
    }
}

impl Properties {
    fn faults(
        &self,
        members: &Object<'_>,
        path: &Path<'_>,
        hear: &mut Hear<'_>,
    ) -> ControlFlow<()> {
        let others =
            |name: &str| self.named(name).is_none() && self.matching(name).next().is_none();
        for (name, member) in members.iter() {
            let additional = self.additional.filter(|schema| !schema.is_false() && others(name));
            for schema in self.named(name).into_iter().chain(self.matching(name)).chain(additional)
            {
                schema.faults(member, &Path::Member(path, name), hear)?;
            }
        }
        if self.additional.is_some_and(Schema::is_false) {
            for (name, _) in members.iter().filter(|(name, _)| others(name)) {
                hear(path, Fault::Unknown(name))?;
            }
        }
        ControlFlow::Continue(())
    }
}
