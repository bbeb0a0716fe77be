//! Tests of notifications and of requests for input.

use super::*;

fn call(text: &str, dialogue: Dialogue) -> (Outcome, Vec<String>) {
    let host = FakeHost::default();
    let input = json!({ "text": text });
    let call = ToolRequest {
        dialogue,
        ..ToolRequest::new(ToolSelector::Id("Echo.Say".into()), (&input).into())
    };
    let outcome = call_tool(call, CATALOG, &Principal::ANONYMOUS, &host);
    (outcome, host.log.into_inner())
}

fn answered(key: &str, answer: InputResponse, state: Option<Value>) -> Dialogue {
    let capabilities = [ClientCapability::Form].into_iter().collect();
    Dialogue { capabilities, answers: [(key.to_owned(), answer)].into(), state }
}

#[test]
fn notifications_are_part_of_the_outcome() {
    let (outcome, log) = call("note", Dialogue::default());
    let Outcome::Done { notifications, .. } = outcome else { panic!("{outcome:?}") };
    let half = Notification::Progress { done: 1.0, total: Some(2.0), message: "half".to_owned() };
    let slow = Notification::Event { level: LoggingLevel::Warning, text: "slow".to_owned() };
    assert_eq!(notifications, [half, slow]);
    assert!(log.is_empty(), "not for the operator: {log:?}");
}

#[test]
fn a_tool_requests_input_until_it_has_all_responses() {
    let name = || InputResponse::Given(json!({"name": "Ada"}));
    let colour = |value: Value| InputResponse::Given(json!({ "colour": value }));
    let state = || Some(json!("Ada"));
    let asks = |key: &str, state: Option<Value>| Err((key.to_owned(), state));
    for (what, dialogue, expected) in [
        ("no response", answered("other", name(), None), asks("name", None)),
        (
            "another type",
            answered("name", InputResponse::Given(json!(7)), None),
            asks("name", None),
        ),
        ("first response", answered("name", name(), None), asks("colour", state())),
        ("second response", answered("colour", colour(json!("red")), state()), Ok("Adared")),
        ("declined", answered("colour", InputResponse::Declined, state()), Ok("Ada")),
        ("no colour", answered("colour", colour(json!(7)), state()), Ok("Ada")),
    ] {
        let got = match call("ask", dialogue).0 {
            Outcome::Done { value, .. } => Ok(value),
            Outcome::InputRequired { required, .. } => {
                assert_eq!((required.tool, required.questions.len()), ("Echo_Say", 1), "{what}");
                Err((required.questions.into_iter().map(|(key, _)| key).collect(), required.state))
            }
            other => panic!("{what}: {other:?}"),
        };
        assert_eq!(got, expected.map(Value::from), "{what}");
    }
}

#[test]
fn a_declined_or_dismissed_request_fails_the_call() {
    for (answer, expected) in [
        (InputResponse::Declined, "The user declined to answer"),
        (InputResponse::Dismissed, "The user did not answer"),
    ] {
        let (outcome, _) = call("ask", answered("name", answer, None));
        let Outcome::Failed { error, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(error.message, expected);
    }
}

#[test]
fn input_is_requested_only_from_capable_clients() {
    for (capabilities, can) in [
        (ClientCapabilities::default(), false),
        (
            [ClientCapability::Url, ClientCapability::Sampling, ClientCapability::Roots]
                .into_iter()
                .collect(),
            false,
        ),
        ([ClientCapability::Form].into_iter().collect(), true),
        (ClientCapabilities::ALL, true),
    ] {
        let (outcome, log) = call("ask", Dialogue { capabilities, ..Dialogue::default() });
        match outcome {
            Outcome::InputRequired { .. } => assert!(can, "{capabilities:?}"),
            Outcome::Rejected(rejection) => {
                let lacking = vec![ClientCapability::Form];
                assert_eq!(rejection, Rejection::CannotAsk { name: "Echo_Say", lacking });
                assert!(!can, "{capabilities:?}");
            }
            other => panic!("{other:?}"),
        }
        assert!(log.is_empty(), "not a bug: {log:?}");
    }
}

#[test]
fn invalid_input_requests_are_bugs_of_the_tool() {
    for (text, problem) in [("ask none", "without a request"), ("ask much", "more than 2000 bytes")]
    {
        let (outcome, log) =
            call(text, Dialogue { capabilities: ClientCapabilities::ALL, ..Dialogue::default() });
        let Outcome::Failed { error, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(error.message, "The tool failed");
        assert!(log.len() == 1 && log[0].contains(problem), "{log:?}");
    }
    let questions = (0..17).map(|key| (key.to_string(), InputRequest::Roots)).collect();
    let required = InputRequired { tool: "t", questions, state: None };
    assert_eq!(required.problem(), Some("it has more than 16 requests for input at once"));
}

#[test]
fn each_input_request_needs_one_capability() {
    for (request, capability) in [
        (InputRequest::form("m", json!({})), ClientCapability::Form),
        (InputRequest::url("m", "https://a.example"), ClientCapability::Url),
        (InputRequest::sampling("m", 7), ClientCapability::Sampling),
        (InputRequest::Roots, ClientCapability::Roots),
    ] {
        assert_eq!(request.capability(), capability);
        let questions = [("q".to_owned(), request)].into();
        let rejection = Rejection::from(InputRequired { tool: "t", questions, state: None });
        assert_eq!(rejection, Rejection::CannotAsk { name: "t", lacking: vec![capability] });
    }
    let InputRequest::Sampling { request } = InputRequest::sampling("m", 7) else { panic!() };
    let message = json!({"role": "user", "content": {"type": "text", "text": "m"}});
    assert_eq!(Value::from(request), json!({"messages": [message], "maxTokens": 7}));
}
