//! What is wrong with an input, in words that a model can act on.
//!
//! The words name limits, types and allowed values of the schema. They never repeat a value of the
//! input, so they may be logged.

use std::fmt;

use std::ops::ControlFlow;

use serde_json::Map;

use crate::json::{self, Object, Value};
use crate::schema::{Fault, Keyword, Literal, Number, Path, Schema, Types};
use crate::text::{cut, excerpt};

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
    pub(crate) fn by_parameter(&self) -> Map<String, serde_json::Value> {
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

/// What `null` means as the value of an optional property that may not be `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// A value of the wrong type, as JSON Schema has it.
    Exact,
    /// That the property is absent: some clients send every property that a tool declares.
    Absent,
}

/// Checks `input` before the tool runs. Removes `null` members that represent absent properties if `nulls`
/// says so. Input that is already valid is not changed.
///
/// # Errors
/// As of [`check`].
pub(crate) fn admit(
    schema: &Schema,
    input: &mut Value<'_>,
    nulls: Nulls,
) -> Result<(), InvalidInput> {
    if schema.is_valid(input) {
        return Ok(());
    }
    match nulls {
        Nulls::Exact => Err(faults(schema, input)),
        Nulls::Absent => {
            schema.drop_nulls(input);
            check(schema, input)
        }
    }
}

/// Checks a value against a schema.
///
/// # Errors
/// All faults, up to a fixed number and size.
pub fn check(schema: &Schema, input: &Value<'_>) -> Result<(), InvalidInput> {
    if schema.is_valid(input) { Ok(()) } else { Err(faults(schema, input)) }
}

/// What is wrong with a value that a schema refuses.
fn faults(schema: &Schema, input: &Value<'_>) -> InvalidInput {
    let mut errors: Vec<ParameterError> = Vec::new();
    let (mut count, mut told) = (0, 0);
    let _ = schema.faults(input, &Path::Root, &mut |path, fault| {
        let fault = describe(path, fault);
        count += 1;
        told += fault.parameter.len() + fault.message.len();
        if count > MAX_FAULTS || (told > MAX_TOLD && !errors.is_empty()) {
            return ControlFlow::Break(());
        }
        match errors.iter_mut().find(|known| known.parameter == fault.parameter) {
            Some(known) if known.message != fault.message => {
                known.message.push_str("; ");
                known.message.push_str(&fault.message);
            }
            Some(_) => {}
            None => errors.push(fault),
        }
        ControlFlow::Continue(())
    });
    InvalidInput { errors }
}

fn describe(path: &Path<'_>, fault: Fault<'_>) -> ParameterError {
    let parent = text(path);
    match fault {
        Fault::Missing(name) => entry(property(&parent, name), "Is required"),
        Fault::Unknown(name) => entry(property(&parent, name), "Is not a known parameter"),
        Fault::Broken(keyword, value) => {
            let message = words(keyword, value, path);
            entry(parent, &message)
        }
    }
}

fn entry(parameter: String, message: &str) -> ParameterError {
    let parameter =
        if parameter.is_empty() { "input".to_owned() } else { cut(&parameter, LONGEST_PATH) };
    ParameterError { parameter, message: message.to_owned() }
}

fn text(path: &Path<'_>) -> String {
    let text = match path {
        Path::Root => return String::new(),
        Path::Member(parent, name) => property(&text(parent), name),
        Path::Item(parent, index) => format!("{}[{index}]", text(parent)),
    };
    cut(&text, LONGEST_PATH)
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

/// What was expected of the value at `path`, beginning with "Must".
fn words(keyword: &Keyword, value: &Value<'_>, path: &Path<'_>) -> String {
    match keyword {
        Keyword::Type(set) => format!("Must be {}", types(*set)),
        Keyword::Enum(options) => format!("Must be one of: {}", list(options)),
        Keyword::Const(expected) => format!("Must be {}", told(*expected)),
        Keyword::Minimum(limit) => format!("Must be at least {}", told(*limit)),
        Keyword::Maximum(limit) => format!("Must be at most {}", told(*limit)),
        Keyword::ExclusiveMinimum(limit) => {
            format!("Must be greater than {}", told(*limit))
        }
        Keyword::ExclusiveMaximum(limit) => format!("Must be less than {}", told(*limit)),
        Keyword::MultipleOf(divisor, _) => format!("Must be a multiple of {}", number(*divisor)),
        Keyword::MinLength(limit) => format!("Must have at least {}", count(*limit, "character")),
        Keyword::MaxLength(limit) => format!("Must have at most {}", count(*limit, "character")),
        Keyword::Pattern(pattern) => format!("Must match the pattern {}", pattern.source),
        Keyword::Format(format, _) => format!("Must be a valid {format}"),
        Keyword::MinItems(limit) => format!("Must have at least {}", count(*limit, "item")),
        Keyword::MaxItems(limit) => format!("Must have at most {}", count(*limit, "item")),
        Keyword::UniqueItems(_) => "Must not contain the same item twice".to_owned(),
        Keyword::Contains(..) => {
            "Must contain an item of the kind that the schema asks for".to_owned()
        }
        Keyword::UnevaluatedItems(..) => "Must not have further items".to_owned(),
        Keyword::MinProperties(limit) => {
            format!("Must have at least {}", count(*limit, "property"))
        }
        Keyword::MaxProperties(limit) => {
            format!("Must have at most {}", count(*limit, "property"))
        }
        Keyword::PropertyNames(schema) => {
            let mut names = value.as_object().into_iter().flat_map(Object::iter);
            let fault = |name: &str| first_fault(schema, &Value::from(name), path);
            let message = names
                .find_map(|(name, _)| fault(name))
                .map(|fault| fault.message)
                .unwrap_or_default();
            format!("Must have property names that fit: {message}")
        }
        Keyword::AnyOf(schemas) => {
            format!("Must fit at least one of: {}", branches(schemas, value, path))
        }
        Keyword::OneOf(schemas) => {
            if schemas.iter().any(|schema| schema.is_valid(value)) {
                return "Must fit only one of the allowed forms".to_owned();
            }
            format!("Must fit one of: {}", branches(schemas, value, path))
        }
        Keyword::Not(_) => "Must not have the form that the schema excludes".to_owned(),
        Keyword::False => "Must be left out".to_owned(),
        // Their faults are those of the schemas and names in them.
        Keyword::AllOf(_)
        | Keyword::If(..)
        | Keyword::PrefixItems(_)
        | Keyword::Items(..)
        | Keyword::Required(_)
        | Keyword::DependentRequired(_)
        | Keyword::DependentSchemas(_)
        | Keyword::Properties(_)
        | Keyword::UnevaluatedProperties(..) => "Must be as the schema says".to_owned(),
    }
}

fn types(set: Types) -> String {
    const NAMES: [&str; 7] =
        ["null", "true or false", "an integer", "a number", "a string", "an array", "an object"];
    let names = NAMES.iter().enumerate().filter(|(bit, _)| set.0 & (1 << bit) != 0);
    either(names.map(|(_, name)| *name).collect())
}

fn either(mut names: Vec<&str>) -> String {
    match names.pop() {
        None => "nothing".to_owned(),
        Some(last) if names.is_empty() => last.to_owned(),
        Some(last) => format!("{} or {last}", names.join(", ")),
    }
}

/// What a schema says, as JSON.
fn told(value: impl Into<serde_json::Value>) -> String {
    json::text(&value.into())
}

/// A number as JSON, a whole one without its point.
fn number(value: Number) -> String {
    let text = told(value);
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

fn list(options: &[Literal]) -> String {
    options.iter().map(|option| told(*option)).collect::<Vec<_>>().join(", ")
}

fn count(limit: u64, noun: &str) -> String {
    match (limit, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{limit} {stem}ies"),
        (_, None) => format!("{limit} {noun}s"),
    }
}

/// The alternatives of `anyOf` and `oneOf`: for each, the first thing that speaks against it.
fn branches(schemas: &[Schema], value: &Value<'_>, path: &Path<'_>) -> String {
    let here = entry(text(path), "").parameter;
    let mut told: Vec<String> = Vec::new();
    for fault in schemas.iter().filter_map(|schema| first_fault(schema, value, path)) {
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

fn first_fault(schema: &Schema, value: &Value<'_>, path: &Path<'_>) -> Option<ParameterError> {
    let mut first = None;
    let _ = schema.faults(value, path, &mut |path, fault| {
        first = Some(describe(path, fault));
        ControlFlow::Break(())
    });
    first
}

/// Our own sentences begin with letters of ASCII: what lowers any other has tables of 5 KB.
fn lower_first(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    text
}
