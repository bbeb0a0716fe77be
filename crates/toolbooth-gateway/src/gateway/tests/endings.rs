//! Answers whose model has failed: clients never take them for complete.

use crate::gateway::tests::members::PROVIDERS;
use crate::gateway::tests::*;

/// A token of input costs 1,000 nano-dollars, one of output 2,000.
const MODELS: &str = r#"{
    "g": {"targets": [{"provider": "google", "model": "g"}], "price": {"input": 1, "output": 2}, "max_output_tokens": 9},
    "two": {"targets": [{"provider": "google", "model": "g"}, {"provider": "openai", "model": "m"}]}
}"#;

/// The words of npm `@google/genai` 3.3.0 that are neither a success nor a limit nor a filter, one of a later version, and the status
/// of an answer that has nothing else.
const FAILURES: [(&str, u16); 10] = [
    ("MALFORMED_FUNCTION_CALL", 502),
    ("UNEXPECTED_TOOL_CALL", 502),
    ("TOO_MANY_TOOL_CALLS", 502),
    ("MALFORMED_RESPONSE", 502),
    ("MISSING_THOUGHT_SIGNATURE", 400),
    ("NO_IMAGE", 502),
    ("IMAGE_OTHER", 502),
    ("OTHER", 502),
    ("PUP_LIMITED_DISABLED", 502),
    ("OF_TOMORROW", 502),
];

const FILTERS: [&str; 11] = [
    "SAFETY",
    "RECITATION",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
    "ESCALATION",
    "MODEL_ARMOR",
];

/// Each front, and what an answer of it says if it is complete, has reached a limit, or was withheld.
const FRONTS: [(&str, &str, &str, &str); 3] = [
    ("/v1/chat/completions", "stop", "length", "content_filter"),
    ("/v1/messages", "end_turn", "max_tokens", "refusal"),
    ("/v1/responses", "completed", "max_output_tokens", "content_filter"),
];

/// The parts of answers that answer nothing.
const EMPTY: [&str; 4] = [
    r#"{"content":{"role":"model","parts":[]}"#,
    r#"{"content":{"role":"model"}"#,
    r#"{"index":0"#,
    r#"{"content":{"parts":[{"text":"hm","thought":true},{"text":" \n"}]}"#,
];
const TEXT: &str = r#"{"content":{"parts":[{"text":"par"}]}"#;

/// An answer of Gemini with a candidate that begins like this and ends with a word, whole or as a stream.
fn gemini(candidate: &str, word: &str, stream: bool) -> Result<HttpResponse, HttpError> {
    let usage =
        r#""usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":2,"totalTokenCount":12}"#;
    let body = format!(r#"{{"candidates":[{candidate},"finishReason":"{word}"}}],{usage}}}"#);
    answer(200, if stream { format!("data: {body}\n\n") } else { body })
}

fn request(path: &str, stream: bool) -> Value {
    let messages = json!([{"role": "user", "content": "hi"}]);
    match path {
        "/v1/responses" => json!({"model": "google/g", "input": "hi", "stream": stream}),
        "/v1/messages" => {
            json!({"model": "google/g", "max_tokens": 9, "messages": messages, "stream": stream})
        }
        _ => json!({"model": "google/g", "messages": messages, "stream": stream}),
    }
}

fn ask(path: &'static str, stream: bool, answer: Result<HttpResponse, HttpError>) -> Reply {
    let gateway = TestGateway { path, ..TestGateway::with(&[PROVIDERS, &[]].concat()) };
    gateway.ask(vec![answer], &request(path, stream))
}

/// Why an answer ended, as its format says it.
fn ending(reply: &Reply, stream: bool) -> String {
    let bodies = if stream { reply.events() } else { vec![reply.json()] };
    let found = bodies.iter().rev().find_map(|body| {
        let response = body.get("response").unwrap_or(body);
        let places = [
            &response["choices"][0]["finish_reason"],
            &response["stop_reason"],
            &response["delta"]["stop_reason"],
            &response["incomplete_details"]["reason"],
            &response["status"],
        ];
        places.into_iter().find_map(|it| it.as_str().map(str::to_owned))
    });
    found.unwrap_or_else(|| panic!("{}", reply.text))
}

/// A failure that leaves nothing is an error with a status, also of a stream: nothing of it has been sent.
#[test]
fn a_failure_without_an_answer_is_an_error() {
    for (path, ..) in FRONTS {
        for stream in [false, true] {
            for (word, status) in FAILURES {
                for candidate in EMPTY {
                    let reply = ask(path, stream, gemini(candidate, word, stream));
                    let text = &reply.text;
                    assert!(text.contains(word), "{path} {word} {candidate}: {text}");
                    // The thoughts of a stream are sent before.
                    if !stream || !candidate.contains("thought") {
                        assert_eq!(reply.status, status, "{path} {word} {candidate}: {text}");
                        assert_eq!(
                            reply.json()["error"]["message"].as_str().map(|it| it.contains(word)),
                            Some(true)
                        );
                    } else if path == "/v1/responses" {
                        assert_eq!(reply.events().last().unwrap()["type"], "response.failed");
                    } else {
                        assert!(reply.events().last().unwrap()["error"].is_object(), "{text}");
                        assert!(!text.contains("stop_reason\":\"") && !text.contains("[DONE]"));
                    }
                    let line = reply.line();
                    assert_eq!(line["gen_ai.usage.output_tokens"], 2, "the tokens are in the log");
                    assert_eq!(line["error.type"], "provider_error");
                }
            }
        }
    }
}

/// With a part of an answer, or with a word for it in the client's format, the reason to stop tells it.
#[test]
fn an_answer_that_is_incomplete_says_so() {
    for (path, complete, limit, withheld) in FRONTS {
        for stream in [false, true] {
            let failures = FAILURES.map(|(word, _)| (TEXT, word, limit, true));
            let filters = FILTERS.iter().flat_map(|word| {
                [TEXT, EMPTY[1]].map(|candidate| (candidate, *word, withheld, true))
            });
            let others = [
                (TEXT, "STOP", complete, false),
                (TEXT, "MAX_TOKENS", limit, false),
                (TEXT, "CONTINUATION", limit, false),
                (EMPTY[1], "MAX_TOKENS", limit, false),
                (EMPTY[0], "STOP", complete, true),
                (EMPTY[1], "STOP", complete, true),
                (EMPTY[3], "STOP", complete, true),
            ];
            for (candidate, word, expected, warns) in
                failures.into_iter().chain(filters).chain(others)
            {
                let reply = ask(path, stream, gemini(candidate, word, stream));
                assert_eq!(reply.status, 200, "{path} {word} {}", reply.text);
                assert_eq!(ending(&reply, stream), expected, "{path} {word} {}", reply.text);
                assert_eq!(
                    reply.text.contains("\"warnings\":["),
                    warns,
                    "{path} {word} {}",
                    reply.text
                );
            }
        }
    }
}

/// A prompt that the provider has blocked, and bodies without a candidate.
#[test]
fn answers_without_candidates() {
    for (path, .., withheld) in FRONTS {
        for stream in [false, true] {
            for (body, expected) in [
                (r#"{"promptFeedback":{"blockReason":"SAFETY"}}"#, Some(withheld)),
                (
                    r#"{"promptFeedback":{"blockReason":"OF_TOMORROW"},"candidates":[]}"#,
                    Some(withheld),
                ),
                (r#"{"promptFeedback":{},"candidates":[]}"#, None),
                (r#"{"candidates":[]}"#, None),
                (r#"{"usageMetadata":{"promptTokenCount":4}}"#, None),
            ] {
                let answered = if stream { format!("data: {body}\n\n") } else { body.to_owned() };
                let reply = ask(path, stream, answer(200, answered));
                match expected {
                    Some(reason) => assert_eq!(ending(&reply, stream), reason, "{}", reply.text),
                    None => assert_eq!(reply.status, 502, "{path} {body} {}", reply.text),
                }
            }
        }
    }
}

/// The next model may answer; not if the request would end like that again.
#[test]
fn another_model_is_asked_after_a_failure() {
    for (word, status, attempts) in [("NO_IMAGE", 200, 2), ("MISSING_THOUGHT_SIGNATURE", 400, 1)] {
        let gateway = TestGateway::with(&[PROVIDERS, &[("MODELS", MODELS)]].concat());
        let answers = vec![gemini(EMPTY[1], word, false), says("hi")];
        let reply = gateway.ask(answers, &chat(json!({"model": "two"})));
        assert_eq!((reply.status, reply.sent.len()), (status, attempts), "{}", reply.text);
        assert_eq!(reply.line()["gen_ai.usage.output_tokens"], 2 * attempts, "of all attempts");
    }
}

/// A failure costs the tokens that the provider has counted.
#[test]
fn a_failure_costs_its_tokens() {
    for candidate in [EMPTY[1], EMPTY[3]] {
        for stream in [false, true] {
            let mut world = budgets::in_dollars();
            world.host.variables.insert("MODELS".to_owned(), MODELS.to_owned());
            for word in ["NO_IMAGE", "MISSING_THOUGHT_SIGNATURE"] {
                let body = chat(json!({"model": "g", "stream": stream}));
                budgets::ask(&world, vec![gemini(candidate, word, stream)], &body);
                let settled = budgets::operations(&world).pop();
                assert_eq!(settled.as_deref(), Some("settle 14000"), "{candidate} {word}");
            }
        }
    }
}

/// A failure after calls leaves them to the client, and those of this server run.
#[test]
fn a_failure_after_calls() {
    let call = r#"{"content":{"parts":[{"functionCall":{"name":"f","args":{}}}]}"#;
    for (path, ..) in FRONTS {
        for stream in [false, true] {
            let reply = ask(path, stream, gemini(call, "MALFORMED_FUNCTION_CALL", stream));
            assert_eq!(reply.status, 200, "{}", reply.text);
            assert!(reply.text.contains("MALFORMED_FUNCTION_CALL"), "{}", reply.text);
            let expected = match path {
                "/v1/messages" => "tool_use",
                "/v1/responses" => "completed",
                _ => "tool_calls",
            };
            assert_eq!(ending(&reply, stream), expected, "{}", reply.text);
        }
    }
}
