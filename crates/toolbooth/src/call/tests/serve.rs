//! Tests of the outcomes of calls.

use super::*;

#[test]
fn a_call_gives_a_value_an_id_and_a_duration() {
    let input = json!({"text": "hi", "mood": "glad"});
    let (outcome, log) = outcome("Echo.Say", input.clone(), Credentials::default());
    let Outcome::Done { duration_ms, value, notifications, .. } = outcome else {
        panic!("{outcome:?}")
    };
    for (id, expected) in [
        (CallId::Unused, None),
        // A version 4 UUID of the host's random bytes.
        (CallId::Generated, Some("00010203-0405-4607-8809-0a0b0c0d0e0f")),
        (CallId::Sent("7".to_owned()), Some("7")),
    ] {
        let call = ToolRequest::new(ToolSelector::Id("Echo.Say".into()), (&input).into());
        let call = ToolRequest { call_id: id, ..call };
        let outcome = call_tool(call, CATALOG, &Principal::ANONYMOUS, &FakeHost::default());
        assert!(
            matches!(&outcome, Outcome::Done { call_id, .. } if call_id.as_deref() == expected),
            "{outcome:?}"
        );
    }
    assert_eq!(duration_ms, 1, "each reading advances the fake clock by 1 ms");
    assert_eq!(value, json!("higlad"));
    assert_eq!(notifications, []);
    assert!(log.is_empty(), "{log:?}");
}

#[test]
fn the_error_of_a_tool_is_returned_unchanged() {
    let (outcome, log) = outcome("Echo.Say", json!({"text": "fail"}), Credentials::default());
    let Outcome::Failed { error, .. } = outcome else { panic!("{outcome:?}") };
    let expected = ToolError {
        message: "It failed".to_owned(),
        developer_message: Some("why".to_owned()),
        can_retry: true,
        additional_prompt_content: Some("try x".to_owned()),
        retry_after_ms: Some(5),
    };
    assert_eq!(error, expected);
    assert!(log.is_empty(), "{log:?}");
}

#[test]
fn bugs_of_a_tool_are_logged_and_hidden_from_the_client() {
    for (id, text, detail) in [
        ("Echo.Say", "long", "value: Must have at most 12 characters"),
        ("Echo.Broken", "x", "detail"),
        ("Echo.Narrow", "secret", "input type does not accept what input_schema allows"),
    ] {
        let (outcome, log) = outcome(id, json!({"text": text}), Credentials::default());
        let Outcome::Failed { error, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(error.message, "The tool failed");
        assert!(!error.can_retry);
        assert_eq!(log.len(), 1, "{log:?}");
        assert!(log[0].starts_with("Error faulty_tool") && log[0].contains(detail), "{log:?}");
        assert!(!log[0].contains("secret"), "the input must not be logged: {log:?}");
    }
}

/// A function outside of this program that returns the value in its input.
const RUN_REPORT: ToolFn = |input, context| {
    let value = input.get("value").and_then(|it| it.as_str()).unwrap_or_default();
    let report = format!("{{\"value\":{value},\"notifications\":[]}}");
    Box::pin(async move { context.read_external(&report).expect("it has ended") })
};

#[test]
fn a_value_that_exceeds_a_limit_says_which() {
    static ANY: Schema = of(&[]);
    let tool = Tool {
        tool: "Report",
        name: "Echo_Report",
        authorization: &[],
        secrets: &[],
        user_id: false,
        input: &ANY,
        output: &ANY,
        run: Run::Function(RUN_REPORT),
        ..private()
    };
    let tools = vec![tool].leak();
    let catalog = Box::leak(Box::new(Catalog { tools, names: &[], ..*CATALOG }));
    let nested = |levels: usize| [vec!["["; levels].concat(), vec!["]"; levels].concat()].concat();
    let many = |count: usize| format!("[{}]", vec!["1"; count].join(","));
    let deep =
        "its value is nested too deeply: the limit is 64 levels, one of which is the server's own";
    let long =
        "its value has too many values: the limit is 65,536, a few of which are the server's own";
    for (value, expected) in [
        (nested(63), None),
        (nested(64), Some(deep)),
        (nested(1000), Some(deep)),
        (many(65_000), None),
        (many(65_536), Some(long)),
        (many(100_000), Some(long)),
    ] {
        let host = FakeHost::default();
        let input = json!({ "value": value });
        let call = ToolRequest::new(ToolSelector::Id("Echo.Report".into()), (&input).into());
        let outcome = call_tool(call, catalog, &Principal::ANONYMOUS, &host);
        let log = host.log.into_inner();
        match expected {
            None => assert!(matches!(outcome, Outcome::Done { .. }) && log.is_empty(), "{log:?}"),
            Some(what) => {
                let Outcome::Failed { error, .. } = outcome else { panic!("{what}") };
                assert_eq!(error.developer_message, Some(format!("Echo.Report@1.0.0: {what}")));
                assert!(log.len() == 1 && log[0].contains(what), "{log:?}");
            }
        }
    }
}

#[test]
fn rejections_before_the_tool_runs() {
    let missing = |authorization: &[&'static str], secrets: &[&'static str], user_id| {
        Rejection::MissingRequirements(MissingRequirements {
            authorization: authorization.to_vec(),
            secrets: secrets.to_vec(),
            user_id,
            help: Vec::new(),
            challenges: Vec::new(),
        })
    };
    let unknown = |id: &str, name: &str| Rejection::UnknownTool {
        id: id.to_owned(),
        name: name.to_owned(),
        meant: None,
    };
    let no_version = |version: &str| Rejection::UnknownVersion {
        id: "Echo.Say".to_owned(),
        name: "Echo_Say",
        version: version.to_owned(),
    };
    for (id, credentials, expected) in [
        ("Echo", Credentials::default(), Rejection::InvalidToolId { meant: None }),
        (
            "Echo.Say@",
            Credentials::default(),
            Rejection::InvalidToolId { meant: Some("Echo.Say".to_owned()) },
        ),
        ("Echo.Shout", Credentials::default(), unknown("Echo.Shout", "Echo_Shout")),
        ("Echo.Shout@1", Credentials::default(), unknown("Echo.Shout", "Echo_Shout")),
        ("Echo.Say@7", Credentials::default(), no_version("7.0.0")),
        (
            "Echo.Say@99999999999999999999",
            Credentials::default(),
            no_version("99999999999999999999"),
        ),
        (
            "Echo.Say@1.99999999999999999999.0",
            Credentials::default(),
            no_version("1.99999999999999999999.0"),
        ),
        ("Echo.Private", Credentials::default(), missing(&["mail"], &["KEY"], true)),
        ("Echo.Private", credentials(Some(""), &["mail"], &["KEY"]), missing(&[], &[], true)),
        ("Echo.Private", credentials(Some("u"), &[], &["KEY"]), missing(&["mail"], &[], false)),
        (
            "Echo.Private",
            credentials(Some("u"), &["mail"], &["OTHER"]),
            missing(&[], &["KEY"], false),
        ),
    ] {
        // The input is invalid too, but is checked later.
        let (outcome, _) = outcome(id, json!({}), credentials);
        let Outcome::Rejected(rejection) = outcome else { panic!("{id}: {outcome:?}") };
        assert_eq!(rejection, expected, "{id}");
    }
}

#[test]
fn a_handler_gets_the_credentials_of_the_client() {
    for (text, expected) in [("user", "u"), ("token", "mail-value")] {
        let sent = credentials(Some("u"), &["mail"], &["KEY"]);
        let (outcome, _) = outcome("Echo.Private", json!({"text": text}), sent);
        let Outcome::Done { value, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(value, json!(expected));
    }
}

#[test]
fn secrets_are_not_printed() {
    let sent = credentials(Some("u"), &["mail"], &["KEY"]);
    let printed = format!("{sent:?}");
    assert!(!printed.contains("-value"), "{printed}");
}
