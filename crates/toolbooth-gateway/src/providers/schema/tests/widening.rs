//! A value that a schema accepts, the adapted schema accepts too.

use proptest::prelude::*;

use super::*;

/// Those that do not close objects.
const WIDE: [&Target; 4] = [&openai::PLAIN, &openai::COMPATIBLE, &anthropic::PLAIN, &gemini::PLAIN];

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        (0..4).prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from),
        any::<bool>().prop_map(Value::from)
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[abc]", inner, 0..3).prop_map(|map| json!(map)),
        ]
    })
}

/// The arguments of a call.
fn arguments() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[abc]", value(), 0..4).prop_map(|members| json!(members))
}

fn pair(
    name: &'static str,
    value: impl Strategy<Value = Value> + 'static,
) -> BoxedStrategy<(&'static str, Value)> {
    value.prop_map(move |value| (name, value)).boxed()
}

fn names() -> impl Strategy<Value = Value> {
    prop::collection::btree_set("[abc]", 0..3).prop_map(|names| json!(names))
}

fn count() -> impl Strategy<Value = Value> {
    (0..3).prop_map(Value::from)
}

fn kind() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec!["string", "integer", "number", "object", "array", "null"]);
    prop_oneof![
        name.clone().prop_map(Value::from),
        prop::collection::btree_set(name, 1..3).prop_map(|it| json!(it))
    ]
}

/// A keyword and its value.
fn keyword(inner: BoxedStrategy<Value>) -> BoxedStrategy<(&'static str, Value)> {
    let list = prop::collection::vec(inner.clone(), 1..3).prop_map(Value::from).boxed();
    let map =
        prop::collection::btree_map("[abc]", inner.clone(), 0..3).prop_map(|it| json!(it)).boxed();
    let of_one = [
        "items",
        "additionalProperties",
        "propertyNames",
        "not",
        "contains",
        "if",
        "then",
        "else",
        "unevaluatedProperties",
        "unevaluatedItems",
    ];
    let of_list = ["allOf", "anyOf", "oneOf", "prefixItems"];
    let of_map = ["properties", "patternProperties", "dependentSchemas"];
    let of_count = [
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "minimum",
        "exclusiveMaximum",
    ];
    let mut all = vec![
        pair("type", kind()),
        pair("required", names()),
        pair("const", value()),
        pair("enum", prop::collection::btree_set("[ab]", 1..3).prop_map(|it| json!(it))),
        pair("pattern", "[ab]".prop_map(Value::from)),
        pair("uniqueItems", any::<bool>().prop_map(Value::from)),
        pair(
            "dependentRequired",
            prop::collection::btree_map("[ab]", names(), 0..2).prop_map(|it| json!(it)),
        ),
        pair(
            "$ref",
            prop::sample::select(vec!["#/$defs/x", "#/$defs/y", "#"]).prop_map(Value::from),
        ),
    ];
    all.extend(of_one.map(|name| pair(name, inner.clone())));
    all.extend(of_list.map(|name| pair(name, list.clone())));
    all.extend(of_map.map(|name| pair(name, map.clone())));
    all.extend(of_count.map(|name| pair(name, count())));
    proptest::strategy::Union::new(all).boxed()
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        kind().prop_map(|kind| json!({"type": kind}))
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop::collection::vec(keyword(inner.boxed()), 0..4).prop_map(|pairs| {
            Value::Object(pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
        })
    })
}

/// A schema of arguments. A union at the root becomes one object, which describes what one of its objects allows without a word.
fn root() -> impl Strategy<Value = Value> {
    let pairs = prop::collection::vec(keyword(schema().boxed()), 0..4);
    let defs = prop::collection::vec(schema(), 2);
    (pairs, defs).prop_map(|(pairs, defs)| {
        let mut root = json!({"type": "object", "$defs": {"x": defs[0], "y": defs[1]}});
        let kept = pairs
            .into_iter()
            .filter(|(name, _)| !["type", "anyOf", "oneOf", "$ref"].contains(name));
        kept.for_each(|(name, value)| root[name] = value);
        root
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn adapted_schemas_are_wider(schema in root(), values in prop::collection::vec(arguments(), 12)) {
        let Ok(before) = jsonschema::validator_for(&schema) else { return Ok(()) };
        let valid: Vec<&Value> = values.iter().filter(|value| before.is_valid(value)).collect();
        for target in WIDE {
            let Ok(adapted) = adapt(&schema, target) else { continue };
            if adapted.loosened.iter().any(|feature| ["anyOf", "oneOf"].contains(&feature.as_str())) {
                continue;
            }
            let after = jsonschema::validator_for(&adapted.schema);
            let after = after.unwrap_or_else(|error| panic!("{schema} became {}: {error}", adapted.schema));
            // It has nothing more to change.
            let again = adapt(&adapted.schema, target);
            let again = again.map(|again| (again.schema, again.loosened)).unwrap_or_default();
            prop_assert_eq!(again, (adapted.schema.clone(), Vec::new()), "{}", schema);
            for value in &valid {
                prop_assert!(after.is_valid(value), "{value}: {schema} became {}", adapted.schema);
            }
        }
    }
}
