//! Validates the input of a call before the tool runs.

use crate::json::Value;
use crate::schema::{InvalidInput, Schema, check, describe};

/// What `null` means as the value of an optional property that may not be `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// A value of the wrong type, as in JSON Schema.
    Exact,
    /// The property is absent: some clients send every property that a tool declares.
    Absent,
}

/// Validates `input`. With [`Nulls::Absent`], removes `null` members that represent absent properties; input
/// that is already valid is not changed.
///
/// # Errors
/// As [`check`].
pub(crate) fn admit(
    schema: &Schema,
    input: &mut Value<'_>,
    nulls: Nulls,
) -> Result<(), InvalidInput> {
    if schema.is_valid(input) {
        return Ok(());
    }
    match nulls {
        Nulls::Exact => Err(describe(schema, input)),
        Nulls::Absent => {
            schema.drop_nulls(input);
            check(schema, input)
        }
    }
}
