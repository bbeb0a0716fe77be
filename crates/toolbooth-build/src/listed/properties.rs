//! Random schemas with references: what is listed accepts the same values as what was written, and has no feature that
//! clients lack. Of recursive schemas, it never accepts less, and the Worker checks values by what was written.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};
use toolbooth::protocol::keywords::{types, walk};

use crate::recursion::closed;
use crate::references::resolve;
use crate::schema::{inner, validator};

fn name() -> impl Strategy<Value = String> {
    select(vec!["a", "b", "c"]).prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Value> {
    let plain =
        select(vec![json!(null), json!(true), json!(0), json!(1.5), json!("a"), json!("ab")]);
    plain.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            btree_map(name(), inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

fn plain_keyword() -> impl Strategy<Value = (&'static str, Value)> {
    let types = vec!["null", "boolean", "integer", "number", "string", "array", "object"];
    prop_oneof![
        4 => select(types.clone()).prop_map(|name| ("type", json!(name))),
        2 => proptest::sample::subsequence(types, 1..4).prop_map(|names| ("type", json!(names))),
        1 => value().prop_map(|value| ("const", value)),
        1 => select(vec!["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "maximum", "maxContains", "minContains"])
            .prop_flat_map(|keyword| (0_u8..3).prop_map(move |limit| (keyword, json!(limit)))),
        2 => vec(name(), 0..3).prop_map(|mut names| {
            names.sort();
            names.dedup();
            ("required", json!(names))
        }),
        6 => reference(),
    ]
}

fn reference() -> impl Strategy<Value = (&'static str, Value)> {
    let targets = ["#", "#/$defs/d0", "#/$defs/d1", "#/%24defs/d2", "#named", "#/properties/a"];
    select(targets.to_vec()).prop_map(|target| ("$ref", json!(target)))
}

fn object(keywords: Vec<(&'static str, Value)>) -> Value {
    Value::Object(keywords.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => any::<bool>().prop_map(Value::from),
        6 => vec(plain_keyword(), 0..3).prop_map(object),
    ];
    leaf.prop_recursive(3, 16, 3, move |inner| {
        let one = select(vec![
            "not",
            "if",
            "then",
            "else",
            "items",
            "contains",
            "unevaluatedItems",
            "propertyNames",
            "additionalProperties",
            "unevaluatedProperties",
        ]);
        let list = select(vec!["allOf", "anyOf", "oneOf", "prefixItems"]);
        let map = select(vec!["properties", "properties", "dependentSchemas", "patternProperties"]);
        let (below, many) = (inner.clone(), inner.clone());
        let applied = prop_oneof![
            one.prop_flat_map(move |word| below.clone().prop_map(move |schema| (word, schema))),
            list.prop_flat_map(move |word| {
                vec(many.clone(), 1..4).prop_map(move |schemas| (word, Value::Array(schemas)))
            }),
            map.prop_flat_map(move |word| {
                btree_map(name(), inner.clone(), 1..3).prop_map(move |map| (word, json!(map)))
            }),
        ];
        (vec(plain_keyword(), 0..3), vec(applied, 1..4))
            .prop_map(|(plain, applied)| object([plain, applied].concat()))
    })
}

/// A schema with definitions.
fn document() -> impl Strategy<Value = Map<String, Value>> {
    (schema(), schema(), schema(), schema(), schema()).prop_map(|(root, a, b, c, property)| {
        let named = match c {
            Value::Object(mut members) => {
                members.insert("$anchor".to_owned(), json!("named"));
                Value::Object(members)
            }
            other => json!({"$anchor": "named", "allOf": [other]}),
        };
        let mut members = match root {
            Value::Object(members) => members,
            other => Map::from_iter([("allOf".to_owned(), json!([other]))]),
        };
        members.insert("$defs".to_owned(), json!({"d0": a, "d1": b, "d2": named}));
        if !members.contains_key("properties") {
            members.insert("properties".to_owned(), json!({ "a": property }));
        }
        members
    })
}

/// What a schema has that clients lack.
fn lacking(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(schema, &mut |schema| {
        if schema.contains_key("$ref") {
            found.push("$ref".to_owned());
        }
        if types(schema).contains(&"array") && !schema.get("items").is_some_and(Value::is_object) {
            found.push(format!("items of {schema:?}"));
        }
        for (keyword, value) in schema {
            let is_known = matches!(&**keyword, "additionalProperties" | "unevaluatedProperties");
            let mut inner = inner(keyword, value).into_iter();
            if inner.any(|(_, it)| it.is_boolean() && !is_known) {
                found.push(format!("a boolean in {keyword}"));
            }
        }
    });
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_listed_schema_decides_like_the_written_one(document in document(), values in vec(value(), 12)) {
        // A reference to nothing, or a schema that means itself.
        let Ok(resolved) = resolve(&document) else { return Ok(()) };
        let listed = Value::Object(super::schema(&resolved));
        let checked = if resolved.is_exact { None } else { closed(&document) };
        let checked = checked.map(|schema| toolbooth_schema::compile(&schema));
        let written = Value::Object(document);
        prop_assert_eq!(lacking(&listed), Vec::<String>::new(), "{}", listed);
        let (before, between, after) =
            (validator(&written).unwrap(), validator(&Value::Object(resolved.schema)).unwrap(), validator(&listed).unwrap());
        for value in values {
            let expected = before.is_valid(&value);
            let got = between.is_valid(&value);
            prop_assert!(got == expected || got && !resolved.is_exact, "{} of {}", value, written);
            if let Some(checked) = checked {
                prop_assert_eq!(checked.is_valid(&(&value).into()), expected, "checked: {} of {}", value, written);
            }
            prop_assert_eq!(after.is_valid(&value), got, "listed: {} of {}", value, written);
        }
    }
}
