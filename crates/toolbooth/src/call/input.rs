//! Validates the input of a call before the tool runs.

use crate::json::Value;
use crate::schema::{InvalidInput, Schema, check, describe};

/// What `null` means as the value of an optional property that may not be `null`.
///
/// It is a pointer, so that the code which removes `null` is linked only if a protocol has such clients.
#[derive(Debug, Clone, Copy)]
pub struct NullHandling(Option<fn(&Schema, &mut Value<'_>)>);

impl NullHandling {
    /// A value of the wrong type, as in JSON Schema.
    pub const STRICT: Self = Self(None);
    /// The property is absent: some clients send every property that a tool declares.
    pub const AS_ABSENT: Self = Self(Some(Schema::drop_nulls));
}

/// Validates `input`. With [`NullHandling::AS_ABSENT`], removes `null` members that represent absent properties; input
/// that is already valid is not changed.
pub(crate) fn validate(
    schema: &Schema,
    input: &mut Value<'_>,
    nulls: NullHandling,
) -> Result<(), InvalidInput> {
    if schema.is_valid(input) {
        return Ok(());
    }
    match nulls.0 {
        None => Err(describe(schema, input)),
        Some(drop_nulls) => {
            drop_nulls(schema, input);
            check(schema, input)
        }
    }
}
