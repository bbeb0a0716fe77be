//! Keywords of JSON Schema: which of them have schemas in them, and what they mean in sentences, for clients that
//! understand few of them.

use serde_json::{Map, Value};

use crate::json;

/// Where the value of a keyword has schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subschemas {
    /// Nowhere: it is data.
    None,
    /// The value is one.
    One,
    /// The value is a list of them.
    List,
    /// The value maps names to them.
    Map,
}

/// The keywords whose values have schemas.
pub const APPLICATORS: [(&str, Subschemas); 20] = [
    ("additionalProperties", Subschemas::One),
    ("contains", Subschemas::One),
    ("contentSchema", Subschemas::One),
    ("else", Subschemas::One),
    ("if", Subschemas::One),
    ("items", Subschemas::One),
    ("not", Subschemas::One),
    ("propertyNames", Subschemas::One),
    ("then", Subschemas::One),
    ("unevaluatedItems", Subschemas::One),
    ("unevaluatedProperties", Subschemas::One),
    ("allOf", Subschemas::List),
    ("anyOf", Subschemas::List),
    ("oneOf", Subschemas::List),
    ("prefixItems", Subschemas::List),
    ("$defs", Subschemas::Map),
    ("definitions", Subschemas::Map),
    ("dependentSchemas", Subschemas::Map),
    ("patternProperties", Subschemas::Map),
    ("properties", Subschemas::Map),
];

/// Where the value of a keyword has schemas.
pub fn subschemas(keyword: &str) -> Subschemas {
    let found = APPLICATORS.iter().find(|(name, _)| *name == keyword);
    found.map_or(Subschemas::None, |(_, subschemas)| *subschemas)
}

/// Calls `visit` with each schema in `schema` that is an object, beginning with itself.
pub fn walk<'s>(schema: &'s Value, visit: &mut dyn FnMut(&'s Map<String, Value>)) {
    let Value::Object(members) = schema else { return };
    visit(members);
    for (keyword, value) in members {
        match (subschemas(keyword), value) {
            (Subschemas::One, value) => walk(value, visit),
            (Subschemas::List, Value::Array(list)) => list.iter().for_each(|it| walk(it, visit)),
            (Subschemas::Map, Value::Object(map)) => map.values().for_each(|it| walk(it, visit)),
            (Subschemas::None | Subschemas::List | Subschemas::Map, _) => {}
        }
    }
}

/// [`walk`], to change the schemas.
pub fn walk_mut(schema: &mut Value, visit: &mut dyn FnMut(&mut Map<String, Value>)) {
    let Value::Object(members) = schema else { return };
    visit(members);
    for (keyword, value) in members {
        match (subschemas(keyword), value) {
            (Subschemas::One, value) => walk_mut(value, visit),
            (Subschemas::List, Value::Array(list)) => {
                list.iter_mut().for_each(|it| walk_mut(it, visit));
            }
            (Subschemas::Map, Value::Object(map)) => {
                map.values_mut().for_each(|it| walk_mut(it, visit));
            }
            (Subschemas::None | Subschemas::List | Subschemas::Map, _) => {}
        }
    }
}

/// The properties of a schema: name, schema, and whether it is required.
pub fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value, bool)> {
    let required = schema.get("required").and_then(Value::as_array);
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(move |(name, schema)| {
        let is_required = required.is_some_and(|all| all.iter().any(|one| one == name));
        (name.as_str(), schema, is_required)
    })
}

/// The types that a schema names.
pub fn types(schema: &Map<String, Value>) -> Vec<&str> {
    schema.get("type").map(type_names).unwrap_or_default()
}

/// The types in a value of `type`.
pub(super) fn type_names(types: &Value) -> Vec<&str> {
    match types {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Values as JSON, with commas.
pub(super) fn list(values: &[Value]) -> String {
    values.iter().map(json::to_string).collect::<Vec<_>>().join(", ")
}

/// A keyword as a sentence; `None` if it restricts nothing.
pub fn describe(keyword: &str, value: &Value) -> Option<String> {
    let json = json::to_string(value);
    let text = value.as_str().unwrap_or(&json);
    let values = || value.as_array().map_or_else(String::new, |values| list(values));
    let count = |noun| format!("{text} {noun}{}", if text == "1" { "" } else { "s" });
    Some(match keyword {
        "minLength" => format!("At least {}.", count("character")),
        "maxLength" => format!("At most {}.", count("character")),
        "minimum" => format!("At least {text}."),
        "maximum" => format!("At most {text}."),
        "exclusiveMinimum" => format!("More than {text}."),
        "exclusiveMaximum" => format!("Less than {text}."),
        "multipleOf" => format!("A multiple of {text}."),
        "minItems" => format!("At least {}.", count("item")),
        "maxItems" => format!("At most {}.", count("item")),
        "uniqueItems" if value == false => return None,
        "uniqueItems" => "No duplicate items.".to_owned(),
        "minProperties" => format!("At least {}.", count("member")),
        "maxProperties" => format!("At most {}.", count("member")),
        "pattern" => format!("Matches /{text}/."),
        "format" => format!("Format: {text}."),
        "contentEncoding" => format!("Encoded as {text}."),
        "contentMediaType" => format!("Media type: {text}."),
        "default" => format!("Default: {json}."),
        "const" => format!("Always {json}."),
        "enum" => format!("One of {}.", values()),
        "examples" => format!("Examples: {}.", values()),
        _ => format!("{keyword}: {json}."),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_keyword_is_a_sentence() {
        for (keyword, value, expected) in [
            ("minLength", json!(1), Some("At least 1 character.")),
            ("maxLength", json!(9), Some("At most 9 characters.")),
            ("minimum", json!(0.5), Some("At least 0.5.")),
            ("maximum", json!(-1), Some("At most -1.")),
            ("exclusiveMinimum", json!(0), Some("More than 0.")),
            ("exclusiveMaximum", json!(9), Some("Less than 9.")),
            ("multipleOf", json!(2), Some("A multiple of 2.")),
            ("minItems", json!(2), Some("At least 2 items.")),
            ("maxItems", json!(1), Some("At most 1 item.")),
            ("uniqueItems", json!(true), Some("No duplicate items.")),
            ("uniqueItems", json!(false), None),
            ("minProperties", json!(1), Some("At least 1 member.")),
            ("maxProperties", json!(3), Some("At most 3 members.")),
            ("pattern", json!("^a\\.b$"), Some("Matches /^a\\.b$/.")),
            ("format", json!("uri"), Some("Format: uri.")),
            ("contentEncoding", json!("base64"), Some("Encoded as base64.")),
            ("contentMediaType", json!("text/html"), Some("Media type: text/html.")),
            ("default", json!("a"), Some("Default: \"a\".")),
            ("const", json!({"a": 1}), Some("Always {\"a\":1}.")),
            ("enum", json!([[1], null]), Some("One of [1], null.")),
            ("examples", json!(["a", 1]), Some("Examples: \"a\", 1.")),
        ] {
            assert_eq!(describe(keyword, &value).as_deref(), expected, "{keyword}");
        }
    }
}
