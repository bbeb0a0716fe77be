//! Content blocks, resources, and prompts that a tool answers.

use serde_json::{Value, json};

use crate::sample::{ADD, add, assert_told, catalogue, changed, problems, put, slugify};

fn blocks(items: Value) -> Value {
    let value = json!([{"type": "text", "text": "3"}]);
    json!({
        "/content": true, "/output_schema": {"type": "array", "items": items},
        "/examples": [{"input": {"a": 1, "b": 2}, "value": value}]
    })
}

#[test]
fn content_needs_a_schema_of_blocks() {
    let described = json!({"description": "d"});
    let text = json!({
        "properties": {"type": {"const": "text", "description": "d"}, "text": described},
        "required": ["type", "text"], "type": "object"
    });
    let no_kind = json!({
        "properties": {"type": described, "text": described},
        "required": ["type"], "type": "object"
    });
    let told = "tools/calculator/Add@1.0.0.json: output_schema: must refuse what is no list of \
                content blocks, for content is true: it needs \"type\": \"array\" and items with \
                type and what belongs to it";
    assert_told("texts", &blocks(text), &[]);
    for (what, changes) in [
        ("any kind", blocks(no_kind)),
        ("anything", blocks(json!({}))),
        ("a number", json!({"/content": true})),
    ] {
        assert_told(what, &changes, &[told]);
    }
}

fn resource(changes: Value) -> Value {
    let mut resource = json!({
        "uri": "a://b", "name": "n", "description": "d", "mime_type": "text/plain", "text": "t"
    });
    resource.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    json!({ "/resources": [resource] })
}

#[test]
fn resources_of_a_definition() {
    let none = Value::Null;
    let place = "tools/calculator/Add@1.0.0.json: resources[0]";
    let address = "is no address of its own; expected scheme:rest";
    let either = "has text or blob, or neither; neither where its address has {name}";
    for (changes, expected) in [
        (json!({}), vec![]),
        (json!({"text": none}), vec![]),
        (json!({"text": none, "blob": "AP8="}), vec![]),
        (json!({"text": none, "uri": "a://{a}/{b}"}), vec![]),
        (json!({"uri": "b"}), vec![format!(".uri: {address}")]),
        (json!({"uri": "a: b"}), vec![format!(".uri: {address}")]),
        (json!({"uri": "toolbooth://b"}), vec![format!(".uri: {address}")]),
        (
            json!({"text": none, "uri": "a://{c}"}),
            vec![".uri: has {c}, which is no parameter of the tool".to_owned()],
        ),
        (json!({"blob": "AP8="}), vec![format!(": {either}")]),
        (json!({"uri": "a://{a}"}), vec![format!(": {either}")]),
        (json!({"text": none, "blob": "AP8"}), vec![".blob: is not base64".to_owned()]),
        (json!({"text": none, "blob": "A==="}), vec![".blob: is not base64".to_owned()]),
        (json!({"mime_type": ""}), vec![".mime_type: is empty".to_owned()]),
    ] {
        let told: Vec<_> = expected.iter().map(|problem| format!("{place}{problem}")).collect();
        let told: Vec<_> = told.iter().map(String::as_str).collect();
        assert_told(&changes.to_string(), &resource(changes.clone()), &told);
    }
    let mut source = catalogue();
    put(&mut source, ADD, &changed(add(), &resource(json!({}))).to_string());
    let slug = "text/Slugify@1.0.0.json";
    put(&mut source, slug, &changed(slugify("1.0.0"), &resource(json!({}))).to_string());
    let told = format!(
        "tools/{slug}: resources[0].uri: is \"a://b\", which a resource of tools/{ADD} has too"
    );
    assert_eq!(problems(&source), [told]);
}

#[test]
fn a_prompt_without_text_has_the_tools_parameters() {
    let prompt = |name: &str| {
        json!({"/prompts": [{
            "name": "p", "description": "d", "arguments": [{"name": name, "description": "d"}]
        }]})
    };
    assert_told("a parameter", &prompt("a"), &[]);
    assert_told(
        "none",
        &prompt("c"),
        &["tools/calculator/Add@1.0.0.json: prompts[0].arguments[0].name: is no parameter of the \
           tool, which is run where there is no text"],
    );
}

#[test]
fn an_example_may_say_what_the_tool_asks() {
    let input = json!({"a": 1, "b": 2});
    assert_told("asks", &json!({"/examples": [{"input": input, "asks": ["q"]}]}), &[]);
    assert_told(
        "asks and a value",
        &json!({"/examples": [{"input": input, "asks": ["q"], "value": 3}]}),
        &["tools/calculator/Add@1.0.0.json: examples[0]: must have one of value, error and asks"],
    );
}
