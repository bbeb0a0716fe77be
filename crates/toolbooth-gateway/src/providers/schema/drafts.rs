//! Writes what older drafts of JSON Schema have in the words of 2020-12, which is what the rules are about.

use serde_json::{Map, Value};

use super::rules::KEYWORDS;
use toolbooth::protocol::keywords::walk_mut;

/// The schema in the words of 2020-12.
pub(super) fn modernize(schema: &mut Value) {
    rename_definitions(schema);
    walk_mut(schema, &mut |schema| {
        drop_nulls(schema);
        split_tuple(schema);
        split_dependencies(schema);
        for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
            exclude_bound(schema, flag, bound);
        }
    });
}

/// Moves `definitions` to `$defs`.
fn rename_definitions(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    if members.contains_key("$defs") {
        return;
    }
    let Some(definitions) = members.remove("definitions") else { return };
    members.insert("$defs".to_owned(), definitions);
    walk_mut(schema, &mut |schema| {
        if let Some(Value::String(reference)) = schema.get_mut("$ref")
            && let Some(rest) = reference.strip_prefix("#/definitions/")
        {
            *reference = format!("#/$defs/{rest}");
        }
    });
}

/// Drops keywords that are `null`: some serializers write what is not there, and no draft has such values.
fn drop_nulls(schema: &mut Map<String, Value>) {
    let may_be_null = |name: &str| matches!(name, "const" | "default") || !KEYWORDS.contains(&name);
    schema.retain(|name, value| !value.is_null() || may_be_null(name));
}

/// `items` with a schema for each position, and `additionalItems` for the rest.
fn split_tuple(schema: &mut Map<String, Value>) {
    let rest = schema.remove("additionalItems");
    if let Some(tuple @ Value::Array(_)) = schema.get("items").cloned() {
        schema.remove("items");
        schema.insert("prefixItems".to_owned(), tuple);
        schema.extend(rest.map(|rest| ("items".to_owned(), rest)));
    }
}

/// `dependencies` on other members, and on schemas.
fn split_dependencies(schema: &mut Map<String, Value>) {
    let Some(Value::Object(dependencies)) = schema.remove("dependencies") else { return };
    for (member, needed) in dependencies {
        let keyword = if needed.is_array() { "dependentRequired" } else { "dependentSchemas" };
        let all = schema.entry(keyword).or_insert_with(|| Map::new().into());
        if let Value::Object(all) = all {
            all.insert(member, needed);
        }
    }
}

/// A bound with a flag that excludes it.
fn exclude_bound(schema: &mut Map<String, Value>, flag: &str, bound: &str) {
    let Some(&Value::Bool(excludes)) = schema.get(flag) else { return };
    schema.remove(flag);
    if excludes && let Some(value) = schema.remove(bound) {
        schema.insert(flag.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn older_drafts() {
        for (old, new) in [
            (
                json!({"properties": {"p": {"$ref": "#/definitions/a"}}, "definitions": {"a": {}}}),
                json!({"properties": {"p": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}}),
            ),
            (
                json!({"properties": {"p": {"items": [{"type": "string"}], "additionalItems": false}}}),
                json!({"properties": {"p": {"prefixItems": [{"type": "string"}], "items": false}}}),
            ),
            (json!({"items": {}, "additionalItems": false}), json!({"items": {}})),
            (
                json!({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}),
                json!({"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}}),
            ),
            (json!({"minimum": 0, "exclusiveMinimum": true}), json!({"exclusiveMinimum": 0})),
            (json!({"maximum": 9, "exclusiveMaximum": false}), json!({"maximum": 9})),
            (
                json!({"type": null, "required": null, "items": {"enum": null, "const": null}}),
                json!({"items": {"const": null}}),
            ),
            (
                json!({"default": null, "x-own": null, "properties": {"required": {}}}),
                json!({"default": null, "x-own": null, "properties": {"required": {}}}),
            ),
        ] {
            let mut got = old.clone();
            modernize(&mut got);
            assert_eq!(got, new, "{old}");
        }
    }
}
