//! The pipeline: what a tool says on its way, and what it asks.

use super::*;

fn made(text: &str, dialogue: Dialogue) -> (Outcome, Vec<String>) {
    let host = FakeHost::default();
    let config = Config::read(&host, &[]);
    let input = json!({ "text": text });
    let call = Call {
        tool: Wanted::Id("Echo.Say".into()),
        call_id: None,
        input: (&input).into(),
        nulls: Nulls::Exact,
        credentials: Credentials::default(),
        dialogue,
    };
    let outcome = ready(serve(call, &Caller::ANONYMOUS, CATALOG, &config, &host));
    (outcome, host.log.into_inner())
}

fn answered(key: &str, answer: Answer, state: Option<Value>) -> Dialogue {
    let abilities = [Ability::Form].into_iter().collect();
    Dialogue { abilities, answers: [(key.to_owned(), answer)].into(), state }
}

#[test]
fn notes_go_with_what_came_of_the_call() {
    let (outcome, log) = made("note", Dialogue::default());
    let Outcome::Done { notes, .. } = outcome else { panic!("{outcome:?}") };
    let half = Note::Progress { done: 1.0, total: Some(2.0), message: "half".to_owned() };
    let slow = Note::Event { level: NoteLevel::Warning, text: "slow".to_owned() };
    assert_eq!(notes, [half, slow]);
    assert!(log.is_empty(), "they are not for the operator: {log:?}");
}

#[test]
fn a_tool_asks_until_it_has_its_answers() {
    let name = || Answer::Given(json!({"name": "Ada"}));
    let colour = |value: Value| Answer::Given(json!({ "colour": value }));
    let state = || Some(json!("Ada"));
    let asks = |key: &str, state: Option<Value>| Err((key.to_owned(), state));
    for (what, dialogue, expected) in [
        ("nothing yet", answered("other", name(), None), asks("name", None)),
        ("of another type", answered("name", Answer::Given(json!(7)), None), asks("name", None)),
        ("the first", answered("name", name(), None), asks("colour", state())),
        ("the second", answered("colour", colour(json!("red")), state()), Ok("Adared")),
        ("declined", answered("colour", Answer::Declined, state()), Ok("Ada")),
        ("no colour", answered("colour", colour(json!(7)), state()), Ok("Ada")),
    ] {
        let got = match made("ask", dialogue).0 {
            Outcome::Done { value, .. } => Ok(value),
            Outcome::Asks { asked, .. } => {
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
        (Answer::Declined, "The user declined to answer"),
        (Answer::Dismissed, "The user did not answer"),
    ] {
        let (outcome, _) = made("ask", answered("name", answer, None));
        let Outcome::Failed { error, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(error.message, expected);
    }
}

#[test]
fn a_client_is_asked_for_what_it_can_do() {
    for (abilities, can) in [
        (Abilities::default(), false),
        ([Ability::Url, Ability::Sampling, Ability::Roots].into_iter().collect(), false),
        ([Ability::Form].into_iter().collect(), true),
        (Abilities::ALL, true),
    ] {
        let (outcome, log) = made("ask", Dialogue { abilities, ..Dialogue::default() });
        match outcome {
            Outcome::Asks { .. } => assert!(can, "{abilities:?}"),
            Outcome::Refused(refusal) => {
                let lacking = vec![Ability::Form];
                assert_eq!(refusal, Refusal::Unanswerable { name: "Echo_Say", lacking });
                assert!(!can, "{abilities:?}");
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
            made(text, Dialogue { abilities: Abilities::ALL, ..Dialogue::default() });
        let Outcome::Failed { error, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(error.message, "The tool failed");
        assert!(log.len() == 1 && log[0].contains(fault), "{log:?}");
    }
    let questions = (0..17).map(|key| (key.to_string(), Question::Roots)).collect();
    let asked = Asked { tool: "t", questions, state: None };
    assert_eq!(asked.fault(), Some("it has more than 16 questions at once"));
}

#[test]
fn each_question_needs_one_ability() {
    for (question, ability) in [
        (Question::form("m", json!({})), Ability::Form),
        (Question::url("m", "https://a.example"), Ability::Url),
        (Question::sampling("m", 7), Ability::Sampling),
        (Question::Roots, Ability::Roots),
    ] {
        assert_eq!(question.ability(), ability);
        let questions = [("q".to_owned(), question)].into();
        let refusal = Refusal::from(Asked { tool: "t", questions, state: None });
        assert_eq!(refusal, Refusal::Unanswerable { name: "t", lacking: vec![ability] });
    }
    let Question::Sampling { request } = Question::sampling("m", 7) else { panic!() };
    let message = json!({"role": "user", "content": {"type": "text", "text": "m"}});
    assert_eq!(Value::from(request), json!({"messages": [message], "maxTokens": 7}));
}
