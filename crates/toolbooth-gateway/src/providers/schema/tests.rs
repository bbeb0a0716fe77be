//! How each target adapts schemas, and the table of it in docs/PROVIDERS.md.

mod keywords;
mod rewriting;
mod widening;

use serde_json::json;

use super::*;
use crate::providers::{anthropic, gemini, openai};
use toolbooth::testing::repository;

/// The targets in the order of the table in the docs.
const TARGETS: [(&str, &Target); 6] = [
    ("OpenAI", &openai::PLAIN),
    ("OpenAI strict", &openai::STRICT),
    ("Anthropic", &anthropic::PLAIN),
    ("Anthropic strict", &anthropic::STRICT),
    ("Gemini", &gemini::PLAIN),
    ("Compatible", &openai::COMPATIBLE),
];

/// The property `p` of an object that requires it, for each target: the adapted schema of the property and the features that it
/// has lost, or the incompatible features.
fn property(schema: &Value) -> [AdaptedProperty; 6] {
    let object = json!({
        "type": "object", "properties": {"p": schema}, "required": ["p"],
        "additionalProperties": false
    });
    fitted(&object).map(|fitted| {
        fitted.map(|adapted| (adapted.schema["properties"]["p"].clone(), adapted.loosened))
    })
}

type AdaptedProperty = Result<(Value, Vec<String>), Vec<String>>;
type Adapted = Result<AdaptedSchema, Vec<String>>;

fn adapt(schema: &Value, target: &Target) -> Adapted {
    adapt_schema(schema.as_object().unwrap(), target)
}

fn fitted(schema: &Value) -> [Adapted; 6] {
    TARGETS.map(|(_, target)| adapt(schema, target))
}

#[test]
fn no_keyword_is_repeated() {
    let mut names = KEYWORDS.to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), KEYWORDS.len());
}

/// docs/PROVIDERS.md has the same table.
#[test]
fn the_table_in_the_docs() {
    let word = |rule: KeywordRule| match rule {
        KeywordRule::Keep => "stays",
        KeywordRule::Below => "not at the root",
        KeywordRule::If(_) => "in part",
        KeywordRule::AnyOf => "as anyOf",
        KeywordRule::Enum => "as enum",
        KeywordRule::Words => "words",
        KeywordRule::Drop => "dropped",
        KeywordRule::Loosen => "left out",
    };
    let row = |name: &&str| {
        let rules = TARGETS.map(|(_, target)| word((target.rule)(name)));
        format!("| `{name}` | {} |", rules.join(" | "))
    };
    let Some(docs) = repository::text("docs/PROVIDERS.md") else { return };
    let lines = docs.lines().skip_while(|line| !line.starts_with("| Keyword |")).skip(2);
    let table: Vec<&str> = lines.take_while(|line| line.starts_with('|')).collect();
    assert_eq!(table, KEYWORDS.iter().map(row).collect::<Vec<_>>());
}

#[test]
fn sentences_are_in_the_order_of_the_table() {
    let [_, _, _, strict, ..] =
        property(&json!({"type": "string", "maxLength": 9, "minLength": 1}));
    assert_eq!(strict.unwrap().0["description"], "At least 1 character. At most 9 characters.");
}

#[test]
fn schemas_of_strict_lists() {
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    // The schema of the root, then for OpenAI strict and Anthropic strict the schema or the features.
    for (what, schema, openai, anthropic) in [
        (
            "an object is closed, and a nullable property becomes required",
            object(json!({"a": {"type": ["string", "null"]}})),
            json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}},
                   "required": ["a"], "additionalProperties": false}),
            json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}},
                   "additionalProperties": false}),
        ),
        (
            "also if null is in a union or an enum",
            object(json!({
                "a": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "b": {"enum": ["x", null]},
                "c": {"const": null}
            })),
            json!({"type": "object", "required": ["a", "b", "c"], "additionalProperties": false,
                   "properties": {
                       "a": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                       "b": {"type": ["null", "string"], "enum": ["x", null]},
                       "c": {"type": "null", "const": null}}}),
            json!({"type": "object", "additionalProperties": false, "properties": {
                       "a": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                       "b": {"enum": ["x", null]},
                       "c": {"const": null}}}),
        ),
        (
            "an optional property",
            object(json!({"a": {"type": "string"}})),
            json!(["optional_properties"]),
            json!({"type": "object", "properties": {"a": {"type": "string"}},
                   "additionalProperties": false}),
        ),
        (
            "no type",
            object(json!({"a": {}})),
            json!(["optional_properties", "untyped"]),
            json!(["untyped"]),
        ),
        (
            "true",
            object(json!({"a": true})),
            json!(["optional_properties", "untyped"]),
            json!(["untyped"]),
        ),
        (
            "false",
            object(json!({"a": false})),
            json!(["optional_properties", "untyped"]),
            json!(["untyped"]),
        ),
        ("any members", json!({"type": "object"}), json!(["open_object"]), json!(["open_object"])),
        (
            "no members",
            json!({"type": "object", "additionalProperties": false}),
            json!({"type": "object", "additionalProperties": false, "properties": {}, "required": []}),
            json!({"type": "object", "additionalProperties": false, "properties": {}}),
        ),
        (
            "an array of anything",
            object(json!({"a": {"type": ["array", "null"]}})),
            json!(["array_without_items"]),
            json!(["type"]),
        ),
        (
            "keywords that do not apply to the type",
            object(
                json!({"a": {"type": ["null"], "format": "date", "minimum": 1, "items": {"type": "null"}}}),
            ),
            json!({"type": "object", "properties": {"a": {"type": "null"}},
                   "required": ["a"], "additionalProperties": false}),
            json!({"type": "object", "properties": {"a": {"type": "null", "description": "At least 1."}},
                   "additionalProperties": false}),
        ),
        (
            "a format with several types",
            object(json!({"a": {"type": ["string", "null"], "format": "date"}})),
            json!({"type": "object", "properties": {"a": {"type": ["string", "null"], "format": "date"}},
                   "required": ["a"], "additionalProperties": false}),
            json!({"type": "object", "additionalProperties": false, "properties": {
                   "a": {"type": ["string", "null"], "description": "Format: date."}}}),
        ),
        (
            "a type that each branch repeats",
            object(
                json!({"a": {"type": ["string", "null"], "anyOf": [{"type": "string"}, {"const": null}]}}),
            ),
            json!({"type": "object", "required": ["a"], "additionalProperties": false, "properties": {
                   "a": {"anyOf": [{"type": "string"}, {"type": "null", "const": null}]}}}),
            json!(["anyOf"]),
        ),
        (
            "a union next to other keywords",
            object(json!({"a": {"type": "string", "pattern": "a", "anyOf": [{"type": "string"}]}})),
            json!(["anyOf", "optional_properties"]),
            json!({"type": "object", "additionalProperties": false, "properties": {
                   "a": {"anyOf": [{"type": "string"}], "description": "Matches /a/."}}}),
        ),
        (
            "a required member that the object does not declare",
            json!({"type": "object", "properties": {}, "required": ["a"], "additionalProperties": false}),
            json!(["required"]),
            json!(["required"]),
        ),
        (
            "values of another type than the schema's",
            object(json!({"a": {"type": "string", "enum": ["x", 1, null]}})),
            json!(["optional_properties"]),
            json!({"type": "object", "additionalProperties": false, "properties": {"a": {"enum": ["x"]}}}),
        ),
    ] {
        for (name, target, expected) in
            [("OpenAI", &openai::STRICT, openai), ("Anthropic", &anthropic::STRICT, anthropic)]
        {
            let got = match adapt(&schema, target) {
                Ok(adapted) => adapted.schema,
                Err(features) => json!(features),
            };
            assert_eq!(got, expected, "{name} strict: {what}");
        }
    }
}

#[test]
fn the_root() {
    // Which providers lack a keyword only at the root.
    for (keyword, value, expected) in [
        ("anyOf", json!([{"type": "object"}]), [true, true, true, true, false, true]),
        ("oneOf", json!([{"type": "object"}]), [true, true, true, true, false, true]),
        ("allOf", json!([{"type": "object"}]), [true, true, true, true, true, true]),
        ("not", json!({"required": ["a"]}), [true, true, false, true, true, true]),
        ("enum", json!([{}]), [true, false, false, false, false, false]),
        ("const", json!({}), [true, false, false, false, false, false]),
    ] {
        let schema = json!({"type": "object", "properties": {}, "additionalProperties": false, keyword: value});
        for (((name, _), adapted), expected) in TARGETS.iter().zip(fitted(&schema)).zip(expected) {
            let (is_kept, loosened) = match &adapted {
                Ok(it) => {
                    (it.schema.get(keyword).is_some(), it.loosened.contains(&keyword.to_owned()))
                }
                Err(features) => panic!("{name} {keyword}: {features:?}"),
            };
            assert_eq!(loosened, expected, "{name} {keyword}: {adapted:?}");
            assert!(!(loosened && is_kept), "{name} {keyword}: {adapted:?}");
        }
    }
    let bare = json!({"type": "object"});
    let complete = json!({"type": "object", "properties": {}});
    let [openai, _, anthropic, _, gemini, compatible] = fitted(&bare);
    assert_eq!(openai.unwrap().schema, complete);
    assert_eq!(anthropic.unwrap().schema, bare);
    assert_eq!(gemini.unwrap().schema, bare);
    assert_eq!(compatible.unwrap().schema, complete);
    let array = json!({"type": "object", "properties": {"a": {"type": "array"}}});
    let [openai, ..] = fitted(&array);
    assert_eq!(openai.unwrap().schema["properties"]["a"], json!({"type": "array", "items": {}}));
}

#[test]
fn names_of_properties() {
    let long = "a".repeat(65);
    for (name, expected) in [
        ("a_1", [true, true, true, true, true, true]),
        ("_a", [true, true, true, true, true, true]),
        ("1a", [true, true, true, true, false, true]),
        ("a-b.c", [true, true, true, true, false, true]),
        ("a b", [true, true, false, false, false, true]),
        ("ä", [true, true, false, false, false, true]),
        ("", [true, true, false, false, false, true]),
        (&long, [true, true, false, false, false, true]),
    ] {
        let of = |schema: Value| {
            fitted(&schema).map(|fitted| match fitted {
                Ok(adapted) => {
                    let is_declared = adapted.schema["properties"].get(name).is_some();
                    let is_described =
                        adapted.schema["description"].as_str().is_some_and(|it| it.contains(name));
                    let is_lost = adapted.loosened == [PROPERTY_NAMES];
                    assert_eq!(is_described, is_lost, "{adapted:?}");
                    is_declared || !is_lost
                }
                // A strict schema is closed.
                Err(features) => !features.contains(&"additionalProperties".to_owned()),
            })
        };
        let inner =
            json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
        assert_eq!(of(inner.clone()), expected, "{name:?}");
        let outer = json!({"type": "object", "properties": {"p": inner}, "required": ["p"]});
        assert_eq!(of(outer), [true; 6], "{name:?} in a nested object");
    }
    let schema = json!({
        "type": "object", "properties": {"a b": {"type": "string"}, "c": {"type": "string"}}, "required": ["a b", "c"],
        "additionalProperties": false
    });
    let [.., gemini, _] = fitted(&schema);
    assert_eq!(
        gemini.unwrap().schema,
        json!({
            "type": "object", "properties": {"c": {"type": "string"}}, "required": ["c"], "additionalProperties": true,
            "description": r#"Further members: {"properties":{"a b":{"type":"string"}},"required":["a b"]}."#
        })
    );
}

#[test]
fn limits() {
    let closed = |properties: Value, required: Vec<String>| {
        json!({"type": "object", "properties": properties, "required": required,
               "additionalProperties": false})
    };
    let many = |count: usize, schema: &Value| -> (Value, Vec<String>) {
        let names: Vec<String> = (0..count).map(|n| format!("p{n}")).collect();
        (names.iter().map(|name| (name.clone(), schema.clone())).collect(), names)
    };
    let text = json!({"type": "string"});
    let union = json!({"type": ["string", "null"]});
    let values = |count: usize| json!({"type": "integer", "enum": (0..count).collect::<Vec<_>>()});
    let required = |(properties, names)| closed(properties, names);
    let optional = |(properties, _)| closed(properties, Vec::new());
    let deep = |levels: usize| {
        let mut schema = text.clone();
        for _ in 2..levels {
            schema = json!({"type": "array", "items": schema});
        }
        closed(json!({"p": schema}), vec!["p".to_owned()])
    };
    for (what, schema, feature, expected) in [
        ("5 levels", deep(5), "depth", [false; 6]),
        ("10 levels", deep(10), "depth", [false; 6]),
        ("11 levels", deep(11), "depth", [true, true, true, true, true, false]),
        ("5000 properties", required(many(5000, &text)), "properties", [false; 6]),
        (
            "5001 properties",
            required(many(5001, &text)),
            "properties",
            [false, true, false, false, false, false],
        ),
        (
            "1000 values",
            closed(json!({"p": values(1000)}), vec!["p".to_owned()]),
            "enum",
            [false; 6],
        ),
        (
            "1001 values",
            closed(json!({"p": values(1001)}), vec!["p".to_owned()]),
            "enum",
            [false, true, false, false, false, false],
        ),
        ("24 optional", optional(many(24, &union)), "optional_properties", [false; 6]),
        (
            "25 optional",
            optional(many(25, &union)),
            "optional_properties",
            [false, false, false, true, false, false],
        ),
        ("16 unions", required(many(16, &union)), "unions", [false; 6]),
        (
            "17 unions",
            required(many(17, &union)),
            "unions",
            [false, false, false, true, false, false],
        ),
    ] {
        let rejected = fitted(&schema)
            .map(|fitted| fitted.is_err_and(|features| features.iter().any(|one| one == feature)));
        assert_eq!(rejected, expected, "{what}");
    }
    for (levels, warned) in [(5, 0), (6, 1), (10, 1)] {
        for fitted in fitted(&deep(levels)) {
            assert_eq!(fitted.unwrap().warnings.len(), warned, "{levels} levels");
        }
    }
}

/// A call in a provider's format cannot send tokens, secrets and users.
#[test]
fn requirements_lead_to_a_warning() {
    for (requirements, warned) in [
        (Value::Null, false),
        (json!({}), false),
        (json!({"user_id": true}), true),
        (json!({"secrets": [{"id": "KEY"}]}), true),
    ] {
        let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
        let definition = serde_json::from_value(json!({
            "id": "A.B@1.0.0", "name": "A_B", "version": "1.0.0", "description": "d",
            "input_schema": schema, "output_schema": null, "requirements": requirements
        }));
        let listed = Listed { definition: &definition.unwrap(), name: "A_B", latest: true };
        let expected = ["requirements: a call in this format cannot send them".to_owned()];
        for (name, target) in TARGETS {
            let warnings = match render(&listed, target, |schema| schema) {
                Rendering::Supported { warnings, .. } => warnings,
                other => panic!("{name} {requirements}: {other:?}"),
            };
            assert_eq!(warnings, expected[..usize::from(warned)], "{name} {requirements}");
        }
    }
}
