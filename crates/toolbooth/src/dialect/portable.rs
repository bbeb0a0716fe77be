//! Schemas for readers that understand little of JSON Schema.
//!
//! OpenTool's and Xaibo's clients read one string as `type`, and know `description`, `properties`,
//! `required`, `items` and `enum`. What else a schema says is put into words, so that a model still
//! reads it. Runs at build time only.

use serde_json::{Map, Value};

/// Reduces a schema to one `type` of the six, `description`, `properties` (always there on an
/// object), `required`, `items` (always there on an array) and `enum` (values of the type itself).
pub(super) fn reduce(schema: &Value) -> Map<String, Value> {
    let _ = schema;
    Map::new()
}

/// The parts of a reduced schema in words, such as `an object with street (string, required)`, for
/// a form that holds no nested schema; empty when the schema has no parts.
pub(super) fn parts_in_words(reduced: &Map<String, Value>) -> String {
    let _ = reduced;
    String::new()
}
