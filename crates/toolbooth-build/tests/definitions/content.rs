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
        (json!({"text": none, "blob": "AP8="}), vec![]),
        (
            json!({"text": "{", "uri": "a://b}"}),
            vec![".uri: has a brace without its other; expected {name}".to_owned()],
        ),
        (json!({"uri": "b"}), vec![format!(".uri: {address}")]),
        (json!({"uri": "a: b"}), vec![format!(".uri: {address}")]),
        (json!({"uri": "toolbooth://b"}), vec![format!(".uri: {address}")]),
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

/// Text.Slugify takes one text.
#[test]
fn a_tool_that_answers_prompts_and_resources_can_be_given_what_it_requires() {
    let read_only =
        json!({"read_only": true, "destructive": false, "idempotent": true, "open_world": false});
    let slug = "text/Slugify@1.0.0.json";
    let told = |changes: Value| {
        let mut source = catalogue();
        let mut tool = slugify("1.0.0");
        tool["input_schema"]["required"] = json!(["text"]);
        put(&mut source, slug, &changed(tool, &changes).to_string());
        problems(&source)
    };
    let resource = |uri: &str| {
        json!({"/annotations": read_only, "/resources": [
            {"uri": uri, "name": "n", "description": "d", "mime_type": "text/plain"}
        ]})
    };
    let prompt = |names: &[&str]| {
        let argument = |name: &&str| json!({"name": name, "description": "d"});
        let arguments: Vec<_> = names.iter().map(argument).collect();
        let prompt = json!({"name": "p", "description": "d", "arguments": arguments});
        json!({"/annotations": read_only, "/prompts": [prompt]})
    };
    let (no_parameter, missing) = (
        "has \"c\", which is no parameter of the tool",
        "has no \"text\", which the tool requires",
    );
    let brace = "has a brace without its other; expected {name}";
    for (changes, place, expected) in [
        (resource("a://{text}"), "", &[][..]),
        (prompt(&["text"]), "", &[]),
        (resource("a://{text}/{c}"), "resources[0].uri", &[no_parameter]),
        (prompt(&["text", "c"]), "prompts[0].arguments", &[no_parameter]),
        (resource("a://b"), "resources[0].uri", &[missing]),
        (prompt(&[]), "prompts[0].arguments", &[missing]),
        (resource("a://{text"), "resources[0].uri", &[brace]),
        (resource("a://{text}}"), "resources[0].uri", &[brace]),
    ] {
        let expected: Vec<_> =
            expected.iter().map(|one| format!("tools/{slug}: {place}: {one}")).collect();
        assert_eq!(told(changes.clone()), expected, "{changes}");
    }
    let mut acts = resource("a://{text}");
    acts["/annotations"]["read_only"] = json!(false);
    let message = "is answered by the tool, which must be read_only: nobody is asked first";
    assert_eq!(told(acts), [format!("tools/{slug}: resources[0].uri: {message}")]);
    // Add's parameters are numbers.
    let numbers = json!({"/prompts": [{"name": "p", "description": "d", "arguments": [
        {"name": "a", "description": "d"}, {"name": "b", "description": "d"}
    ]}]});
    assert_told(
        "numbers",
        &numbers,
        &["a", "b"]
            .map(|name| {
                format!("tools/{ADD}: prompts[0].arguments: has {name:?}, which is a text here and none to the tool")
            })
            .each_ref()
            .map(String::as_str),
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
