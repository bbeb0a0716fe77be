//! The parameters that a call with `GET` has: those of read-only tools with flat input.

use serde_json::{Map, Value};
use toolbooth::catalog::{Definition, QueryValue};

/// The keywords of a flat schema. Others could make one parameter depend on another.
const FLAT: [&str; 9] = [
    "$comment",
    "$schema",
    "additionalProperties",
    "description",
    "examples",
    "properties",
    "required",
    "title",
    "type",
];

/// The parameters of a tool, sorted; `None` if it does not accept `GET`.
pub(crate) fn parameters(definition: &Definition) -> Option<Vec<(&str, QueryValue)>> {
    let schema = &definition.input_schema;
    let is_flat = schema.keys().all(|keyword| FLAT.contains(&keyword.as_str()));
    if !definition.annotations.read_only || !is_flat {
        return None;
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flatten();
    properties.map(|(name, schema)| Some((name.as_str(), value(schema.as_object()?)?))).collect()
}

/// How the text of a parameter with this schema becomes a value; `None` if the value is not a single string, number or
/// boolean. `null` cannot be sent, only left out.
fn value(schema: &Map<String, Value>) -> Option<QueryValue> {
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => {
            let values = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice);
            let values = values.or_else(|| schema.get("const").map(std::slice::from_ref));
            values?.iter().map(type_of).collect()
        }
    };
    let mut kinds = types.into_iter().filter(|name| *name != "null").map(|name| match name {
        "string" => Some(QueryValue::Text),
        "number" | "integer" => Some(QueryValue::Number),
        "boolean" => Some(QueryValue::Boolean),
        _ => None,
    });
    let first = kinds.next()??;
    kinds.all(|kind| kind == Some(first)).then_some(first)
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
