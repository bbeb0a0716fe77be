//! JSON from strangers: parsed strictly, or refused with the place of the fault.
//!
//! Beyond what JSON's grammar (RFC 8259) refuses, a body is refused when an object repeats a key (two readers
//! could disagree on which value counts), when it nests deeper than [`MAX_DEPTH`] (everything
//! that later walks the value does so recursively), and when it has more than [`MAX_VALUES`] values (a
//! value takes up to 70 bytes of memory, and may be written with two).
//!
//! Requests are read into a [`Value`] that borrows its strings from the body. Responses are types that derive
//! `Serialize`, written by [`to_vec`] and [`to_string`], which are `serde_json`.

mod form;
mod members;
mod object;
mod reader;
mod ser;
mod value;
mod writer;

#[cfg(test)]
pub(crate) mod judge;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use members::{Member, Object};
pub(crate) use object::object;
use reader::{Fault, Reader};
pub use ser::{to_string, to_vec};
pub use value::Value;
pub(crate) use writer::Writer;
pub use writer::text;

/// The deepest nesting of arrays and objects that is read. `[[1]]` has depth 2.
pub const MAX_DEPTH: usize = 64;

/// The most values that are read of one body, or of all argument texts of a request together: `[[1]]` has
/// three. It bounds the memory
/// and the CPU time that a body takes beyond its bytes (docs/SECURITY.md has figures).
pub const MAX_VALUES: usize = 65_536;

/// Why a body is not JSON that can be served.
///
/// Displays the reason with line and column. It can name a repeated key, never a value.
#[derive(Debug)]
pub struct JsonError {
    reason: Cow<'static, str>,
    line: usize,
    column: usize,
}

impl JsonError {
    /// Lines count from 1, columns are the bytes of the line up to the fault's.
    fn new(text: &str, Fault { reason, end }: Fault) -> Self {
        let read = text.as_bytes().get(..end).unwrap_or_default();
        let line = 1 + read.iter().filter(|byte| **byte == b'\n').count();
        let column = read.iter().rev().take_while(|byte| **byte != b'\n').count();
        Self { reason, line, column }
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, line, column } = self;
        write!(f, "{reason} at line {line} column {column}")
    }
}

impl std::error::Error for JsonError {}

/// Reads exactly one JSON value from `text`.
///
/// # Errors
/// Invalid JSON, a repeated key, nesting deeper than [`MAX_DEPTH`], more values than [`MAX_VALUES`], a
/// number beyond the range of a double, anything after the value.
pub fn parse(text: &str) -> Result<Value<'_>, JsonError> {
    parse_within(text, &mut { MAX_VALUES })
}

/// Reads exactly one JSON value from `text`, one of several that share a limit: `left` says how many more
/// values may be read, and what is read is taken from it.
///
/// # Errors
/// As of [`parse`].
pub(crate) fn parse_within<'t>(text: &'t str, left: &mut usize) -> Result<Value<'t>, JsonError> {
    Reader::new(text, left).document().map_err(|fault| JsonError::new(text, fault))
}

/// Reads exactly one JSON value from `bytes`; `None` when they are not that.
pub(crate) fn parse_bytes(bytes: &[u8]) -> Option<Value<'_>> {
    parse(str::from_utf8(bytes).ok()?).ok()
}

/// Reads JSON of the form of `T`; `None` when it is not that.
///
/// By way of a [`Value`], as the inputs of tools are read: a second reader for each form would take
/// more room in the Worker than the detour takes time.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    read_value(&parse_bytes(bytes)?)
}

/// Reads a value of the form of `T`, which may borrow from it; `None` when it is not that.
pub(crate) fn read_value<'t, T: Deserialize<'t>>(value: &'t Value<'t>) -> Option<T> {
    T::deserialize(form::Form(value)).ok()
}

/// The JSON of a value: the same as [`to_string`].
pub fn write(value: &impl Serialize) -> String {
    to_string(value)
}
