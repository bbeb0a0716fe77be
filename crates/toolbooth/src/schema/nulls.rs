//! Members that are `null` where they should have been left out.

use super::{Keyword, Properties, Schema};
use crate::json::Value;

impl Schema {
    /// Removes members that are `null` although the schema allows them to be absent but not `null`, in
    /// nested objects too.
    ///
    /// Of `anyOf` and `oneOf` the alternatives count that `value` would fit without such members, if they
    /// agree on them.
    pub fn drop_nulls(&self, value: &mut Value<'_>) {
        for keyword in self.keywords {
            match (keyword, &mut *value) {
                (Keyword::Properties(properties), Value::Object(members)) => {
                    members.retain(|name, member| {
                        let drops = member.is_null() && properties.may_be_left_out(name, self);
                        if !drops {
                            properties.drop_nulls(name, member);
                        }
                        !drops
                    });
                }
                (Keyword::PrefixItems(schemas), Value::Array(items)) => {
                    for (schema, item) in schemas.iter().zip(items) {
                        schema.drop_nulls(item);
                    }
                }
                (Keyword::Items(from, schema), Value::Array(items)) => {
                    items.iter_mut().skip(*from).for_each(|item| schema.drop_nulls(item));
                }
                (Keyword::AllOf(schemas), value) => {
                    schemas.iter().for_each(|schema| schema.drop_nulls(value));
                }
                (Keyword::If(condition, then, otherwise), value) => {
                    if condition.is_valid(value) { then } else { otherwise }.drop_nulls(value);
                }
                (Keyword::AnyOf(schemas) | Keyword::OneOf(schemas), value) => {
                    let fitting = schemas.iter().filter_map(|schema| {
                        let mut value = value.clone();
                        schema.drop_nulls(&mut value);
                        schema.is_valid(&value).then_some(value)
                    });
                    let mut fitting: Vec<_> = fitting.collect();
                    fitting.dedup();
                    if let Ok([one]) = <[_; 1]>::try_from(fitting) {
                        *value = one;
                    }
                }
                (Keyword::DependentSchemas(dependencies), value @ Value::Object(_)) => {
                    for (name, schema) in *dependencies {
                        if value.get(name).is_some() {
                            schema.drop_nulls(value);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn requires(&self, name: &str) -> bool {
        self.keywords.iter().any(|keyword| match keyword {
            Keyword::Required(names) => names.contains(&name),
            Keyword::AllOf(schemas) => schemas.iter().any(|schema| schema.requires(name)),
            _ => false,
        })
    }
}

impl Properties {
    /// Whether the property `name` of `schema` need not be there, and may not be `null`.
    fn may_be_left_out(&self, name: &str, schema: &Schema) -> bool {
        let declared = self.named(name);
        declared.is_some_and(|property| !property.is_valid(&Value::Null)) && !schema.requires(name)
    }

    fn drop_nulls(&self, name: &str, member: &mut Value<'_>) {
        // Most members have nothing in them.
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
