//! Adapts a tool's input schema to what a provider accepts.
//!
//! Each provider has a [`KeywordRule`] for each keyword; [`adapt_schema`] walks a schema by these rules. A keyword that a provider does not accept becomes a sentence in the description if that is good enough for a model,
//! otherwise it makes the tool incompatible. In any case the pipeline validates calls against the original schema.
//! Runs at build time for the tools of this server, and per request for those of the gateway's clients.

pub(super) mod rules;

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value};

use rules::{KEYWORDS, KeywordRule, string_or_number};
use toolbooth::catalog::{Listed, Rendering, Requirements};
use toolbooth::protocol::keywords::{Subschemas, describe, subschemas};

/// A schema that is an object.
pub(super) type Schema = Map<String, Value>;

/// The depth of a schema above which there is a warning (2api.ai, 7.1 "Parameters schema depth").
const WARN_DEPTH: usize = 5;
/// The depth of a schema above which the tool is incompatible (2api.ai, 7.1).
const MAX_DEPTH: usize = 10;

/// The length of a description in characters above which there is a warning: OpenAI has rejected longer ones.
const WARN_DESCRIPTION: usize = 1024;

/// What is counted in a schema.
const COUNTED: [&str; 4] = ["properties", "enum", "optional_properties", "unions"];

/// One kind of a provider's lists: what it accepts in a schema.
pub(crate) struct Target {
    /// How it treats a keyword. One that JSON Schema does not define restricts nothing.
    pub(super) rule: fn(&str) -> KeywordRule,
    /// Whether the tool's input may have a property of this name.
    pub(super) property: fn(&str) -> bool,
    /// The most that it accepts of a feature: those of [`COUNTED`].
    pub(super) limits: &'static [(&'static str, usize)],
    /// Whether definitions may refer to themselves.
    pub(crate) allows_cycles: bool,
    /// Further changes that a schema needs. Called for each subschema, the innermost first.
    pub(super) finish: fn(&mut Schema, &mut Compatibility),
}

/// What [`adapt_schema`] has found in a schema: problems and sizes.
#[derive(Default)]
pub(super) struct Compatibility {
    incompatible: BTreeSet<String>,
    warnings: BTreeSet<String>,
    described: BTreeSet<String>,
    dropped: BTreeSet<String>,
    depth: usize,
    /// How much there is of each of [`COUNTED`].
    counts: [usize; COUNTED.len()],
}

impl Compatibility {
    /// The tool is incompatible because of this feature: a keyword, or a name from docs/PROVIDERS.md.
    pub(super) fn reject(&mut self, feature: &str) {
        self.incompatible.insert(feature.to_owned());
    }
}

/// Renders a tool for a list. `tool` puts the adapted schema into the provider's object.
pub(super) fn render<T: Serialize>(
    listed: &Listed<'_>,
    target: &Target,
    tool: impl FnOnce(Value) -> T,
) -> Rendering {
    match adapt_schema(&listed.definition.input_schema, target) {
        Err(features) => Rendering::Unsupported(features),
        Ok(AdaptedSchema { schema, mut warnings, .. }) => {
            let length = listed.definition.description.chars().count();
            if length > WARN_DESCRIPTION {
                warnings.push(format!(
                    "its description has {length} characters, more than {WARN_DESCRIPTION}"
                ));
            }
            // A grant on the server may meet the requirements; a call in a provider's format cannot send them.
            let requirements = listed.definition.requirements.as_ref();
            if requirements.is_some_and(|required| *required != Requirements::default()) {
                warnings.push("requirements: a call in this format cannot send them".to_owned());
            }
            match Rendering::of(&tool(schema)) {
                Rendering::Supported { json, .. } => Rendering::Supported { json, warnings },
                rendering => rendering,
            }
        }
    }
}

/// A schema as a target accepts it.
#[derive(Debug)]
pub(crate) struct AdaptedSchema {
    pub(crate) schema: Value,
    /// What readers of a list should know.
    pub(crate) warnings: Vec<String>,
    /// The keywords that became sentences in descriptions, sorted.
    pub(crate) described: Vec<String>,
    /// The keywords that were dropped, sorted. They restrict nothing that JSON Schema defines.
    pub(crate) dropped: Vec<String>,
}

/// The schema as the target accepts it, or the features that it does not accept.
pub(crate) fn adapt_schema(schema: &Schema, target: &Target) -> Result<AdaptedSchema, Vec<String>> {
    let mut found = Compatibility::default();
    let fitted = found.walk(schema, target, 1);
    if found.depth > MAX_DEPTH {
        found.reject("depth");
    } else if found.depth > WARN_DEPTH {
        let depth = found.depth;
        found.warnings.insert(format!("its schema has {depth} levels, more than {WARN_DEPTH}"));
    }
    let names = schema.get("properties").and_then(Value::as_object);
    if names.into_iter().flatten().any(|(name, _)| !(target.property)(name)) {
        found.reject("property_names");
    }
    for (feature, count) in COUNTED.into_iter().zip(found.counts) {
        if target.limits.iter().any(|(limited, limit)| *limited == feature && count > *limit) {
            found.reject(feature);
        }
    }
    if found.incompatible.is_empty() {
        Ok(AdaptedSchema {
            schema: Value::Object(fitted),
            warnings: found.warnings.into_iter().collect(),
            described: found.described.into_iter().collect(),
            dropped: found.dropped.into_iter().collect(),
        })
    } else {
        Err(found.incompatible.into_iter().collect())
    }
}

impl Compatibility {
    /// A schema as the target accepts it.
    fn walk(&mut self, schema: &Schema, target: &Target, level: usize) -> Schema {
        self.depth = self.depth.max(level);
        let mut fitted = Schema::new();
        let mut sentences = Vec::new();
        for (name, value) in schema {
            let mut keep = |kept: &str, found: &mut Self| {
                fitted.insert(kept.to_owned(), found.fit_value(name, value, target, level));
            };
            match (target.rule)(name) {
                KeywordRule::Keep => keep(name, self),
                KeywordRule::Below if level > 1 => keep(name, self),
                KeywordRule::If(accepts) if accepts(value) => keep(name, self),
                KeywordRule::Enum if string_or_number(value) && !schema.contains_key("enum") => {
                    fitted.insert("enum".to_owned(), vec![value.clone()].into());
                }
                KeywordRule::AnyOf if !schema.contains_key("anyOf") => {
                    keep("anyOf", self);
                    self.warnings.insert(format!("{name} is listed as anyOf"));
                }
                KeywordRule::Below | KeywordRule::AnyOf | KeywordRule::Reject => {
                    self.reject(name);
                    fitted.insert(name.clone(), value.clone());
                }
                KeywordRule::If(_) | KeywordRule::Enum | KeywordRule::Words => {
                    if let Some(sentence) = describe(name, value) {
                        let position = KEYWORDS.iter().position(|known| known == name);
                        self.described.insert(name.clone());
                        let new = (position, sentence);
                        let at = sentences.partition_point(|known| *known < new);
                        sentences.insert(at, new);
                    }
                }
                KeywordRule::Drop => {
                    self.dropped.insert(name.clone());
                }
            }
        }
        let sentences: Vec<String> = sentences.into_iter().map(|(_, sentence)| sentence).collect();
        add_to_description(&mut fitted, &sentences);
        self.count(&fitted);
        (target.finish)(&mut fitted, self);
        fitted
    }

    /// The value of a keyword, with its subschemas as the target accepts them.
    fn fit_value(&mut self, keyword: &str, value: &Value, target: &Target, level: usize) -> Value {
        let mut fit_one = |schema: &Value| {
            let schema = match schema {
                Value::Object(schema) => Cow::Borrowed(schema),
                // Providers require objects: these two mean the same as the booleans.
                Value::Bool(false) => {
                    let mut nothing = Schema::new();
                    nothing.insert("not".to_owned(), Schema::new().into());
                    Cow::Owned(nothing)
                }
                _ => Cow::Owned(Schema::new()),
            };
            Value::Object(self.walk(&schema, target, level + 1))
        };
        match (subschemas(keyword), value) {
            // Here, providers accept the booleans.
            (Subschemas::One, Value::Bool(_))
                if keyword == "additionalProperties" || keyword.starts_with("unevaluated") =>
            {
                value.clone()
            }
            (Subschemas::One, _) => fit_one(value),
            (Subschemas::List, Value::Array(list)) => list.iter().map(fit_one).collect(),
            (Subschemas::Map, Value::Object(map)) => {
                let mut fitted = Schema::new();
                fitted.extend(map.iter().map(|(name, schema)| (name.clone(), fit_one(schema))));
                Value::Object(fitted)
            }
            (Subschemas::None | Subschemas::List | Subschemas::Map, _) => value.clone(),
        }
    }

    fn count(&mut self, schema: &Schema) {
        let length = |keyword| match schema.get(keyword) {
            Some(Value::Array(list)) => list.len(),
            Some(Value::Object(map)) => map.len(),
            _ => 0,
        };
        let unions = usize::from(length("type") > 1) + usize::from(schema.contains_key("anyOf"));
        let counts = [
            length("properties"),
            length("enum"),
            length("properties").saturating_sub(length("required")),
            // Lists of types, and `anyOf`s.
            unions,
        ];
        for (sum, count) in self.counts.iter_mut().zip(counts) {
            *sum += count;
        }
    }
}

pub(super) fn add_to_description(schema: &mut Schema, sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let all: Vec<&str> =
        [description].into_iter().chain(sentences.iter().map(String::as_str)).collect();
    let text = all.join(" ").trim().to_owned();
    schema.insert("description".to_owned(), text.into());
}

#[cfg(test)]
mod tests;
