//! Values that are made to be slow. Each of these ends at once; what grows with the square of the
//! value, or worse, would not end while anyone waits.

use serde_json::{Value, json};
use toolbooth_schema::json;
use toolbooth_schema::{check, compile};

/// As many bytes as a body may have by default.
const BODY: usize = 256 << 10;

#[test]
fn hostile_values_take_no_longer_than_their_size() {
    let numbers: Value = (0..BODY / 2).collect();
    let texts: Value = (0..BODY / 10).map(|n| format!("{}{n}", "x".repeat(5))).collect();
    // What a hash without lengths would take for one another.
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
fn patterns_take_a_step_a_byte() {
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
fn nesting_as_deep_as_it_is_read() {
    let value = |depth| (0..depth).fold(json!(1), |inner, _| json!([{ "a": inner }]));
    let plain =
        |inner| json!({"items": {"anyOf": [{"properties": {"a": inner}}]}, "uniqueItems": true});
    let unevaluated = |inner| {
        json!({"prefixItems": [{"anyOf": [{"properties": {"a": inner}}], "unevaluatedProperties": false}],
            "unevaluatedItems": false})
    };
    // The second takes twice the time for each level, as many as its author writes.
    for (what, depth, schema) in [
        (
            "as deep as JSON is read",
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

/// The arrays that the bits of a number stand for: `[` for 1, `]` for 0, as far as they can.
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
