//! The results of calls.

use super::*;

const SAY: &str = r#"{"text":"hi"}"#;

#[test]
fn each_provider_gets_results_in_its_own_form() {
    // PC2 PC3 PC5 PC6 PC15: ids pass through, arguments are read in the provider's format, and the results can be
    // appended to the conversation as they are.
    for (provider, expected) in [
        (
            "openai",
            json!({"messages": [
                {"role": "tool", "tool_call_id": "a", "content": "hi"},
                {"role": "tool", "tool_call_id": "b", "content": "Error: It failed\ntry x\nPlease retry after 5 ms."}
            ]}),
        ),
        (
            "openai-responses",
            json!({"input": [
                {"type": "function_call_output", "call_id": "a", "output": "hi"},
                {"type": "function_call_output", "call_id": "b", "output": "Error: It failed\ntry x\nPlease retry after 5 ms."}
            ]}),
        ),
        (
            "anthropic",
            json!({"messages": [{"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "hi", "is_error": false},
                {"type": "tool_result", "tool_use_id": "b", "content": "Error: It failed\ntry x\nPlease retry after 5 ms.", "is_error": true}
            ]}]}),
        ),
        (
            "gemini",
            json!({"contents": [{"role": "user", "parts": [
                {"functionResponse": {"id": "a", "name": "Echo_Say", "response": {"output": "hi"}}},
                {"functionResponse": {"id": "b", "name": "Echo_Say__1_0_0", "response": {"error": "Error: It failed\ntry x\nPlease retry after 5 ms."}}}
            ]}]}),
        ),
    ] {
        let sent =
            [(Some("a"), "Echo_Say", SAY), (Some("b"), "Echo_Say__1_0_0", r#"{"text":"fail"}"#)];
        let address = format!("{provider}/call");
        let (response, report) = call_ok(&FakeHost::default(), &address, &calls(provider, &sent));
        assert_eq!(response, expected, "{provider}");
        let expected = json!({
            "calls": [
                {"id": "a", "name": "Echo_Say", "success": true},
                {"id": "b", "name": "Echo_Say__1_0_0", "success": false}
            ],
            "warnings": []
        });
        assert_eq!(report, expected, "{provider}");
    }
}

#[test]
fn one_bad_call_does_not_spoil_the_others() {
    // PC10: in order, each under its own id
    let sent = [
        (Some("1"), "Echo_Say", r#"{"text":"one"}"#),
        (Some("2"), "No_Such", SAY),
        (Some("3"), "Echo_Say", "[1]"),
        (Some("4"), "Echo_Private", SAY),
        (Some("5"), "Echo_Broken", SAY),
        (Some("6"), "Echo_Say__1_10_0", r#"{"text":"six"}"#),
    ];
    for provider in PROVIDERS {
        let address = format!("{provider}/call");
        let (response, report) = call_ok(&FakeHost::default(), &address, &calls(provider, &sent));
        let results = read_results(provider, &response);
        let ids: Vec<_> = results.iter().map(|(id, ..)| id.clone().unwrap()).collect();
        assert_eq!(ids, ["1", "2", "3", "4", "5", "6"], "{provider}");
        let good: Vec<_> = results.iter().map(|(_, _, is_error)| !is_error).collect();
        assert_eq!(good, [true, false, false, false, false, true], "{provider}");
        assert_eq!((&*results[0].1, &*results[5].1), ("one", "six"), "{provider}");
        let reported: Vec<_> = report["calls"]
            .as_array()
            .unwrap()
            .iter()
            .map(|call| call["success"] == true)
            .collect();
        assert_eq!(reported, good, "{provider}");
    }
}

#[test]
fn the_result_of_one_call() {
    let big = format!(r#"{{"text":"{}"}}"#, "x".repeat(65_526));
    let shorter = format!(r#"{{"text":"{}"}}"#, "x".repeat(65_525));
    for (what, name, arguments, expected) in [
        ("PC7 the tool runs", "Echo_Say", SAY, "hi"),
        ("PC7 by id", "Echo.Say", SAY, "hi"),
        ("PC7 a version", "Echo_Say__1_10_0", SAY, "hi"),
        (
            "PC5 no arguments",
            "Echo_Say",
            "{}",
            "Error: Invalid arguments for tool 'Echo_Say'. text: Is required. Please retry.",
        ),
        (
            "PC5 null",
            "Echo_Say",
            "null",
            "Error: Invalid arguments for tool 'Echo_Say'. text: Is required. Please retry.",
        ),
        (
            "PC5 not an object",
            "Echo_Say",
            "[1]",
            "Error: Invalid arguments for tool 'Echo_Say'. input: Must be an object. Please retry.",
        ),
        (
            "PC5 a number",
            "Echo_Say",
            "1",
            "Error: Invalid arguments for tool 'Echo_Say'. input: Must be an object. Please retry.",
        ),
        (
            "PC14 several errors",
            "Echo_Say",
            r#"{"text":1,"mood":"odd"}"#,
            "Error: Invalid arguments for tool 'Echo_Say'. mood: Must be one of: \"glad\", \"sad\"; text: Must be a string. Please retry.",
        ),
        (
            "PC16 unknown",
            "No_Such",
            SAY,
            "Error: Tool 'No_Such' is not available. There is no such tool.",
        ),
        (
            "PC16 unknown version",
            "Echo.Say@7",
            SAY,
            "Error: Tool 'Echo.Say@7' is not available. It has no such version.",
        ),
        (
            "PC16 an id of another form",
            "Echo.Say@",
            SAY,
            "Error: Tool 'Echo.Say@' is not available. There is no such tool. Did you mean Echo_Say?",
        ),
        (
            "PC21 requirements",
            "Echo_Private",
            SAY,
            "Error: Tool 'Echo_Private' is not available. The call lacks the token \"mail\", the secret \"KEY\", a user id.",
        ),
        ("PC16 a faulty tool", "Echo_Broken", SAY, "Error: The tool failed"),
        (
            "PC11 at the limit",
            "Echo_Say",
            &shorter,
            "Error: Invalid arguments for tool 'Echo_Say'. text: Must have at most 9 characters. Please retry.",
        ),
        (
            "PC11 above the limit",
            "Echo_Say",
            &big,
            "Error: The arguments have 65537 bytes of JSON; the limit is 65536.",
        ),
        ("PC1 no name", "", SAY, "Error: The call names no function."),
    ] {
        for provider in PROVIDERS {
            // For Anthropic and Gemini, null means absent, which is the same as {}.
            let address = format!("{provider}/call");
            let body = calls(provider, &[(Some("c"), name, arguments)]);
            let mut expected = expected;
            if what == "PC5 null" && provider.starts_with("openai") {
                expected = "Error: Invalid arguments for tool 'Echo_Say'. input: Must be an object. Please retry.";
            }
            let (response, _) = call_ok(&FakeHost::default(), &address, &body);
            let is_error = expected.starts_with("Error: ");
            let expected = vec![(Some("c".to_owned()), expected.to_owned(), is_error)];
            assert_eq!(read_results(provider, &response), expected, "{what} {provider}");
        }
    }
}

#[test]
fn arguments_that_are_not_json() {
    // PC9: the message of 2api.ai, then the position
    let start = "Error: Invalid JSON in arguments. Please retry with valid JSON. Found:";
    let empty = "Error: Invalid arguments for tool 'Echo_Say'. text: Is required. Please retry.";
    for (arguments, expected) in [
        (
            json!("{\"text\":\"secret"),
            format!("{start} EOF while parsing a string at line 1 column 15."),
        ),
        (json!("{\"text\":secret}"), format!("{start} expected value at line 1 column 9.")),
        (json!("{'text':'secret'}"), format!("{start} key must be a string at line 1 column 2.")),
        (
            json!("{\"text\":\"a\"} secret"),
            format!("{start} trailing characters at line 1 column 14."),
        ),
        (
            json!("{\"text\":1,\"text\":2}"),
            format!("{start} the key \"text\" is repeated at line 1 column 16."),
        ),
        (json!(" "), format!("{start} EOF while parsing a value at line 1 column 1.")),
        (
            json!(format!("{}1", "[".repeat(65))),
            format!("{start} nested deeper than 64 levels at line 1 column 65."),
        ),
        (json!(""), empty.to_owned()),
        (Value::Null, empty.to_owned()),
        // PC20: a string of JSON, never the object itself
        (json!({"text": "secret"}), "Error: The arguments must be a string of JSON.".to_owned()),
        (json!(["secret"]), "Error: The arguments must be a string of JSON.".to_owned()),
    ] {
        let mut function = json!({"name": "Echo_Say"});
        if !arguments.is_null() {
            function["arguments"] = arguments.clone();
        }
        let chat = json!([{"id": "c", "type": "function", "function": function}]);
        function["type"] = json!("function_call");
        function["call_id"] = json!("c");
        for (provider, body) in [("openai", chat), ("openai-responses", json!([function]))] {
            let (response, _) = call_ok(&FakeHost::default(), &format!("{provider}/call"), &body);
            let expected = vec![(Some("c".to_owned()), expected.clone(), true)];
            assert_eq!(read_results(provider, &response), expected, "{provider} {arguments}");
            assert!(!response.to_string().contains("secret"), "{response}");
        }
    }
}

#[test]
fn absent_arguments_are_empty_ones() {
    // PC5
    let empty = "Error: Invalid arguments for tool 'Echo_Say'. text: Is required. Please retry.";
    for (provider, body) in [
        ("openai", json!([{"id": "c", "type": "function", "function": {"name": "Echo_Say"}}])),
        (
            "openai-responses",
            json!([{"type": "function_call", "call_id": "c", "name": "Echo_Say"}]),
        ),
        ("anthropic", json!([{"type": "tool_use", "id": "c", "name": "Echo_Say"}])),
        ("gemini", json!([{"functionCall": {"id": "c", "name": "Echo_Say"}}])),
    ] {
        let (response, _) = call_ok(&FakeHost::default(), &format!("{provider}/call"), &body);
        let expected = vec![(Some("c".to_owned()), empty.to_owned(), true)];
        assert_eq!(read_results(provider, &response), expected, "{provider}");
    }
}

#[test]
fn the_allowlist_and_an_invalid_configuration() {
    let allowlist = |mode| [("TOOL_ALLOWLIST", "Echo.Say"), ("TOOL_ALLOWLIST_MODE", mode)];
    let denied = "Error: Tool 'Echo_Broken' is not available. Permission denied.";
    for provider in PROVIDERS {
        let address = format!("{provider}/call");
        let body =
            calls(provider, &[(Some("a"), "Echo_Say", SAY), (Some("b"), "Echo_Broken", "1")]);
        for (mode, expected) in [
            ("enforce", denied),
            (
                "warn",
                "Error: Invalid arguments for tool 'Echo_Broken'. input: Must be an object. Please retry.",
            ),
            (
                "off",
                "Error: Invalid arguments for tool 'Echo_Broken'. input: Must be an object. Please retry.",
            ),
        ] {
            let host = FakeHost::with(&allowlist(mode));
            let (response, _) = call_ok(&host, &address, &body);
            let results: Vec<_> =
                read_results(provider, &response).into_iter().map(|(_, text, _)| text).collect();
            assert_eq!(results, ["hi", expected], "PC13 {mode} {provider}");
            let warned = host.log.borrow().iter().any(|line| line.contains("not_in_allowlist"));
            assert_eq!(warned, mode == "warn", "PC13 {mode} {provider}");
        }
        // The model cannot fix this, so the client gets an error.
        let host = FakeHost::with(&[("MAX_BODY_BYTES", "lots")]);
        let (status, response) = post(&host, &address, &body);
        assert_eq!(
            (status, &response["error"]["code"]),
            (503, &json!("unavailable")),
            "{provider}"
        );
    }
}
