//! JSON, read strictly by `serde_json` into values that borrow from the text.
//!
//! Beyond what RFC 8259 forbids, [`parse`] rejects objects with a repeated key (two readers could disagree on
//! which value counts), nesting deeper than [`MAX_DEPTH`] (everything that walks a value is recursive), and more
//! than [`MAX_VALUES`] values (a value needs up to 70 bytes of memory and as few as two in the text).
//!
//! Responses are types that derive `Serialize`, written by [`to_vec`] and [`to_string`].

mod de;
mod object;
mod reader;
mod ser;
mod value;

#[cfg(test)]
mod tests;

use serde::Deserialize;
use serde::de::DeserializeOwned;

pub use de::{DecodeError, EXACT_BELOW, ValueDeserializer};
pub use object::{Member, Object};
pub use reader::leading_member;
pub use ser::{Rendered, append, to_string, to_vec};
pub use value::Value;

/// The deepest nesting of arrays and objects that is accepted. `[[1]]` has depth 2.
pub const MAX_DEPTH: usize = 64;

/// The most values that are accepted in one body, or in all argument strings of a request together: `[[1]]` has
/// three. It bounds the memory and the CPU time that a body takes beyond its bytes (docs/THREATS.md has figures).
pub const MAX_VALUES: usize = 65_536;

/// Why a text is not acceptable JSON: the reason with line and column. It can contain a repeated key, never a
/// value.
pub type JsonError = serde_json::Error;

/// Reads exactly one JSON value.
///
/// # Errors
/// Invalid JSON, a repeated key, nesting deeper than [`MAX_DEPTH`], more values than [`MAX_VALUES`], a number
/// that does not fit a double, anything after the value.
pub fn parse(text: &str) -> Result<Value<'_>, JsonError> {
    parse_within(text, &mut { MAX_VALUES })
}

/// Reads exactly one JSON value from one of several texts that share a limit: at most `left` values, which is
/// reduced by the number of values read.
///
/// # Errors
/// As [`parse`].
pub fn parse_within<'t>(text: &'t str, left: &mut usize) -> Result<Value<'t>, JsonError> {
    reader::read(text, left)
}

/// Reads exactly one JSON value from UTF-8; `None` if it is anything else.
pub fn parse_bytes(bytes: &[u8]) -> Option<Value<'_>> {
    parse(str::from_utf8(bytes).ok()?).ok()
}

/// Reads a `T` from JSON; `None` if it is anything else.
///
/// By way of a [`Value`], like the input of tools: a second parser for each type would take more space in the
/// Worker than the detour takes time.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    read_value(&parse_bytes(bytes)?)
}

/// Reads a `T`, which may borrow from the value; `None` if the value does not fit.
pub fn read_value<'t, T: Deserialize<'t>>(value: &'t Value<'t>) -> Option<T> {
    T::deserialize(ValueDeserializer(value)).ok()
}
