//! Validates the input of a call before the tool runs.

use crate::json::Value;
use crate::schema::{InvalidInput, Schema, check, describe};

/// What `null` means as the value of an optional property that may not be `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NullHandling {
    /// A value of the wrong type, as in JSON Schema.
    Strict,
    /// The property is absent: some clients send every property that a tool declares.
    AsAbsent,
}

/// Validates `input`. With [`NullHandling::AsAbsent`], removes `null` members that represent absent properties; input
/// that is already valid is not changed.
pub(crate) fn validate(
    schema: &Schema,
    input: &mut Value<'_>,
    nulls: NullHandling,
) -> Result<(), InvalidInput> {
    if schema.is_valid(input) {
        return Ok(());
    }
    match nulls {
        NullHandling::Strict => Err(describe(schema, input)),
        NullHandling::AsAbsent => {
            schema.drop_nulls(input);
            check(schema, input)
        }
    }
}
