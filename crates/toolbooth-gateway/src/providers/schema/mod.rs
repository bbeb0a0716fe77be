//! Adapts a tool's input schema to what a provider accepts.
//!
//! Each provider has a [`KeywordRule`] for each keyword; [`adapt_schema`] walks a schema by these rules. What a provider lacks is
//! written with other keywords ([`rewrite`]) or becomes a sentence in the description. All of that allows more values, never fewer,
//! and the pipeline, or the client, validates calls against the original schema. A schema is incompatible if nothing of it would be
//! left, or if the provider is to enforce it and cannot.
//! Runs at build time for the tools of this server, and per request for those of the gateway's clients.

mod drafts;
mod merge;
mod references;
mod rewrite;
pub(super) mod rules;

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value};

pub(crate) use references::Cycles;
pub(super) use rewrite::require_declared;
use rules::{KEYWORDS, KeywordRule, string_or_number};
use toolbooth::catalog::{Listed, Rendering, Requirements};
use toolbooth::json;
use toolbooth::protocol::keywords::{Subschemas, describe, subschemas};

/// A schema that is an object.
pub(super) type Schema = Map<String, Value>;

/// The depth of a schema above which there is a warning (2api.ai, 7.1 "Parameters schema depth").
const WARN_DEPTH: usize = 5;
/// The depth of a schema above which the tool is incompatible (2api.ai, 7.1).
pub(super) const MAX_DEPTH: usize = 10;

/// The length of a description in characters above which there is a warning: OpenAI has rejected longer ones.
const WARN_DESCRIPTION: usize = 1024;

/// The longest sentence about a keyword that the provider lacks, in bytes.
const MAX_SENTENCE: usize = 1000;

/// How long the schemas may be, in bytes, that take the place of references to them.
const ROOM_FOR_REFERENCED: usize = 256 * 1024;

/// The feature of members at the root with names that the provider rejects.
const PROPERTY_NAMES: &str = "property_names";

/// What is counted in a schema.
const COUNTED: [&str; 4] = ["properties", "enum", "optional_properties", "unions"];

/// One kind of a provider's lists: what it accepts in a schema.
pub(crate) struct Target {
    /// How it treats a keyword. One that JSON Schema does not define restricts nothing.
    pub(super) rule: fn(&str) -> KeywordRule,
    /// Whether the tool's input may have a property of this name.
    pub(super) property: fn(&str) -> bool,
    /// Whether the schema of an answer may be of something else than an object.
    pub(crate) has_any_root: bool,
    /// The depth of a schema above which the tool is incompatible.
    pub(super) max_depth: usize,
    /// The most that it accepts of a feature: those of [`COUNTED`].
    pub(super) limits: &'static [(&'static str, usize)],
    /// Which keywords may be beside `$ref`, apart from those that begin with `$`.
    pub(super) beside_reference: fn(&str) -> bool,
    /// The circles that references may form.
    pub(super) cycles: Cycles,
    /// Further changes that a schema needs. Called for each subschema, the innermost first.
    pub(super) finish: fn(&mut Schema, &mut Compatibility),
}

/// What [`adapt_schema`] has found in a schema: problems and sizes.
#[derive(Default)]
pub(super) struct Compatibility {
    incompatible: BTreeSet<String>,
    warnings: BTreeSet<String>,
    loosened: BTreeSet<String>,
    described: BTreeSet<String>,
    left_out: BTreeSet<String>,
    dropped: BTreeSet<String>,
    /// How much there is of each of [`COUNTED`].
    counts: [usize; COUNTED.len()],
}

impl Compatibility {
    /// The tool is incompatible because of this feature: a keyword, or a name from docs/PROVIDERS.md.
    pub(super) fn reject(&mut self, feature: &str) {
        self.incompatible.insert(feature.to_owned());
    }

    /// The schema allows more values without this feature.
    pub(super) fn loosen(&mut self, feature: &str) {
        self.loosened.insert(feature.to_owned());
    }
}

/// A schema that is being adapted.
struct Adaptation<'s> {
    target: &'s Target,
    /// The whole schema, in which references are looked up.
    root: &'s Value,
    found: Compatibility,
    /// The references whose schemas took their place, around the schema that is looked at and in it.
    inlined: Vec<String>,
    /// Where those of the schema itself begin.
    of_node: usize,
    /// What is left of [`ROOM_FOR_REFERENCED`].
    room: usize,
}

/// Renders a tool for a list. `tool` puts the adapted schema into the provider's object.
pub(super) fn render<T: Serialize>(
    listed: &Listed<'_>,
    target: &Target,
    tool: impl FnOnce(Value) -> T,
) -> Rendering {
    match adapt_schema(&listed.definition.input_schema, target) {
        Err(features) => Rendering::Unsupported(features),
        Ok(adapted) => {
            let lacks = adapted.lacks();
            let AdaptedSchema { schema, mut warnings, loosened, .. } = adapted;
            warnings.extend(lacks);
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
            let Rendering::Supported { json, .. } = Rendering::of(&tool(schema)) else {
                return Rendering::Omitted;
            };
            if loosened.is_empty() {
                Rendering::Supported { json, warnings }
            } else {
                Rendering::Widened { json, warnings, unsupported: loosened }
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
    /// The features that the schema has lost, so that it allows more values, sorted.
    pub(crate) loosened: Vec<String>,
    /// The keywords that became sentences in descriptions, sorted.
    pub(crate) described: Vec<String>,
    /// The keywords that are gone altogether though they restrict values, sorted.
    pub(crate) left_out: Vec<String>,
    /// The keywords that were dropped, sorted. They restrict nothing that JSON Schema defines.
    pub(crate) dropped: Vec<String>,
}

impl AdaptedSchema {
    /// What readers of a list should know about the features that the schema has lost.
    fn lacks(&self) -> Option<String> {
        (!self.loosened.is_empty())
            .then(|| format!("its schema is wider without {}", self.loosened.join(", ")))
    }
}

/// The schema as the target accepts it, or the features that it does not accept.
pub(crate) fn adapt_schema(schema: &Schema, target: &Target) -> Result<AdaptedSchema, Vec<String>> {
    let mut root = Value::Object(schema.clone());
    drafts::modernize(&mut root);
    references::gather(&mut root, !(target.beside_reference)("type"));
    let mut found = Compatibility::default();
    match target.cycles {
        Cycles::Any => {}
        Cycles::Optional if references::break_needed_cycles(&mut root) => found.loosen("required"),
        Cycles::Optional => {}
        Cycles::None if references::has_cycle(&root) => found.reject("$ref"),
        Cycles::None => {}
    }
    match depth(&root) {
        depth if depth > target.max_depth => found.reject("depth"),
        depth if depth > WARN_DEPTH => {
            found.warnings.insert(format!("its schema has {depth} levels, more than {WARN_DEPTH}"));
        }
        _ => {}
    }
    let mut adaptation = Adaptation {
        target,
        root: &root,
        found,
        inlined: Vec::new(),
        of_node: 0,
        room: ROOM_FOR_REFERENCED,
    };
    let fitted = root.as_object().map(|root| adaptation.walk(root, 1)).unwrap_or_default();
    let mut found = adaptation.found;
    for (feature, count) in COUNTED.into_iter().zip(found.counts) {
        if target.limits.iter().any(|(limited, limit)| *limited == feature && count > *limit) {
            found.reject(feature);
        }
    }
    let sorted = |all: BTreeSet<String>| -> Vec<String> { all.into_iter().collect() };
    if !found.incompatible.is_empty() {
        return Err(sorted(found.incompatible));
    }
    Ok(AdaptedSchema {
        schema: Value::Object(fitted),
        warnings: sorted(found.warnings),
        loosened: sorted(found.loosened),
        described: sorted(found.described),
        left_out: sorted(found.left_out),
        dropped: sorted(found.dropped),
    })
}

/// How many schemas are in each other, at the most.
fn depth(schema: &Value) -> usize {
    let inner = references::children(schema).into_iter();
    let inner = inner.filter(|(_, child)| child.is_object()).map(|(_, child)| depth(child));
    1 + inner.max().unwrap_or_default()
}

/// A sentence, with the place of its keyword in the table.
type Sentence = (Option<usize>, String);

impl Adaptation<'_> {
    /// A schema as the target accepts it.
    fn walk(&mut self, schema: &Schema, level: usize) -> Schema {
        let outer = self.inlined.len();
        let (schema, rest) = self.rewritten(schema, level);
        let mut fitted = Schema::new();
        let mut sentences: Vec<Sentence> = Vec::new();
        // Beside a reference, there may be no place for them.
        let has_words =
            !schema.contains_key("$ref") || (self.target.beside_reference)("description");
        for (name, value) in &*schema {
            let mut keep = |kept: &str, this: &mut Self| {
                fitted.insert(kept.to_owned(), this.fit_value(name, value, level));
            };
            match (self.target.rule)(name) {
                KeywordRule::Keep => keep(name, self),
                KeywordRule::Below if level > 1 => keep(name, self),
                KeywordRule::If(accepts) if accepts(value) => keep(name, self),
                KeywordRule::Enum if string_or_number(value) && !schema.contains_key("enum") => {
                    fitted.insert("enum".to_owned(), vec![value.clone()].into());
                }
                KeywordRule::AnyOf if !schema.contains_key("anyOf") => {
                    keep("anyOf", self);
                    self.found.warnings.insert(format!("{name} is listed as anyOf"));
                }
                KeywordRule::Drop => {
                    self.found.dropped.insert(name.clone());
                }
                _ => sentences.extend(self.describe(name, value, has_words)),
            }
        }
        for (name, value) in &rest {
            sentences.extend(self.describe(name, value, has_words));
        }
        self.inlined.truncate(outer);
        sentences.sort_by_key(|(position, _)| *position);
        let sentences: Vec<String> = sentences.into_iter().map(|(_, sentence)| sentence).collect();
        add_to_description(&mut fitted, &sentences);
        self.count(&fitted);
        (self.target.finish)(&mut fitted, &mut self.found);
        fitted
    }

    /// The sentence for a keyword that has no place in the schema.
    fn describe(&mut self, keyword: &str, value: &Value, has_words: bool) -> Option<Sentence> {
        let is_plain = matches!(
            (self.target.rule)(keyword),
            KeywordRule::If(_) | KeywordRule::Enum | KeywordRule::Words
        );
        if !is_plain {
            self.found.loosen(keyword);
        }
        let sentence = match keyword {
            _ if !is_plain && restricts_nothing(keyword, value) => None,
            PROPERTY_NAMES => Some(format!("Further members: {}.", json::to_string(value))),
            _ => describe(keyword, value),
        };
        let fits = |sentence: &String| has_words && (is_plain || sentence.len() <= MAX_SENTENCE);
        match sentence.filter(fits) {
            Some(sentence) => {
                self.found.described.insert(keyword.to_owned());
                Some((KEYWORDS.iter().position(|known| *known == keyword), sentence))
            }
            None => {
                if !is_plain {
                    self.found.left_out.insert(keyword.to_owned());
                }
                None
            }
        }
    }

    /// The value of a keyword, with its subschemas as the target accepts them.
    fn fit_value(&mut self, keyword: &str, value: &Value, level: usize) -> Value {
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
            Value::Object(self.walk(&schema, level + 1))
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
        for (sum, count) in self.found.counts.iter_mut().zip(counts) {
            *sum += count;
        }
    }
}

/// Whether each value of its type satisfies a keyword.
fn restricts_nothing(keyword: &str, value: &Value) -> bool {
    match value {
        Value::Bool(it) => *it,
        Value::Array(all) => all.is_empty(),
        Value::Object(all) if keyword == "propertyNames" => {
            all.iter().all(|(keyword, value)| keyword == "type" && value == "string")
        }
        Value::Object(all) => {
            matches!(subschemas(keyword), Subschemas::Map) && all.is_empty()
                || keyword == "dependentRequired" && all.is_empty()
        }
        _ => false,
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
