//! What lists and documents of several protocols have in common.

use serde_json::{Value, json};

use crate::catalog::{Definition, ListForm, Listed, Rendering};

/// A list that is an array.
pub(super) const fn array(name: &'static str, entry: fn(&Listed<'_>) -> Rendering) -> ListForm {
    ListForm { name, head: "[", tail: "]", entry }
}

/// Renders only the latest version of a tool; older ones can be called but are not listed.
pub(super) fn latest(listed: &Listed<'_>, render: fn(&Listed<'_>) -> Rendering) -> Rendering {
    if listed.latest { render(listed) } else { Rendering::Omitted }
}

/// A text as it is.
pub(super) fn text(text: impl Into<String>) -> Rendering {
    Rendering::Supported { json: text.into(), warnings: Vec::new() }
}

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
