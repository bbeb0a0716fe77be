//! Removes members that are `null` although they should have been left out.

use crate::json::Value;
use crate::{AnyKeyword, ArrayKeyword, Keyword, ObjectKeyword, Properties, Schema};

impl Schema {
    /// Removes members that are `null` although the schema allows them to be absent but not `null`, in nested
    /// objects too.
    ///
    /// Of `anyOf` and `oneOf`, the alternatives count that `value` matches without such members, if they agree
    /// on which to remove.
    pub fn drop_nulls(&self, value: &mut Value<'_>) {
        for keyword in self.keywords {
            match keyword {
                Keyword::Any(keyword) => keyword.drop_nulls(value),
                Keyword::Array(keyword) => {
                    if let Value::Array(items) = value {
                        keyword.drop_nulls(items);
                    }
                }
                Keyword::Object(keyword) => keyword.drop_nulls(self, value),
                Keyword::String(_) | Keyword::Number(_) => {}
            }
        }
    }

    fn requires(&self, name: &str) -> bool {
        self.keywords.iter().any(|keyword| match keyword {
            Keyword::Object(ObjectKeyword::Required(names)) => names.contains(&name),
            Keyword::Any(AnyKeyword::AllOf(schemas)) => {
                schemas.iter().any(|schema| schema.requires(name))
            }
            Keyword::Any(AnyKeyword::Ref(reference)) => reference.schema().requires(name),
            _ => false,
        })
    }
}

impl AnyKeyword {
    fn drop_nulls(&self, value: &mut Value<'_>) {
        match self {
            Self::AllOf(schemas) => schemas.iter().for_each(|schema| schema.drop_nulls(value)),
            Self::If(condition, then, otherwise) => {
                if condition.is_valid(value) { then } else { otherwise }.drop_nulls(value);
            }
            Self::AnyOf(schemas) | Self::OneOf(schemas) => {
                let matching = schemas.iter().filter_map(|schema| {
                    let mut value = value.clone();
                    schema.drop_nulls(&mut value);
                    schema.is_valid(&value).then_some(value)
                });
                let mut matching: Vec<_> = matching.collect();
                matching.dedup();
                if let Ok([one]) = <[_; 1]>::try_from(matching) {
                    *value = one;
                }
            }
            Self::Ref(reference) => reference.schema().drop_nulls(value),
            Self::False | Self::Type(_) | Self::Const(_) | Self::Enum(_) | Self::Not(_) => {}
        }
    }
}

impl ArrayKeyword {
    fn drop_nulls(&self, items: &mut [Value<'_>]) {
        match self {
            Self::PrefixItems(schemas) => {
                for (schema, item) in schemas.iter().zip(items) {
                    schema.drop_nulls(item);
                }
            }
            Self::Items(from, schema) => {
                items.iter_mut().skip(*from).for_each(|item| schema.drop_nulls(item));
            }
            Self::MinItems(_)
            | Self::MaxItems(_)
            | Self::UniqueItems(_)
            | Self::Contains(..)
            | Self::UnevaluatedItems(..) => {}
        }
    }
}

impl ObjectKeyword {
    fn drop_nulls(&self, schema: &Schema, value: &mut Value<'_>) {
        match self {
            Self::Properties(properties) => {
                let Value::Object(members) = value else { return };
                members.retain(|name, member| {
                    let drops = member.is_null() && properties.may_be_absent(name, schema);
                    if !drops {
                        properties.drop_nulls(name, member);
                    }
                    !drops
                });
            }
            Self::DependentSchemas(dependencies) => {
                for (name, schema) in *dependencies {
                    if value.get(name).is_some() {
                        schema.drop_nulls(value);
                    }
                }
            }
            Self::MinProperties(_)
            | Self::MaxProperties(_)
            | Self::Required(_)
            | Self::DependentRequired(_)
            | Self::PropertyNames(_)
            | Self::UnevaluatedProperties(..) => {}
        }
    }
}

impl Properties {
    /// Whether the property `name` of `schema` may be absent but not `null`.
    fn may_be_absent(&self, name: &str, schema: &Schema) -> bool {
        let declared = self.named(name);
        declared.is_some_and(|property| !property.is_valid(&Value::Null)) && !schema.requires(name)
    }

    fn drop_nulls(&self, name: &str, member: &mut Value<'_>) {
        // Most members are neither.
        if !matches!(member, Value::Array(_) | Value::Object(_)) {
            return;
        }
        let mut known = false;
        for schema in self.named(name).into_iter().chain(self.matching(name)) {
            known = true;
            schema.drop_nulls(member);
        }
        if let Some(schema) = self.additional.filter(|_| !known) {
            schema.drop_nulls(member);
        }
    }
}
