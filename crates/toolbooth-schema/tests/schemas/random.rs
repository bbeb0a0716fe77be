//! Any schema, any value: the same verdict as the reference, and words for every rejection.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};
use toolbooth_schema::{check, compile};

use crate::reference;

/// Few names, so that schemas and values speak of the same ones.
fn name() -> impl Strategy<Value = String> {
    select(vec!["a", "ab", "b", "x1", "é"]).prop_map(str::to_owned)
}

/// None is a double beyond 2^53 with a text that is rounded: the reference asks whether 1e300 as it is kept
/// is a multiple of 3, and we whether 1e300 as it is written is (it is not).
fn number() -> impl Strategy<Value = Value> {
    select(vec![
        json!(0),
        json!(-0.0),
        json!(1),
        json!(1.0),
        json!(-1),
        json!(1.5),
        json!(2),
        json!(3),
        json!(0.3),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(9_007_199_254_740_992.0),
        json!(9_007_199_254_740_993_u64),
    ])
}

fn text() -> impl Strategy<Value = Value> {
    let known = ["", "a", "ab", "b", "x1", "é", "😀😀", "2026-02-29", "2028-02-29", "::1", "a@b.c"];
    select(known.to_vec()).prop_map(Value::from)
}

fn value() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number(),
        number(),
        text(),
        text(),
    ];
    plain.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            btree_map(name(), inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// One keyword that holds no schema.
fn plain_keyword() -> impl Strategy<Value = (&'static str, Value)> {
    let types = ["null", "boolean", "integer", "number", "string", "array", "object"];
    let count = || (0_u64..4).prop_map(Value::from);
    let of = |keyword: &'static str, value: BoxedStrategy<Value>| {
        value.prop_map(move |value| (keyword, value)).boxed()
    };
    let names =
        || proptest::collection::btree_set(name(), 0..3).prop_map(|names| json!(names)).boxed();
    prop_oneof![
        of("type", select(types.to_vec()).prop_map(Value::from).boxed()),
        of(
            "type",
            proptest::sample::subsequence(types.to_vec(), 1..4)
                .prop_map(|names| json!(names))
                .boxed()
        ),
        of("const", value().boxed()),
        of("enum", vec(value(), 1..4).prop_map(Value::Array).boxed()),
        of(
            "multipleOf",
            select(vec![json!(1), json!(2), json!(0.5), json!(0.1), json!(3.0)]).boxed()
        ),
        select(vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"])
            .prop_flat_map(|keyword| number().prop_map(move |limit| (keyword, limit))),
        select(vec![
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "minProperties",
            "maxProperties"
        ])
        .prop_flat_map(move |keyword| count().prop_map(move |limit| (keyword, limit))),
        of("minContains", count().boxed()),
        of("maxContains", count().boxed()),
        of("uniqueItems", any::<bool>().prop_map(Value::from).boxed()),
        of("required", names()),
        of(
            "dependentRequired",
            btree_map(name(), names(), 0..3).prop_map(|map| json!(map)).boxed()
        ),
        of(
            "pattern",
            select(vec!["a", "^a", "b$", "^[a-z]+$", "^\\S*$", "\\d", "^.$", "é|x"])
                .prop_map(Value::from)
                .boxed()
        ),
        of("format", select(vec!["date", "ipv6", "email"]).prop_map(Value::from).boxed()),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let object = |keywords: Vec<(&'static str, Value)>| {
        Value::Object(keywords.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    };
    let leaf = prop_oneof![
        1 => any::<bool>().prop_map(Value::from),
        9 => vec(plain_keyword(), 0..3).prop_map(object),
    ];
    leaf.prop_recursive(3, 24, 3, move |inner| {
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
            "unevaluatedProperties",
        ]);
        let list = select(vec!["allOf", "anyOf", "oneOf", "prefixItems"]);
        let map = select(vec!["properties", "properties", "dependentSchemas"]);
        let below = inner.clone();
        let many = inner.clone();
        let named = inner.clone();
        let patterns = btree_map(select(vec!["^a", "1$", "."]), inner, 1..3);
        let applied = prop_oneof![
            one.prop_flat_map(move |word| below.clone().prop_map(move |schema| (word, schema))),
            list.prop_flat_map(move |word| {
                vec(many.clone(), 1..4).prop_map(move |schemas| (word, Value::Array(schemas)))
            }),
            map.prop_flat_map(move |word| {
                btree_map(name(), named.clone(), 0..3).prop_map(move |map| (word, json!(map)))
            }),
            patterns.prop_map(|map| ("patternProperties", json!(map))),
        ];
        (vec(plain_keyword(), 0..3), vec(applied, 1..5))
            .prop_map(move |(plain, applied)| object([plain, applied].concat()))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_schema_decides_like_the_judge(schema in schema(), values in vec(value(), 8)) {
        let reference = reference(&schema).unwrap();
        let table = compile(&schema);
        for value in values {
            let expected = reference.is_valid(&value);
            prop_assert_eq!(table.is_valid(&(&value).into()), expected, "{} against {}", value, schema);
            match check(&table, &(&value).into()) {
                Ok(()) => prop_assert!(expected),
                Err(invalid) => prop_assert!(!invalid.errors.is_empty(), "{} against {}", value, schema),
            }
        }
    }

    #[test]
    fn any_value_is_itself_and_nothing_else(one in value(), other in value()) {
        let same = reference(&json!({"const": one})).unwrap().is_valid(&other);
        for (keyword, named) in [("const", one.clone()), ("enum", json!([one]))] {
            let mut schema = Map::new();
            schema.insert(keyword.to_owned(), named);
            let table = compile(&Value::Object(schema));
            prop_assert!(table.is_valid(&(&one).into()));
            prop_assert_eq!(table.is_valid(&(&other).into()), same);
        }
        let unique = compile(&json!({"uniqueItems": true}));
        prop_assert_eq!(unique.is_valid(&(&json!([one, other])).into()), !same);
    }
}
