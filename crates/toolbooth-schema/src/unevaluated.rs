//! `unevaluatedItems` and `unevaluatedProperties`: which items or members the other keywords of the schema, and
//! the schemas that apply to the same value, have evaluated.

use crate::json::{Object, Value};
use crate::{AnyKeyword, ArrayKeyword, Keyword, ObjectKeyword, Properties, Schema};

/// What `unevaluated…` asks about the keywords next to it.
#[derive(Debug, Clone, Copy)]
pub struct Evaluated {
    /// Which items or members of a value, in order, the keywords of a schema evaluate, except `unevaluated…` itself.
    pub(crate) marks: fn(&Schema, &Value<'_>) -> Vec<bool>,
    /// The names in `properties` of a schema and of the schemas that apply to the same value.
    pub(crate) names: fn(&Schema) -> Vec<&'static str>,
}

/// The only value: pointers, so that the code is linked only if a schema has the keyword.
pub const EVALUATED: Evaluated = Evaluated { marks: evaluated, names: Schema::property_names };

/// Each schema of `anyOf`, `oneOf` and `if` is checked once more, for the value as a whole: the time doubles with
/// each such schema that has `unevaluated…` around it.
fn evaluated(schema: &Schema, value: &Value<'_>) -> Vec<bool> {
    let count = match value {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    };
    let mut marks = vec![false; count];
    for keyword in schema.keywords {
        let own = matches!(
            keyword,
            Keyword::Array(ArrayKeyword::UnevaluatedItems(..))
                | Keyword::Object(ObjectKeyword::UnevaluatedProperties(..))
        );
        if !own {
            keyword.mark(value, &mut marks);
        }
    }
    marks
}

impl Schema {
    fn property_names(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for keyword in self.keywords {
            match keyword {
                Keyword::Object(ObjectKeyword::Properties(properties)) => {
                    names.extend(properties.named.iter().map(|(name, _)| *name));
                }
                Keyword::Object(ObjectKeyword::DependentSchemas(dependencies)) => {
                    names.extend(dependencies.iter().flat_map(|(_, it)| it.property_names()));
                }
                Keyword::Any(
                    AnyKeyword::AllOf(schemas)
                    | AnyKeyword::AnyOf(schemas)
                    | AnyKeyword::OneOf(schemas),
                ) => names.extend(schemas.iter().flat_map(Schema::property_names)),
                Keyword::Any(AnyKeyword::If(condition, then, otherwise)) => {
                    let all = [condition, then, otherwise];
                    names.extend(all.into_iter().flat_map(|it| it.property_names()));
                }
                Keyword::Any(AnyKeyword::Ref(reference)) => {
                    names.extend(reference.schema().property_names());
                }
                _ => {}
            }
        }
        names
    }

    fn mark(&self, value: &Value<'_>, marks: &mut [bool]) {
        for keyword in self.keywords {
            keyword.mark(value, marks);
        }
    }
}

impl Keyword {
    fn mark(&self, value: &Value<'_>, marks: &mut [bool]) {
        match (self, value) {
            (Self::Any(keyword), _) => keyword.mark(value, marks),
            (Self::Array(keyword), Value::Array(items)) => keyword.mark(items, marks),
            (Self::Object(keyword), Value::Object(members)) => keyword.mark(members, value, marks),
            (Self::String(_) | Self::Number(_) | Self::Array(_) | Self::Object(_), _) => {}
        }
    }
}

impl AnyKeyword {
    fn mark(&self, value: &Value<'_>, marks: &mut [bool]) {
        match self {
            Self::AllOf(schemas) => {
                schemas.iter().for_each(|schema| schema.mark(value, marks));
            }
            Self::AnyOf(schemas) | Self::OneOf(schemas) => {
                for schema in schemas.iter().filter(|schema| schema.is_valid(value)) {
                    schema.mark(value, marks);
                }
            }
            Self::If(condition, then, otherwise) => {
                if condition.is_valid(value) {
                    condition.mark(value, marks);
                    then.mark(value, marks);
                } else {
                    otherwise.mark(value, marks);
                }
            }
            Self::Ref(reference) => reference.schema().mark(value, marks),
            Self::False | Self::Type(_) | Self::Const(_) | Self::Enum(_) | Self::Not(_) => {}
        }
    }
}

impl ArrayKeyword {
    fn mark(&self, items: &[Value<'_>], marks: &mut [bool]) {
        match self {
            Self::PrefixItems(schemas) => {
                marks.iter_mut().take(schemas.len()).for_each(|mark| *mark = true);
            }
            Self::Items(from, _) => marks.iter_mut().skip(*from).for_each(|mark| *mark = true),
            Self::Contains(wanted, ..) => {
                for (mark, item) in marks.iter_mut().zip(items) {
                    *mark = *mark || wanted.is_valid(item);
                }
            }
            Self::UnevaluatedItems(..) => marks.fill(true),
            Self::MinItems(_) | Self::MaxItems(_) | Self::UniqueItems(_) => {}
        }
    }
}

impl ObjectKeyword {
    fn mark(&self, members: &Object<'_>, value: &Value<'_>, marks: &mut [bool]) {
        match self {
            Self::DependentSchemas(dependencies) => {
                for (name, schema) in *dependencies {
                    if members.contains(name) {
                        schema.mark(value, marks);
                    }
                }
            }
            Self::Properties(properties) => {
                for (mark, (name, _)) in marks.iter_mut().zip(members.iter()) {
                    *mark = *mark || properties.evaluates(name);
                }
            }
            Self::UnevaluatedProperties(..) => marks.fill(true),
            Self::MinProperties(_)
            | Self::MaxProperties(_)
            | Self::Required(_)
            | Self::DependentRequired(_)
            | Self::PropertyNames(_) => {}
        }
    }
}

impl Properties {
    fn evaluates(&self, name: &str) -> bool {
        self.additional.is_some()
            || self.named(name).is_some()
            || self.matching(name).next().is_some()
    }
}
