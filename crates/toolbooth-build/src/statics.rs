//! Writes schemas as Rust: statics of the types of `toolbooth::schema`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;
use toolbooth::schema::{Automaton, Keyword, Literal, Matcher, Pattern, Properties, Schema};

use crate::plan::plan;
use crate::schema;

/// The schemas of a catalogue, one for each essentially different one, and the patterns in them.
#[derive(Default)]
pub(crate) struct Schemas {
    /// The statics so far. They want the names of `toolbooth::schema` in scope.
    pub(crate) rust: String,
    schemas: BTreeMap<String, String>,
    patterns: BTreeMap<&'static str, String>,
}

impl Schemas {
    /// The name of the static for `schema`.
    pub(crate) fn of(&mut self, schema: &Value) -> String {
        let essence = schema::essence(schema);
        let text = essence.to_string();
        if let Some(name) = self.schemas.get(&text) {
            return name.clone();
        }
        let name = format!("SCHEMA_{}", self.schemas.len());
        let rust = self.schema(&plan(&essence));
        self.add(&format!("pub(super) static {name}: Schema = {rust};"));
        self.schemas.insert(text, name.clone());
        name
    }

    fn add(&mut self, rust: &str) {
        // Writing to a String does not fail.
        let _ = writeln!(self.rust, "    {rust}");
    }

    fn schema(&mut self, schema: &Schema) -> String {
        let keywords = each(schema.keywords, |keyword| self.keyword(keyword));
        format!("Schema {{ keywords: {keywords} }}")
    }

    fn schemas(&mut self, schemas: &[Schema]) -> String {
        each(schemas, |schema| self.schema(schema))
    }

    fn named(&mut self, schemas: &[(&str, Schema)]) -> String {
        each(schemas, |(name, schema)| format!("({name:?}, {})", self.schema(schema)))
    }

    fn keyword(&mut self, keyword: &Keyword) -> String {
        let rule = match keyword {
            Keyword::False => "False".to_owned(),
            Keyword::Type(types) => format!("Type({types:?})"),
            Keyword::Const(value) => format!("Const({})", literal(value)),
            Keyword::Enum(values) => format!("Enum({})", each(values, literal)),
            Keyword::AllOf(schemas) => format!("AllOf({})", self.schemas(schemas)),
            Keyword::AnyOf(schemas) => format!("AnyOf({})", self.schemas(schemas)),
            Keyword::OneOf(schemas) => format!("OneOf({})", self.schemas(schemas)),
            Keyword::Not(schema) => format!("Not(&{})", self.schema(schema)),
            Keyword::If(condition, then, otherwise) => format!(
                "If(&{}, &{}, &{})",
                self.schema(condition),
                self.schema(then),
                self.schema(otherwise)
            ),
            Keyword::Pattern(pattern) => format!("Pattern(&{})", self.pattern(pattern)),
            Keyword::Format(name, _) => {
                return format!("formats::{}", name.to_ascii_uppercase().replace('-', "_"));
            }
            Keyword::Minimum(limit) => format!("Minimum(Number::{limit:?})"),
            Keyword::Maximum(limit) => format!("Maximum(Number::{limit:?})"),
            Keyword::ExclusiveMinimum(limit) => format!("ExclusiveMinimum(Number::{limit:?})"),
            Keyword::ExclusiveMaximum(limit) => format!("ExclusiveMaximum(Number::{limit:?})"),
            Keyword::MultipleOf(of, _) => format!("MultipleOf(Number::{of:?}, is_multiple)"),
            Keyword::UniqueItems(_) => "UniqueItems(is_unique)".to_owned(),
            Keyword::PrefixItems(schemas) => format!("PrefixItems({})", self.schemas(schemas)),
            Keyword::Items(from, schema) => format!("Items({from}, &{})", self.schema(schema)),
            Keyword::Contains(schema, least, most) => {
                format!("Contains(&{}, {least}, {most:?})", self.schema(schema))
            }
            Keyword::UnevaluatedItems(schema, _) => {
                format!("UnevaluatedItems(&{}, evaluated)", self.schema(schema))
            }
            Keyword::Required(names) => format!("Required(&{names:?})"),
            Keyword::DependentRequired(dependencies) => format!(
                "DependentRequired({})",
                each(dependencies, |(name, needed)| format!("({name:?}, &{needed:?})"))
            ),
            Keyword::DependentSchemas(schemas) => {
                format!("DependentSchemas({})", self.named(schemas))
            }
            Keyword::PropertyNames(schema) => format!("PropertyNames(&{})", self.schema(schema)),
            Keyword::Properties(properties) => self.properties(properties),
            Keyword::UnevaluatedProperties(schema, _) => {
                format!("UnevaluatedProperties(&{}, evaluated)", self.schema(schema))
            }
            // As they print themselves.
            Keyword::MinLength(_)
            | Keyword::MaxLength(_)
            | Keyword::MinItems(_)
            | Keyword::MaxItems(_)
            | Keyword::MinProperties(_)
            | Keyword::MaxProperties(_) => format!("{keyword:?}"),
        };
        format!("Keyword::{rule}")
    }

    fn properties(&mut self, properties: &Properties) -> String {
        let Properties { named, patterns, additional } = properties;
        let named = self.named(named);
        let patterns = each(patterns, |(pattern, schema)| {
            format!("(&{}, {})", self.pattern(pattern), self.schema(schema))
        });
        let additional = match additional {
            Some(schema) => format!("Some(&{})", self.schema(schema)),
            None => "None".to_owned(),
        };
        format!(
            "Properties(&Properties {{ named: {named}, patterns: {patterns}, additional: {additional} }})"
        )
    }

    /// The name of the static for a pattern.
    fn pattern(&mut self, pattern: &Pattern) -> String {
        let Pattern { source, matcher } = *pattern;
        if let Some(name) = self.patterns.get(source) {
            return name.clone();
        }
        let number = self.patterns.len();
        let matcher = match matcher {
            Matcher::Automaton(Automaton { start, ending, offsets, lasts, targets }) => format!(
                "Automaton(&Automaton {{ start: {start}, ending: {ending}, offsets: &{offsets:?}, lasts: &{lasts:?}, targets: &{targets:?} }})"
            ),
            Matcher::Engine(engine) => {
                let engine = engine.source();
                self.add(&format!(
                    "static ENGINE_{number}: Engine = Engine::new({engine:?}, regex);"
                ));
                format!("Engine(&ENGINE_{number})")
            }
        };
        let name = format!("PATTERN_{number}");
        self.add(&format!(
            "static {name}: Pattern = Pattern {{ source: {source:?}, matcher: Matcher::{matcher} }};"
        ));
        self.patterns.insert(source, name.clone());
        name
    }
}

fn literal(value: &Literal) -> String {
    match value {
        Literal::Null => "Literal::Null".to_owned(),
        Literal::Bool(flag) => format!("Literal::Bool({flag})"),
        Literal::Number(number) => format!("Literal::Number(Number::{number:?})"),
        Literal::String(text) => format!("Literal::String({text:?})"),
        Literal::Array(items) => format!("Literal::Array({})", each(items, literal)),
        Literal::Object(members) => {
            let member =
                |(name, value): &(&str, Literal)| format!("({name:?}, {})", literal(value));
            format!("Literal::Object({})", each(members, member))
        }
    }
}

/// A reference to an array of what `write` makes of each.
fn each<T>(list: &[T], write: impl FnMut(&T) -> String) -> String {
    format!("&[{}]", list.iter().map(write).collect::<Vec<_>>().join(", "))
}
