//! Tests for the schemas of one definition, and for checking its examples.

use serde_json::json;
use toolbooth_build::compile;

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
            vec!["output_schema: uses definitions, which is not supported; use $defs, and \"#/$defs/…\" in references".to_owned()],
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
            ["allOf[1]", "anyOf[0].oneOf[0]", "dependencies.x", "dependentSchemas.x", "if.then.else"]
            .map(|at| format!("output_schema.{at}.$ref: refers to \"#\", which contains it and applies to the same value; a recursive schema refers to itself for a part of the value, such as in properties or items"))
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
            "a recursive schema, and what is required where it is cut",
            json!({
                "/input_schema/$defs": {"node": {
                    "type": "object", "description": "A node.", "required": ["next"],
                    "properties": {"next": {"$ref": "#/$defs/node", "required": ["next"]}}
                }},
                "/input_schema/properties/c": {"allOf": [{"$ref": "#/$defs/node"}], "required": ["next"], "description": "d"}
            }),
        ),
        (
            "a recursive schema of decoded content",
            json!({"/output_schema": {"type": "number", "contentSchema": {"$ref": "#"}}}),
        ),
        (
            "names that other keywords than properties declare",
            json!({"/input_schema/properties/c": {
                "type": "object", "description": "d", "required": ["x", "y"],
                "propertyNames": {"enum": ["x", "y"]}, "additionalProperties": {"type": "number"}
            }}),
        ),
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
                "/input_schema/properties/c": format("hostname"),
                "/input_schema/properties/d": format("hostname"),
                "/output_schema": {"properties": {"e": format("hostname"), "f": format("uri")}}
            }),
            vec![
                "input_schema.properties.c: has \"format\": \"hostname\", whose check adds about 6 KB",
                "output_schema.properties.f: has \"format\": \"uri\", whose check adds about 10 KB",
            ],
        ),
    ] {
        assert_warnings(what, &changes, &expected);
    }
}

#[test]
fn what_generators_of_schemas_write() {
    let property = |schema: serde_json::Value| {
        let mut schema = schema;
        schema["description"] = json!("d");
        json!({ "/input_schema/properties/c": schema })
    };
    for (what, schema, expected) in [
        (
            "null as a default of what is not null",
            json!({"type": "string", "default": null}),
            vec![
                "input_schema.properties.c.default: is null, which the schema does not allow: the default counts as absent",
            ],
        ),
        (
            "null as a default of what may be null",
            json!({"type": ["string", "null"], "default": null}),
            vec![],
        ),
        (
            "a format of another language",
            json!({"type": "array", "items": {"type": "integer", "format": "int32"}}),
            vec![
                "input_schema.properties.c.items.format: is \"int32\", which is not checked: it only tells clients what is meant; the formats that are checked are email, date,",
            ],
        ),
    ] {
        assert_warnings(what, &property(schema), &expected);
    }
    let mut source = catalogue();
    put(
        &mut source,
        ADD,
        &changed(add(), &property(json!({"type": "string", "default": null}))).to_string(),
    );
    let files = compile(&source).unwrap().files;
    for (name, bytes) in files.iter().filter(|(name, _)| *name != "examples.json") {
        let text = String::from_utf8_lossy(bytes).replace("\"message\":null", "");
        assert!(!text.contains("\"default\":null"), "{name}");
    }
}

#[test]
fn what_hosts_pass_on_and_anthropic_rejects_causes_warnings() {
    let long = "a".repeat(65);
    for (what, changes, expected) in [
        ("48 characters", json!({"/name": "a".repeat(48)}), vec![]),
        (
            "49 characters",
            json!({"/name": "a".repeat(49)}),
            vec![
                "name: has 49 characters; expected at most 48, because MCP hosts such as Claude Code call the tool mcp__toolbooth__aaa",
            ],
        ),
        (
            "a union at the root",
            json!({"/input_schema/anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            vec!["input_schema: has \"anyOf\" at its root"],
        ),
        (
            "a union below",
            json!({"/input_schema/properties/a/anyOf": [{"minimum": 1}, {"maximum": -1}]}),
            vec![],
        ),
        (
            "a name",
            json!({"/input_schema/properties/$top": {"type": "string", "description": "d"}}),
            vec!["input_schema.properties.$top: is a name that Anthropic's API rejects"],
        ),
        (
            "a long name",
            json!({(format!("/input_schema/properties/{long}")): {"type": "string", "description": "d"}}),
            vec!["input_schema.properties.aaa"],
        ),
        (
            "a name of an output",
            json!({"/output_schema": {"properties": {"$top": {"description": "d"}}}}),
            vec![],
        ),
    ] {
        assert_warnings(what, &changes, &expected);
    }
}

#[test]
fn a_byte_order_mark_is_not_a_part_of_a_definition() {
    let mut source = catalogue();
    put(&mut source, ADD, &format!("\u{feff}{}", add()));
    assert_eq!(problems(&source), [""; 0]);
}

#[test]
fn a_reference_to_false_at_the_root_accepts_nothing() {
    assert_problems(
        "a value of a tool that returns nothing at all",
        &json!({"/output_schema": {"$ref": "#/$defs/n", "$defs": {"n": false}}}),
        &[&format!(
            "tools/{ADD}: examples[0].value: does not match output_schema: {{}} is not allowed for 3"
        )],
    );
}
