//! What the messages about a value say that does not match its schema.

use serde_json::{Value, json};
use toolbooth_schema::{check, compile};

/// The messages for a value, each after its place.
fn messages(schema: &Value, value: &Value) -> Vec<String> {
    let errors = check(&compile(schema), &value.into()).err().map(|invalid| invalid.errors);
    let errors = errors.into_iter().flatten();
    errors.map(|error| format!("{}: {}", error.parameter, error.message)).collect()
}

#[test]
fn only_the_schema_of_a_union_that_was_meant_is_described() {
    let branch = |kind: Value| {
        let name = kind["const"].as_str().or(kind["enum"][0].as_str()).unwrap().to_owned();
        json!({
            "type": "object", "properties": {"kind": kind, name.as_str(): {"type": "string"}},
            "required": ["kind", name], "additionalProperties": false
        })
    };
    let branches = [branch(json!({"const": "room"})), branch(json!({"enum": ["url", "link"]}))];
    let all = "\"room\", \"url\", \"link\"";
    for keyword in ["anyOf", "oneOf"] {
        let union = json!({"properties": {"at": {(keyword): branches}}});
        for (value, expected) in [
            (
                json!({"kind": "Room"}),
                vec![format!("at.kind: Must be one of: {all} (did you mean \"room\"?)")],
            ),
            (json!({"kind": "house"}), vec![format!("at.kind: Must be one of: {all}")]),
            (json!({"kind": 1}), vec![format!("at.kind: Must be one of: {all}")]),
            (json!({}), vec![format!("at.kind: Is required, as one of: {all}")]),
            (json!({"room": "x"}), vec![format!("at.kind: Is required, as one of: {all}")]),
            (
                json!({"kind": "link"}),
                vec![
                    "at.url: Is required".to_owned(),
                    format!("at: Was checked for kind \"link\", which can be: {all}"),
                ],
            ),
            (
                json!({"kind": "room", "room": 1, "url": "x"}),
                vec![
                    "at.room: Must be a string".to_owned(),
                    "at.url: Is not a known parameter".to_owned(),
                    format!("at: Was checked for kind \"room\", which can be: {all}"),
                ],
            ),
            (json!({"kind": "room", "room": "x"}), vec![]),
        ] {
            assert_eq!(messages(&union, &json!({"at": value})), expected, "{keyword} {value}");
        }
        // As pydantic writes a union that is optional.
        let optional =
            json!({"properties": {"at": {"anyOf": [{(keyword): branches}, {"type": "null"}]}}});
        assert_eq!(
            messages(&optional, &json!({"at": {"kind": "house"}})),
            [format!("at.kind: Must be one of: {all}")]
        );
    }
}

#[test]
fn nothing_tells_these_schemas_apart() {
    let tagged =
        |kind: &str| json!({"properties": {"kind": {"const": kind}, "x": {"type": "string"}}});
    for (union, value, expected) in [
        // Not in all of them, and the same value twice.
        (
            json!([tagged("a"), {"required": ["y"]}]),
            json!({"kind": "b"}),
            "kind (must be \"a\"); y (is required)",
        ),
        (json!([tagged("a"), tagged("a")]), json!({"kind": "b"}), "kind (must be \"a\")"),
        (json!([{"type": "string"}, {"type": "integer"}]), json!(null), "a string; an integer"),
        (json!([{"type": "string"}, {"type": "integer"}]), json!({}), "a string; an integer"),
    ] {
        let union = json!({ "anyOf": union });
        let expected = format!("input: Must match at least one of: {expected}");
        assert_eq!(messages(&union, &value), [expected], "{union}");
    }
    // Both match.
    let union = json!({"oneOf": [tagged("a"), {"properties": {"kind": {"const": "b"}}}]});
    assert_eq!(
        messages(&union, &json!({})),
        ["input: Must match exactly one of the allowed schemas"]
    );
}

#[test]
fn messages_for_models() {
    let names: Vec<_> = (0..30).map(|at| format!("v{at}")).collect();
    let many: Vec<_> = (0..12).map(|at| json!({"minimum": at, "type": "number", "maxLength": at, "multipleOf": at + 1, "exclusiveMinimum": at + 100})).collect();
    for (schema, value, expected) in [
        (
            json!({"type": "object"}),
            json!("{\"a\": 1}"),
            "Must be an object, not a string with JSON",
        ),
        (
            json!({"type": ["array", "null"]}),
            json!(" [1] "),
            "Must be null or an array, not a string with JSON",
        ),
        (json!({"type": "array"}), json!("{}"), "Must be an array"),
        (json!({"type": "object"}), json!("text"), "Must be an object"),
        (json!({"type": "integer"}), json!("[1]"), "Must be an integer"),
        (
            json!({"format": "date-time"}),
            json!("2026-01-31T12:00:00"),
            "Must be a valid date-time, such as 2026-01-31T12:00:00Z",
        ),
        (json!({"format": "time"}), json!("12:00"), "Must be a valid time, such as 12:00:00Z"),
        (json!({"format": "date"}), json!("x"), "Must be a valid date"),
    ] {
        assert_eq!(messages(&schema, &value), [format!("input: {expected}")], "{schema} {value}");
    }
    let listed = &messages(&json!({"enum": names}), &json!("x"))[0];
    assert!(listed.ends_with("\"v19\" and 10 more"), "{listed}");
    let union = &messages(&json!({"anyOf": many}), &json!(0.5))[0];
    assert!(union.ends_with("; 4 more"), "{union}");
}
