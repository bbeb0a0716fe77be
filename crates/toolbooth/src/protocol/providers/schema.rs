//! What a provider takes of a JSON Schema, and how a tool's schema becomes one that it takes.
//!
//! [`KEYWORDS`] says keyword by keyword what each provider does with it; [`fit`] walks a schema by
//! that table. A keyword that a provider does not take is put into words where a reader of the
//! description can act on it, and makes the tool unfit where words would not do. Whatever a model
//! is told, the pipeline checks a call against the whole schema. Runs at build time only.
//!
//! References are not in the table: the build refuses definitions that use them.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::catalog::{Listed, Rendering, Requirements};
use crate::protocol::keywords::in_words;

/// A schema's levels above which a reader is warned (2api.ai, 7.1 "Parameters schema depth").
const DEEP: usize = 5;
/// A schema's levels above which it is not listed (2api.ai, 7.1).
const TOO_DEEP: usize = 10;

/// What becomes of a keyword.
#[derive(Clone, Copy)]
enum Rule {
    /// It stays.
    Keep,
    /// It stays, but at the root it makes the tool unfit.
    Below,
    /// It stays with the values that are taken, and is put into words with others.
    If(fn(&Value) -> bool),
    /// It is written as `anyOf`, which this provider reads it as anyway.
    AnyOf,
    /// Its one value is written as `enum`.
    Enum,
    /// It is put into words.
    Words,
    /// It goes: it says nothing of the values.
    Drop,
    /// It makes the tool unfit.
    Refuse,
}

/// What stands in a keyword's value.
#[derive(Clone, Copy)]
enum Holds {
    Data,
    Schema,
    /// A schema, or a boolean that stays one.
    Rest,
    List,
    Map,
}

/// A keyword with its rule for each target, in the order of [`Target::column`].
struct Keyword(&'static str, Holds, [Rule; 5]);

use Holds::{Data, List, Map as Named, Rest, Schema};
use Rule::{AnyOf, Below, Drop, Enum, If, Keep, Refuse, Words};

const F: Rule = If(openai_format);
const G: Rule = If(anthropic_format);

/// Every keyword of JSON Schema 2020-12 but the references: OpenAI, OpenAI strict, Anthropic,
/// Anthropic strict, Gemini. docs/PROVIDERS.md has the sources.
#[rustfmt::skip]
const KEYWORDS: &[Keyword] = &[
    Keyword("type",                  Data,   [Keep,   Keep,   Keep,  Keep,             Keep]),
    Keyword("properties",            Named,  [Keep,   Keep,   Keep,  Keep,             Keep]),
    Keyword("required",              Data,   [Keep,   Keep,   Keep,  Keep,             Keep]),
    Keyword("additionalProperties",  Rest,   [Keep,   Keep,   Keep,  Keep,             Keep]),
    Keyword("items",                 Schema, [Keep,   Keep,   Keep,  Keep,             Keep]),
    Keyword("enum",                  Data,   [Below,  Keep,   Keep,  If(scalars),      If(words_or_numbers)]),
    Keyword("const",                 Data,   [Below,  Keep,   Keep,  If(scalar),       Enum]),
    Keyword("anyOf",                 List,   [Below,  Below,  Below, Below,            Keep]),
    Keyword("oneOf",                 List,   [Below,  Refuse, Below, AnyOf,            AnyOf]),
    Keyword("allOf",                 List,   [Below,  Refuse, Below, Refuse,           Refuse]),
    Keyword("not",                   Schema, [Below,  Refuse, Keep,  Refuse,           Refuse]),
    Keyword("if",                    Schema, [Keep,   Refuse, Keep,  Refuse,           Refuse]),
    Keyword("then",                  Schema, [Keep,   Refuse, Keep,  Refuse,           Refuse]),
    Keyword("else",                  Schema, [Keep,   Refuse, Keep,  Refuse,           Refuse]),
    Keyword("dependentRequired",     Data,   [Keep,   Refuse, Keep,  Refuse,           Refuse]),
    Keyword("dependentSchemas",      Named,  [Keep,   Refuse, Keep,  Refuse,           Refuse]),
    Keyword("patternProperties",     Named,  [Keep,   Refuse, Keep,  Refuse,           Refuse]),
    Keyword("propertyNames",         Schema, [Keep,   Refuse, Keep,  Refuse,           Refuse]),
    Keyword("unevaluatedProperties", Rest,   [Keep,   Refuse, Keep,  Refuse,           Refuse]),
    Keyword("unevaluatedItems",      Rest,   [Keep,   Refuse, Keep,  Refuse,           Refuse]),
    Keyword("prefixItems",           List,   [Keep,   Refuse, Keep,  Refuse,           Keep]),
    Keyword("contains",              Schema, [Keep,   Refuse, Keep,  Refuse,           Refuse]),
    Keyword("minContains",           Data,   [Keep,   Refuse, Keep,  Refuse,           Refuse]),
    Keyword("maxContains",           Data,   [Keep,   Refuse, Keep,  Refuse,           Refuse]),
    Keyword("format",                Data,   [Keep,   F,      Keep,  G,                Keep]),
    Keyword("pattern",               Data,   [Keep,   Keep,   Keep,  Words,            Words]),
    Keyword("minLength",             Data,   [Keep,   Words,  Keep,  Words,            Words]),
    Keyword("maxLength",             Data,   [Keep,   Words,  Keep,  Words,            Words]),
    Keyword("minimum",               Data,   [Keep,   Keep,   Keep,  Words,            Keep]),
    Keyword("maximum",               Data,   [Keep,   Keep,   Keep,  Words,            Keep]),
    Keyword("exclusiveMinimum",      Data,   [Keep,   Keep,   Keep,  Words,            Words]),
    Keyword("exclusiveMaximum",      Data,   [Keep,   Keep,   Keep,  Words,            Words]),
    Keyword("multipleOf",            Data,   [Keep,   Keep,   Keep,  Words,            Words]),
    Keyword("minItems",              Data,   [Keep,   Keep,   Keep,  If(zero_or_one),  Keep]),
    Keyword("maxItems",              Data,   [Keep,   Keep,   Keep,  Words,            Keep]),
    Keyword("uniqueItems",           Data,   [Keep,   Words,  Keep,  Words,            Words]),
    Keyword("minProperties",         Data,   [Keep,   Words,  Keep,  Words,            Words]),
    Keyword("maxProperties",         Data,   [Keep,   Words,  Keep,  Words,            Words]),
    Keyword("contentEncoding",       Data,   [Keep,   Words,  Keep,  Words,            Words]),
    Keyword("contentMediaType",      Data,   [Keep,   Words,  Keep,  Words,            Words]),
    Keyword("contentSchema",         Schema, [Keep,   Drop,   Keep,  Drop,             Drop]),
    Keyword("default",               Data,   [Keep,   Words,  Keep,  Words,            Words]),
    Keyword("examples",              Data,   [Keep,   Words,  Keep,  Words,            Words]),
    Keyword("title",                 Data,   [Keep,   Keep,   Keep,  Keep,             Keep]),
    Keyword("description",           Data,   [Keep,   Keep,   Keep,  Keep,             Keep]),
    Keyword("deprecated",            Data,   [Keep,   Drop,   Keep,  Drop,             Drop]),
    Keyword("readOnly",              Data,   [Keep,   Drop,   Keep,  Drop,             Drop]),
    Keyword("writeOnly",             Data,   [Keep,   Drop,   Keep,  Drop,             Drop]),
    Keyword("$schema",               Data,   [Keep,   Drop,   Keep,  Drop,             Drop]),
    Keyword("$comment",              Data,   [Drop,   Drop,   Drop,  Drop,             Drop]),
];

fn openai_format(format: &Value) -> bool {
    const FORMATS: [&str; 9] =
        ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
    format.as_str().is_some_and(|format| FORMATS.contains(&format))
}

fn anthropic_format(format: &Value) -> bool {
    openai_format(format) || format == "uri"
}

fn scalar(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

fn scalars(values: &Value) -> bool {
    values.as_array().is_some_and(|values| values.iter().all(scalar))
}

fn word_or_number(value: &Value) -> bool {
    value.is_string() || value.is_number()
}

fn words_or_numbers(values: &Value) -> bool {
    values.as_array().is_some_and(|values| values.iter().all(word_or_number))
}

fn zero_or_one(value: &Value) -> bool {
    value.as_u64().is_some_and(|count| count <= 1)
}

/// How much of something one tool's schema may have.
pub(super) struct Limits {
    /// Properties in all its objects.
    pub(super) properties: usize,
    /// Values in all its `enum`s.
    pub(super) values: usize,
    /// Properties that are not required.
    pub(super) optional: usize,
    /// Lists of types, and `anyOf`s.
    pub(super) unions: usize,
}

impl Limits {
    /// None that is known.
    pub(super) const NONE: Self = Self {
        properties: usize::MAX,
        values: usize::MAX,
        optional: usize::MAX,
        unions: usize::MAX,
    };
}

/// A provider's kind of list.
pub(super) struct Target {
    /// Its place in the rules of [`KEYWORDS`].
    pub(super) column: usize,
    /// Whether keywords that JSON Schema does not know stay; they decide nothing.
    pub(super) keeps_unknown: bool,
    /// Whether the tool's input may have a property of this name.
    pub(super) property: fn(&str) -> bool,
    /// How large a schema may be.
    pub(super) limits: Limits,
    /// What a schema needs besides the keywords' own rules; called for each, the inner ones first.
    pub(super) finish: fn(&mut Map<String, Value>, &mut Faults),
}

/// What is wrong with a schema, and how much of what it has.
#[derive(Default)]
pub(super) struct Faults {
    unfit: BTreeSet<String>,
    warnings: BTreeSet<String>,
    depth: usize,
    properties: usize,
    values: usize,
    optional: usize,
    unions: usize,
}

impl Faults {
    /// The tool is unfit for this feature: a keyword, or a word of the list in docs/PROVIDERS.md.
    pub(super) fn unfit(&mut self, feature: &str) {
        self.unfit.insert(feature.to_owned());
    }
}

/// Renders a tool: its schema as the target takes it, in the object that `tool` makes of it.
pub(super) fn render<T: Serialize>(
    listed: &Listed<'_>,
    target: &Target,
    tool: impl FnOnce(Value) -> T,
) -> Rendering {
    match fit(&listed.definition.input_schema, target) {
        Err(features) => Rendering::Unfit(features),
        Ok((schema, mut warnings)) => {
            // A grant on the server may meet them; a call in a provider's form has no place for them.
            let requirements = listed.definition.requirements.as_ref();
            if requirements.is_some_and(|needed| *needed != Requirements::default()) {
                warnings.push("requirements: a call in this form cannot send them".to_owned());
            }
            match Rendering::of(&tool(schema)) {
                Rendering::Fits { json, .. } => Rendering::Fits { json, warnings },
                rendering => rendering,
            }
        }
    }
}

/// The schema as the target takes it, with warnings.
///
/// # Errors
/// The features that the target does not take.
pub(super) fn fit(
    schema: &Map<String, Value>,
    target: &Target,
) -> Result<(Value, Vec<String>), Vec<String>> {
    let mut faults = Faults::default();
    let fitted = walk(schema, target, 1, &mut faults);
    if faults.depth > TOO_DEEP {
        faults.unfit("depth");
    } else if faults.depth > DEEP {
        let depth = faults.depth;
        faults.warnings.insert(format!("its schema has {depth} levels, more than {DEEP}"));
    }
    let names = schema.get("properties").and_then(Value::as_object);
    if names.into_iter().flatten().any(|(name, _)| !(target.property)(name)) {
        faults.unfit("property_names");
    }
    let Limits { properties, values, optional, unions } = target.limits;
    for (feature, count, most) in [
        ("properties", faults.properties, properties),
        ("enum", faults.values, values),
        ("optional_properties", faults.optional, optional),
        ("unions", faults.unions, unions),
    ] {
        if count > most {
            faults.unfit(feature);
        }
    }
    if faults.unfit.is_empty() {
        Ok((Value::Object(fitted), faults.warnings.into_iter().collect()))
    } else {
        Err(faults.unfit.into_iter().collect())
    }
}

fn walk(
    schema: &Map<String, Value>,
    target: &Target,
    level: usize,
    faults: &mut Faults,
) -> Map<String, Value> {
    faults.depth = faults.depth.max(level);
    let mut fitted = Map::new();
    let mut words = Vec::new();
    for (name, value) in schema {
        let place = KEYWORDS.iter().position(|Keyword(keyword, ..)| keyword == name);
        let known = place.and_then(|place| KEYWORDS.get(place));
        let unknown = if target.keeps_unknown { Keep } else { Drop };
        let (holds, rule) = known.map_or((Data, unknown), |Keyword(_, holds, rules)| {
            (*holds, rules.get(target.column).copied().unwrap_or(Refuse))
        });
        let mut inner = |name: &str, faults: &mut Faults| {
            fitted.insert(name.to_owned(), parts(holds, value, target, level, faults));
        };
        match rule {
            Keep => inner(name, faults),
            Below if level > 1 => inner(name, faults),
            If(takes) if takes(value) => inner(name, faults),
            Enum if word_or_number(value) && !schema.contains_key("enum") => {
                fitted.insert("enum".to_owned(), json!([value]));
            }
            AnyOf if !schema.contains_key("anyOf") => {
                inner("anyOf", faults);
                faults.warnings.insert(format!("{name} is listed as anyOf"));
            }
            Below | AnyOf | Refuse => {
                faults.unfit(name);
                fitted.insert(name.clone(), value.clone());
            }
            If(_) | Enum | Words => {
                words.extend(in_words(name, value).map(|sentence| (place, sentence)));
            }
            Drop => {}
        }
    }
    words.sort();
    let words: Vec<String> = words.into_iter().map(|(_, sentence)| sentence).collect();
    say(&mut fitted, &words);
    count(&fitted, faults);
    (target.finish)(&mut fitted, faults);
    fitted
}

/// The schemas in a keyword's value, each as the target takes it.
fn parts(holds: Holds, value: &Value, target: &Target, level: usize, faults: &mut Faults) -> Value {
    let mut one = |schema: &Value| match schema {
        Value::Object(schema) => Value::Object(walk(schema, target, level + 1, faults)),
        // Providers want objects: these two mean the same as the booleans.
        Value::Bool(false) => Value::Object(walk(
            &Map::from_iter([("not".to_owned(), json!({}))]),
            target,
            level + 1,
            faults,
        )),
        _ => Value::Object(walk(&Map::new(), target, level + 1, faults)),
    };
    match (holds, value) {
        (Data, _) | (Rest, Value::Bool(_)) => value.clone(),
        (Schema | Rest, _) => one(value),
        (List, Value::Array(list)) => list.iter().map(one).collect(),
        (Named, Value::Object(map)) => {
            map.iter().map(|(name, schema)| (name.clone(), one(schema))).collect()
        }
        (List | Named, _) => value.clone(),
    }
}

/// Adds sentences to a schema's description.
pub(super) fn say(schema: &mut Map<String, Value>, sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    let said = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let all: Vec<&str> = [said].into_iter().chain(sentences.iter().map(String::as_str)).collect();
    let text = all.join(" ").trim().to_owned();
    schema.insert("description".to_owned(), text.into());
}

fn count(schema: &Map<String, Value>, faults: &mut Faults) {
    let length = |keyword| match schema.get(keyword) {
        Some(Value::Array(list)) => list.len(),
        Some(Value::Object(map)) => map.len(),
        _ => 0,
    };
    faults.properties += length("properties");
    faults.values += length("enum");
    faults.optional += length("properties").saturating_sub(length("required"));
    faults.unions += usize::from(length("type") > 1) + usize::from(schema.contains_key("anyOf"));
}

#[cfg(test)]
mod tests;
