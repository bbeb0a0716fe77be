//! How the document renders definitions.

use serde_json::{Value, json};

use super::super::load::LIST;
use crate::catalog::{Definition, Listed, Rendering};

fn definition(fields: &Value) -> Definition {
    let mut definition = json!({
        "id": "A.B@1.0.0", "name": "A_B", "description": "Does it.", "version": "1.0.0",
        "input_schema": {"type": "object"}, "output_schema": null
    });
    for (field, value) in fields.as_object().unwrap() {
        definition[field] = value.clone();
    }
    serde_json::from_value(definition).unwrap()
}

fn rendered(fields: &Value, latest: bool) -> Rendering {
    let definition = definition(fields);
    (LIST.entry)(&Listed { definition: &definition, name: &definition.name, latest })
}

fn function(fields: &Value) -> Value {
    match rendered(fields, true) {
        Rendering::Supported { json, warnings } => {
            assert!(warnings.is_empty(), "{warnings:?}");
            serde_json::from_str(&json).unwrap()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn functions() {
    let nothing =
        json!({"data": {"name": "result", "schema": {"type": "object", "properties": {}}}});
    assert_eq!(
        function(&json!({})),
        json!({
            "name": "A_B", "description": "Does it.", "parameters": [], "return": null,
            "stream": nothing
        }),
        "OT27 OT40: all members, also without parameters and value"
    );
    let input = json!({
        "type": "object",
        "properties": {
            "from": {"type": "string", "description": "Where from."},
            "boxes": {
                "type": "array", "description": "Sizes.",
                "items": {"type": "object", "description": "A box.",
                    "properties": {"w": {"type": "integer", "minimum": 1}}, "required": ["w"]}
            },
            "speed": {"type": ["string", "null"], "enum": ["slow", "fast", null]},
            "stars": {"type": "integer", "description": "1", "enum": [1, 2]},
            "any": {}
        },
        "required": ["from", "boxes"],
        "additionalProperties": false
    });
    let function = function(&json!({"input_schema": input}));
    let parameters = function["parameters"].as_array().unwrap();
    let named = |name: &str| parameters.iter().find(|one| one["name"] == name).unwrap();
    assert_eq!(parameters.len(), 5);
    assert_eq!(
        named("from"),
        &json!({"name": "from", "description": "Where from.", "schema": {"type": "string"}, "required": true}),
        "OT28"
    );
    let boxes = named("boxes");
    assert_eq!((&boxes["description"], &boxes["required"]), (&json!("Sizes."), &json!(true)));
    assert_eq!(boxes["schema"]["type"], "array", "OT29");
    assert_eq!(boxes["schema"]["items"]["required"], json!(["w"]), "OT31");
    let width = &boxes["schema"]["items"]["properties"]["w"];
    assert_eq!(width["description"], "At least 1.", "OT33");
    let speed = named("speed");
    assert_eq!(speed["schema"]["type"], "string", "OT30");
    assert_eq!(speed["schema"]["enum"], json!(["slow", "fast"]), "OT32");
    assert_eq!(speed["required"], false, "OT28");
    assert_eq!(named("stars")["description"], "1.", "OT34");
    assert_eq!(named("stars")["schema"]["enum"], json!([1, 2]), "OT32");
    assert_eq!(named("any")["schema"]["type"], "string", "OT29");
}

#[test]
fn rules_about_several_parameters_are_in_the_description() {
    let parameters = json!({"a": {"type": "string"}, "b": {"type": "string"}});
    for (input, expected) in [
        (json!({"additionalProperties": false, "title": "Input"}), "Does it."),
        (json!({"description": "Where."}), "Does it. Where."),
        (json!({"minProperties": 1}), "Does it. At least 1 member."),
        (
            json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            r#"Does it. Must match one of: {"required":["a"]}; {"required":["b"]}."#,
        ),
    ] {
        let mut schema = input.clone();
        schema["type"] = json!("object");
        schema["properties"] = parameters.clone();
        let function = function(&json!({"input_schema": schema}));
        assert_eq!(function["description"], expected, "OT33 {input}");
        assert_eq!(function["parameters"].as_array().map(Vec::len), Some(2), "OT28 {input}");
    }
}

#[test]
fn result_schemas() {
    let wrapped = |schema: Value| json!({"type": "object", "properties": {"result": schema}, "required": ["result"]});
    let maybe = |schema: Value| json!({"type": "object", "properties": {"result": schema}});
    let anything = json!({
        "type": "object", "properties": {},
        "description": "An object as it is; any other value as the member result."
    });
    let point = json!({
        "type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]
    });
    let mut perhaps = point.clone();
    perhaps["type"] = json!(["object", "null"]);
    let reduced = json!({"type": "object", "properties": {"x": {"type": "number"}}, "description": "May be null."});
    for (output, expected) in [
        (json!(null), Value::Null),
        (json!({"type": "null"}), Value::Null),
        (point.clone(), point),
        (perhaps, reduced),
        (json!({"type": "number"}), wrapped(json!({"type": "number"}))),
        (
            json!({"type": "array", "items": {"type": "boolean"}}),
            wrapped(json!({"type": "array", "items": {"type": "boolean"}})),
        ),
        (
            json!({"type": ["string", "null"]}),
            maybe(json!({"type": "string", "description": "May be null."})),
        ),
        (json!({}), anything.clone()),
        (json!({"anyOf": [{"type": "string"}, {"type": "object"}]}), anything.clone()),
        (json!({"type": ["object", "array"]}), anything),
    ] {
        let function = function(&json!({"output_schema": output}));
        let schema = if expected.is_null() {
            Value::Null
        } else {
            json!({"name": "result", "schema": expected})
        };
        assert_eq!(function["return"], schema, "OT10 {output}");
        if !schema.is_null() {
            assert_eq!(function["stream"], json!({"data": schema}), "OT40 {output}");
        }
    }
}

#[test]
fn tools_that_the_document_leaves_out() {
    let unsupported = |features: &[&str]| {
        Rendering::Unsupported(features.iter().map(|feature| (*feature).to_owned()).collect())
    };
    let input = json!({"type": "object", "properties": {"7": {"type": "string"}}});
    for (fields, latest, expected) in [
        (json!({}), false, Rendering::Omitted),
        (json!({"requirements": {"user_id": true}}), true, unsupported(&["requirements"])),
        (
            json!({"requirements": {"secrets": [{"id": "KEY"}]}}),
            true,
            unsupported(&["requirements"]),
        ),
        (json!({"name": "42"}), true, unsupported(&["the text \"42\""])),
        (json!({"description": "-42"}), true, unsupported(&["the text \"-42\""])),
        (json!({"input_schema": input}), true, unsupported(&["the text \"7\""])),
    ] {
        assert_eq!(rendered(&fields, latest), expected, "OT34 {fields}");
    }
    assert!(matches!(rendered(&json!({"requirements": {}}), true), Rendering::Supported { .. }));
}

#[test]
fn the_frame_is_a_document() {
    let text = LIST.head("My tools", "1.2.3") + LIST.tail;
    let document: Value = serde_json::from_str(&text).unwrap();
    let info = json!({"title": "My tools", "version": "1.2.3"});
    assert_eq!(document, json!({"opentool": "1.1.0", "info": info, "functions": []}), "OT26");
}
