//! Keywords for objects.

use std::ops::ControlFlow;

use super::{APPLIED, Properties, count};
use crate::describe::{ErrorSink, Path, ValidationError, first_error};
use crate::json::{Object, Value};
use crate::text::nearest;
use crate::unevaluated::Evaluated;
use crate::{Keyword, Schema};

/// A keyword for objects.
#[derive(Debug, Clone, Copy)]
pub enum ObjectKeyword {
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
    /// `unevaluatedProperties`: the schema, and [`EVALUATED`](crate::EVALUATED).
    UnevaluatedProperties(&'static Schema, Evaluated),
}

impl ObjectKeyword {
    /// `value` is the object of these members, `schema` the schema that the keyword belongs to.
    pub(super) fn is_valid(
        &self,
        members: &Object<'_>,
        schema: &Schema,
        value: &Value<'_>,
    ) -> bool {
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
            Self::Properties(properties) => properties.is_valid(members),
            Self::UnevaluatedProperties(rest, evaluated) => {
                let evaluated = (evaluated.marks)(schema, value);
                let mut members = evaluated.iter().zip(members.iter());
                members.all(|(known, (_, member))| *known || rest.is_valid(member))
            }
        }
    }

    pub(super) fn visit_errors(
        &self,
        schema: &Schema,
        value: &Value<'_>,
        path: &Path<'_>,
        sink: &mut ErrorSink<'_>,
    ) -> ControlFlow<()> {
        let Some(members) = value.as_object() else { return ControlFlow::Continue(()) };
        match self {
            Self::Required(names) => names
                .iter()
                .filter(|name| !members.contains(name))
                .try_for_each(|name| sink(path, ValidationError::Missing(name))),
            Self::DependentRequired(dependencies) => dependencies
                .iter()
                .filter(|(name, _)| members.contains(name))
                .flat_map(|(_, needed)| *needed)
                .filter(|name| !members.contains(name))
                .try_for_each(|name| sink(path, ValidationError::Missing(name))),
            Self::DependentSchemas(dependencies) => dependencies
                .iter()
                .filter(|(name, _)| members.contains(name))
                .try_for_each(|(_, schema)| schema.visit_errors(value, path, sink)),
            Self::Properties(properties) => properties.visit_errors(members, path, sink),
            Self::UnevaluatedProperties(rest, evaluated) => {
                let object = members;
                let members = members.iter().zip((evaluated.marks)(schema, value));
                members
                    .filter(|((_, member), known)| !known && !rest.is_valid(member))
                    .try_for_each(|((name, _), _)| {
                        let absent = (evaluated.names)(schema);
                        let absent = absent.into_iter().filter(|known| !object.contains(known));
                        let meant = nearest(name, absent);
                        sink(path, ValidationError::Unknown { name, meant })
                    })
            }
            Self::MinProperties(_) | Self::MaxProperties(_) | Self::PropertyNames(_) => {
                sink(path, ValidationError::Keyword(Keyword::Object(*self), value))
            }
        }
    }

    pub(super) fn describe(&self, value: &Value<'_>, path: &Path<'_>) -> String {
        match self {
            Self::MinProperties(limit) => {
                format!("Must have at least {}", count(*limit, "property"))
            }
            Self::MaxProperties(limit) => {
                format!("Must have at most {}", count(*limit, "property"))
            }
            Self::PropertyNames(schema) => {
                let mut names = value.as_object().into_iter().flat_map(Object::iter);
                let error = names.find_map(|(name, _)| {
                    first_error(schema, &Value::from(&**name), path).map(|error| error.message)
                });
                format!("Must have property names that match: {}", error.unwrap_or_default())
            }
            Self::Required(_)
            | Self::DependentRequired(_)
            | Self::DependentSchemas(_)
            | Self::Properties(_)
            | Self::UnevaluatedProperties(..) => APPLIED.to_owned(),
        }
    }
}

#[cfg(feature = "build")]
mod build {
    use super::*;
    use crate::codegen::{Statics, each};
    use crate::compile::{SchemaObject, leak, leak_one, names, sorted};

    impl ObjectKeyword {
        pub(in crate::keywords) fn read(schema: &SchemaObject<'_>) -> Vec<Self> {
            let mut keywords = Vec::new();
            keywords.extend(schema.least("minProperties").map(Self::MinProperties));
            keywords.extend(schema.count("maxProperties").map(Self::MaxProperties));
            let required = schema.get("required").map(names).filter(|names| !names.is_empty());
            keywords.extend(required.map(Self::Required));
            keywords.extend(schema.map("dependentRequired").map(|map| {
                let needed = sorted(map).map(|(name, of)| (name, names(of)));
                Self::DependentRequired(leak(needed.collect()))
            }));
            let dependent = schema.named_schemas("dependentSchemas");
            keywords.extend(dependent.map(Self::DependentSchemas));
            // From earlier drafts, and still accepted: each entry is one of the two above.
            for (name, of) in schema.map("dependencies").into_iter().flat_map(sorted) {
                keywords.push(if of.is_array() {
                    Self::DependentRequired(leak(vec![(name, names(of))]))
                } else {
                    Self::DependentSchemas(leak(vec![(name, schema.compile(of))]))
                });
            }
            keywords.extend(schema.schema("propertyNames").map(Self::PropertyNames));
            keywords.extend(Properties::read(schema).map(|it| Self::Properties(leak_one(it))));
            let rest = schema.schema("unevaluatedProperties");
            keywords.extend(rest.map(|rest| Self::UnevaluatedProperties(rest, crate::EVALUATED)));
            keywords
        }

        pub(in crate::keywords) fn codegen(&self, statics: &mut Statics) -> String {
            let keyword = match self {
                Self::MinProperties(_) | Self::MaxProperties(_) => format!("{self:?}"),
                Self::Required(names) => format!("Required(&{names:?})"),
                Self::DependentRequired(dependencies) => format!(
                    "DependentRequired({})",
                    each(dependencies, |(name, needed)| format!("({name:?}, &{needed:?})"))
                ),
                Self::DependentSchemas(schemas) => {
                    format!("DependentSchemas({})", statics.named_schemas(schemas))
                }
                Self::PropertyNames(schema) => {
                    format!("PropertyNames(&{})", statics.schema(schema))
                }
                Self::Properties(properties) => {
                    format!("Properties(&{})", properties.codegen(statics))
                }
                Self::UnevaluatedProperties(schema, _) => {
                    format!("UnevaluatedProperties(&{}, EVALUATED)", statics.schema(schema))
                }
            };
            format!("ObjectKeyword::{keyword}")
        }
    }
}
