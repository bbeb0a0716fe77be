//! Requests that are rejected as a whole, because of the number of calls or their arguments.

use super::*;

#[test]
fn limits_of_a_request() {
    // PC12
    let say = |count: usize| vec![(Some("c"), "Echo_Say", r#"{"text":"hi"}"#); count];
    for (variables, count, status) in [
        (&[][..], 20, 200),
        (&[], 21, 400),
        (&[("MAX_TOOL_CALLS", "50")], 50, 200),
        (&[("MAX_TOOL_CALLS", "1")], 2, 400),
    ] {
        for provider in PROVIDERS {
            let host = FakeHost::with(variables);
            let (got, response) =
                post(&host, &format!("{provider}/call"), &calls(provider, &say(count)));
            assert_eq!(got, status, "PC12 {provider} {count}: {response}");
            if got == 400 {
                assert_eq!(response["error"]["code"], "too_many_tool_calls", "{response}");
                let most = if count == 21 { 20 } else { 1 };
                let expected =
                    format!("There are {count} tool calls; a request may have at most {most}");
                assert_eq!(response["error"]["message"], expected);
            }
        }
    }
    // PC11
    let host = FakeHost::with(&[("MAX_ARGUMENT_BYTES", "12")]);
    for provider in PROVIDERS {
        let sent = calls(
            provider,
            &[
                (Some("1"), "Echo_Say", r#"{"text":"h"}"#),
                (Some("2"), "Echo_Say", r#"{"text":"hi"}"#),
            ],
        );
        let (response, _) = call_ok(&host, &format!("{provider}/call"), &sent);
        let texts: Vec<_> =
            read_results(provider, &response).into_iter().map(|(_, text, _)| text).collect();
        assert_eq!(
            texts,
            ["h", "Error: The arguments have 13 bytes of JSON; the limit is 12."],
            "PC11 {provider}"
        );
    }
}

#[test]
fn arguments_are_validated_before_any_call_runs() {
    // PC14
    let start = "No call ran because arguments are invalid. ";
    let good = (Some("1"), "Echo_Say", r#"{"text":"hi"}"#);
    for (what, sent, expected) in [
        ("valid arguments", vec![good], None),
        ("unknown tools are skipped", vec![good, (Some("2"), "No_Such", "1")], None),
        (
            "so are tools that the caller may not run",
            vec![good, (Some("2"), "Echo_Narrow", "1")],
            None,
        ),
        (
            "one error",
            vec![good, (Some("2"), "Echo_Say", "{}")],
            Some("2 (Echo_Say): text: Is required"),
        ),
        (
            "two calls",
            vec![
                (Some("1"), "Echo_Broken", r#"{"text":1,"x":1}"#),
                good,
                (Some("2"), "Echo_Say", "[]"),
            ],
            Some(
                "1 (Echo_Broken): text: Must be a string; x: Is not a known parameter | 2 (Echo_Say): input: Must be an object",
            ),
        ),
        (
            "a call whose requirements are not met either",
            vec![good, (Some("2"), "Echo_Private", r#"{"text":1}"#)],
            Some("2 (Echo_Private): text: Must be a string"),
        ),
        ("no name", vec![(Some("1"), "", "{}")], Some("1 (): The call names no function.")),
    ] {
        for provider in PROVIDERS {
            let host = FakeHost::with(&[("TOOL_ALLOWLIST", "Echo.Say,Echo.Broken,Echo.Private")]);
            let body = calls(provider, &sent);
            let (status, response) =
                post(&host, &format!("{provider}/call?validate_tool_arguments=true"), &body);
            assert_eq!(
                status,
                if expected.is_some() { 400 } else { 200 },
                "{what} {provider} {response}"
            );
            if let Some(expected) = expected {
                assert_eq!(
                    response["error"]["code"], "invalid_tool_arguments",
                    "{what} {provider}"
                );
                let message = response["error"]["message"].as_str().unwrap();
                assert_eq!(message, format!("{start}{expected}"), "{what} {provider}");
            }
            let (status, _) =
                post(&host, &format!("{provider}/call?validate_tool_arguments=false"), &body);
            assert_eq!(status, 200, "{what} {provider}: an error result of that call only");
        }
    }
    let bad = calls("openai", &[good, (Some("2"), "Echo_Say", "{secret")]);
    let (status, response) =
        post(&FakeHost::default(), "openai/call?validate_tool_arguments=true", &bad);
    let expected = format!(
        "{start}2 (Echo_Say): Invalid JSON in arguments. Please retry with valid JSON. Found: key must be a string at line 1 column 2."
    );
    assert_eq!((status, &response["error"]["message"]), (400, &json!(expected)));
}

#[test]
fn request_options_in_the_body() {
    let invalid = [(Some("1"), "Echo_Say", "{}")];
    let path = |query: &str| format!("openai/call{query}");
    let unknown =
        "\"model\" is not a member of request_options, which has only validate_tool_arguments";
    let no_object = "request_options must be an object with validate_tool_arguments";
    let rejected = "No call ran because arguments are invalid. 1 (Echo_Say): text: Is required";
    for (query, options, expected) in [
        ("", json!({"validate_tool_arguments": true}), Some(rejected)),
        ("", json!({"validate_tool_arguments": false}), None),
        ("", json!({"validate_tool_arguments": null}), None),
        ("", json!({}), None),
        ("", json!(null), None),
        ("?validate_tool_arguments=true", json!({}), Some(rejected)),
        (
            "?validate_tool_arguments=true",
            json!({"validate_tool_arguments": true}),
            Some("validate_tool_arguments is in the query and in request_options"),
        ),
        (
            "",
            json!({"validate_tool_arguments": "true"}),
            Some("request_options.validate_tool_arguments must be true or false"),
        ),
        ("", json!({"validate_tool_arguments": true, "model": "m"}), Some(unknown)),
        ("", json!([]), Some(no_object)),
        ("", json!(true), Some(no_object)),
    ] {
        let body = json!({"tool_calls": calls("openai", &invalid), "request_options": options});
        let (status, response) = post(&FakeHost::default(), &path(query), &body);
        let message = response["error"]["message"].as_str();
        assert_eq!(message, expected, "{query} {options}: {response}");
        assert_eq!(status, if expected.is_some() { 400 } else { 200 }, "{query} {options}");
    }
    for provider in PROVIDERS {
        let frame = match provider {
            "openai" => "tool_calls",
            "openai-responses" => "output",
            "anthropic" => "content",
            _ => "parts",
        };
        let options = json!({"validate_tool_arguments": true});
        let body = json!({frame: calls(provider, &invalid), "request_options": options});
        let (status, response) = post(&FakeHost::default(), &format!("{provider}/call"), &body);
        assert_eq!(status, 400, "{provider}: {response}");
    }
}
