//! Validation of arguments, compared with the crate `jsonschema`.

use proptest::prelude::*;
use proptest::sample::select;

use crate::gateway::conversation::tool::{FunctionTool, Tool};
use crate::gateway::notes::Notes;
use crate::gateway::relay::arguments::Schemas;
use crate::gateway::tests::*;
use crate::wire::{Arguments, ToolCall};

fn function(schema: &Value) -> Tool {
    let raw = serde_json::value::to_raw_value(schema).unwrap();
    Tool::Function(FunctionTool {
        name: "t".to_owned(),
        description: None,
        parameters: Some(raw),
        strict: None,
        cache_control: None,
        written: None,
    })
}

/// Whether arguments match a schema.
fn is_valid(schema: &Value, arguments: &Value) -> Result<(), String> {
    let tool = function(schema);
    let arguments = Arguments::Text(arguments.to_string().into());
    let call = ToolCall { name: "t".into(), arguments, ..ToolCall::default() };
    Schemas::of(&[tool], &Notes::default())
        .check([&call].into_iter())
        .map_err(|error| error.message.clone())
}

#[test]
fn keywords() {
    let value = |value: Value| json!({"v": value});
    for (schema, good, bad) in [
        (json!({"type": "integer"}), json!(1.0), json!(1.5)),
        (json!({"type": ["string", "null"]}), json!(null), json!(1)),
        (json!({"enum": [1, "a"]}), json!(1.0), json!("b")),
        (json!({"const": {"a": 1}}), json!({"a": 1}), json!({"a": 2})),
        (json!({"minLength": 2, "maxLength": 2}), json!("äb"), json!("abc")),
        (json!({"minimum": 1, "exclusiveMaximum": 2}), json!(1), json!(2)),
        (json!({"multipleOf": 0.1}), json!(0.3), json!(0.35)),
        (json!({"items": {"type": "string"}, "minItems": 1}), json!(["a"]), json!([1])),
        (
            json!({"prefixItems": [{"type": "string"}], "items": false}),
            json!(["a"]),
            json!(["a", 1]),
        ),
        (json!({"uniqueItems": true}), json!([1, 2]), json!([1, 1.0])),
        (json!({"contains": {"const": 1}, "maxContains": 1}), json!([1, 2]), json!([1, 1])),
        (json!({"contains": {"const": 1}}), json!([1]), json!([2])),
        (json!({"required": ["a"]}), json!({"a": 1}), json!({})),
        (
            json!({"additionalProperties": false, "properties": {"a": {}}}),
            json!({"a": 1}),
            json!({"b": 1}),
        ),
        (json!({"propertyNames": {"maxLength": 1}}), json!({"a": 1}), json!({"ab": 1})),
        (json!({"minProperties": 1, "maxProperties": 1}), json!({"a": 1}), json!({})),
        (json!({"dependentRequired": {"a": ["b"]}}), json!({"b": 1}), json!({"a": 1})),
        (
            json!({"dependentSchemas": {"a": {"required": ["b"]}}}),
            json!({"a": 1, "b": 1}),
            json!({"a": 1}),
        ),
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), json!("a"), json!(1)),
        (json!({"oneOf": [{"minimum": 1}, {"maximum": 1}]}), json!(2), json!(1)),
        (json!({"allOf": [{"minimum": 1}, {"maximum": 2}]}), json!(1), json!(3)),
        (json!({"not": {"type": "string"}}), json!(1), json!("a")),
        (
            json!({"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"minimum": 2}}),
            json!(2),
            json!("a"),
        ),
        (json!(true), json!(1), json!(null)),
    ] {
        let root = json!({"type": "object", "properties": {"v": schema}});
        assert_eq!(is_valid(&root, &value(good.clone())), Ok(()), "{schema} {good}");
        if schema != json!(true) {
            let error = is_valid(&root, &value(bad.clone())).unwrap_err();
            assert!(error.contains("/v"), "{schema} {bad}: {error}");
        }
    }
    let tree = json!({"$ref": "#/$defs/node", "$defs": {"node": {"type": "object",
        "properties": {"next": {"$ref": "#/$defs/node"}}, "additionalProperties": false}}});
    assert_eq!(is_valid(&tree, &json!({"next": {"next": {}}})), Ok(()));
    assert!(is_valid(&tree, &json!({"next": {"other": {}}})).is_err());
    let endless = json!({"$ref": "#"});
    assert_eq!(is_valid(&endless, &json!({})), Ok(()));
    let missing = json!({"type": "object", "required": ["city"]});
    assert!(is_valid(&missing, &json!({})).unwrap_err().ends_with("/city is missing"));
}

/// The last ones ask for hundreds of millions of comparisons. What follows is not checked, and so rejects nothing.
#[test]
fn the_work_on_an_answer_is_limited() {
    let numbered = |count: u32| Vec::from_iter((0..count).map(|at| format!("value {at}")));
    // Each level applies the one before eight times.
    let repeated = |levels: usize| {
        let mut definitions = json!({"0": {"enum": numbered(30_000)}});
        for level in 0..levels {
            let reference = json!({"$ref": format!("#/$defs/{level}")});
            definitions[(level + 1).to_string()] = json!({"anyOf": vec![reference; 8]});
        }
        json!({"$defs": definitions, "properties": {"v": {"$ref": format!("#/$defs/{levels}")}}})
    };
    // A hundred times the same, and then what no value is.
    let and_null = |schema: Value| {
        let mut all = vec![json!({"$ref": "#/$defs/s"}); 100];
        all.push(json!({"type": "null"}));
        json!({"$defs": {"s": schema}, "properties": {"v": {"allOf": all}}})
    };
    let unique = and_null(json!({"uniqueItems": true}));
    let required = and_null(json!({"required": numbered(30_000)}));
    let items = json!((0..30_000).collect::<Vec<_>>());
    let members = Value::from_iter(numbered(30_000).into_iter().map(|name| (name, Value::Null)));
    for (schema, value, is_rejected) in [
        (repeated(0), json!("value 29999"), false),
        (repeated(0), json!("other"), true),
        (repeated(1), json!("other"), true),
        (repeated(4), json!("other"), false),
        (unique, items, false),
        (required, members, false),
    ] {
        let result = is_valid(&schema, &json!({"v": value}));
        assert_eq!(result.is_err(), is_rejected, "{result:?}");
    }
}

/// All calls of an answer share the steps.
#[test]
fn the_calls_of_an_answer_share_the_work() {
    let values = Vec::from_iter((0..30_000).map(|at| format!("value {at}")));
    let tool = function(&json!({"properties": {"v": {"enum": values}}}));
    let schemas = Schemas::of(&[tool], &Notes::default());
    let call = |value: &str| {
        let arguments = Arguments::Text(json!({"v": value}).to_string().into());
        ToolCall { name: "t".into(), arguments, ..ToolCall::default() }
    };
    let last = call("value 29999");
    for (count, is_rejected) in [(1, true), (100, false)] {
        let calls = std::iter::repeat_n(&last, count);
        let other = call("other");
        assert_eq!(schemas.check(calls.chain([&other])).is_err(), is_rejected, "{count}");
    }
}

#[test]
fn what_is_not_checked_rejects_nothing() {
    for schema in [
        json!({"pattern": "^a$"}),
        json!({"not": {"pattern": "^a$"}}),
        json!({"oneOf": [{"pattern": "^a$"}, {"pattern": "^b$"}]}),
        json!({"if": {"format": "date"}, "then": {"minLength": 5}, "else": {"maxLength": 4}}),
        json!({"patternProperties": {"^a": {}}, "additionalProperties": false}),
        json!({"contains": {"pattern": "^a$"}, "maxContains": 1}),
        json!({"unevaluatedProperties": false}),
    ] {
        let root = json!({"type": "object", "properties": {"v": schema}});
        for value in [json!("b"), json!("a"), json!({"b": 1}), json!(["a", "b"])] {
            let valid = is_valid(&root, &json!({"v": value}));
            assert_eq!(valid, Ok(()), "{schema} {value}");
        }
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..4_i32).prop_map(Value::from),
        select(vec![0.5, 1.0, 2.5]).prop_map(Value::from),
        select(vec!["", "a", "ab", "b"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(select(vec!["a", "b", "c"]), inner, 0..3)
                .prop_map(|map| map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        ]
    })
}

fn any_schema() -> impl Strategy<Value = Value> {
    let small = || (0..3_u32).prop_map(Value::from);
    let plain = prop_oneof![
        select(vec!["null", "boolean", "string", "number", "integer", "array", "object"])
            .prop_map(|name| json!({"type": name})),
        any_value().prop_map(|value| json!({"const": value})),
        prop::collection::vec(any_value(), 1..3).prop_map(|values| json!({"enum": values})),
        (
            select(vec![
                "minLength",
                "maxLength",
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "exclusiveMaximum",
                "minItems",
                "maxItems",
                "minProperties",
                "maxProperties"
            ]),
            small()
        )
            .prop_map(|(keyword, limit)| json!({keyword: limit})),
        select(vec![0.5, 1.0, 2.0]).prop_map(|divisor| json!({"multipleOf": divisor})),
        any::<bool>().prop_map(|unique| json!({"uniqueItems": unique})),
        select(vec!["a", "b"]).prop_map(|name| json!({"required": [name]})),
        select(vec!["a", "b"]).prop_map(|name| json!({"dependentRequired": {name: ["c"]}})),
        any::<bool>().prop_map(Value::from),
    ];
    plain.prop_recursive(3, 16, 3, |inner| {
        let list = || prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            (select(vec!["anyOf", "oneOf", "allOf", "prefixItems"]), list())
                .prop_map(|(keyword, schemas)| json!({keyword: schemas})),
            (select(vec!["not", "items", "contains", "additionalProperties", "propertyNames"]), inner.clone())
                .prop_map(|(keyword, schema)| json!({keyword: schema})),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| json!({"if": a, "then": b, "else": c})),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| json!({"properties": {"a": a}, "additionalProperties": b})),
            (inner.clone(), inner.clone(), 0..3_u32)
                .prop_map(|(a, b, most)| json!({"prefixItems": [a], "items": b, "contains": true, "maxContains": most, "minContains": 0})),
        ]
    })
}

proptest! {
    #[test]
    fn it_agrees_with_jsonschema(schema in any_schema(), value in any_value()) {
        let expected = jsonschema::draft202012::is_valid(&schema, &value);
        prop_assert_eq!(is_valid(&schema, &value).is_ok(), expected, "{} {}", schema, value);
    }
}
