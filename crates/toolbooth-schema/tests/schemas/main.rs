//! Compiled schemas against the official suite, and against the crate `jsonschema` as the reference.
// Helpers of tests may fail like tests; clippy.toml allows it inside test functions alone.
#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

mod hostile;
mod messages;
mod nulls;
mod patterns;
mod random;
mod suite;

use serde_json::Value;

/// The reference: a validator of `jsonschema`, with the options that definitions are checked with.
fn reference(schema: &Value) -> Result<jsonschema::Validator, String> {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .should_validate_formats(true)
        .should_ignore_unknown_formats(false)
        .build(schema)
        .map_err(|error| error.to_string())
}
