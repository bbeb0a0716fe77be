//! Writes schemas as Rust statics, at build time.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::pattern::{Matcher, Pattern};
use crate::{Automaton, Literal, Schema, compile};

/// The statics of some schemas and of the patterns in them. Equal schemas share one static.
#[derive(Debug, Default)]
pub struct Statics {
    /// The Rust code so far. It needs `use toolbooth_schema::*` in scope.
    pub rust: String,
    schemas: BTreeMap<String, String>,
    patterns: BTreeMap<&'static str, String>,
    /// What references lead to.
    targets: Vec<&'static Schema>,
}

impl Statics {
    /// The name of the static for a schema, which [`compile`] reads.
    pub fn add(&mut self, schema: &Value) -> String {
        let text = schema.to_string();
        if let Some(name) = self.schemas.get(&text) {
            return name.clone();
        }
        let name = format!("SCHEMA_{}", self.schemas.len());
        let rust = self.schema(&compile(schema));
        self.line(&format!("pub(super) static {name}: Schema = {rust};"));
        self.schemas.insert(text, name.clone());
        name
    }

    fn line(&mut self, rust: &str) {
        // Writing to a String does not fail.
        let _ = writeln!(self.rust, "    {rust}");
    }

    /// A schema as an expression.
    pub(crate) fn schema(&mut self, schema: &Schema) -> String {
        let keywords = each(schema.keywords, |keyword| keyword.codegen(self));
        format!("Schema {{ keywords: {keywords} }}")
    }

    pub(crate) fn schemas(&mut self, schemas: &[Schema]) -> String {
        each(schemas, |schema| self.schema(schema))
    }

    pub(crate) fn named_schemas(&mut self, schemas: &[(&str, Schema)]) -> String {
        each(schemas, |(name, schema)| format!("({name:?}, {})", self.schema(schema)))
    }

    /// The name of the static for what a reference leads to.
    pub(crate) fn reference(&mut self, target: &'static Schema) -> String {
        let known = self.targets.iter().position(|known| std::ptr::eq(*known, target));
        let number = known.unwrap_or_else(|| {
            let number = self.targets.len();
            // It may contain a reference to itself.
            self.targets.push(target);
            let rust = self.schema(target);
            self.line(&format!("static TARGET_{number}: Schema = {rust};"));
            number
        });
        format!("TARGET_{number}")
    }

    /// The name of the static for a pattern.
    pub(crate) fn pattern(&mut self, pattern: &Pattern) -> String {
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
                let source = engine.source;
                self.line(&format!(
                    "static ENGINE_{number}: Engine = Engine::new({source:?}, regex);"
                ));
                format!("Engine(&ENGINE_{number})")
            }
        };
        let name = format!("PATTERN_{number}");
        self.line(&format!(
            "static {name}: Pattern = Pattern {{ source: {source:?}, matcher: Matcher::{matcher} }};"
        ));
        self.patterns.insert(source, name.clone());
        name
    }
}

/// A JSON value as a [`Literal`].
pub fn literal(value: &Value) -> String {
    Literal::read(value).codegen()
}

/// A reference to an array with what `write` makes of each item.
pub(crate) fn each<T>(list: &[T], write: impl FnMut(&T) -> String) -> String {
    format!("&[{}]", list.iter().map(write).collect::<Vec<_>>().join(", "))
}
