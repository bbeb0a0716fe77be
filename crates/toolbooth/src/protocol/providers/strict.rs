//! What the strict lists of OpenAI and Anthropic have in common: every schema says what it is, and
//! every object is closed.

use serde_json::{Map, Value, json};

use super::schema::Faults;
use crate::protocol::keywords::types;

/// Keywords that say something of one type of value alone.
const OF_TYPES: &[(&str, &[&str])] = &[
    ("additionalProperties", &["object"]),
    ("properties", &["object"]),
    ("required", &["object"]),
    ("items", &["array"]),
    ("maxItems", &["array"]),
    ("minItems", &["array"]),
    ("format", &["string"]),
    ("pattern", &["string"]),
    ("exclusiveMaximum", &["integer", "number"]),
    ("exclusiveMinimum", &["integer", "number"]),
    ("maximum", &["integer", "number"]),
    ("minimum", &["integer", "number"]),
    ("multipleOf", &["integer", "number"]),
];

/// Whether a value has the type.
fn is(value: &Value, name: &str) -> bool {
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

/// The name of a value's type.
fn type_of(value: &Value) -> &'static str {
    const NAMES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
    NAMES.into_iter().find(|name| is(value, name)).unwrap_or("number")
}

/// The values that a schema lists, if it does.
pub(super) fn literals(schema: &Map<String, Value>) -> Option<Vec<&Value>> {
    match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => Some(values.iter().collect()),
        (_, Some(value)) => Some(vec![value]),
        _ => None,
    }
}

/// Those of the values that have one of the types.
pub(super) fn of_types(values: &[Value], names: &[&str]) -> Value {
    values.iter().filter(|value| names.iter().any(|name| is(value, name))).cloned().collect()
}

/// Makes a schema say its type in the shortest way, and takes out what its type gives no meaning.
/// Unfit: one that is of no type in particular, and one that is several things at once.
pub(super) fn describe(schema: &mut Map<String, Value>, faults: &mut Faults) {
    union(schema, faults);
    if !schema.contains_key("type") {
        let mut names: Vec<_> =
            literals(schema).unwrap_or_default().into_iter().map(type_of).collect();
        names.sort_unstable();
        names.dedup();
        if !names.is_empty() {
            schema.insert("type".to_owned(), json!(names));
        }
    }
    if let [name] = types(schema)[..] {
        let name = name.to_owned();
        schema.insert("type".to_owned(), name.into());
    }
    let names: Vec<String> = types(schema).into_iter().map(str::to_owned).collect();
    if names.is_empty() {
        if !["anyOf", "oneOf", "allOf"].iter().any(|keyword| schema.contains_key(*keyword)) {
            faults.unfit("untyped");
        }
        return;
    }
    schema.retain(|keyword, _| {
        let of = OF_TYPES.iter().find(|(known, _)| known == keyword);
        of.is_none_or(|(_, of)| names.iter().any(|name| of.contains(&name.as_str())))
    });
}

/// A union stands alone: what else a schema says would apply to each of its branches. A type that
/// each branch names again goes.
fn union(schema: &mut Map<String, Value>, faults: &mut Faults) {
    let Some(Value::Array(branches)) = schema.get("anyOf") else { return };
    const BESIDE: [&str; 4] = ["anyOf", "description", "title", "type"];
    let outer = types(schema);
    let repeated = branches.iter().filter_map(Value::as_object).all(|branch| {
        types(branch).iter().all(|name| outer.contains(name)) && !types(branch).is_empty()
    });
    if schema.keys().any(|keyword| !BESIDE.contains(&keyword.as_str()))
        || !(outer.is_empty() || repeated)
    {
        faults.unfit("anyOf");
    }
    schema.remove("type");
}

/// Closes an object. Unfit: one whose members are not all known.
pub(super) fn close(schema: &mut Map<String, Value>, faults: &mut Faults) {
    if !types(schema).contains(&"object") {
        return;
    }
    match schema.get("additionalProperties") {
        Some(Value::Bool(false)) => {}
        Some(_) => faults.unfit("additionalProperties"),
        None if !schema.contains_key("properties") => faults.unfit("open_object"),
        None => {}
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema.entry("properties").or_insert_with(|| json!({}));
    let known = |name: &Value| {
        let name = name.as_str().unwrap_or_default();
        schema.get("properties").is_some_and(|properties| properties.get(name).is_some())
    };
    let required = schema.get("required").and_then(Value::as_array);
    if !required.into_iter().flatten().all(known) {
        faults.unfit("required");
    }
}
