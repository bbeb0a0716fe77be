//! Requests of which no call runs, by their number and their arguments.

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
            let (got, answer) =
                post(&host, &format!("{provider}/call"), &calls(provider, &say(count)));
            assert_eq!(got, status, "PC12 {provider} {count}: {answer}");
            if got == 400 {
                assert_eq!(answer["error"]["code"], "too_many_tool_calls", "{answer}");
                let most = if count == 21 { 20 } else { 1 };
                let words =
                    format!("There are {count} tool calls; one request may have at most {most}");
                assert_eq!(answer["error"]["message"], words);
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
        let (answer, _) = results(&host, &format!("{provider}/call"), &sent);
        let texts: Vec<_> = told(provider, &answer).into_iter().map(|(_, text, _)| text).collect();
        assert_eq!(
            texts,
            ["h", "Error: The arguments have 13 bytes of JSON; at most 12 are taken."],
            "PC11 {provider}"
        );
    }
}

#[test]
fn arguments_are_validated_before_any_call_runs() {
    // PC14
    let start = "No call ran, for arguments are invalid. ";
    let good = (Some("1"), "Echo_Say", r#"{"text":"hi"}"#);
    for (what, sent, expected) in [
        ("good ones", vec![good], None),
        ("unknown tools are not judged", vec![good, (Some("2"), "No_Such", "1")], None),
        ("nor those that may not be called", vec![good, (Some("2"), "Echo_Narrow", "1")], None),
        (
            "one fault",
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
        ("no name", vec![(Some("1"), "", "{}")], Some("1 (): The call names no function.")),
    ] {
        for provider in PROVIDERS {
            let host = FakeHost::with(&[("TOOL_ALLOWLIST", "Echo.Say,Echo.Broken")]);
            let body = calls(provider, &sent);
            let (status, answer) =
                post(&host, &format!("{provider}/call?validate_tool_arguments=true"), &body);
            assert_eq!(
                status,
                if expected.is_some() { 400 } else { 200 },
                "{what} {provider} {answer}"
            );
            if let Some(expected) = expected {
                assert_eq!(answer["error"]["code"], "invalid_tool_arguments", "{what} {provider}");
                let message = answer["error"]["message"].as_str().unwrap();
                assert_eq!(message, format!("{start}{expected}"), "{what} {provider}");
            }
            let (status, _) =
                post(&host, &format!("{provider}/call?validate_tool_arguments=false"), &body);
            assert_eq!(status, 200, "{what} {provider}: an error result of that call only");
        }
    }
    let bad = calls("openai", &[good, (Some("2"), "Echo_Say", "{secret")]);
    let (status, answer) =
        post(&FakeHost::default(), "openai/call?validate_tool_arguments=true", &bad);
    let expected = format!(
        "{start}2 (Echo_Say): Invalid JSON in arguments. Please retry with valid JSON. Found: key must be a string at line 1 column 2."
    );
    assert_eq!((status, &answer["error"]["message"]), (400, &json!(expected)));
}
