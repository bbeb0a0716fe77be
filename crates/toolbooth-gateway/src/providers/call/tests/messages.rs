//! The result of a call as the model reads it, and the errors that the client reads.

use super::super::result::for_model;
use super::*;
use crate::providers::encode_rejection;
use toolbooth::call::{Outcome, Rejection};
use toolbooth::principal::Principal;
use toolbooth::protocol::truncation::truncate;
use toolbooth::schema::text::excerpt;
use toolbooth::testing::echo::CATALOG;
use toolbooth::testing::echo::{asks, every_rejection};
use toolbooth::testing::with_context;
use toolbooth::tool::ToolError;

fn done(value: Value) -> Outcome {
    Outcome::Done { call_id: None, duration_ms: 0, value, notifications: Vec::new() }
}

#[test]
fn values() {
    let long = |length: usize| "x".repeat(length);
    let truncated = |kept: &str| format!("{kept}\n\n[Truncated: Result exceeded 64KB limit]");
    let list = |items: usize| vec![json!("é"); items];
    for (what, value, expected) in [
        ("PC15 a string is unchanged", json!("22 degrees"), json!("22 degrees")),
        (
            "PC15 JSON is unchanged",
            json!({"b": [1, null], "a": 0.5}),
            json!({"a": 0.5, "b": [1, null]}),
        ),
        ("PC15 false is a value", json!(false), json!(false)),
        ("PC15 zero is a value", json!(0), json!(0)),
        ("PC15 an empty list is a value", json!([]), json!([])),
        ("PC15 nothing", Value::Null, json!("Tool executed, no output")),
        ("PC15 an empty string", json!(""), json!("Tool executed, no output")),
        ("PC17 at the limit", json!(long(65_536)), json!(long(65_536))),
        ("PC17 above the limit", json!(long(65_537)), json!(truncated(&long(60_000)))),
        (
            "PC17 truncated at a character boundary",
            json!(format!("x{}", "é".repeat(40_000))),
            json!(truncated(&format!("x{}", "é".repeat(29_999)))),
        ),
        (
            "PC17 JSON becomes a string",
            json!(list(20_000)),
            json!(truncated(&json!(list(12_000)).to_string()[..60_000])),
        ),
    ] {
        assert_eq!(for_model(done(value), "f"), Ok(expected), "{what}");
    }
}

#[test]
fn failures() {
    let error = ToolError::new("It failed");
    let failed =
        |error| Outcome::Failed { call_id: None, duration_ms: 0, error, notifications: Vec::new() };
    let large =
        format!("Error: {}", "é".repeat(29_996)) + "\n\n[Truncated: Result exceeded 64KB limit]";
    for (error, expected) in [
        (error.clone(), "Error: It failed"),
        (error.clone().developer_message("for the log"), "Error: It failed"),
        (
            error.clone().prompt("There are a and b."),
            "Error: It failed\nThere are a and b.\nPlease retry.",
        ),
        (error.clone().retry_after_ms(5), "Error: It failed\nPlease retry after 5 ms."),
        (
            {
                let mut error = error;
                error.additional_prompt_content = Some("c".to_owned());
                error
            },
            "Error: It failed\nc",
        ),
        (ToolError::new("é".repeat(40_000)), &large),
    ] {
        assert_eq!(for_model(failed(error), "f"), Err(expected.to_owned()), "PC16");
    }
}

#[test]
fn every_rejection_has_a_message() {
    for rejection in every_rejection() {
        let message = for_model(Outcome::Rejected(rejection.clone()), "f").unwrap_err();
        let sentence = message.strip_prefix("Error: ").unwrap_or_default();
        assert!(!sentence.is_empty(), "PC16 {rejection:?}: {message}");
    }
    let (asks, rejected) = asks();
    assert_eq!(for_model(asks, "f"), for_model(Outcome::Rejected(rejected), "f"), "PC16");
    let forbidden =
        for_model(Outcome::Rejected(Rejection::ToolNotAllowed { name: "A_B" }), "delete_all_data");
    let expected = "Error: Tool 'delete_all_data' is not available. Permission denied.";
    assert_eq!(forbidden, Err(expected.to_owned()), "PC16: the message of 2api.ai");
}

#[test]
fn long_names_are_shortened() {
    let name = "é".repeat(100_000);
    assert_eq!(excerpt(&name), format!("{}…", "é".repeat(64)));
    let message =
        for_model(Outcome::Rejected(Rejection::InvalidToolId { meant: None }), &name).unwrap_err();
    assert!(message.len() < 500, "{message}");
    assert_eq!(truncate(String::new()), "");
    for provider in ["openai", "openai-responses", "anthropic"] {
        let body = calls(provider, &[(Some("1"), &name, "{}")]);
        let (response, report) = call_ok(&FakeHost::default(), &format!("{provider}/call"), &body);
        assert_eq!(report["calls"][0]["name"], excerpt(&name), "{provider}");
        assert!(response.to_string().len() < 1000, "{provider}");
    }
}

#[test]
fn a_rejected_request_has_an_error_body() {
    for rejection in every_rejection() {
        let host = FakeHost::default();
        let response = with_context(CATALOG, &Principal::ANONYMOUS, "", &host, |context| {
            encode_rejection(&rejection, context.pipeline)
        });
        let description = rejection.describe();
        let mut body: Value = serde_json::from_slice(&response.body).unwrap();
        let class = body["error"]["type"].take();
        assert!(class.as_str().is_some_and(|class| class.ends_with("_error")), "{class}");
        let expected = json!({
            "code": description.kind.code(), "message": description.to_string(), "type": null
        });
        assert_eq!(body, json!({"error": expected}), "{rejection:?}");
        assert_eq!(response.status, description.kind.status(), "{rejection:?}");
        let header = rejection.header().map(|(name, value)| (name, value.into()));
        assert_eq!(response.headers.get(2), header.as_ref(), "{rejection:?}");
    }
}
