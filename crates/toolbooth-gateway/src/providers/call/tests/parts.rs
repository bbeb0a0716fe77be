//! Which calls of a response run, and the ids of their results.

use super::*;

#[test]
fn ids_that_are_missing_or_repeated() {
    let made = "Some calls had no id. Their results have generated ids; add these to the calls before you send both to the model";
    let repeated = "Several calls have the same id. Each has a result, in the order of the calls";
    // The clock has been read twice: for the server, and as the request arrived.
    let stamp = 1_741_724_000_002_u64;
    let (long, letters) = ("A".repeat(100), "A".repeat(45));
    let say = |id, name| (id, name, r#"{"text":"hi"}"#);
    for (what, sent, expected, warnings) in [
        (
            "PC4 none",
            vec![say(None, "Echo_Say")],
            vec![format!("call_{stamp}_Echo_Say")],
            vec![made],
        ),
        (
            "PC18 empty",
            vec![say(Some(""), "Echo_Say")],
            vec![format!("call_{stamp}_Echo_Say")],
            vec![made],
        ),
        (
            "PC4 the same tool twice",
            vec![say(None, "Echo_Say"), say(None, "Echo_Say"), say(None, "Echo_Say")],
            vec![
                format!("call_{stamp}_Echo_Say"),
                format!("call_{stamp}_Echo_Say_2"),
                format!("call_{stamp}_Echo_Say_3"),
            ],
            vec![made],
        ),
        (
            "PC4 an id that is taken",
            vec![say(None, "Echo_Say"), say(Some("call_1741724000002_Echo_Say"), "Echo_Say")],
            vec![format!("call_{stamp}_Echo_Say_2"), format!("call_{stamp}_Echo_Say")],
            vec![made],
        ),
        (
            "PC4 a name of other letters",
            vec![say(None, "Échø.Say@1")],
            vec![format!("call_{stamp}__ch__Say_1")],
            vec![made],
        ),
        (
            "PC4 a long name",
            vec![say(None, &long), say(None, &long)],
            vec![format!("call_{stamp}_{letters}"), format!("call_{stamp}_{}_2", &letters[2..])],
            vec![made],
        ),
        (
            "PC3 any id of the model",
            vec![say(Some("é \"x\""), "Echo_Say")],
            vec!["é \"x\"".to_owned()],
            vec![],
        ),
        (
            "PC18 twice the same",
            vec![say(Some("c"), "Echo_Say"), say(Some("c"), "Echo_Broken")],
            vec!["c".to_owned(), "c".to_owned()],
            vec![repeated],
        ),
    ] {
        for provider in PROVIDERS {
            let (response, report) =
                call_ok(&FakeHost::default(), &format!("{provider}/call"), &calls(provider, &sent));
            let ids: Vec<_> = report["calls"]
                .as_array()
                .unwrap()
                .iter()
                .map(|call| call["id"].as_str().unwrap())
                .collect();
            assert_eq!(ids, expected, "{what} {provider}");
            let wire: Vec<_> =
                read_results(provider, &response).into_iter().map(|(id, ..)| id).collect();
            // Older Gemini models reject ids, so a result only has one if its call had one.
            let has_id =
                |at: usize| provider != "gemini" || sent[at].0.is_some_and(|id| !id.is_empty());
            let expected_wire: Vec<_> = expected
                .iter()
                .enumerate()
                .map(|(at, id)| has_id(at).then(|| id.clone()))
                .collect();
            assert_eq!(wire, expected_wire, "{what} {provider}");
            let quiet = provider == "gemini" && warnings == [made];
            let warnings = if quiet { json!([]) } else { json!(warnings) };
            assert_eq!(report["warnings"], warnings, "{what} {provider}");
        }
    }
    let number =
        json!([{"id": 7, "type": "function", "function": {"name": "Echo_Say", "arguments": "{}"}}]);
    let (_, report) = call_ok(&FakeHost::default(), "openai/call", &number);
    assert_eq!(report["warnings"], json!([made]), "PC18 an id is a string");
}

#[test]
fn finish_reasons() {
    let cut = "The model's response was cut off";
    let odd = "The model's response has tool calls, but its finish reason is a different one";
    let unfinished = "Error: The call was cut off at the token limit and did not run. Please retry with shorter arguments or a higher limit.";
    for (provider, end, last, warnings) in [
        ("openai", "tool_calls", "hi", vec![]),
        ("openai", "stop", "hi", vec![odd]),
        ("openai", "length", unfinished, vec![cut]),
        ("openai-responses", "completed", "hi", vec![]),
        ("openai-responses", "failed", "hi", vec![odd]),
        ("openai-responses", "incomplete", unfinished, vec![cut]),
        ("anthropic", "tool_use", "hi", vec![]),
        ("anthropic", "refusal", "hi", vec![odd]),
        ("anthropic", "max_tokens", unfinished, vec![cut]),
        ("gemini", "STOP", "hi", vec![]),
        ("gemini", "SAFETY", "hi", vec![odd]),
        ("gemini", "MAX_TOKENS", unfinished, vec![cut]),
    ] {
        let say = r#"{"text":"hi"}"#;
        let calls = calls(provider, &[(Some("1"), "Echo_Say", say), (Some("2"), "Echo_Say", say)]);
        let body = match provider {
            "openai" => {
                json!({"choices": [{"finish_reason": end, "message": {"role": "assistant", "tool_calls": calls}}]})
            }
            "openai-responses" => json!({"status": end, "output": calls}),
            "anthropic" => json!({"stop_reason": end, "content": calls}),
            _ => json!({"candidates": [{"finishReason": end, "content": {"parts": calls}}]}),
        };
        let (response, report) = call_ok(&FakeHost::default(), &format!("{provider}/call"), &body);
        let texts: Vec<_> =
            read_results(provider, &response).into_iter().map(|(_, text, _)| text).collect();
        assert_eq!(texts, ["hi", last], "PC19 {provider} {end}");
        assert_eq!(report["warnings"], json!(warnings), "PC19 {provider} {end}");
    }
}

#[test]
fn a_response_that_was_cut_off_after_its_calls() {
    // PC19: only the last item can be incomplete
    let say = r#"{"text":"hi"}"#;
    let call = |provider| calls(provider, &[(Some("1"), "Echo_Say", say)])[0].clone();
    for (provider, body) in [
        (
            "openai",
            json!({"choices": [{"finish_reason": "length", "message": {"tool_calls":
                [call("openai"), {"id": "2", "type": "custom"}]}}]}),
        ),
        (
            "openai-responses",
            json!({"status": "incomplete", "output": [call("openai-responses"), {"type": "message"}]}),
        ),
        (
            "openai-responses",
            json!({"status": "incomplete", "output": [call("openai-responses"),
                {"type": "function_call", "call_id": "2", "name": "Echo_Say", "arguments": say},
                {"type": "function_call_output", "call_id": "2", "output": "hi"}]}),
        ),
        (
            "anthropic",
            json!({"stop_reason": "max_tokens", "content": [call("anthropic"), {"type": "text", "text": "H"}]}),
        ),
        (
            "gemini",
            json!({"finishReason": "MAX_TOKENS", "content": {"parts": [call("gemini"), {"text": "H"}]}}),
        ),
    ] {
        let (response, _) = call_ok(&FakeHost::default(), &format!("{provider}/call"), &body);
        let expected = vec![(Some("1".to_owned()), "hi".to_owned(), false)];
        assert_eq!(read_results(provider, &response), expected, "PC19 {provider} {body}");
    }
}

#[test]
fn calls_that_must_not_run() {
    let say = r#"{"text":"hi"}"#;
    let item = |id: &str, status: &str| json!({"type": "function_call", "call_id": id, "name": "Echo_Say", "arguments": say, "status": status});
    let call = json!({"name": "Echo_Say", "args": {"text": "hi"}});
    let with = |key: &str, value: Value| {
        let mut call = call.clone();
        call[key] = value;
        json!([{"functionCall": call}])
    };
    let cut = "Error: The call was cut off at the token limit and did not run. Please retry with shorter arguments or a higher limit.";
    let pieces = "Error: The arguments are incomplete: their streamed pieces were not joined.";
    for (what, provider, body, expected) in [
        (
            "an incomplete item",
            "openai-responses",
            json!([item("1", "incomplete"), item("2", "completed")]),
            vec![cut, "hi"],
        ),
        (
            "a call that already has a result",
            "openai-responses",
            json!([item("1", "completed"), {"type": "function_call_output", "call_id": "1", "output": "hi"}, item("2", "completed")]),
            vec!["hi"],
        ),
        (
            "a later call with the id of one that has a result",
            "openai-responses",
            json!([item("1", "completed"), {"type": "function_call_output", "call_id": "1", "output": "hi"}, item("1", "completed")]),
            vec!["hi"],
        ),
        ("partial arguments", "gemini", with("partialArgs", json!([])), vec![pieces]),
        ("more to come", "gemini", with("will_continue", json!(true)), vec![pieces]),
        ("no more to come", "gemini", with("willContinue", json!(false)), vec!["hi"]),
    ] {
        let (response, _) = call_ok(&FakeHost::default(), &format!("{provider}/call"), &body);
        let texts: Vec<_> =
            read_results(provider, &response).into_iter().map(|(_, text, _)| text).collect();
        assert_eq!(texts, expected, "{what}");
    }
}

#[test]
fn only_the_first_choice_is_read() {
    let call = |provider, id| calls(provider, &[(Some(id), "Echo_Say", r#"{"text":"hi"}"#)]);
    let choice = |id| json!({"message": {"role": "assistant", "tool_calls": call("openai", id)}});
    let candidate = |id| json!({"content": {"parts": call("gemini", id)}});
    for (provider, body) in [
        ("openai", json!({"choices": [choice("1"), choice("2")]})),
        ("gemini", json!({"candidates": [candidate("1"), candidate("2")]})),
    ] {
        let (response, report) = call_ok(&FakeHost::default(), &format!("{provider}/call"), &body);
        let expected = vec![(Some("1".to_owned()), "hi".to_owned(), false)];
        assert_eq!(read_results(provider, &response), expected, "{provider}");
        assert_eq!(report["warnings"], json!(["Only the first choice was read"]), "{provider}");
    }
}
