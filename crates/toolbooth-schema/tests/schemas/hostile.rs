//! Values that are made to be slow. Each check ends at once; one that is quadratic in the value's size would run
//! for minutes.

use serde_json::{Value, json};
use toolbooth_schema::json;
use toolbooth_schema::{check, compile};

/// The default limit of a body, in bytes.
const BODY: usize = 256 << 10;

#[test]
fn hostile_values_take_no_longer_than_their_size() {
    let numbers: Value = (0..BODY / 2).collect();
    let texts: Value = (0..BODY / 10).map(|n| format!("{}{n}", "x".repeat(5))).collect();
    // A hash that ignores lengths would confuse these.
    let nested: Value = (0..BODY / 32).map(|n: usize| brackets(n, 14)).collect();
    let close: Value = (0..BODY / 20).map(|n| json!(u64::MAX - n as u64)).collect();
    let members: Value = (0..BODY / 10).map(|n| (format!("p{n}"), json!(n))).collect();
    let unique = json!({"uniqueItems": true});
    let open = json!({"anyOf": [{"properties": {"p1": true}}, {"required": ["p2"]}, {"patternProperties": {"^p": true}}],
        "unevaluatedProperties": false});
    for (what, schema, value, expected) in [
        ("numbers", &unique, &numbers, true),
        ("texts", &unique, &texts, true),
        ("nested arrays", &unique, &nested, true),
        ("numbers that one double stands for", &unique, &close, true),
        ("members by many schemas", &open, &members, true),
        ("members without schema", &json!({"unevaluatedProperties": false}), &members, false),
        ("items without schema", &json!({"unevaluatedItems": false}), &numbers, false),
        ("names", &json!({"propertyNames": {"pattern": "^q", "maxLength": 9}}), &members, false),
        (
            "items of a wrong type",
            &json!({"items": {"anyOf": [{"type": "string"}]}}),
            &numbers,
            false,
        ),
    ] {
        let table = compile(schema);
        assert_eq!(table.is_valid(&value.into()), expected, "{what}");
        assert_eq!(check(&table, &value.into()).is_ok(), expected, "{what}");
        let mut without_nulls = json::Value::from(value);
        table.drop_nulls(&mut without_nulls);
        assert_eq!(table.is_valid(&without_nulls), expected, "{what}");
    }
}

#[test]
fn patterns_take_one_step_per_byte() {
    let text = "a".repeat(BODY) + "!";
    for pattern in
        ["^(a+)+$", "^(a|aa)+$", "^(a|a?)+$", "(a*)*b", "(.*)*x$", "\\b(a+)+$", "^(\\w+\\s?)*$"]
    {
        assert!(
            !compile(&json!({ "pattern": pattern })).is_valid(&text.as_str().into()),
            "{pattern}"
        );
    }
}

#[test]
fn nesting_as_deep_as_is_accepted() {
    let value = |depth| (0..depth).fold(json!(1), |inner, _| json!([{ "a": inner }]));
    let plain =
        |inner| json!({"items": {"anyOf": [{"properties": {"a": inner}}]}, "uniqueItems": true});
    let unevaluated = |inner| {
        json!({"prefixItems": [{"anyOf": [{"properties": {"a": inner}}], "unevaluatedProperties": false}],
            "unevaluatedItems": false})
    };
    // The time of the second doubles with each level of the schema.
    for (what, depth, schema) in [
        (
            "as deep as JSON is accepted",
            32,
            (0..32).fold(json!({"type": "string"}), |inner, _| plain(inner)),
        ),
        ("unevaluated", 6, (0..6).fold(json!({"type": "string"}), |inner, _| unevaluated(inner))),
    ] {
        let table = compile(&schema);
        let invalid = check(&table, &(&value(depth)).into()).unwrap_err();
        assert!(!invalid.errors.is_empty(), "{what}: {invalid}");
    }
}

/// Arrays that encode the bits of a number: `[` for 1, `]` for 0 where possible.
fn brackets(number: usize, bits: usize) -> Value {
    let mut open = vec![Vec::new()];
    for bit in 0..bits {
        if number >> bit & 1 == 1 {
            open.push(Vec::new());
        } else if open.len() > 1 {
            let closed = open.pop().unwrap();
            open.last_mut().unwrap().push(Value::Array(closed));
        } else {
            open[0].push(json!([[]]));
        }
    }
    while open.len() > 1 {
        let closed = open.pop().unwrap();
        open.last_mut().unwrap().push(Value::Array(closed));
    }
    json!([number, open.pop()])
}

#[test]
fn values_of_recursive_schemas_take_no_longer_than_their_size() {
    let filter = json!({
        "$defs": {"filter": {"oneOf": [
            {"type": "object", "properties": {"and": {"type": "array", "items": {"$ref": "#/$defs/filter"}}}, "required": ["and"], "additionalProperties": false},
            {"type": "object", "properties": {"not": {"$ref": "#/$defs/filter"}}, "required": ["not"], "additionalProperties": false},
            {"type": "object", "properties": {"field": {"type": "string"}, "value": {"type": ["number", "null"]}}, "required": ["field"], "additionalProperties": false}
        ]}},
        "$ref": "#/$defs/filter"
    });
    let table = compile(&filter);
    for (field, expected) in [(json!("a"), true), (json!(1), false)] {
        let mut value = json!({ "field": field });
        for level in 0..60 {
            value = if level % 2 == 0 {
                json!({ "not": value })
            } else {
                json!({ "and": [value, {"field": "b"}] })
            };
        }
        assert_eq!(table.is_valid(&(&value).into()), expected);
        assert_eq!(check(&table, &(&value).into()).is_ok(), expected);
        table.drop_nulls(&mut json::Value::from(&value));
    }
    let leaves: Value = (0..BODY / 32).map(|n| json!({"field": "a", "value": n})).collect();
    let wide = json!({"not": {"and": [{ "and": leaves }]}});
    assert!(table.is_valid(&(&wide).into()));
}

#[test]
fn errors_of_recursive_schemas_have_their_place() {
    let tree = json!({
        "$defs": {"node": {"type": "object", "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}}, "required": ["name"], "additionalProperties": false}},
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/node"}}
    });
    let table = compile(&tree);
    let leaf = |name: Value| json!({"root": {"name": "a", "children": [{"name": "b", "children": [{"name": "c", "children": [{"name": "d", "children": [{ "name": name }]}]}]}]}});
    assert_eq!(check(&table, &(&leaf(json!("e"))).into()), Ok(()));
    let errors = check(&table, &(&leaf(json!(1))).into()).unwrap_err().to_string();
    assert_eq!(
        errors,
        "root.children[0].children[0].children[0].children[0].name: Must be a string"
    );
    // What is null, but may only be absent, is removed at any depth.
    let absent = json!({"root": {"name": "a", "children": [{"name": "b", "children": [{"name": "c", "children": null}]}]}});
    let mut value = json::Value::from(&absent);
    table.drop_nulls(&mut value);
    assert_eq!(
        Value::from(&value),
        json!({"root": {"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]}})
    );
}
