//! The errors of a value: where, and which keyword; and their description, in English that a model can act on.
//!
//! Messages contain limits, types and allowed values of the schema, never a value of the input, so they may
//! be logged.

use std::fmt;
use std::ops::ControlFlow;

use serde_json::Map;

use crate::branches::Discriminator;
use crate::json::Value;
use crate::text::{cut, excerpt};
use crate::{Keyword, Schema};

/// The place of a value: the steps from the root.
#[derive(Debug, Clone, Copy)]
pub enum Path<'a> {
    /// The root.
    Root,
    /// A member of the object at a path.
    Member(&'a Path<'a>, &'a str),
    /// An item of the array at a path.
    Item(&'a Path<'a>, usize),
}

/// What is wrong with the value at a path.
#[derive(Debug, Clone, Copy)]
pub enum ValidationError<'a> {
    /// The value breaks this keyword.
    Keyword(Keyword, &'a Value<'a>),
    /// A required member is missing.
    Missing(&'a str),
    /// No schema allows a member of this name.
    Unknown {
        /// The name.
        name: &'a str,
        /// The absent property that was probably meant.
        meant: Option<&'static str>,
    },
    /// The value matches no schema of a union, and the discriminator says which it was meant for.
    Union(Discriminator, &'a Value<'a>),
}

/// Receives each error; `Break` stops the walk.
pub type ErrorSink<'a> = dyn FnMut(&Path<'_>, ValidationError<'_>) -> ControlFlow<()> + 'a;

/// The most errors that are reported: a response must not grow with the number of wrong items.
const MAX_ERRORS: usize = 32;
/// No further error is reported once the messages have this many bytes. The first is always reported: the
/// length of its message depends on the schema, not on the caller.
const MAX_BYTES: usize = 4096;
/// The most alternatives of `anyOf` and `oneOf` that are listed.
const MAX_ALTERNATIVES: usize = 8;
/// The most characters of a path that are reported: its names come from the caller.
const MAX_PATH: usize = 128;

/// The name of an input as a whole.
const INPUT: &str = "input";

/// All errors of an input (OXP `ValidationErrorResponse.parameter_errors`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidInput {
    /// One entry per parameter, in the order in which the errors were found.
    pub errors: Vec<ParameterError>,
}

impl InvalidInput {
    /// The messages by parameter, as an object.
    pub fn by_parameter(&self) -> Map<String, serde_json::Value> {
        // Collecting would link a sorting algorithm.
        let mut members = Map::new();
        for ParameterError { parameter, message } in &self.errors {
            members.insert(parameter.clone(), message.as_str().into());
        }
        members
    }
}

/// All errors in one line: `a: Is required; b: Must be …`.
impl fmt::Display for InvalidInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.errors.iter().enumerate().try_for_each(
            |(at, ParameterError { parameter, message })| {
                let separator = if at == 0 { "" } else { "; " };
                write!(f, "{separator}{parameter}: {message}")
            },
        )
    }
}

/// What is wrong with one parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterError {
    /// Where: `b`, `address.street`, `items[2].price`; `input` is the input as a whole. Long names and paths
    /// are cut.
    pub parameter: String,
    /// What it must be: `Must be a number`.
    pub message: String,
}

/// Checks a value against a schema.
///
/// # Errors
/// All errors, up to a fixed number and size.
pub fn check(schema: &Schema, input: &Value<'_>) -> Result<(), InvalidInput> {
    if schema.is_valid(input) { Ok(()) } else { Err(describe(schema, input)) }
}

/// Describes the errors of an input that is not valid.
pub fn describe(schema: &Schema, input: &Value<'_>) -> InvalidInput {
    describe_as(INPUT, schema, input)
}

/// Describes the errors of a value that is not valid. `whole` names it where no part of it is meant.
pub fn describe_as(whole: &str, schema: &Schema, value: &Value<'_>) -> InvalidInput {
    let mut errors: Vec<ParameterError> = Vec::new();
    let (mut count, mut bytes) = (0, 0);
    let _ = schema.visit_errors(value, &Path::Root, &mut |path, error| {
        let error = describe_error(whole, path, error);
        count += 1;
        bytes += error.parameter.len() + error.message.len();
        if count > MAX_ERRORS || (bytes > MAX_BYTES && !errors.is_empty()) {
            return ControlFlow::Break(());
        }
        match errors.iter_mut().find(|known| known.parameter == error.parameter) {
            Some(known) if known.message != error.message => {
                known.message.push_str("; ");
                known.message.push_str(&error.message);
            }
            Some(_) => {}
            None => errors.push(error),
        }
        ControlFlow::Continue(())
    });
    InvalidInput { errors }
}

fn describe_error(whole: &str, path: &Path<'_>, error: ValidationError<'_>) -> ParameterError {
    let parent = path_text(path);
    let (parameter, message) = match error {
        ValidationError::Missing(name) => (property(&parent, name), "Is required".to_owned()),
        ValidationError::Unknown { name, meant } => {
            let hint = meant.map(|meant| format!(" (did you mean \"{meant}\"?)"));
            let message = format!("Is not a known parameter{}", hint.unwrap_or_default());
            (property(&parent, name), message)
        }
        ValidationError::Keyword(keyword, value) => (parent, keyword.describe(value, path)),
        ValidationError::Union(discriminator, value) => {
            let Discriminator { name, .. } = discriminator;
            let expected = discriminator.list();
            match value.get(name) {
                None => (property(&parent, name), format!("Is required, as one of: {expected}")),
                Some(tag) => match discriminator.value(tag) {
                    Some(known) => {
                        let known = known.describe();
                        (
                            parent,
                            format!("Was checked for {name} {known}, which can be: {expected}"),
                        )
                    }
                    None => {
                        let hint = discriminator.meant(tag);
                        let hint = hint.map(|meant| format!(" (did you mean \"{meant}\"?)"));
                        let message =
                            format!("Must be one of: {expected}{}", hint.unwrap_or_default());
                        (property(&parent, name), message)
                    }
                },
            }
        }
    };
    ParameterError { parameter: parameter_name(whole, &parameter), message }
}

fn parameter_name(whole: &str, path: &str) -> String {
    if path.is_empty() { whole.to_owned() } else { cut(path, MAX_PATH) }
}

fn path_text(path: &Path<'_>) -> String {
    let text = match path {
        Path::Root => return String::new(),
        Path::Member(parent, name) => property(&path_text(parent), name),
        Path::Item(parent, index) => format!("{}[{index}]", path_text(parent)),
    };
    cut(&text, MAX_PATH)
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

/// The alternatives of `anyOf` and `oneOf`: the first error of each.
pub(crate) fn describe_alternatives(
    schemas: &[Schema],
    value: &Value<'_>,
    path: &Path<'_>,
) -> String {
    let here = parameter_name(INPUT, &path_text(path));
    let (mut alternatives, mut more): (Vec<String>, usize) = (Vec::new(), 0);
    for error in schemas.iter().filter_map(|schema| first_error(schema, value, path)) {
        let alternative = if error.parameter == here {
            error.message.strip_prefix("Must be ").unwrap_or(&error.message).to_owned()
        } else {
            format!("{} ({})", error.parameter, lower_first(error.message))
        };
        if alternatives.contains(&alternative) {
            continue;
        }
        if alternatives.len() < MAX_ALTERNATIVES {
            alternatives.push(alternative);
        } else {
            more += 1;
        }
    }
    if more > 0 {
        alternatives.push(format!("{more} more"));
    }
    alternatives.join("; ")
}

/// The first error of a value; `None` if it is valid.
pub(crate) fn first_error(
    schema: &Schema,
    value: &Value<'_>,
    path: &Path<'_>,
) -> Option<ParameterError> {
    let mut first = None;
    let _ = schema.visit_errors(value, path, &mut |path, error| {
        first = Some(describe_error(INPUT, path, error));
        ControlFlow::Break(())
    });
    first
}

/// Our messages begin with an ASCII letter; lowering any other would link tables of 5 KB.
fn lower_first(mut text: String) -> String {
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    text
}
