//! Tests for the fields that only MCP uses: `x-mcp-header` and prompts.

use serde_json::{Value, json};
use toolbooth_build::compile;

use crate::sample::{ADD, add, assert_problems, catalogue, changed, problems, put, slugify};

const FILE: &str = "tools/calculator/Add@1.0.0.json";

fn property(schema: Value) -> Value {
    let mut schema = schema;
    schema["description"] = json!("d");
    json!({"/input_schema/properties/a": schema, "/examples": [{"input": {"a": null, "b": 1}, "error": {"message": "m"}}]})
}

#[test]
fn mc8_parameters_that_are_repeated_in_headers() {
    let at = "input_schema.properties.a";
    let name = "is not a valid header name; expected 1 to 54 letters, digits, - or _";
    let kind = "is only allowed on a parameter of type string, integer or boolean";
    let nowhere = "has x-mcp-header in an unsupported place; it must be a string, on a parameter or on a nested property of one";
    for (schema, expected) in [
        (json!({"type": "string", "x-mcp-header": ""}), vec![format!("{at}.x-mcp-header: {name}")]),
        (
            json!({"type": "string", "x-mcp-header": "a b"}),
            vec![format!("{at}.x-mcp-header: {name}")],
        ),
        (
            json!({"type": "string", "x-mcp-header": "é"}),
            vec![format!("{at}.x-mcp-header: {name}")],
        ),
        (
            json!({"type": "number", "x-mcp-header": "A"}),
            vec![format!("{at}.x-mcp-header: {kind}")],
        ),
        (json!({"x-mcp-header": "A"}), vec![format!("{at}.x-mcp-header: {kind}")]),
        (
            json!({"type": ["string", "null"], "x-mcp-header": "A"}),
            vec![format!("{at}.x-mcp-header: {kind}")],
        ),
        (json!({"type": "string", "x-mcp-header": 1}), vec![format!("input_schema: {nowhere}")]),
        (
            json!({"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}),
            vec![format!("input_schema: {nowhere}")],
        ),
        (
            json!({"oneOf": [{"type": "string", "x-mcp-header": "A"}]}),
            vec![format!("input_schema: {nowhere}")],
        ),
        (
            json!({"type": "object", "properties": {
                "x": {"type": "string", "description": "d", "x-mcp-header": "A"},
                "y": {"type": "string", "description": "d", "x-mcp-header": "a"}
            }}),
            vec![format!(
                "{at}.properties.y.x-mcp-header: is \"a\", which another parameter already uses"
            )],
        ),
    ] {
        let messages: Vec<_> =
            expected.iter().map(|problem| format!("{FILE}: {problem}")).collect();
        let messages: Vec<_> = messages.iter().map(String::as_str).collect();
        assert_problems(&schema.to_string(), &property(schema), &messages);
    }
}

#[test]
fn mc8_headers_reach_the_table_and_no_schema() {
    let schema = json!({"type": "object", "description": "d", "properties": {
        "size": {"type": "integer", "description": "d", "x-mcp-header": "Box-Size"}
    }});
    let mut source = catalogue();
    let changes = json!({
        "/input_schema/properties/a": schema,
        "/input_schema/properties/b": {"type": "boolean", "description": "d", "x-mcp-header": "B"},
        "/examples": [{"input": {"a": {}, "b": true}, "value": 1}]
    });
    put(&mut source, ADD, &changed(add(), &changes).to_string());
    let files = compile(&source).unwrap().files;
    let rust = str::from_utf8(&files[0].1).unwrap();
    let parameter = |name: &str, path: &str| {
        format!("toolbooth::catalog::HeaderParameter {{ header: {name:?}, path: &{path} }}")
    };
    let table = format!(
        "headers: &[{}, {}],",
        parameter("mcp-param-box-size", r#"["a", "size"]"#),
        parameter("mcp-param-b", r#"["b"]"#)
    );
    assert!(rust.contains(&table), "{rust}");
    assert!(!rust.contains("x-mcp-header"), "schemas do not contain it");
}

#[test]
fn mc8_headers_behind_references_are_listed_at_the_property() {
    let zone = json!({"type": "string", "description": "The zone.", "x-mcp-header": "Zone"});
    for (what, property, definition) in [
        ("a reference", json!({"$ref": "#/$defs/Zone"}), zone.clone()),
        ("an anchor", json!({"$ref": "#zone"}), {
            let mut zone = zone.clone();
            zone["$anchor"] = json!("zone");
            zone
        }),
        (
            "beside the reference, with a rule",
            json!({"$ref": "#/$defs/Zone", "x-mcp-header": "Zone", "maxLength": 9}),
            json!({"type": "string", "description": "The zone."}),
        ),
    ] {
        let mut source = catalogue();
        let changes = json!({
            "/input_schema/$defs": {"Zone": definition},
            "/input_schema/properties/a": property,
            "/examples": [{"input": {"a": "x", "b": 1}, "value": 1}]
        });
        put(&mut source, ADD, &changed(add(), &changes).to_string());
        let files = compile(&source).unwrap().files;
        let (_, list) = files.iter().find(|(name, _)| name == "mcp-tools.json").unwrap();
        let text = str::from_utf8(list).unwrap();
        let list: Value = serde_json::from_str(text).unwrap();
        let listed = &list[0]["inputSchema"]["properties"]["a"];
        assert_eq!(
            (&listed["x-mcp-header"], &listed["type"]),
            (&json!("Zone"), &json!("string")),
            "{what}"
        );
        assert_eq!(text.matches("x-mcp-header").count(), 1, "{what}: nowhere else");
    }
    assert_problems(
        "a part of the output",
        &json!({"/output_schema": {"type": "number", "x-mcp-header": "Zone"}}),
        &[&format!("{FILE}: output_schema: has x-mcp-header, which is only for parameters")],
    );
}

fn prompt(changes: Value) -> Value {
    let mut prompt = json!({"name": "p", "description": "d", "text": "t"});
    prompt.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    json!([prompt])
}

fn with(definition: Value, prompts: Value) -> Value {
    let mut definition = definition;
    definition["prompts"] = prompts;
    definition
}

#[test]
fn mc32_prompts_of_a_definition() {
    let name = "expected 1 to 64 letters, digits, _ or -";
    for (prompts, expected) in [
        (json!([]), vec![]),
        (
            prompt(
                json!({"title": "T", "arguments": [{"name": "a", "description": "d", "required": true, "enum": ["x"]}], "text": "{a} and {a}"}),
            ),
            vec![],
        ),
        (prompt(json!({"name": "a b"})), vec![format!("prompts[0].name: is \"a b\"; {name}")]),
        (prompt(json!({"name": ""})), vec![format!("prompts[0].name: is \"\"; {name}")]),
        (
            prompt(json!({"description": " "})),
            vec!["prompts[0].description: is empty; expected a description for people".to_owned()],
        ),
        (
            prompt(json!({"text": "{a}"})),
            vec!["prompts[0].text: contains {a}, which is not an argument".to_owned()],
        ),
        (
            prompt(json!({"text": "{a"})),
            vec!["prompts[0].text: contains {a}, which is not an argument".to_owned()],
        ),
        (
            prompt(json!({"arguments": [{"name": "a", "description": ""}]})),
            vec![
                "prompts[0].text: does not use the argument {a}".to_owned(),
                "prompts[0].arguments[0].description: is empty; describe the argument".to_owned(),
            ],
        ),
        (
            prompt(
                json!({"text": "{a}", "arguments": [{"name": "a", "description": "d"}, {"name": "a", "description": "d"}]}),
            ),
            vec!["prompts[0].arguments[1].name: repeats \"a\"".to_owned()],
        ),
        (
            json!([["p", null, "d", [], "t"]]),
            vec!["prompts[0]: is an array; expected an object".to_owned()],
        ),
    ] {
        let mut source = catalogue();
        put(&mut source, ADD, &with(add(), prompts.clone()).to_string());
        let messages: Vec<_> =
            expected.iter().map(|problem| format!("{FILE}: {problem}")).collect();
        assert_eq!(problems(&source), messages, "{prompts}");
    }
}

#[test]
fn mc32_no_two_prompts_have_one_name() {
    let one = prompt(json!({}));
    let twice = json!([one[0], one[0]]);
    let mut source = catalogue();
    put(&mut source, ADD, &with(add(), twice).to_string());
    let messages =
        format!("{FILE}: prompts[1].name: is \"p\", which a prompt of {FILE} already uses");
    assert_eq!(problems(&source), [messages]);

    let mut source = catalogue();
    put(&mut source, ADD, &with(add(), one.clone()).to_string());
    let slug = "text/Slugify@1.0.0.json";
    put(&mut source, slug, &with(slugify("1.0.0"), one.clone()).to_string());
    let messages =
        format!("tools/{slug}: prompts[0].name: is \"p\", which a prompt of {FILE} already uses");
    assert_eq!(problems(&source), [messages]);

    let mut source = catalogue();
    put(&mut source, slug, &with(slugify("1.0.0"), one.clone()).to_string());
    put(&mut source, "text/Slugify@1.1.0.json", &with(slugify("1.1.0"), one).to_string());
    assert_eq!(problems(&source), [""; 0], "versions of a tool share their prompts");
}
