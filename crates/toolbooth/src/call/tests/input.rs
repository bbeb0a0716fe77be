//! Tests of the messages for invalid input.

use std::borrow::Cow;

use super::*;

#[test]
fn input_error_messages() {
    for (input, expected) in [
        (json!({}), vec![("text", "Is required")]),
        (json!({"text": 1}), vec![("text", "Must be a string")]),
        (json!({"text": ""}), vec![("text", "Must have at least 1 character")]),
        (json!({"text": "0123456789"}), vec![("text", "Must have at most 9 characters")]),
        (json!({"text": "a", "colour": 1}), vec![("colour", "Is not a known parameter")]),
        (
            json!({"text": "a", "tag": 1}),
            vec![("tag", "Is not a known parameter (did you mean \"tags\"?)")],
        ),
        (
            json!({"txt": "a"}),
            vec![
                ("text", "Is required"),
                ("txt", "Is not a known parameter (did you mean \"text\"?)"),
            ],
        ),
        (json!({"text": "a", "txt": "a"}), vec![("txt", "Is not a known parameter")]),
        (json!({"text": "a", "x.y": 1}), vec![("[\"x.y\"]", "Is not a known parameter")]),
        (json!({"text": "a", "a\"\n": 1}), vec![("[\"a’�\"]", "Is not a known parameter")]),
        (json!({"text": "a", "mood": "odd"}), vec![("mood", "Must be one of: \"glad\", \"sad\"")]),
        (json!({"text": "a", "times": 0}), vec![("times", "Must be at least 1")]),
        (json!({"text": "a", "times": 10}), vec![("times", "Must be less than 10")]),
        (json!({"text": "a", "times": 1.5}), vec![("times", "Must be an integer")]),
        (json!({"text": "a", "tags": ["a", 1]}), vec![("tags[1]", "Must be null or a string")]),
        (
            json!({"text": "a", "tags": ["a", "a", "a"]}),
            vec![("tags", "Must have at most 2 items; Must not contain the same item twice")],
        ),
        (json!({"text": "a", "at": {}}), vec![("at.x", "Is required")]),
        (json!({"text": "a", "at": {"x": 0.3}}), vec![("at.x", "Must be a multiple of 0.5")]),
        (json!({"text": "a", "code": "A"}), vec![("code", "Must match the pattern ^[a-z]+$")]),
        (
            json!({"text": "a", "either": 1}),
            vec![("either", "Must match at least one of: a string; an object")],
        ),
        (
            json!({"text": "a", "one": "x"}),
            vec![("one", "Must match one of: an integer; true or false")],
        ),
        (json!([1]), vec![("input", "Must be an object")]),
        (json!(null), vec![("input", "Must be an object")]),
        (
            json!({"text": 1, "mood": 1, "times": "x"}),
            vec![
                ("mood", "Must be one of: \"glad\", \"sad\""),
                ("text", "Must be a string"),
                ("times", "Must be an integer"),
            ],
        ),
    ] {
        let (outcome, _) = outcome("Echo.Say", input.clone(), Credentials::default());
        let Outcome::InvalidInput(invalid) = outcome else { panic!("{input}: {outcome:?}") };
        let mut got: Vec<_> =
            invalid.errors.iter().map(|e| (e.parameter.as_str(), e.message.as_str())).collect();
        got.sort_unstable();
        assert_eq!(got, expected, "{input}");
    }
}

#[test]
fn the_number_of_input_errors_is_limited() {
    let many: serde_json::Map<_, _> = (0..500).map(|n| (format!("p{n}"), json!(n))).collect();
    let (outcome, _) = outcome("Echo.Say", Value::Object(many), Credentials::default());
    let Outcome::InvalidInput(invalid) = outcome else { panic!("{outcome:?}") };
    assert_eq!(invalid.errors.len(), 32);
}

#[test]
fn the_size_of_input_errors_is_limited() {
    let key = |letter: char| letter.to_string().repeat(10_000);
    let below = |count| -> Value { (0..count).map(|n| (format!("p{n}"), json!(n))).collect() };
    let deep = (0..60).fold(json!(1), |inner, _| json!({ key('🙂'): inner }));
    for (what, input) in [
        ("one long name", json!({ "text": "a", key('b'): 1 })),
        ("many", (0..500).map(|n| (format!("{n}{}", key('b')), json!(n))).collect()),
        ("a long path", deep.clone()),
        ("many errors below a long path", json!({ key('b'): below(500), key('c'): deep })),
    ] {
        let invalid = check(&OBJECTS, &(&input).into()).unwrap_err();
        let size = invalid.to_string().len();
        assert!(size < 4096 + 64, "{what}: {size} bytes");
        assert!(
            invalid.errors.iter().all(|error| error.parameter.chars().count() <= 129),
            "{what}: {invalid}"
        );
    }
}

#[test]
fn a_tool_without_parameters_rejects_every_parameter() {
    const NONE: Properties = Properties { named: &[], patterns: &[], additional: Some(&NOTHING) };
    let nothing = of(&[OBJECT, Keyword::Object(ObjectKeyword::Properties(&NONE))]);
    for (input, expected) in [
        (json!({}), vec![]),
        (
            json!({"b": 1, "a": {}}),
            vec![("a", "Is not a known parameter"), ("b", "Is not a known parameter")],
        ),
        (json!(1), vec![("input", "Must be an object")]),
    ] {
        let errors = check(&nothing, &(&input).into())
            .map_or_else(|invalid| invalid.errors, |()| Vec::new());
        let got: Vec<_> =
            errors.iter().map(|e| (e.parameter.as_str(), e.message.as_str())).collect();
        assert_eq!(got, expected, "{input}");
    }
    let many: Value = (0..500).map(|n| (format!("p{n}"), json!(n))).collect();
    assert_eq!(check(&nothing, &(&many).into()).map_err(|invalid| invalid.errors.len()), Err(32));
}

#[test]
fn a_handler_may_borrow_from_its_input() {
    #[derive(Deserialize)]
    struct Words<'a> {
        #[serde(borrow)]
        first: Cow<'a, str>,
        second: &'a str,
        rest: Value,
    }
    async fn join(words: Words<'_>, _: &Context<'_>) -> Result<String, ToolError> {
        assert!(matches!(words.first, Cow::Borrowed(_)));
        Ok(format!("{} {} {}", words.first, words.second, words.rest))
    }
    const RUN: ToolFn = |input, context| run(input, context, join);
    let body = r#"{"second":"an \u0065scape","rest":{"b":[1,"x"],"a":null},"first":"plain"}"#;
    let input = crate::json::parse(body).unwrap();
    let (credentials, dialogue) = Default::default();
    let host = FakeHost::default();
    let settings = crate::testing::settings(crate::testing::CAPABILITIES, &host);
    let principal = Principal::ANONYMOUS;
    let tool = super::private();
    let context = Context::new(&tool, &principal, &credentials, &dialogue, &settings.tools, &host);
    let expected = json!(r#"plain an escape {"a":null,"b":[1,"x"]}"#);
    assert_eq!(ready(RUN(&input, &context)).unwrap(), expected);
}
