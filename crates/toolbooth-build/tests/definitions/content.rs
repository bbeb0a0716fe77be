//! Tests for content blocks, resources, and prompts that a tool answers.

use serde_json::{Value, json};
use toolbooth_build::{Source, compile};

use crate::sample::{ADD, GONE, add, assert_problems, catalogue, changed, problems, put, slugify};

fn blocks(items: Value) -> Value {
    let value = json!([{"type": "text", "text": "3"}]);
    json!({
        "/content": true, "/output_schema": {"type": "array", "items": items},
        "/examples": [{"input": {"a": 1, "b": 2}, "value": value}]
    })
}

#[test]
fn content_requires_an_output_schema_of_blocks() {
    let described = json!({"description": "d"});
    let text = json!({
        "properties": {"type": {"const": "text", "description": "d"}, "text": described},
        "required": ["type", "text"], "type": "object"
    });
    let without_data = json!({
        "properties": {"type": described, "text": described},
        "required": ["type"], "type": "object"
    });
    let messages = "tools/calculator/Add@1.0.0.json: output_schema: must reject everything except a \
                list of content blocks, because content is true: set \"type\": \"array\", and \
                require type and the fields of each block in items";
    assert_problems("texts", &blocks(text), &[]);
    let mut omitted = blocks(json!({}));
    omitted["/output_schema"] = json!("(gone)");
    assert_problems("the schema of all blocks is the default", &omitted, &[]);
    for (what, changes) in [
        ("any kind", blocks(without_data)),
        ("anything", blocks(json!({}))),
        ("a number", json!({"/content": true})),
    ] {
        assert_problems(what, &changes, &[messages]);
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
    let address = "is not a valid URI; expected scheme:rest, with a scheme other than toolbooth";
    let either = "must have at most one of text and blob, and neither if its URI has {name}";
    for (changes, expected) in [
        (json!({}), vec![]),
        (json!({"text": none, "blob": "AP8="}), vec![]),
        (
            json!({"text": "{", "uri": "a://b}"}),
            vec![".uri: has an unbalanced brace; expected {name}".to_owned()],
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
        let messages: Vec<_> = expected.iter().map(|problem| format!("{place}{problem}")).collect();
        let messages: Vec<_> = messages.iter().map(String::as_str).collect();
        assert_problems(&changes.to_string(), &resource(changes.clone()), &messages);
    }
    let mut source = catalogue();
    put(&mut source, ADD, &changed(add(), &resource(json!({}))).to_string());
    let slug = "text/Slugify@1.0.0.json";
    put(&mut source, slug, &changed(slugify("1.0.0"), &resource(json!({}))).to_string());
    let messages = format!(
        "tools/{slug}: resources[0].uri: is \"a://b\", which a resource of tools/{ADD} already uses"
    );
    assert_eq!(problems(&source), [messages]);
}

/// Text.Slugify has one string parameter.
#[test]
fn prompts_and_resources_of_a_tool_supply_its_required_parameters() {
    let read_only =
        json!({"read_only": true, "destructive": false, "idempotent": true, "open_world": false});
    let slug = "text/Slugify@1.0.0.json";
    let messages = |changes: Value| {
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
        "contains \"c\", which is not a parameter of the tool",
        "lacks \"text\", which the tool requires",
    );
    let brace = "has an unbalanced brace; expected {name}";
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
        assert_eq!(messages(changes.clone()), expected, "{changes}");
    }
    let mut acts = resource("a://{text}");
    acts["/annotations"]["read_only"] = json!(false);
    let message =
        "is answered by the tool, which must therefore be read_only: it runs without confirmation";
    assert_eq!(messages(acts), [format!("tools/{slug}: resources[0].uri: {message}")]);
    let mut task = resource("a://{text}");
    task["/task"] = json!("required");
    let message = "is answered by the tool, whose task must therefore be \"optional\": no client gets a task for it";
    assert_eq!(messages(task), [format!("tools/{slug}: resources[0].uri: {message}")]);
    // Add's parameters are numbers.
    let numbers = json!({"/prompts": [{"name": "p", "description": "d", "arguments": [
        {"name": "a", "description": "d"}, {"name": "b", "description": "d"}
    ]}]});
    assert_problems(
        "numbers",
        &numbers,
        &["a", "b"]
            .map(|name| {
                format!("tools/{ADD}: prompts[0].arguments: contains {name:?}, which is a string here but not in input_schema")
            })
            .each_ref()
            .map(String::as_str),
    );
}

#[test]
fn completions_come_from_a_tool_that_takes_what_is_typed() {
    let slug = "text/Slugify@1.0.0.json";
    let find = "text/Find@1.0.0.json";
    let read_only =
        json!({"read_only": true, "destructive": false, "idempotent": true, "open_world": false});
    let string = json!({"type": "string", "description": "d"});
    let finds = |changes: Value| {
        let tool = json!({
            "/id": "Text.Find@1.0.0", "/name": "Text_Find", "/annotations": read_only, "/examples": [{"input": {"value": "a"}, "value": ["a"]}],
            "/input_schema": {"type": "object", "properties": {"value": string, "of": string}, "required": ["value"]},
            "/output_schema": {"type": "array", "items": string}
        });
        changed(changed(slugify("1.0.0"), &tool), &changes)
    };
    let template = |uri: &str, complete: Value| json!({"/resources": [{"uri": uri, "name": "n", "description": "d", "mime_type": "text/plain", "complete": complete}]});
    let by = |with: Value| json!({"text": {"tool": "Text.Find", "with": with}});
    let prompt = |with: Value| {
        json!({"/prompts": [{"name": "p", "description": "d", "arguments": [
            {"name": "text", "description": "d", "complete": {"tool": "Text.Find", "with": with}}
        ]}]})
    };
    let tool = |problem: &str| vec![format!("resources[0].complete.text.tool: {problem}")];
    let plain = || template("a://{text}", by(json!([])));
    let none = json!({});
    for (of, finder, expected) in [
        (plain(), &none, vec![]),
        (template("a://{+text}", by(json!([]))), &none, vec![]),
        (prompt(json!([])), &none, vec![]),
        (
            template("a://{+text}/b", by(json!([]))),
            &none,
            vec!["resources[0].uri: has {+name} before its end; expected it last, because it matches the rest".to_owned()],
        ),
        (
            template("a://{text}", json!({"x": {"tool": "Text.Find"}})),
            &none,
            vec!["resources[0].complete.x: is not a name in the URI".to_owned()],
        ),
        (
            template("a://{text}", by(json!(["of"]))),
            &none,
            vec!["resources[0].complete.text.with: contains \"of\", which is not an argument here".to_owned()],
        ),
        (
            prompt(json!(["of"])),
            &none,
            vec!["prompts[0].arguments[0].complete.with: contains \"of\", which is not an argument here".to_owned()],
        ),
        (
            template("a://{text}", json!({"text": {"tool": "Text.None"}})),
            &none,
            tool("\"Text.None\" is not a tool of the catalogue; expected an id without a version"),
        ),
        (
            plain(),
            &json!({"/input_schema/properties/value/type": "integer", "/examples": [{"input": {"value": 1}, "value": ["a"]}]}),
            tool("\"Text.Find\" does not complete: it needs the parameter \"value\", a string"),
        ),
        (
            plain(),
            &json!({"/input_schema/required": ["of"], "/examples": [{"input": {"of": "a"}, "value": ["a"]}]}),
            tool("\"Text.Find\" does not complete: it requires \"of\", which is not in `with`"),
        ),
        (
            plain(),
            &json!({"/output_schema": string, "/examples": [{"input": {"value": "a"}, "value": "a"}]}),
            tool("\"Text.Find\" does not complete: its output_schema must be a list of strings"),
        ),
        (
            plain(),
            &json!({"/annotations/read_only": false}),
            tool("\"Text.Find\" does not complete: it must be read_only, because it runs while a user types"),
        ),
    ] {
        let mut source = catalogue();
        let slugs = changed(slugify("1.0.0"), &json!({"/annotations": read_only}));
        put(&mut source, slug, &changed(slugs, &of).to_string());
        put(&mut source, find, &finds(finder.clone()).to_string());
        let functions = "pub async fn slugify(_: I, _: &C) -> R {} pub async fn find(_: I, _: &C) -> R {}";
        put(&mut source, "text/mod.rs", functions);
        let expected: Vec<_> = expected.iter().map(|it| format!("tools/{slug}: {it}")).collect();
        assert_eq!(problems(&source), expected, "{of} {finder}");
    }
}

#[test]
fn a_tool_that_only_completes_is_in_no_list() {
    let read_only =
        json!({"read_only": true, "destructive": false, "idempotent": true, "open_world": false});
    let string = json!({"type": "string", "description": "d"});
    let tool = json!({
        "/id": "Text.Find@1.0.0", "/name": "Text_Find", "/annotations": read_only, "/listed": "never",
        "/examples": [{"input": {"value": "a"}, "value": ["a"]}],
        "/input_schema": {"type": "object", "properties": {"value": string}, "required": ["value"]},
        "/output_schema": {"type": "array", "items": string}
    });
    let template = json!({"/annotations": read_only, "/resources": [{
        "uri": "a://{text}", "name": "n", "description": "d", "mime_type": "text/plain",
        "complete": {"text": {"tool": "Text.Find"}}
    }]});
    let source = |changes: Value| {
        let mut source = catalogue();
        let slugs = changed(slugify("1.0.0"), &template);
        put(&mut source, "text/Slugify@1.0.0.json", &slugs.to_string());
        let find = changed(changed(slugify("1.0.0"), &tool), &changes).to_string();
        put(&mut source, "text/Find@1.0.0.json", &find);
        let functions =
            "pub async fn slugify(_: I, _: &C) -> R {} pub async fn find(_: I, _: &C) -> R {}";
        put(&mut source, "text/mod.rs", functions);
        source
    };
    let listing = |source: &Source| {
        let files = compile(source).unwrap().files.into_iter();
        let has = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains("Text_Find");
        files.filter(|(_, bytes)| has(bytes)).map(|(name, _)| name).collect::<Vec<_>>()
    };
    let listed = listing(&source(json!({"/listed": GONE})));
    assert!(listed.len() > 10, "{listed:?}");
    // It can be called by its name.
    assert_eq!(listing(&source(json!({}))), ["catalog.rs"]);
    let with = |more: Value| problems(&source(more));
    let message = "tools/text/Find@1.0.0.json: listed: is \"never\", but the tool has prompts, resources or a view; expected a tool that only completes arguments";
    let prompts = json!({"/prompts": [{"name": "p", "description": "d", "text": "t"}]});
    assert_eq!(with(prompts), [message]);
    assert_eq!(with(json!({"/ui": {"visibility": ["app"]}})), [message]);
}

#[test]
fn an_example_may_list_the_questions_of_the_tool() {
    let input = json!({"a": 1, "b": 2});
    assert_problems("asks", &json!({"/examples": [{"input": input, "asks": ["q"]}]}), &[]);
    assert_problems(
        "asks and a value",
        &json!({"/examples": [{"input": input, "asks": ["q"], "value": 3}]}),
        &[
            "tools/calculator/Add@1.0.0.json: examples[0]: must have exactly one of value, error and asks",
        ],
    );
}
