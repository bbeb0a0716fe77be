//! Schemas as MCP clients take them: they mean the same as the resolved ones, with fewer features of JSON Schema.
//!
//! Many clients follow no `$ref`, some reject a whole list because of a schema that is `true`, and some reject arrays
//! without `items`.

use serde_json::{Map, Value, json};
use toolbooth::protocol::keywords::types;

use crate::mcp;
use crate::merge::add;
use crate::references::Resolved;
use crate::schema::{inner_mut, is_in_place};

/// Keywords that every client knows with a boolean value.
const BOOLEAN: [&str; 2] = ["additionalProperties", "unevaluatedProperties"];
/// All types but `array`. An integer is a number.
const OTHER_TYPES: [&str; 5] = ["null", "boolean", "number", "string", "object"];

/// A resolved schema for MCP's list and the search. What has an `$anchor` stays in `$defs`, for whoever knows the name.
pub(crate) fn schema(resolved: &Resolved) -> Map<String, Value> {
    let mut schema = resolved.schema.clone();
    simplify(&mut schema, false);
    let mut definitions = resolved.anchored.clone();
    if !definitions.is_empty() && schema.get("type").is_some_and(|kind| kind == "object") {
        for definition in definitions.values_mut().filter_map(Value::as_object_mut) {
            simplify(definition, false);
            // It is only allowed at the property itself.
            mcp::remove_headers(definition);
        }
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
    schema
}

/// `is_asked`: whether a schema around it, for the same value, has `unevaluatedItems`.
fn simplify(schema: &mut Map<String, Value>, is_asked: bool) {
    let asks = schema.contains_key("unevaluatedItems");
    for (keyword, value) in schema.iter_mut() {
        let asks = is_in_place(keyword) && (asks || is_asked);
        let has_boolean = BOOLEAN.contains(&keyword.as_str());
        for (_, inner) in inner_mut(keyword, value) {
            match inner {
                Value::Bool(_) if has_boolean => {}
                Value::Bool(true) => *inner = json!({}),
                Value::Bool(false) => *inner = json!({"not": {}}),
                Value::Object(inner) => simplify(inner, asks),
                _ => {}
            }
        }
    }
    if types(schema).contains(&"array") && !schema.contains_key("items") {
        add_items(schema, is_asked);
    }
}

/// Adds `items` to the schema of an array. They evaluate all items, so that nothing would remain for `unevaluatedItems`.
fn add_items(schema: &mut Map<String, Value>, is_asked: bool) {
    let depends = |keyword: &String| is_in_place(keyword) || keyword == "contains";
    if !schema.contains_key("unevaluatedItems") && !is_asked {
        schema.insert("items".to_owned(), json!({}));
    } else if !schema.keys().any(depends)
        && let Some(others) = schema.remove("unevaluatedItems")
    {
        schema.insert("items".to_owned(), others);
    } else {
        // The same without the word `array`, for which clients expect `items`.
        let others: Vec<_> = types(schema).into_iter().filter(|kind| *kind != "array").collect();
        let is_array = json!({"not": {"type": OTHER_TYPES}});
        let any = json!({"anyOf": [is_array, {"type": others}]});
        let kind = if others.is_empty() { is_array } else { any };
        schema.remove("type");
        if let Value::Object(kind) = kind {
            add(schema, kind);
        }
    }
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(written: &Value) -> Value {
        let resolved = crate::references::resolve(written.as_object().unwrap()).unwrap();
        Value::Object(schema(&resolved))
    }

    #[test]
    fn features_that_clients_lack_are_written_without_them() {
        for (written, expected) in [
            (
                json!({"properties": {"a": true, "b": false}, "items": true, "prefixItems": [true]}),
                json!({"properties": {"a": {}, "b": {"not": {}}}, "items": {}, "prefixItems": [{}]}),
            ),
            (
                json!({"anyOf": [true], "oneOf": [false], "allOf": [{"not": false}], "if": true, "then": true, "else": false}),
                json!({"anyOf": [{}], "oneOf": [{"not": {}}], "allOf": [{"not": {"not": {}}}], "if": {}, "then": {}, "else": {"not": {}}}),
            ),
            (
                json!({"patternProperties": {"a": true}, "propertyNames": false, "contains": true, "contentSchema": true,
                       "dependentSchemas": {"a": false}, "dependencies": {"a": true, "b": ["c"]}}),
                json!({"patternProperties": {"a": {}}, "propertyNames": {"not": {}}, "contains": {}, "contentSchema": {},
                       "dependentSchemas": {"a": {"not": {}}}, "dependencies": {"a": {}, "b": ["c"]}}),
            ),
            // Every client knows these.
            (
                json!({"additionalProperties": false, "items": {"additionalProperties": true, "unevaluatedProperties": false}}),
                json!({"additionalProperties": false, "items": {"additionalProperties": true, "unevaluatedProperties": false}}),
            ),
            (
                json!({"const": true, "enum": [false], "default": {"properties": {"a": true}}, "uniqueItems": true}),
                json!({"const": true, "enum": [false], "default": {"properties": {"a": true}}, "uniqueItems": true}),
            ),
            (json!({"type": "array"}), json!({"type": "array", "items": {}})),
            (
                json!({"properties": {"type": {"type": ["array", "null"], "prefixItems": [{"type": "array"}]}}}),
                json!({"properties": {"type": {"type": ["array", "null"], "items": {}, "prefixItems": [{"type": "array", "items": {}}]}}}),
            ),
            (json!({"prefixItems": []}), json!({"prefixItems": []})),
            (
                json!({"type": "array", "items": false}),
                json!({"type": "array", "items": {"not": {}}}),
            ),
            // `items` would evaluate what `unevaluatedItems` must reject.
            (
                json!({"type": "array", "prefixItems": [{}], "unevaluatedItems": false}),
                json!({"type": "array", "prefixItems": [{}], "items": {"not": {}}}),
            ),
            (
                json!({"type": "array", "contains": {"type": "null"}, "unevaluatedItems": false}),
                json!({"contains": {"type": "null"}, "unevaluatedItems": {"not": {}}, "allOf": [{"not": {"type": OTHER_TYPES}}]}),
            ),
            (
                json!({"unevaluatedItems": false, "anyOf": [{"type": ["array", "integer"]}, {"properties": {"a": {"type": "array"}}}]}),
                json!({"unevaluatedItems": {"not": {}}, "anyOf": [
                    {"anyOf": [{"not": {"type": OTHER_TYPES}}, {"type": ["integer"]}]},
                    {"properties": {"a": {"type": "array", "items": {}}}}
                ]}),
            ),
            // An anchor is a name for others.
            (
                json!({"type": "object", "$defs": {
                    "zone": {"$anchor": "z", "properties": {"a": {"$ref": "#/$defs/b", "x-mcp-header": "A"}, "b": true}},
                    "b": {"type": "array"}
                }, "properties": {"x": {"$ref": "#z"}}}),
                json!({"type": "object", "properties": {
                    "x": {"properties": {"a": {"type": "array", "x-mcp-header": "A", "items": {}}, "b": {}}}
                }, "$defs": {
                    "zone": {"$anchor": "z", "properties": {"a": {"type": "array", "items": {}}, "b": {}}}
                }}),
            ),
        ] {
            assert_eq!(listed(&written), expected, "{written}");
        }
    }
}
