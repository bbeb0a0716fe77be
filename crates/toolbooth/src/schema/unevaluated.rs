//! `unevaluatedItems` and `unevaluatedProperties`: what the keywords beside them, and those of the
//! schemas that apply to the same value, have evaluated.

use super::{Keyword, Properties, Schema};
use crate::json::Value;

/// Which items or members of `value`, in order, the keywords of `schema` evaluate, but for
/// `unevaluated…` itself.
///
/// Each schema of `anyOf`, `oneOf` and `if` is asked once more whether it holds, for the whole value
/// and not for each part: the time doubles with each such schema that has `unevaluated…` around it.
pub fn evaluated(schema: &Schema, value: &Value<'_>) -> Vec<bool> {
    let count = match value {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    let mut marks = vec![false; count];
    for keyword in schema.keywords {
        if !matches!(keyword, Keyword::UnevaluatedItems(..) | Keyword::UnevaluatedProperties(..)) {
            keyword.mark(value, &mut marks);
        }
    }
    marks
}

impl Schema {
    fn mark(&self, value: &Value<'_>, marks: &mut [bool]) {
        for keyword in self.keywords {
            keyword.mark(value, marks);
        }
    }
}

impl Keyword {
    fn mark(&self, value: &Value<'_>, marks: &mut [bool]) {
        match (self, value) {
            (Self::AllOf(schemas), _) => {
                for schema in *schemas {
                    schema.mark(value, marks);
                }
            }
            (Self::AnyOf(schemas) | Self::OneOf(schemas), _) => {
                for schema in schemas.iter().filter(|schema| schema.is_valid(value)) {
                    schema.mark(value, marks);
                }
            }
            (Self::If(condition, then, otherwise), _) => {
                if condition.is_valid(value) {
                    condition.mark(value, marks);
                    then.mark(value, marks);
                } else {
                    otherwise.mark(value, marks);
                }
            }
            (Self::DependentSchemas(dependencies), Value::Object(members)) => {
                for (name, schema) in *dependencies {
                    if members.contains(name) {
                        schema.mark(value, marks);
                    }
                }
            }
            (Self::Properties(properties), Value::Object(members)) => {
                for (mark, (name, _)) in marks.iter_mut().zip(members.iter()) {
                    *mark = *mark || properties.speak_of(name);
                }
            }
            (Self::PrefixItems(schemas), Value::Array(_)) => {
                marks.iter_mut().take(schemas.len()).for_each(|mark| *mark = true);
            }
            (Self::Items(from, _), Value::Array(_)) => {
                marks.iter_mut().skip(*from).for_each(|mark| *mark = true);
            }
            (Self::Contains(wanted, ..), Value::Array(items)) => {
                for (mark, item) in marks.iter_mut().zip(items) {
                    *mark = *mark || wanted.is_valid(item);
                }
            }
            (Self::UnevaluatedItems(..), Value::Array(_))
            | (Self::UnevaluatedProperties(..), Value::Object(_)) => marks.fill(true),
            _ => {}
        }
    }
}

impl Properties {
    fn speak_of(&self, name: &str) -> bool {
        self.additional.is_some()
            || self.named(name).is_some()
            || self.matching(name).next().is_some()
    }
}
