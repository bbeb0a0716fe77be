//! What documents of several protocols say about a definition.

use serde_json::{Value, json};

use crate::catalog::Definition;

/// The description, which includes that the tool is deprecated.
pub(super) fn description(definition: &Definition) -> String {
    let Definition { description, deprecated, .. } = definition;
    match deprecated {
        None => description.clone(),
        Some(deprecated) => format!("{description} Deprecated: {}", deprecated.message),
    }
}

/// The schema of the value; `null` if the tool returns nothing.
pub(super) fn output_schema(definition: &Definition) -> Value {
    let schema = definition.output_schema.clone();
    schema.map_or_else(|| json!({ "type": "null" }), Value::Object)
}
