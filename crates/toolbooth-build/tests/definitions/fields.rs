//! Tests for the fields of one definition.

use serde_json::{Value, json};
use toolbooth_build::Build;

use crate::sample::{
    ADD, GONE, add, assert_problems, assert_warnings, catalogue, changed, define, messages,
    problems, put, slugify,
};

#[test]
fn the_sample_is_valid() {
    assert_eq!(problems(&catalogue()), [""; 0]);
}

#[test]
fn text_that_is_not_json() {
    for (what, text, expected) in [
        (
            "cut off",
            r#"{"id": "#,
            "tools/calculator/Add@1.0.0.json: is not JSON: EOF while parsing a value at line 1 column 7",
        ),
        (
            "empty",
            "",
            "tools/calculator/Add@1.0.0.json: is not JSON: EOF while parsing a value at line 1 column 0",
        ),
        (
            "a trailing comma",
            "{\n  \"id\": 1,\n}",
            "tools/calculator/Add@1.0.0.json: is not JSON: trailing comma at line 3 column 1",
        ),
        (
            "a comment",
            "{} // done",
            "tools/calculator/Add@1.0.0.json: is not JSON: trailing characters at line 1 column 4",
        ),
        (
            "a repeated key",
            "{\"id\": \"A.B\",\n\"id\": \"A.C\"}",
            "tools/calculator/Add@1.0.0.json: is not JSON: the key \"id\" is repeated at line 2 column 4",
        ),
        (
            "a repeated key inside",
            r#"{"input_schema": {"properties": {"a": {}, "a": {}}}}"#,
            "tools/calculator/Add@1.0.0.json: is not JSON: the key \"a\" is repeated at line 1 column 45",
        ),
    ] {
        let mut source = catalogue();
        put(&mut source, ADD, text);
        assert_eq!(problems(&source), [expected], "{what}");
    }
}

#[test]
fn fields_that_are_unknown_missing_or_of_another_type() {
    for (what, changes, expected) in [
        (
            "unknown field",
            json!({"/inputs": {}}),
            "inputs: unknown field `inputs`, expected one of `id`, `name`, `title`, `description`, \
             `version`, `input_schema`, `output_schema`, `scopes`, `variables`, `bindings`, `http`, `service`, `requirements`, `examples`, \
             `annotations`, `content`, `prompts`, `resources`, `ui`, `deprecated`, `task`, `listed`",
        ),
        (
            "unknown annotation",
            json!({"/annotations/readonly": true}),
            "annotations.readonly: unknown field `readonly`, expected one of `read_only`, \
             `destructive`, `idempotent`, `open_world`",
        ),
        (
            "unknown field of an example",
            json!({"/examples": [{"input": {}, "output": 1}]}),
            "examples[0].output: unknown field `output`, expected one of `title`, `setup`, `input`, `value`, \
             `varies`, `error`, `asks`, `request`, `request_body`, `response`",
        ),
        (
            "unknown field of an example's error",
            json!({"/examples": [{"input": {}, "error": {"message": "m", "can_retry": true}}]}),
            "examples[0].error.can_retry: unknown field `can_retry`, expected `message`",
        ),
        (
            "unknown field of deprecated",
            json!({"/deprecated/since": "1.0.0"}),
            "deprecated.since: unknown field `since`, expected one of `message`, `sunset`, \
             `replacement`",
        ),
        (
            "unknown requirement",
            json!({"/requirements/user": true}),
            "requirements.user: unknown field `user`, expected one of `authorization`, `secrets`, \
             `user_id`",
        ),
        (
            "unknown field of an authorization",
            json!({"/requirements/authorization": [{"id": "bank", "scopes": []}]}),
            "requirements.authorization[0].scopes: unknown field `scopes`, expected `id` or `oauth2`",
        ),
        (
            "unknown field of oauth2",
            json!({"/requirements/authorization": [{"id": "bank", "oauth2": {"scope": "a"}}]}),
            "requirements.authorization[0].oauth2.scope: unknown field `scope`, expected `scopes`",
        ),
        (
            "unknown field of a secret",
            json!({"/requirements/secrets": [{"id": "KEY", "value": "v"}]}),
            "requirements.secrets[0].value: unknown field `value`, expected `id`",
        ),
        ("no id", json!({"/id": GONE}), "missing field `id`"),
        ("no name", json!({"/name": GONE}), "missing field `name`"),
        ("no description", json!({"/description": GONE}), "missing field `description`"),
        ("no version", json!({"/version": GONE}), "missing field `version`"),
        ("no input schema", json!({"/input_schema": GONE}), "missing field `input_schema`"),
        ("no output schema", json!({"/output_schema": GONE}), "missing field `output_schema`"),
        (
            "no secret id",
            json!({"/requirements/secrets": [{}]}),
            "requirements.secrets[0]: missing field `id`",
        ),
        (
            "no deprecation message",
            json!({"/deprecated/message": GONE}),
            "deprecated: missing field `message`",
        ),
        (
            "no example input",
            json!({"/examples": [{"value": 1}]}),
            "examples[0]: missing field `input`",
        ),
        (
            "a number for the name",
            json!({"/name": 7}),
            "name: invalid type: integer `7`, expected a string",
        ),
        (
            "null for the input schema",
            json!({"/input_schema": null}),
            "input_schema: invalid type: null, expected a map",
        ),
        (
            "true for the output schema",
            json!({"/output_schema": true}),
            "output_schema: invalid type: boolean `true`, expected a map",
        ),
        (
            "a string for a flag",
            json!({"/annotations/read_only": "yes"}),
            "annotations.read_only: invalid type: string \"yes\", expected a boolean",
        ),
    ] {
        assert_problems(what, &changes, &[&format!("tools/calculator/Add@1.0.0.json: {expected}")]);
    }
}

#[test]
fn an_array_is_not_an_object() {
    // Serde also deserializes a struct from an array, field by field; no author intends that.
    let good = add();
    let fields = ["id", "name", "title", "description", "version", "input_schema", "output_schema"];
    let positional: Value = fields.iter().map(|field| good[field].clone()).collect();
    for (place, text) in [
        ("", positional.to_string()),
        ("annotations", changed(add(), &json!({"/annotations": []})).to_string()),
        ("requirements", changed(add(), &json!({"/requirements": []})).to_string()),
        (
            "requirements.authorization[0]",
            changed(add(), &json!({"/requirements/authorization": [["bank"]]})).to_string(),
        ),
        (
            "requirements.secrets[0]",
            changed(add(), &json!({"/requirements/secrets": [["KEY"]]})).to_string(),
        ),
        ("deprecated", changed(add(), &json!({"/deprecated": ["Use a pen."]})).to_string()),
        (
            "examples[0]",
            changed(add(), &json!({"/examples": [["Small", {"a": 1, "b": 2}, 3]]})).to_string(),
        ),
    ] {
        let mut source = catalogue();
        put(&mut source, ADD, &text);
        let messages = problems(&source);
        let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
        let start = format!("tools/{ADD}: {place}");
        assert!(messages.len() == 1 && messages[0].starts_with(&start), "{start} {messages:?}");
        assert!(messages[0].contains("array") || messages[0].contains("object"), "{messages:?}");
    }
}

#[test]
fn the_length_of_descriptions_can_be_configured() {
    for (limit, length, expected) in [
        (4096, 4096, None),
        (4096, 4097, Some("description: has 4097 characters; the limit is 4096")),
        (10, 11, Some("description: has 11 characters; the limit is 10")),
        (4097, 20, Some("build.rs: max_description: is 4097; expected 1 to 4096")),
        (0, 20, Some("build.rs: max_description: is 0; expected 1 to 4096")),
    ] {
        let mut source = catalogue();
        let described = |length| json!({"/description": "d".repeat(length)});
        put(&mut source, ADD, &changed(add(), &described(length)).to_string());
        define(&mut source, &changed(slugify("1.0.0"), &described(1)));
        let got = messages(Build::default().max_description(limit).compile(&source));
        let matches = match expected {
            None => got.is_empty(),
            Some(expected) => got.iter().any(|message| message.contains(expected)),
        };
        assert!(matches, "{limit} {length}: {got:?}");
    }
}

#[test]
fn descriptions_scopes_requirements_and_deprecation() {
    let long = |character: &str, count| character.repeat(count);
    for (what, changes, expected) in [
        ("1,024 characters", json!({"/description": long("d", 1024)}), None),
        ("1,024 characters of four bytes", json!({"/description": long("😀", 1024)}), None),
        (
            "1,025 characters",
            json!({"/description": long("d", 1025)}),
            Some(
                "description: has 1025 characters; the limit is 1024 (max_description in build.rs)",
            ),
        ),
        (
            "1,025 characters of two bytes",
            json!({"/description": long("é", 1025)}),
            Some(
                "description: has 1025 characters; the limit is 1024 (max_description in build.rs)",
            ),
        ),
        (
            "an empty description",
            json!({"/description": ""}),
            Some("description: is empty; expected a description for people and models"),
        ),
        (
            "a blank description",
            json!({"/description": " \n"}),
            Some("description: is empty; expected a description for people and models"),
        ),
        ("no scopes", json!({"/scopes": []}), None),
        ("scopes of other servers", json!({"/scopes": ["https://a.example/b.c", "d:e/f"]}), None),
        (
            "two scopes in one",
            json!({"/scopes": ["a", "b c"]}),
            Some("scopes[1]: is not a scope; expected printable ASCII without spaces, \" or \\"),
        ),
        (
            "an empty scope",
            json!({"/scopes": [""]}),
            Some("scopes[0]: is not a scope; expected printable ASCII without spaces, \" or \\"),
        ),
        (
            "the wildcard scope of API keys",
            json!({"/scopes": ["*"]}),
            Some("scopes[0]: is not a scope; expected printable ASCII without spaces, \" or \\"),
        ),
        ("a scope twice", json!({"/scopes": ["a", "b", "a"]}), Some("scopes[2]: repeats \"a\"")),
        ("no variables", json!({"/variables": []}), None),
        (
            "a variable in lower case",
            json!({"/variables": ["A", "b"]}),
            Some("variables[1]: is \"b\"; expected capital letters, digits and _"),
        ),
        (
            "a variable twice",
            json!({"/variables": ["A", "A"]}),
            Some("variables[1]: repeats \"A\""),
        ),
        (
            "an empty authorization id",
            json!({"/requirements": {"authorization": [{"id": ""}]}}),
            Some("requirements: has an empty id"),
        ),
        (
            "a blank secret id",
            json!({"/requirements": {"secrets": [{"id": "KEY"}, {"id": " "}]}}),
            Some("requirements: has an empty id"),
        ),
        ("empty requirements", json!({"/requirements": {}}), None),
        (
            "an empty deprecation message",
            json!({"/deprecated/message": " "}),
            Some("deprecated.message: is empty; give the reason and what to use instead"),
        ),
        (
            "a day that does not exist",
            json!({"/deprecated/sunset": "2026-02-30"}),
            Some("deprecated.sunset: is not a date; expected YYYY-MM-DD"),
        ),
        (
            "a leap day of a common year",
            json!({"/deprecated/sunset": "2027-02-29"}),
            Some("deprecated.sunset: is not a date; expected YYYY-MM-DD"),
        ),
        (
            "a date with a time",
            json!({"/deprecated/sunset": "2027-01-01T00:00:00Z"}),
            Some("deprecated.sunset: is not a date; expected YYYY-MM-DD"),
        ),
        (
            "short numbers",
            json!({"/deprecated/sunset": "2027-1-1"}),
            Some("deprecated.sunset: is not a date; expected YYYY-MM-DD"),
        ),
        (
            "an empty date",
            json!({"/deprecated/sunset": ""}),
            Some("deprecated.sunset: is not a date; expected YYYY-MM-DD"),
        ),
        (
            "a replacement that does not exist",
            json!({"/deprecated/replacement": "Text.Slugify@9.0.0"}),
            Some(
                "deprecated.replacement: is \"Text.Slugify@9.0.0\", but there is no such definition",
            ),
        ),
        (
            "a replacement without version",
            json!({"/deprecated/replacement": "Text.Slugify"}),
            Some("deprecated.replacement: is \"Text.Slugify\", but there is no such definition"),
        ),
        (
            "a deprecation without date or replacement",
            json!({"/deprecated": {"message": "Old."}}),
            None,
        ),
    ] {
        let expected: Vec<_> =
            expected.iter().map(|message| format!("tools/{ADD}: {message}")).collect();
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        assert_problems(what, &changes, &expected);
    }
}

#[test]
fn each_optional_field_may_be_absent() {
    for field in [
        "/title",
        "/scopes",
        "/variables",
        "/bindings",
        "/requirements",
        "/annotations",
        "/deprecated",
    ] {
        let changes: Value = [(field.to_owned(), json!(GONE))].into_iter().collect();
        assert_problems(field, &changes, &[]);
    }
    assert_eq!(add().as_object().map(serde_json::Map::len), Some(14), "the sample has every field");
}

#[test]
fn the_description_of_a_new_tool_is_warned_of() {
    let expected = "description: begins with TODO; say what the tool does";
    assert_warnings("new", &json!({"/description": "TODO: what it does."}), &[expected]);
}

#[test]
fn an_authorization_without_scopes_is_warned_of() {
    let warning = "scopes: is missing, although the tool requires a user's authorization;";
    for (what, changes, expected) in [
        ("both", json!({}), &[][..]),
        ("no scopes", json!({"/scopes": GONE}), &[warning]),
        ("empty scopes", json!({"/scopes": []}), &[warning]),
        ("neither", json!({"/scopes": GONE, "/requirements/authorization": []}), &[]),
        ("no requirements", json!({"/scopes": GONE, "/requirements": GONE}), &[]),
    ] {
        assert_warnings(what, &changes, expected);
    }
}
