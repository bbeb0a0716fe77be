//! The common rules of the strict lists of OpenAI and Anthropic: every schema has a type, and every object is closed.

use std::collections::BTreeSet;

use serde_json::Value;

use super::schema::{Compatibility, Schema};
use toolbooth::protocol::keywords::types;

/// Keywords that apply only to values of these types.
const TYPE_KEYWORDS: &[(&[&str], &[&str])] = &[
    (&["object"], &["additionalProperties", "properties", "required"]),
    (&["array"], &["items", "maxItems", "minItems"]),
    (&["string"], &["format", "pattern"]),
    (
        &["integer", "number"],
        &["exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"],
    ),
];

fn is_of_type(value: &Value, name: &str) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(number) => {
            name == "number"
                || name == "integer" && number.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}

fn type_of(value: &Value) -> &'static str {
    const NAMES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
    NAMES.into_iter().find(|name| is_of_type(value, name)).unwrap_or("number")
}

/// The values of `enum` or `const`, if the schema has one of them.
pub(super) fn literals(schema: &Schema) -> Option<Vec<&Value>> {
    match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => Some(values.iter().collect()),
        (_, Some(value)) => Some(vec![value]),
        _ => None,
    }
}

/// The values that have one of the types.
pub(super) fn of_types(values: &[Value], names: &[&str]) -> Value {
    values
        .iter()
        .filter(|value| names.iter().any(|name| is_of_type(value, name)))
        .cloned()
        .collect()
}

/// Whether both providers know the value of `format`.
pub(super) fn is_known_format(format: &Value) -> bool {
    const FORMATS: [&str; 9] =
        ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
    format.as_str().is_some_and(|format| FORMATS.contains(&format))
}

/// Adds a missing `type`, and drops keywords that do not apply to the type. Incompatible: a schema without a type,
/// or a union with other keywords next to it.
pub(super) fn normalize_type(schema: &mut Schema, found: &mut Compatibility) {
    check_union(schema, found);
    if !schema.contains_key("type") {
        let mut names = BTreeSet::new();
        names.extend(literals(schema).unwrap_or_default().into_iter().map(type_of));
        if !names.is_empty() {
            schema.insert("type".to_owned(), names.into_iter().collect());
        }
    }
    if let [name] = types(schema)[..] {
        let name = name.to_owned();
        schema.insert("type".to_owned(), name.into());
    }
    let names: Vec<String> = types(schema).into_iter().map(str::to_owned).collect();
    if names.is_empty() {
        if !["anyOf", "oneOf", "allOf", "$ref"].iter().any(|keyword| schema.contains_key(*keyword))
        {
            found.reject("untyped");
        }
        return;
    }
    schema.retain(|keyword, _| {
        let of = TYPE_KEYWORDS.iter().find(|(_, known)| known.contains(&keyword.as_str()));
        of.is_none_or(|(of, _)| names.iter().any(|name| of.contains(&name.as_str())))
    });
}

/// Rejects keywords next to `anyOf`, which would apply to each of its branches. A `type` that each branch repeats
/// is dropped.
fn check_union(schema: &mut Schema, found: &mut Compatibility) {
    let Some(Value::Array(branches)) = schema.get("anyOf") else { return };
    const ALLOWED: [&str; 4] = ["anyOf", "description", "title", "type"];
    let outer = types(schema);
    let repeated = branches.iter().filter_map(Value::as_object).all(|branch| {
        types(branch).iter().all(|name| outer.contains(name)) && !types(branch).is_empty()
    });
    if schema.keys().any(|keyword| !ALLOWED.contains(&keyword.as_str()))
        || !(outer.is_empty() || repeated)
    {
        found.reject("anyOf");
    }
    schema.remove("type");
}

/// Closes an object. Incompatible: an object that does not declare all its members.
pub(super) fn close(schema: &mut Schema, found: &mut Compatibility) {
    if !types(schema).contains(&"object") {
        return;
    }
    match schema.get("additionalProperties") {
        Some(Value::Bool(false)) => {}
        Some(_) => found.reject("additionalProperties"),
        None if !schema.contains_key("properties") => found.reject("open_object"),
        None => {}
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema.entry("properties").or_insert_with(|| Schema::new().into());
    let known = |name: &Value| {
        let name = name.as_str().unwrap_or_default();
        schema.get("properties").is_some_and(|properties| properties.get(name).is_some())
    };
    let required = schema.get("required").and_then(Value::as_array);
    if !required.into_iter().flatten().all(known) {
        found.reject("required");
    }
}
