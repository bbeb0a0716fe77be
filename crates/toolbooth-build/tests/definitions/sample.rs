//! A small valid catalogue, and helpers that change it and compare the messages.

use serde_json::{Value, json};
use toolbooth_build::{Problem, Rendered, Source, compile};

/// The file of the definition that most tables change.
pub(crate) const ADD: &str = "calculator/Add@1.0.0.json";

/// In a change: remove this member.
pub(crate) const GONE: &str = "(gone)";

/// Two toolkits with one tool each.
pub(crate) fn catalogue() -> Source {
    let mut source = Source { name: "tools".to_owned(), ..Source::default() };
    put(&mut source, "lib.rs", "mod calculator;\nmod text;");
    put(&mut source, "calculator/mod.rs", "pub(crate) async fn add(_: I, _: &C) -> R {}");
    put(&mut source, "text/mod.rs", "pub async fn slugify(_: I, _: &C) -> R {}");
    define(&mut source, &add());
    define(&mut source, &slugify("1.0.0"));
    source
}

/// `Calculator.Add@1.0.0`, with every field that a definition can have.
pub(crate) fn add() -> Value {
    json!({
        "id": "Calculator.Add@1.0.0",
        "name": "Calculator_Add",
        "title": "Add",
        "description": "Adds two numbers.",
        "version": "1.0.0",
        "input_schema": {
            "type": "object",
            "properties": {
                "a": {"type": "number", "description": "The first number."},
                "b": {"type": "number", "description": "The second number."}
            },
            "required": ["a", "b"],
            "additionalProperties": false
        },
        "output_schema": {"type": "number", "description": "The sum."},
        "scopes": ["sums:add", "sums:all"],
        "variables": ["SUMS_URL"],
        "bindings": [{"name": "SUMS", "kind": "d1"}, {"name": "CACHE", "kind": "kv", "optional": true}],
        "requirements": {
            "authorization": [{"id": "bank", "oauth2": {"scopes": ["read"]}}],
            "secrets": [{"id": "KEY"}],
            "user_id": true
        },
        "annotations": {"read_only": true, "destructive": false, "idempotent": true, "open_world": false},
        "deprecated": {"message": "Use a pen.", "sunset": "2028-02-29", "replacement": "Text.Slugify@1.0.0"},
        "examples": [
            {"title": "Small", "input": {"a": 1, "b": 2}, "value": 3},
            {"input": {"a": 1e308, "b": 1e308}, "error": {"message": "Too large"}}
        ]
    })
}

/// A version of `Text.Slugify` with only the required fields.
pub(crate) fn slugify(version: &str) -> Value {
    json!({
        "id": format!("Text.Slugify@{version}"),
        "name": "Text_Slugify",
        "description": "Makes a slug.",
        "version": version,
        "input_schema": {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "The text."}}
        },
        "output_schema": {"type": "string"},
        "examples": [{"input": {"text": "a b"}, "value": "a-b"}]
    })
}

/// Adds or overwrites a file of the catalogue.
pub(crate) fn put(source: &mut Source, path: &str, text: &str) {
    source.files.insert(path.to_owned(), text.to_owned());
}

/// Adds a definition at the path that its id requires.
pub(crate) fn define(source: &mut Source, definition: &Value) {
    let id = definition["id"].as_str().unwrap();
    let (toolkit, rest) = id.split_once('.').unwrap();
    put(source, &format!("{}/{rest}.json", toolkit.to_lowercase()), &definition.to_string());
}

/// The definition with new values at these JSON pointers; [`GONE`] removes a member.
pub(crate) fn changed(mut definition: Value, changes: &Value) -> Value {
    for (pointer, value) in changes.as_object().into_iter().flatten() {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = definition.pointer_mut(parent).and_then(Value::as_object_mut).unwrap();
        if value == GONE {
            assert!(parent.remove(key).is_some(), "{pointer} was not there");
        } else {
            parent.insert(key.to_owned(), value.clone());
        }
    }
    definition
}

/// The messages for a catalogue; empty if it is valid.
pub(crate) fn problems(source: &Source) -> Vec<String> {
    messages(compile(source))
}

/// The messages of a build.
pub(crate) fn messages(result: Result<Rendered, Vec<Problem>>) -> Vec<String> {
    result.err().iter().flatten().map(Problem::to_string).collect()
}

/// Asserts the messages for the definition of Add with these changes.
pub(crate) fn assert_problems(what: &str, changes: &Value, expected: &[&str]) {
    let mut source = catalogue();
    put(&mut source, ADD, &changed(add(), changes).to_string());
    assert_eq!(problems(&source), expected, "{what}");
}

/// Asserts how each warning for the definition of Add with these changes begins.
pub(crate) fn assert_warnings(what: &str, changes: &Value, expected: &[&str]) {
    let mut source = catalogue();
    put(&mut source, ADD, &changed(add(), changes).to_string());
    let warnings = compile(&source).unwrap().warnings;
    assert_eq!(warnings.len(), expected.len(), "{what}: {warnings:?}");
    for (warning, expected) in warnings.iter().map(ToString::to_string).zip(expected) {
        assert!(warning.starts_with(&format!("tools/{ADD}: {expected}")), "{what}: {warning}");
    }
}
