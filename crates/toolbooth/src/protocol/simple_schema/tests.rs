//! Reduces example schemas, and random ones.

use proptest::prelude::*;

use serde_json::json;

use super::*;

#[test]
fn schemas_are_reduced() {
    for (schema, expected) in [
        (json!({"type": "string"}), json!({"type": "string"})),
        (json!({}), json!({"type": "string", "description": "May be of any type."})),
        (json!(true), json!({"type": "string", "description": "May be of any type."})),
        (json!(false), json!({"type": "string", "description": "No value is allowed."})),
        (
            json!({"description": "A value"}),
            json!({"type": "string", "description": "A value. May be of any type."}),
        ),
        (json!({"type": "null"}), json!({"type": "string", "description": "Must be null."})),
        (json!({"type": ["null"]}), json!({"type": "string", "description": "Must be null."})),
        (json!({"const": null}), json!({"type": "string", "description": "Must be null."})),
        (
            json!({"anyOf": [{"type": "null"}]}),
            json!({"type": "string", "description": "Must be null."}),
        ),
        (
            json!({"enum": ["a", null]}),
            json!({"type": "string", "enum": ["a"], "description": "May be null."}),
        ),
        (
            json!({"enum": ["a", 1]}),
            json!({"type": "string", "description": "Must be one of: \"a\", 1."}),
        ),
        (
            json!({"maxLength": 2}),
            json!({"type": "string", "description": "At most 2 characters."}),
        ),
        (json!({"minimum": 1}), json!({"type": "number", "description": "At least 1."})),
        (
            json!({"type": "string", "description": "A city"}),
            json!({"type": "string", "description": "A city"}),
        ),
        (
            json!({"type": "string", "title": "City"}),
            json!({"type": "string", "description": "City"}),
        ),
        (
            json!({"type": "integer", "minimum": 1, "maximum": 10, "description": "Days."}),
            json!({"type": "integer", "description": "Days. At most 10. At least 1."}),
        ),
        (
            json!({"type": "string", "minLength": 1, "maxLength": 2, "format": "date", "pattern": "^a$"}),
            json!({
                "type": "string",
                "description": "Format: date. At most 2 characters. At least 1 character. Matches /^a$/."
            }),
        ),
        (
            json!({"type": ["string", "null"], "default": "a"}),
            json!({"type": "string", "description": "May be null. Default: \"a\"."}),
        ),
        (json!({"type": ["integer", "number"]}), json!({"type": "number"})),
        (
            json!({"type": ["boolean", "string"]}),
            json!({"type": "string", "description": "May be of type string, boolean."}),
        ),
        (json!({"enum": ["a", "b"]}), json!({"type": "string", "enum": ["a", "b"]})),
        (json!({"const": 3}), json!({"type": "integer", "enum": [3]})),
        (json!({"enum": [1.5, 2.5]}), json!({"type": "number", "enum": [1.5, 2.5]})),
        (json!({"type": "number", "enum": [1, 2.5]}), json!({"type": "number", "enum": [1, 2.5]})),
        (
            json!({"type": ["string", "null"], "enum": ["a", null]}),
            json!({"type": "string", "enum": ["a"], "description": "May be null."}),
        ),
        (
            json!({"enum": ["1", "2"]}),
            json!({"type": "string", "description": "Must be one of: \"1\", \"2\"."}),
        ),
        (
            json!({"type": "string", "enum": ["a", 1]}),
            json!({"type": "string", "description": "Must be one of: \"a\", 1."}),
        ),
        (
            json!({"type": "array"}),
            json!({
                "type": "array",
                "items": {"type": "string", "description": "May be of any type."}
            }),
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}, "uniqueItems": true, "maxItems": 1}),
            json!({
                "type": "array",
                "items": {"type": "integer"},
                "description": "At most 1 item. No duplicate items."
            }),
        ),
        (json!({"type": "object"}), json!({"type": "object", "properties": {}})),
        (
            json!({
                "type": "object",
                "properties": {"a": {"type": "number"}, "7": {"type": "string"}},
                "required": ["a", "7"],
                "additionalProperties": false
            }),
            json!({
                "type": "object",
                "properties": {"a": {"type": "number"}, "7": {"type": "string"}},
                "required": ["a"],
                "description": "Required: \"7\". No other properties."
            }),
        ),
        (
            json!({"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 0}]}),
            json!({"type": "integer", "description": "May be null. At least 0."}),
        ),
        (
            json!({"oneOf": [{"type": "string", "description": "A name"}, {"type": "integer"}]}),
            json!({
                "type": "string",
                "description": "Must match one of: string (A name); integer. May be of type string, integer."
            }),
        ),
        (
            json!({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
                "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}),
            json!({
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "description": "Must match one of: {\"required\":[\"a\"]}; {\"required\":[\"b\"]}."
            }),
        ),
        (
            json!({"allOf": [
                {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["a", "b"]}
            ]}),
            json!({
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "required": ["a", "b"]
            }),
        ),
        (
            json!({"allOf": [
                {"type": "object", "properties": {"a": {"type": "object", "properties": {
                    "x": {"type": ["integer", "string"], "minimum": 1}, "y": {"type": "string"}
                }, "required": ["x"]}}},
                {"properties": {"a": {"properties": {
                    "x": {"type": "number", "maximum": 9}
                }, "required": ["y"]}}}
            ]}),
            json!({"type": "object", "properties": {"a": {
                "type": "object",
                "properties": {
                    "x": {"type": "integer", "description": "At most 9. At least 1."},
                    "y": {"type": "string"}
                },
                "required": ["x", "y"]
            }}}),
        ),
        (
            json!({"type": "string", "description": "A city", "allOf": [{"description": "In Peru"}]}),
            json!({"type": "string", "description": "A city. In Peru."}),
        ),
        (
            json!({"enum": ["a", "b", "c"], "allOf": [{"enum": ["c", "b", "d"]}]}),
            json!({"type": "string", "enum": ["b", "c"]}),
        ),
        (
            json!({"enum": ["a", "b"], "allOf": [{"enum": ["c"]}]}),
            json!({
                "type": "string", "enum": ["a", "b"], "description": "Must be one of: \"c\"."
            }),
        ),
        (
            json!({"const": "a", "allOf": [{"const": "b"}]}),
            json!({"type": "string", "enum": ["a"], "description": "Must be \"b\"."}),
        ),
        (
            json!({"const": "a", "allOf": [{"const": "a"}]}),
            json!({"type": "string", "enum": ["a"]}),
        ),
        (
            json!({"type": "array", "items": {"type": "string"}, "allOf": [{"items": {"maxLength": 3}}]}),
            json!({
                "type": "array",
                "items": {"type": "string", "description": "At most 3 characters."}
            }),
        ),
        (
            json!({"type": ["string", "integer", "null"], "allOf": [{"type": ["null", "integer"]}]}),
            json!({"type": "integer", "description": "May be null."}),
        ),
        (
            json!({"type": "string", "allOf": [{"type": "integer"}]}),
            json!({"type": "string", "description": "Must be of type \"integer\" too."}),
        ),
        (
            json!({"type": "object", "patternProperties": {"^x": {"type": "string"}}}),
            json!({
                "type": "object",
                "properties": {},
                "description": "patternProperties: {\"^x\":{\"type\":\"string\"}}."
            }),
        ),
        (
            json!({"type": "string", "description": "42"}),
            json!({"type": "string", "description": "42."}),
        ),
    ] {
        assert_eq!(Value::Object(reduce(&schema)), expected, "{schema}");
    }
}

#[test]
fn parts_are_described() {
    for (schema, expected) in [
        (json!({"type": "string"}), ""),
        (json!({"type": "object"}), ""),
        (json!({"type": "array", "items": {"type": "string"}}), "An array of string."),
        (json!({"type": "array"}), "An array of any value."),
        (
            json!({"type": "array", "items": {"enum": ["a", "b"]}}),
            "An array of string, one of \"a\", \"b\".",
        ),
        (
            json!({
                "type": "object",
                "properties": {
                    "street": {"type": "string", "description": "Its name"},
                    "at": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "number"}}}}
                },
                "required": ["street"]
            }),
            "An object with at (array of object with x (number)), street (string, required: Its name).",
        ),
    ] {
        assert_eq!(describe_parts(&reduce(&schema)), expected, "{schema}");
    }
}

/// The rules for reduced schemas (OpenTool OT29 to OT34).
fn is_portable(schema: &Value) -> bool {
    let Value::Object(schema) = schema else { return false };
    let text = |value: &Value| value.as_str().is_some_and(|text| !digits_only(text));
    let known = ["type", "description", "properties", "required", "items", "enum"];
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    let all = |key: &str, good: &dyn Fn(&Value) -> bool| match schema.get(key) {
        None => true,
        Some(Value::Array(items)) => !items.is_empty() && items.iter().all(good),
        Some(Value::Object(items)) => items.values().all(good),
        Some(_) => false,
    };
    schema.keys().all(|key| known.contains(&key.as_str()))
        && TYPES.contains(&kind)
        && (kind == "object") == schema.contains_key("properties")
        && (kind == "array") == schema.contains_key("items")
        && schema.get("description").is_none_or(text)
        && schema.get("items").is_none_or(is_portable)
        && all("properties", &is_portable)
        && all("required", &text)
        && all("enum", &|option| {
            let integer = kind == "number" && type_name(option) == "integer";
            (type_name(option) == kind || integer) && (!option.is_string() || text(option))
        })
}

/// Anything that resembles a schema, with arbitrary values of its keywords.
fn schemas() -> impl Strategy<Value = Value> {
    let keyword = prop::sample::select(vec![
        "type",
        "enum",
        "const",
        "items",
        "properties",
        "required",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "description",
        "title",
        "minimum",
        "pattern",
        "default",
        "additionalProperties",
        "format",
    ]);
    let leaf = prop_oneof![
        prop::sample::select(vec![
            "string", "object", "array", "null", "number", "integer", "7", "-1", ""
        ])
        .prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        any::<f32>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(6, 48, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((keyword.clone(), inner), 0..6).prop_map(|members| members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_result_is_always_portable(schema in schemas()) {
        let reduced = Value::Object(reduce(&schema));
        prop_assert!(is_portable(&reduced), "{schema} became {reduced}");
    }

    #[test]
    fn reducing_twice_changes_nothing(schema in schemas()) {
        let once = Value::Object(reduce(&schema));
        prop_assert_eq!(&Value::Object(reduce(&once)), &once, "{}", schema);
    }
}
