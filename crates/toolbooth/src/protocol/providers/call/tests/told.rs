//! Results in words.

use super::super::result::{cut, tell};
use super::*;
use crate::call::tests::CATALOG;
use crate::call::tests::{asks, every_rejection};
use crate::call::{Outcome, Rejection};
use crate::principal::Principal;
use crate::testing::with_context;
use crate::text::excerpt;
use crate::tool::ToolError;

fn done(value: Value) -> Outcome {
    Outcome::Done { call_id: String::new(), duration_ms: 0, value, notes: Vec::new() }
}

#[test]
fn values() {
    let long = |length: usize| "x".repeat(length);
    let cut = |kept: &str| format!("{kept}\n\n[Truncated: Result exceeded 64KB limit]");
    let list = |items: usize| vec![json!("é"); items];
    for (what, value, expected) in [
        ("PC15 a text is itself", json!("22 degrees"), json!("22 degrees")),
        (
            "PC15 JSON stays JSON",
            json!({"b": [1, null], "a": 0.5}),
            json!({"a": 0.5, "b": [1, null]}),
        ),
        ("PC15 false is a value", json!(false), json!(false)),
        ("PC15 zero is a value", json!(0), json!(0)),
        ("PC15 an empty list is a value", json!([]), json!([])),
        ("PC15 nothing", Value::Null, json!("Tool executed, no output")),
        ("PC15 an empty text", json!(""), json!("Tool executed, no output")),
        ("PC17 as large as may be", json!(long(65_536)), json!(long(65_536))),
        ("PC17 too large", json!(long(65_537)), json!(cut(&long(60_000)))),
        (
            "PC17 cut before a character, not in it",
            json!(format!("x{}", "é".repeat(40_000))),
            json!(cut(&format!("x{}", "é".repeat(29_999)))),
        ),
        (
            "PC17 JSON becomes a text",
            json!(list(20_000)),
            json!(cut(&json!(list(12_000)).to_string()[..60_000])),
        ),
    ] {
        assert_eq!(tell(done(value), "f"), Ok(expected), "{what}");
    }
}

#[test]
fn failures() {
    let error = ToolError::new("It failed");
    let failed = |error| Outcome::Failed {
        call_id: String::new(),
        duration_ms: 0,
        error,
        notes: Vec::new(),
    };
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
            ToolError { additional_prompt_content: Some("c".to_owned()), ..error },
            "Error: It failed\nc",
        ),
        (ToolError::new("é".repeat(40_000)), &large),
    ] {
        assert_eq!(tell(failed(error), "f"), Err(expected.to_owned()), "PC16");
    }
}

#[test]
fn every_rejection_has_words() {
    for rejection in every_rejection() {
        let told = tell(Outcome::Rejected(rejection.clone()), "f").unwrap_err();
        let sentence = told.strip_prefix("Error: ").unwrap_or_default();
        assert!(!sentence.is_empty(), "PC16 {rejection:?}: {told}");
    }
    let (asks, rejected) = asks();
    assert_eq!(tell(asks, "f"), tell(Outcome::Rejected(rejected), "f"), "PC16");
    let forbidden =
        tell(Outcome::Rejected(Rejection::ToolNotAllowed { name: "A_B" }), "delete_all_data");
    let seed = "Error: Tool 'delete_all_data' is not available. Permission denied.";
    assert_eq!(forbidden, Err(seed.to_owned()), "PC16: the words of 2api.ai");
}

#[test]
fn long_names_are_told_in_part() {
    let name = "é".repeat(100_000);
    assert_eq!(excerpt(&name), format!("{}…", "é".repeat(64)));
    let told = tell(Outcome::Rejected(Rejection::InvalidToolId), &name).unwrap_err();
    assert!(told.len() < 500, "{told}");
    assert_eq!(cut(String::new()), "");
    for provider in ["openai", "openai-responses", "anthropic"] {
        let body = calls(provider, &[(Some("1"), &name, "{}")]);
        let (answer, beside) = results(&FakeHost::default(), &format!("{provider}/call"), &body);
        assert_eq!(beside["calls"][0]["name"], excerpt(&name), "{provider}");
        assert!(answer.to_string().len() < 1000, "{provider}");
    }
}

#[test]
fn a_refused_request_has_the_providers_form() {
    for rejection in every_rejection() {
        let answer =
            with_context(CATALOG, &Principal::ANONYMOUS, "", &FakeHost::default(), |context| {
                crate::protocol::providers::encode_rejection(&rejection, context.pipeline)
            });
        let body: Value = serde_json::from_slice(&answer.body).unwrap();
        let error = body["error"].as_object().unwrap();
        let text = |name: &str| error[name].as_str().is_some_and(|text| !text.is_empty());
        assert!(error.len() == 3 && text("code") && text("message") && text("type"), "{body}");
        assert!((400..=503).contains(&answer.status), "{rejection:?}");
        let allow = answer.headers.iter().any(|(name, _)| *name == "allow");
        assert_eq!(allow, answer.status == 405, "{rejection:?}");
    }
}
