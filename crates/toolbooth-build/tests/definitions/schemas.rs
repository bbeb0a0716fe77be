//! Tests for the schemas of one definition, and for checking its examples.

use serde_json::json;

use crate::sample::{
    ADD, GONE, add, assert_problems, assert_warnings, catalogue, changed, problems, put,
};

#[test]
fn invalid_schemas() {
    for (what, changes, expected) in [
        (
            "no type",
            json!({"/input_schema/type": GONE}),
            vec!["input_schema: must have \"type\": \"object\" at its root".to_owned()],
        ),
        (
            "another type",
            json!({"/input_schema": {"type": "array"}}),
            vec!["input_schema: must have \"type\": \"object\" at its root".to_owned()],
        ),
        (
            "two types",
            json!({"/input_schema/type": ["object", "null"]}),
            vec!["input_schema: must have \"type\": \"object\" at its root".to_owned()],
        ),
        (
            "not JSON Schema: input",
            json!({"/input_schema/properties/a/minimum": "one"}),
            vec!["input_schema: is not JSON Schema 2020-12: /properties/a/minimum: \"one\" is not of type \"number\"".to_owned()],
        ),
        (
            "not JSON Schema: output",
            json!({"/output_schema/type": "numeral"}),
            vec!["output_schema.type: is \"numeral\"; the types are array, boolean, integer, null, number, object, string".to_owned()],
        ),
        (
            "properties is not an object",
            json!({"/input_schema/properties": []}),
            vec![
                "input_schema.required: names \"a\", which is not among the properties".to_owned(),
                "input_schema.required: names \"b\", which is not among the properties".to_owned(),
            ],
        ),
        (
            "a pattern that is not a regular expression",
            json!({"/output_schema/pattern": "("}),
            vec!["output_schema: is not JSON Schema 2020-12: /pattern: \"(\" is not a \"regex\"".to_owned()],
        ),
        (
            "a reference",
            json!({"/input_schema/properties/a/$ref": "#/$defs/number"}),
            vec!["input_schema.properties.a.$ref: refers to \"#/$defs/number\", which is not a schema of this document".to_owned()],
        ),
        (
            "definitions of older drafts",
            json!({"/output_schema/definitions": {}}),
            vec!["output_schema: uses definitions, which is not supported; use $defs".to_owned()],
        ),
        (
            "a reference in every place that can contain a schema",
            json!({"/output_schema": {
                "additionalProperties": {"$ref": "#"},
                "allOf": [true, {"$ref": "#"}],
                "anyOf": [{"oneOf": [{"$ref": "#"}]}],
                "contains": {"$ref": "#"},
                "dependencies": {"x": {"$ref": "#"}, "y": ["z"]},
                "dependentSchemas": {"x": {"$ref": "#"}},
                "if": {"then": {"else": {"$ref": "#"}}},
                "items": {"$ref": "#"},
                "patternProperties": {"^x": {"$ref": "#"}},
                "prefixItems": [{"not": {"$ref": "#"}}],
                "propertyNames": {"$ref": "#"},
                "unevaluatedItems": {"$ref": "#"},
                "unevaluatedProperties": {"$ref": "#"}
            }}),
            [
                "additionalProperties", "allOf[1]", "anyOf[0].oneOf[0]", "contains",
                "dependencies.x", "dependentSchemas.x", "if.then.else", "items", "patternProperties.^x",
                "prefixItems[0].not", "propertyNames", "unevaluatedItems", "unevaluatedProperties",
            ]
            .map(|at| format!("output_schema.{at}.$ref: refers to \"#\", which contains it; schemas may not be recursive"))
            .to_vec(),
        ),
        (
            "required names a missing property",
            json!({"/input_schema/required": ["a", "c"]}),
            vec!["input_schema.required: names \"c\", which is not among the properties".to_owned()],
        ),
        (
            "required names a missing property: output",
            json!({"/output_schema": {"required": ["sum"]}}),
            vec!["output_schema.required: names \"sum\", which is not among the properties".to_owned()],
        ),
    ] {
        let expected: Vec<_> =
            expected.iter().map(|message| format!("tools/{ADD}: {message}")).collect();
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        assert_problems(what, &changes, &expected);
    }
}

#[test]
fn valid_schemas() {
    for (what, changes) in [
        ("no properties", json!({"/input_schema": {"type": "object"}})),
        (
            "references",
            json!({
                "/input_schema/$defs": {"number": {"$anchor": "n", "type": "number", "description": "A number."}},
                "/input_schema/properties/a": {"$ref": "#/$defs/number"},
                "/input_schema/properties/b": {"$ref": "#n", "description": "Another."}
            }),
        ),
        ("any value", json!({"/output_schema": {}})),
        (
            "nothing",
            json!({"/output_schema": null, "/examples": [{"input": {"a": 1, "b": 2}, "value": null}]}),
        ),
        (
            "a value that looks like a reference",
            json!({"/input_schema/properties/a/examples": [{"$ref": "#/x", "required": ["x"]}]}),
        ),
        (
            "a property called $ref",
            json!({"/input_schema/properties/$ref": {"type": "string", "description": "A reference."}}),
        ),
    ] {
        assert_problems(what, &changes, &[]);
    }
}

#[test]
fn examples() {
    let good = json!({"a": 1, "b": 2});
    for (what, changes, expected) in [
        (
            "no examples",
            json!({"/examples": []}),
            vec!["examples: is empty; expected at least one example, which the tests run"],
        ),
        (
            "no field",
            json!({"/examples": GONE}),
            vec!["examples: is empty; expected at least one example, which the tests run"],
        ),
        (
            "an input that the schema rejects",
            json!({"/examples": [{"input": good, "value": 3}, {"input": {"a": "1", "c": 1}, "value": 3}]}),
            vec![
                "examples[1].input: does not match input_schema: \"b\" is a required property",
                "examples[1].input/a: does not match input_schema: \"1\" is not of type \"number\"",
                "examples[1].input: does not match input_schema: Additional properties are not allowed ('c' was unexpected)",
            ],
        ),
        (
            "an output that the schema rejects",
            json!({"/examples": [{"input": good, "value": "3"}]}),
            vec![
                "examples[0].value: does not match output_schema: \"3\" is not of type \"number\"",
            ],
        ),
        (
            "a nested output that the schema rejects",
            json!({
                "/output_schema": {"type": "array", "items": {"type": "number"}},
                "/examples": [{"input": good, "value": [1, true]}]
            }),
            vec![
                "examples[0].value/1: does not match output_schema: true is not of type \"number\"",
            ],
        ),
        (
            "a value of a tool that returns nothing",
            json!({"/output_schema": null, "/examples": [{"input": good, "value": 3}]}),
            vec!["examples[0].value: does not match output_schema: 3 is not of type \"null\""],
        ),
        (
            "a part of the value that varies, and one that it does not have",
            json!({"/examples": [{"input": good, "value": 3, "varies": ["", "/id"]}]}),
            vec![
                "examples[0].varies: has \"/id\"; expected the JSON pointer of a part of value, such as /id",
            ],
        ),
        (
            "neither value nor error",
            json!({"/examples": [{"input": good}]}),
            vec!["examples[0]: must have exactly one of value, error and asks"],
        ),
        (
            "both value and error",
            json!({"/examples": [{"input": good, "value": 3, "error": {"message": "m"}}]}),
            vec!["examples[0]: must have exactly one of value, error and asks"],
        ),
        (
            "a null value is a value",
            json!({"/examples": [{"input": good, "value": null}]}),
            vec!["examples[0].value: does not match output_schema: null is not of type \"number\""],
        ),
        (
            "a format is checked",
            json!({
                "/input_schema/properties/a": {"type": "string", "format": "date", "description": "d"},
                "/examples": [{"input": {"a": "2026-02-30", "b": 1}, "value": 3}]
            }),
            vec![
                "examples[0].input/a: does not match input_schema: \"2026-02-30\" is not a \"date\"",
            ],
        ),
    ] {
        let expected: Vec<_> =
            expected.iter().map(|message| format!("tools/{ADD}: {message}")).collect();
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        assert_problems(what, &changes, &expected);
    }
}

#[test]
fn a_reference_for_decoded_content_is_a_reference() {
    assert_problems(
        "contentSchema is also a schema",
        &json!({"/output_schema": {"type": "string", "contentSchema": {"$ref": "#"}}, "/examples": [{"input": {"a": 1, "b": 2}, "value": "3"}]}),
        &[&format!(
            "tools/{ADD}: output_schema.contentSchema.$ref: refers to \"#\", which contains it; schemas may not be recursive"
        )],
    );
}

#[test]
fn only_draft_2020_12_is_accepted() {
    // The server validates by 2020-12 whatever `$schema` is, but clients believe `$schema`.
    for (schema, taken) in [
        ("https://json-schema.org/draft/2020-12/schema", true),
        ("http://json-schema.org/draft-07/schema#", false),
        ("http://json-schema.org/draft-04/schema#", false),
        ("https://schemas.example/mine", false),
    ] {
        for place in ["/input_schema/$schema", "/input_schema/properties/a/$schema"] {
            let mut source = catalogue();
            put(&mut source, ADD, &changed(add(), &json!({ place: schema })).to_string());
            let messages = problems(&source);
            assert_eq!(messages.is_empty(), taken, "{place} {schema}: {messages:?}");
        }
    }
}

#[test]
fn properties_without_a_description_cause_warnings() {
    let undescribed = "has no description; people and models need one";
    for (what, changes, expected) in [
        (
            "an input without description",
            json!({"/input_schema/properties/a/description": GONE}),
            vec![format!("input_schema.properties.a: {undescribed}")],
        ),
        (
            "a blank description",
            json!({"/input_schema/properties/a/description": " "}),
            vec![format!("input_schema.properties.a: {undescribed}")],
        ),
        (
            "a nested input without description",
            json!({"/input_schema/properties/c": {
                "description": "d", "type": "object",
                "properties": {"x": {"type": "array", "description": "d", "items": {"properties": {"y": {}}}}}
            }}),
            vec![format!(
                "input_schema.properties.c.properties.x.items.properties.y: {undescribed}"
            )],
        ),
        (
            "an output without description",
            json!({"/output_schema": {"properties": {"sum": {"type": "number"}}}}),
            vec![format!("output_schema.properties.sum: {undescribed}")],
        ),
        (
            "a nested output without description",
            json!({"/output_schema": {"properties": {"sums": {"description": "d", "items": {"properties": {"sum": true}}}}}}),
            vec![format!("output_schema.properties.sums.items.properties.sum: {undescribed}")],
        ),
    ] {
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        assert_warnings(what, &changes, &expected);
    }
}

#[test]
fn expensive_keywords_cause_warnings() {
    let pattern = |pattern: &str| json!({"type": "string", "description": "d", "pattern": pattern});
    for (what, changes, expected) in [
        ("small patterns", json!({"/input_schema/properties/c": pattern("^[a-z]{1,9}$")}), vec![]),
        (
            "a word boundary",
            json!({"/input_schema/properties/c": pattern("\\ba")}),
            vec!["input_schema.properties.c: has the pattern \"\\\\ba\","],
        ),
        (
            "too many states, in a name",
            json!({"/output_schema/patternProperties": {"\\p{L}{30}": {}}}),
            vec!["output_schema: has the pattern \"\\\\p{L}{30}\","],
        ),
    ] {
        assert_warnings(what, &changes, &expected);
    }
    let format = |name: &str| json!({"type": "string", "description": "d", "format": name});
    for (what, changes, expected) in [
        ("a cheap format", json!({"/input_schema/properties/c": format("date")}), vec![]),
        (
            "expensive formats, each at its first use",
            json!({
                "/input_schema/properties/c": format("email"),
                "/input_schema/properties/d": format("email"),
                "/output_schema": {"properties": {"e": format("email"), "f": format("uri")}}
            }),
            vec![
                "input_schema.properties.c: has \"format\": \"email\", whose check adds about 14 KB",
                "output_schema.properties.f: has \"format\": \"uri\", whose check adds about 10 KB",
            ],
        ),
    ] {
        assert_warnings(what, &changes, &expected);
    }
}
