//! What is wrong with an input, in words that a model can act on.
//!
//! The words name limits, types and allowed values of the schema. They never repeat a value of the
//! input, so they may be logged.

use std::fmt;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{JsonType, ValidationError};
use serde_json::{Map, Value};

use super::excerpt::{cut, excerpt};
use crate::catalog::Validator;

/// At most so many faults are told: an answer must not grow with the number of wrong items.
const MAX_FAULTS: usize = 32;
/// Beyond so many bytes no further fault is told. The first is told whatever its size: how long its
/// message is was decided by the schema, not by the caller.
const MAX_TOLD: usize = 4096;
/// So many characters of a path are told: its names are the caller's, and as deep as the input.
const LONGEST_PATH: usize = 128;

/// All that is wrong with an input (OXP `ValidationErrorResponse.parameter_errors`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidInput {
    /// One entry a parameter, in the order in which the faults were found.
    pub errors: Vec<ParameterError>,
}

impl InvalidInput {
    /// The same as an object: what is wrong, under the name of each parameter.
    pub(crate) fn by_parameter(&self) -> Map<String, Value> {
        // Collecting would link a sorting algorithm.
        let mut members = Map::new();
        for ParameterError { parameter, message } in &self.errors {
            members.insert(parameter.clone(), message.as_str().into());
        }
        members
    }
}

/// All faults in one line, in the order in which they were found: `a: Is required; b: Must be …`.
impl fmt::Display for InvalidInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.errors.iter().enumerate().try_for_each(
            |(at, ParameterError { parameter, message })| {
                let between = if at == 0 { "" } else { "; " };
                write!(f, "{between}{parameter}: {message}")
            },
        )
    }
}

/// What is wrong with one parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterError {
    /// Where it is: `b`, `address.street`, `items[2].price`; `input` is the input as a whole. Long
    /// names and paths are cut.
    pub parameter: String,
    /// What it must be: `Must be a number`.
    pub message: String,
}

/// Checks `input`, as [`serve`](super::serve()) does before it runs a tool.
///
/// # Errors
/// All faults, up to a fixed number and size.
pub(crate) fn check(validator: &Validator, input: &Value) -> Result<(), InvalidInput> {
    if (validator.is_valid)(input) {
        return Ok(());
    }
    let mut errors: Vec<ParameterError> = Vec::new();
    let mut told = 0;
    for fault in (validator.errors)(input).flat_map(|error| describe(&error)).take(MAX_FAULTS) {
        told += fault.parameter.len() + fault.message.len();
        if told > MAX_TOLD && !errors.is_empty() {
            break;
        }
        match errors.iter_mut().find(|known| known.parameter == fault.parameter) {
            Some(known) if known.message != fault.message => {
                known.message.push_str("; ");
                known.message.push_str(&fault.message);
            }
            Some(_) => {}
            None => errors.push(fault),
        }
    }
    Err(InvalidInput { errors })
}

/// One entry for most errors; one a property where the error is about several.
fn describe(error: &ValidationError<'_>) -> Vec<ParameterError> {
    let at = path(error);
    let below = |names: &[String], message: &str| {
        let names = names.iter().take(MAX_FAULTS);
        names.map(|name| entry(property(&at, name), message)).collect()
    };
    match error.kind() {
        ValidationErrorKind::Required { property: Value::String(name) } => {
            vec![entry(property(&at, name), "Is required")]
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            below(unexpected, "Is not a known parameter")
        }
        // "additionalProperties": false without any property: the validator names the whole object.
        ValidationErrorKind::FalseSchema
            if ends_with(error.schema_path(), "additionalProperties") =>
        {
            let instance = error.instance();
            let names = instance.as_object().into_iter().flat_map(|object| object.keys().cloned());
            below(&names.take(MAX_FAULTS).collect::<Vec<_>>(), "Is not a known parameter")
        }
        kind => {
            let message = words(kind, &at);
            vec![entry(at, &message)]
        }
    }
}

fn ends_with(location: &Location, keyword: &str) -> bool {
    let last = location.into_iter().last();
    matches!(last, Some(LocationSegment::Property(name)) if name == keyword)
}

fn entry(parameter: String, message: &str) -> ParameterError {
    let parameter =
        if parameter.is_empty() { "input".to_owned() } else { cut(&parameter, LONGEST_PATH) };
    ParameterError { parameter, message: message.to_owned() }
}

fn path(error: &ValidationError<'_>) -> String {
    let mut path = String::new();
    for segment in error.instance_path() {
        match segment {
            LocationSegment::Property(name) => path = property(&path, &name),
            LocationSegment::Index(index) => path.push_str(&format!("[{index}]")),
        }
    }
    cut(&path, LONGEST_PATH)
}

fn property(parent: &str, name: &str) -> String {
    let plain = !name.is_empty()
        && !name.contains(|c: char| matches!(c, '.' | '[' | ']' | '"') || c.is_control());
    let name = excerpt(name);
    match (parent.is_empty(), plain) {
        (true, true) => name,
        (false, true) => format!("{parent}.{name}"),
        (_, false) => format!("{parent}[\"{name}\"]"),
    }
}

/// What was expected of the value at `at`, beginning with "Must".
fn words(kind: &ValidationErrorKind, at: &str) -> String {
    use ValidationErrorKind as Kind;
    match kind {
        Kind::Type { kind } => format!("Must be {}", types(kind)),
        Kind::Enum { options } => format!("Must be one of: {}", list(options)),
        Kind::Constant { expected_value } => format!("Must be {expected_value}"),
        Kind::Minimum { limit } => format!("Must be at least {limit}"),
        Kind::Maximum { limit } => format!("Must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("Must be greater than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("Must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => {
            format!("Must be a multiple of {}", number(*multiple_of))
        }
        Kind::MinLength { limit } => format!("Must have at least {}", count(*limit, "character")),
        Kind::MaxLength { limit } => format!("Must have at most {}", count(*limit, "character")),
        Kind::Pattern { pattern } => format!("Must match the pattern {pattern}"),
        Kind::Format { format } => format!("Must be a valid {format}"),
        Kind::MinItems { limit } => format!("Must have at least {}", count(*limit, "item")),
        Kind::MaxItems { limit } => format!("Must have at most {}", count(*limit, "item")),
        Kind::AdditionalItems { limit } => {
            format!(
                "Must have at most {}",
                count(u64::try_from(*limit).unwrap_or(u64::MAX), "item")
            )
        }
        Kind::UniqueItems => "Must not contain the same item twice".to_owned(),
        Kind::Contains => "Must contain an item of the kind that the schema asks for".to_owned(),
        Kind::UnevaluatedItems { .. } => "Must not have further items".to_owned(),
        Kind::MinProperties { limit } => {
            format!("Must have at least {}", count(*limit, "property"))
        }
        Kind::MaxProperties { limit } => format!("Must have at most {}", count(*limit, "property")),
        Kind::PropertyNames { error } => {
            format!("Must have property names that fit: {}", words(error.kind(), at))
        }
        Kind::AnyOf { context } => format!("Must fit at least one of: {}", branches(context, at)),
        Kind::OneOfNotValid { context } => format!("Must fit one of: {}", branches(context, at)),
        Kind::OneOfMultipleValid { .. } => "Must fit only one of the allowed forms".to_owned(),
        Kind::Not { .. } => "Must not have the form that the schema excludes".to_owned(),
        Kind::FalseSchema => "Must be left out".to_owned(),
        Kind::Required { .. } => "Must have all required properties".to_owned(),
        Kind::ContentEncoding { content_encoding } => {
            format!("Must be encoded as {content_encoding}")
        }
        Kind::ContentMediaType { content_media_type } => format!("Must be {content_media_type}"),
        Kind::Custom { message, .. } => format!("Must be as the schema says: {message}"),
        Kind::AdditionalProperties { .. } | Kind::UnevaluatedProperties { .. } => {
            "Must have known properties only".to_owned()
        }
        Kind::BacktrackLimitExceeded { .. }
        | Kind::RegexEngineFailure { .. }
        | Kind::FromUtf8 { .. }
        | Kind::Referencing(_) => "Must be simpler: it could not be checked".to_owned(),
    }
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => type_name(*one).to_owned(),
        TypeKind::Multiple(set) => either(set.iter().map(type_name).collect()),
    }
}

fn type_name(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Null => "null",
        JsonType::Boolean => "true or false",
        JsonType::Integer => "an integer",
        JsonType::Number => "a number",
        JsonType::String => "a string",
        JsonType::Array => "an array",
        JsonType::Object => "an object",
    }
}

fn either(mut names: Vec<&str>) -> String {
    match names.pop() {
        None => "nothing".to_owned(),
        Some(last) if names.is_empty() => last.to_owned(),
        Some(last) => format!("{} or {last}", names.join(", ")),
    }
}

/// A number as JSON, a whole one without its point. `f64`'s own way would link tables of its own.
fn number(value: f64) -> String {
    let text = Value::from(value).to_string();
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

fn list(options: &Value) -> String {
    match options {
        Value::Array(options) => {
            options.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

fn count(limit: u64, noun: &str) -> String {
    match (limit, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{limit} {stem}ies"),
        (_, None) => format!("{limit} {noun}s"),
    }
}

/// The alternatives of `anyOf` and `oneOf` at `at`: for each, the first thing that speaks against it.
fn branches(context: &[Vec<ValidationError<'static>>], at: &str) -> String {
    let here = if at.is_empty() { "input" } else { at };
    let mut told: Vec<String> = Vec::new();
    for fault in context.iter().filter_map(|errors| describe(errors.first()?).into_iter().next()) {
        let rule = if fault.parameter == here {
            fault.message.strip_prefix("Must be ").unwrap_or(&fault.message).to_owned()
        } else {
            format!("{} ({})", fault.parameter, lower_first(&fault.message))
        };
        if !told.contains(&rule) {
            told.push(rule);
        }
    }
    told.join("; ")
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_lowercase().collect::<String>() + chars.as_str())
        .unwrap_or_default()
}
