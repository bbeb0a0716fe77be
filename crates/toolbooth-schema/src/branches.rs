//! Which schema of `anyOf` or `oneOf` an object was meant for, so that only the errors of that one are reported.

use crate::json::Value;
use crate::keywords::Types;
use crate::text::nearest;
use crate::{AnyKeyword, Keyword, Literal, ObjectKeyword, Schema};

/// The member whose `const` or `enum` tells the schemas of a union apart.
#[derive(Debug, Clone, Copy)]
pub struct Discriminator {
    /// Its name.
    pub name: &'static str,
    /// The schemas of the union.
    pub(crate) schemas: &'static [Schema],
}

/// What is known about the schema that a value was meant for.
pub(crate) enum Branch {
    /// It is the only one for values of this type.
    Only(&'static Schema),
    /// The discriminator says so.
    Chosen(&'static Schema, Discriminator),
    /// The discriminator is missing, or none of the schemas has its value.
    Unknown(Discriminator),
}

/// The most values of a discriminator that are listed.
const MAX_VALUES: usize = 20;

impl Branch {
    /// The schema of a union for an object that matches none of them; `None` if nothing tells them apart.
    pub(crate) fn find(schemas: &'static [Schema], value: &Value<'_>) -> Option<Self> {
        let members = value.as_object()?;
        let mut candidates = schemas.iter().filter(|schema| schema.takes(value));
        let first = candidates.next()?;
        if candidates.next().is_none() {
            return Some(Self::Only(first));
        }
        let discriminator = Discriminator::find(first, schemas, value)?;
        Some(match members.get(discriminator.name) {
            Some(tag) => match discriminator.chosen(tag) {
                Some(schema) => Self::Chosen(schema, discriminator),
                None => Self::Unknown(discriminator),
            },
            None => Self::Unknown(discriminator),
        })
    }
}

impl Discriminator {
    fn find(first: &'static Schema, schemas: &'static [Schema], value: &Value<'_>) -> Option<Self> {
        let mut names = Vec::new();
        first.property_names_with_values(&mut names);
        let tells_apart = |name: &&'static str| {
            let mut known: Vec<Value<'static>> = Vec::new();
            schemas.iter().filter(|schema| schema.takes(value)).all(|schema| {
                let Some(values) = schema.values_of(name) else { return false };
                let mut values = values.iter().copied();
                values.all(|literal| {
                    let is_new = !known.iter().any(|it| literal.equals(it));
                    known.push(literal.into());
                    is_new
                })
            })
        };
        let name = names.into_iter().find(tells_apart)?;
        Some(Self { name, schemas })
    }

    /// The schema for a value of the member.
    fn chosen(&self, tag: &Value<'_>) -> Option<&'static Schema> {
        let has = |values: &[Literal]| values.iter().any(|literal| literal.equals(tag));
        self.schemas.iter().find(|schema| schema.values_of(self.name).is_some_and(has))
    }

    /// The value of the member as the schema has it.
    pub(crate) fn value(&self, tag: &Value<'_>) -> Option<&'static Literal> {
        self.values().find(|literal| literal.equals(tag))
    }

    fn values(&self) -> impl Iterator<Item = &'static Literal> {
        self.schemas.iter().filter_map(|schema| schema.values_of(self.name)).flatten()
    }

    /// The values that the member may have.
    pub(crate) fn list(&self) -> String {
        list(self.values())
    }

    /// The value that was probably meant.
    pub(crate) fn meant(&self, tag: &Value<'_>) -> Option<&'static str> {
        let texts = self.values().filter_map(|literal| match literal {
            Literal::String(text) => Some(*text),
            _ => None,
        });
        nearest(tag.as_str()?, texts)
    }
}

/// The first of some values, and how many more there are.
pub(crate) fn list(values: impl Iterator<Item = &'static Literal>) -> String {
    let (mut text, mut more) = (String::new(), 0_usize);
    for (at, literal) in values.enumerate() {
        if at >= MAX_VALUES {
            more += 1;
            continue;
        }
        if at > 0 {
            text.push_str(", ");
        }
        text.push_str(&literal.describe());
    }
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

impl Schema {
    /// Whether the schema is one for values of this type.
    fn takes(&self, value: &Value<'_>) -> bool {
        !self.is_false()
            && self.keywords.iter().all(|keyword| match keyword {
                Keyword::Any(AnyKeyword::Type(types)) => Types::contain(*types, value),
                Keyword::Any(AnyKeyword::AllOf(schemas)) => {
                    schemas.iter().all(|schema| schema.takes(value))
                }
                Keyword::Any(AnyKeyword::Ref(reference)) => reference.schema().takes(value),
                _ => true,
            })
    }

    fn property_names_with_values(&self, names: &mut Vec<&'static str>) {
        for keyword in self.keywords {
            match keyword {
                Keyword::Object(ObjectKeyword::Properties(properties)) => {
                    let having = properties.named.iter().filter(|(_, it)| it.values().is_some());
                    names.extend(having.map(|(name, _)| *name));
                }
                Keyword::Any(AnyKeyword::AllOf(schemas)) => {
                    schemas.iter().for_each(|it| it.property_names_with_values(names));
                }
                Keyword::Any(AnyKeyword::Ref(reference)) => {
                    reference.schema().property_names_with_values(names);
                }
                _ => {}
            }
        }
    }

    /// The values that the member `name` may have, if they are listed.
    fn values_of(&self, name: &str) -> Option<&'static [Literal]> {
        self.keywords.iter().find_map(|keyword| match keyword {
            Keyword::Object(ObjectKeyword::Properties(properties)) => {
                properties.named(name)?.values()
            }
            Keyword::Any(AnyKeyword::AllOf(schemas)) => {
                schemas.iter().find_map(|schema| schema.values_of(name))
            }
            Keyword::Any(AnyKeyword::Ref(reference)) => reference.schema().values_of(name),
            _ => None,
        })
    }

    /// The values of `const` or `enum`.
    fn values(&self) -> Option<&'static [Literal]> {
        self.keywords.iter().find_map(|keyword| match keyword {
            Keyword::Any(AnyKeyword::Const(value)) => Some(std::slice::from_ref(value)),
            Keyword::Any(AnyKeyword::Enum(values)) => Some(*values),
            Keyword::Any(AnyKeyword::Ref(reference)) => reference.schema().values(),
            _ => None,
        })
    }
}
