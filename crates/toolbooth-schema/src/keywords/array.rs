//! Keywords for arrays.

use std::ops::ControlFlow;

use super::{APPLIED, count};
use crate::describe::{ErrorSink, Path, ValidationError};
use crate::json::Value;
use crate::unevaluated::Evaluated;
use crate::{Keyword, Schema};

/// A keyword for arrays.
#[derive(Debug, Clone, Copy)]
pub enum ArrayKeyword {
    /// `minItems`.
    MinItems(u64),
    /// `maxItems`.
    MaxItems(u64),
    /// `uniqueItems`: [`is_unique`](crate::is_unique).
    UniqueItems(fn(&[Value<'_>]) -> bool),
    /// `prefixItems`.
    PrefixItems(&'static [Schema]),
    /// `items`, from the item at this index on: those before it belong to `prefixItems`.
    Items(usize, &'static Schema),
    /// `contains`, with `minContains` and `maxContains`.
    Contains(&'static Schema, u64, Option<u64>),
    /// `unevaluatedItems`: the schema, and [`EVALUATED`](crate::EVALUATED).
    UnevaluatedItems(&'static Schema, Evaluated),
}

impl ArrayKeyword {
    /// `value` is the array of these items, `schema` the schema that the keyword belongs to.
    pub(super) fn is_valid(&self, items: &[Value<'_>], schema: &Schema, value: &Value<'_>) -> bool {
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
                // Stop as soon as the answer is certain.
                let enough = most.map_or(*least, |most| most.saturating_add(1));
                let enough = usize::try_from(enough).unwrap_or(usize::MAX);
                let found = found.take(enough).count() as u64;
                found >= *least && most.is_none_or(|most| found <= most)
            }
            Self::UnevaluatedItems(rest, evaluated) => {
                let evaluated = (evaluated.marks)(schema, value);
                evaluated.iter().zip(items).all(|(known, item)| *known || rest.is_valid(item))
            }
        }
    }

    pub(super) fn visit_errors(
        &self,
        value: &Value<'_>,
        path: &Path<'_>,
        sink: &mut ErrorSink<'_>,
    ) -> ControlFlow<()> {
        let items = value.as_array().unwrap_or_default();
        let mut visit = |(at, schema, item): (usize, &Schema, &Value<'_>)| {
            schema.visit_errors(item, &Path::Item(path, at), sink)
        };
        match self {
            Self::PrefixItems(schemas) => {
                let mut pairs = schemas.iter().zip(items).enumerate();
                pairs.try_for_each(|(at, (schema, item))| visit((at, schema, item)))
            }
            Self::Items(from, schema) => {
                let mut items = items.iter().enumerate().skip(*from);
                items.try_for_each(|(at, item)| visit((at, schema, item)))
            }
            Self::MinItems(_)
            | Self::MaxItems(_)
            | Self::UniqueItems(_)
            | Self::Contains(..)
            | Self::UnevaluatedItems(..) => {
                sink(path, ValidationError::Keyword(Keyword::Array(*self), value))
            }
        }
    }

    pub(super) fn describe(&self) -> String {
        match self {
            Self::MinItems(limit) => format!("Must have at least {}", count(*limit, "item")),
            Self::MaxItems(limit) => format!("Must have at most {}", count(*limit, "item")),
            Self::UniqueItems(_) => "Must not contain the same item twice".to_owned(),
            Self::Contains(..) => {
                "Must contain an item that matches the schema in \"contains\"".to_owned()
            }
            Self::UnevaluatedItems(..) => "Must not have further items".to_owned(),
            Self::PrefixItems(_) | Self::Items(..) => APPLIED.to_owned(),
        }
    }
}

#[cfg(feature = "build")]
mod build {
    use super::*;
    use crate::codegen::Statics;
    use crate::compile::SchemaObject;

    impl ArrayKeyword {
        pub(in crate::keywords) fn read(schema: &SchemaObject<'_>) -> Vec<Self> {
            let unique = schema.get("uniqueItems").filter(|it| **it == true);
            let prefix = schema.schemas("prefixItems");
            let from = prefix.map_or(0, <[_]>::len);
            let (least, most) = (schema.count("minContains"), schema.count("maxContains"));
            let rest = schema.schema("unevaluatedItems");
            let keywords = [
                schema.least("minItems").map(Self::MinItems),
                schema.count("maxItems").map(Self::MaxItems),
                unique.map(|_| Self::UniqueItems(crate::is_unique)),
                prefix.map(Self::PrefixItems),
                schema.schema("items").map(|items| Self::Items(from, items)),
                schema.schema("contains").map(|it| Self::Contains(it, least.unwrap_or(1), most)),
                rest.map(|rest| Self::UnevaluatedItems(rest, crate::EVALUATED)),
            ];
            keywords.into_iter().flatten().collect()
        }

        pub(in crate::keywords) fn codegen(&self, statics: &mut Statics) -> String {
            let keyword = match self {
                Self::MinItems(_) | Self::MaxItems(_) => format!("{self:?}"),
                Self::UniqueItems(_) => "UniqueItems(is_unique)".to_owned(),
                Self::PrefixItems(schemas) => format!("PrefixItems({})", statics.schemas(schemas)),
                Self::Items(from, schema) => format!("Items({from}, &{})", statics.schema(schema)),
                Self::Contains(schema, least, most) => {
                    format!("Contains(&{}, {least}, {most:?})", statics.schema(schema))
                }
                Self::UnevaluatedItems(schema, _) => {
                    format!("UnevaluatedItems(&{}, EVALUATED)", statics.schema(schema))
                }
            };
            format!("ArrayKeyword::{keyword}")
        }
    }
}
