//! Members that are null where they should have been left out.

use serde_json::{Value, json};
use toolbooth_schema::compile;

#[test]
fn null_members_that_may_be_absent_and_not_null() {
    let optional = json!({"properties": {"a": {"type": "string"}}});
    let required = json!({"properties": {"a": {"type": "string"}}, "required": ["a"]});
    let item = json!({"type": "object", "properties": {"b": {"type": "integer"}}});
    let union = |keyword: &str| {
        json!({keyword: [
            {"type": "object", "properties": {"kind": {"const": "x"}, "a": {"type": "string"}}, "required": ["kind"]},
            {"type": "object", "properties": {"kind": {"const": "y"}, "b": {"type": "string"}}, "required": ["kind"]},
            {"type": "null"},
        ]})
    };
    let same = Value::Null;
    for (what, schema, value, expected) in [
        ("an optional property", &optional, json!({"a": null}), json!({})),
        ("beside others", &optional, json!({"a": null, "b": null}), json!({"b": null})),
        ("not null", &optional, json!({"a": 1}), same.clone()),
        ("no object", &optional, json!(null), same.clone()),
        ("a required one", &required, json!({"a": null}), same.clone()),
        (
            "required beside",
            &json!({"properties": {"a": {"type": "string"}}, "allOf": [{"required": ["a"]}]}),
            json!({"a": null}),
            same.clone(),
        ),
        ("any value", &json!({"properties": {"a": {}}}), json!({"a": null}), same.clone()),
        (
            "null is one of the types",
            &json!({"properties": {"a": {"type": ["string", "null"]}}}),
            json!({"a": null}),
            same.clone(),
        ),
        (
            "null is one of the values",
            &json!({"properties": {"a": {"enum": [1, null]}, "b": {"const": null}}}),
            json!({"a": null, "b": null}),
            same.clone(),
        ),
        (
            "null is an alternative",
            &json!({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}),
            json!({"a": null}),
            same.clone(),
        ),
        (
            "enums without null",
            &json!({"properties": {"a": {"enum": [1, 2]}, "b": {"const": 3}}}),
            json!({"a": null, "b": null}),
            json!({}),
        ),
        (
            "a name that no property has",
            &json!({"additionalProperties": {"type": "string"}}),
            json!({"a": null}),
            same.clone(),
        ),
        (
            "a name that a pattern has",
            &json!({"patternProperties": {"^a": {"type": "string"}}}),
            json!({"a": null}),
            same.clone(),
        ),
        (
            "in a property",
            &json!({"properties": {"o": item}}),
            json!({"o": {"b": null, "c": null}}),
            json!({"o": {"c": null}}),
        ),
        (
            "in items",
            &json!({"items": item}),
            json!([{"b": null}, null, {"b": 1}]),
            json!([{}, null, {"b": 1}]),
        ),
        (
            "in the first items, and the rest",
            &json!({"prefixItems": [item], "items": optional}),
            json!([{"a": null, "b": null}, {"a": null, "b": null}]),
            json!([{"a": null}, {"b": null}]),
        ),
        (
            "below names that patterns or nothing has",
            &json!({"patternProperties": {"^p": item}, "additionalProperties": optional}),
            json!({"p": {"a": null, "b": null}, "q": {"a": null, "b": null}}),
            json!({"p": {"a": null}, "q": {"b": null}}),
        ),
        (
            "in all of several",
            &json!({"allOf": [optional, {"properties": {"c": item}}]}),
            json!({"a": null, "c": {"b": null}}),
            json!({"c": {}}),
        ),
        (
            "by a condition that holds",
            &json!({"if": {"required": ["k"]}, "then": optional, "else": item}),
            json!({"k": 1, "a": null, "b": null}),
            json!({"k": 1, "b": null}),
        ),
        (
            "by one that does not",
            &json!({"if": {"required": ["k"]}, "then": optional, "else": item}),
            json!({"a": null, "b": null}),
            json!({"a": null}),
        ),
        (
            "by a member that is there",
            &json!({"dependentSchemas": {"k": optional, "l": item}}),
            json!({"k": 1, "a": null, "b": null}),
            json!({"k": 1, "b": null}),
        ),
        (
            "in one of several",
            &union("oneOf"),
            json!({"kind": "x", "a": null}),
            json!({"kind": "x"}),
        ),
        (
            "in any of several",
            &union("anyOf"),
            json!({"kind": "y", "b": null}),
            json!({"kind": "y"}),
        ),
        ("in none of several", &union("oneOf"), json!({"kind": "z", "a": null}), same.clone()),
        (
            "alternatives that disagree",
            &json!({"anyOf": [optional, item]}),
            json!({"a": null, "b": null}),
            same.clone(),
        ),
        (
            "alternatives that agree",
            &json!({"anyOf": [optional, {"properties": {"a": {"type": "integer"}}}]}),
            json!({"a": null}),
            json!({}),
        ),
        ("what is excluded", &json!({"not": optional}), json!({"a": null}), same.clone()),
    ] {
        let expected = if expected == same { value.clone() } else { expected };
        let mut got = (&value).into();
        compile(schema).drop_nulls(&mut got);
        assert_eq!(Value::from(&got), expected, "{what}");
    }
}
