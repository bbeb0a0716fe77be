//! The pipeline: what a tool says on its way, and what it asks.

use super::*;

fn made(text: &str, dialogue: Dialogue) -> (Outcome, Vec<String>) {
    let host = FakeHost::default();
    let input = json!({ "text": text });
    let call = ToolRequest {
        tool: ToolSelector::Id("Echo.Say".into()),
        call_id: None,
        input: (&input).into(),
        nulls: Nulls::Exact,
        credentials: Credentials::default(),
        dialogue,
    };
    let outcome = call_tool(call, CATALOG, &Principal::ANONYMOUS, &host);
    (outcome, host.log.into_inner())
}

fn answered(key: &str, answer: InputResponse, state: Option<Value>) -> Dialogue {
    let capabilities = [Capability::Form].into_iter().collect();
    Dialogue { capabilities, answers: [(key.to_owned(), answer)].into(), state }
}

#[test]
fn notes_go_with_what_came_of_the_call() {
    let (outcome, log) = made("note", Dialogue::default());
    let Outcome::Done { notes, .. } = outcome else { panic!("{outcome:?}") };
    let half = Notification::Progress { done: 1.0, total: Some(2.0), message: "half".to_owned() };
    let slow = Notification::Event { level: LoggingLevel::Warning, text: "slow".to_owned() };
    assert_eq!(notes, [half, slow]);
    assert!(log.is_empty(), "they are not for the operator: {log:?}");
}

#[test]
fn a_tool_asks_until_it_has_its_answers() {
    let name = || InputResponse::Given(json!({"name": "Ada"}));
    let colour = |value: Value| InputResponse::Given(json!({ "colour": value }));
    let state = || Some(json!("Ada"));
    let asks = |key: &str, state: Option<Value>| Err((key.to_owned(), state));
    for (what, dialogue, expected) in [
        ("nothing yet", answered("other", name(), None), asks("name", None)),
        (
            "of another type",
            answered("name", InputResponse::Given(json!(7)), None),
            asks("name", None),
        ),
        ("the first", answered("name", name(), None), asks("colour", state())),
        ("the second", answered("colour", colour(json!("red")), state()), Ok("Adared")),
        ("declined", answered("colour", InputResponse::Declined, state()), Ok("Ada")),
        ("no colour", answered("colour", colour(json!(7)), state()), Ok("Ada")),
    ] {
        let got = match made("ask", dialogue).0 {
            Outcome::Done { value, .. } => Ok(value),
            Outcome::InputRequired { required: asked, .. } => {
                assert_eq!((asked.tool, asked.questions.len()), ("Echo_Say", 1), "{what}");
                Err((asked.questions.into_iter().map(|(key, _)| key).collect(), asked.state))
            }
            other => panic!("{what}: {other:?}"),
        };
        assert_eq!(got, expected.map(Value::from), "{what}");
    }
}

#[test]
fn a_user_who_does_not_answer_ends_the_call() {
    for (answer, expected) in [
        (InputResponse::Declined, "The user declined to answer"),
        (InputResponse::Dismissed, "The user did not answer"),
    ] {
        let (outcome, _) = made("ask", answered("name", answer, None));
        let Outcome::Failed { error, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(error.message, expected);
    }
}

#[test]
fn a_client_is_asked_for_what_it_can_do() {
    for (capabilities, can) in [
        (Capabilities::default(), false),
        ([Capability::Url, Capability::Sampling, Capability::Roots].into_iter().collect(), false),
        ([Capability::Form].into_iter().collect(), true),
        (Capabilities::ALL, true),
    ] {
        let (outcome, log) = made("ask", Dialogue { capabilities, ..Dialogue::default() });
        match outcome {
            Outcome::InputRequired { .. } => assert!(can, "{capabilities:?}"),
            Outcome::Rejected(rejection) => {
                let lacking = vec![Capability::Form];
                assert_eq!(rejection, Rejection::CannotAsk { name: "Echo_Say", lacking });
                assert!(!can, "{capabilities:?}");
            }
            other => panic!("{other:?}"),
        }
        assert!(log.is_empty(), "that is no fault: {log:?}");
    }
}

#[test]
fn to_ask_wrongly_is_a_fault_of_the_tool() {
    for (text, fault) in [("ask none", "has no question"), ("ask much", "more than 2000 bytes")] {
        let (outcome, log) =
            made(text, Dialogue { capabilities: Capabilities::ALL, ..Dialogue::default() });
        let Outcome::Failed { error, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(error.message, "The tool failed");
        assert!(log.len() == 1 && log[0].contains(fault), "{log:?}");
    }
    let questions = (0..17).map(|key| (key.to_string(), InputRequest::Roots)).collect();
    let asked = InputRequired { tool: "t", questions, state: None };
    assert_eq!(asked.fault(), Some("it has more than 16 questions at once"));
}

#[test]
fn each_question_needs_one_ability() {
    for (question, capability) in [
        (InputRequest::form("m", json!({})), Capability::Form),
        (InputRequest::url("m", "https://a.example"), Capability::Url),
        (InputRequest::sampling("m", 7), Capability::Sampling),
        (InputRequest::Roots, Capability::Roots),
    ] {
        assert_eq!(question.capability(), capability);
        let questions = [("q".to_owned(), question)].into();
        let rejection = Rejection::from(InputRequired { tool: "t", questions, state: None });
        assert_eq!(rejection, Rejection::CannotAsk { name: "t", lacking: vec![capability] });
    }
    let InputRequest::Sampling { request } = InputRequest::sampling("m", 7) else { panic!() };
    let message = json!({"role": "user", "content": {"type": "text", "text": "m"}});
    assert_eq!(Value::from(request), json!({"messages": [message], "maxTokens": 7}));
}
