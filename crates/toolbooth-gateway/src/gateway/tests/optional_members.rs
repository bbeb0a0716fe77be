//! Requests that are repeated without members that a model rejects and can answer without.

mod memory;

use crate::gateway::tests::loops::{streamed, world};
use crate::gateway::tests::members::{PROVIDERS, hi};
use crate::gateway::tests::*;

const ROOM: &[(&str, &str)] = &[("GATEWAY_CALLER_KEYS", "true")];

fn gateway(path: &'static str) -> TestGateway {
    TestGateway { path, ..world(&[PROVIDERS, ROOM].concat()) }
}

fn ask(
    (gateway, server): (&TestGateway, &Server),
    answers: Vec<Result<HttpResponse, HttpError>>,
    body: &Value,
) -> Reply {
    gateway.send_to(server, (Method::Post, gateway.path), answers, &[JSON, LOCAL], body)
}

fn request(path: &str, model: &str, more: &Value) -> Value {
    let messages = json!([{"role": "user", "content": "hi"}]);
    let mut body = match path {
        "/v1/responses" => json!({"input": messages}),
        "/v1/messages" => json!({"messages": messages, "max_tokens": 9}),
        _ => json!({"messages": messages}),
    };
    body["model"] = json!(model);
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

/// An answer of a provider in the format of the request that it gets.
fn hello(path: &str, model: &str, stream: bool) -> Result<HttpResponse, HttpError> {
    let events = |events: &[Value]| {
        let text = |event: &Value| {
            let name = event["type"].as_str().map(|name| format!("event: {name}\n"));
            format!("{}data: {event}\n\n", name.unwrap_or_default())
        };
        answer(200, events.iter().map(text).collect::<String>())
    };
    let response = json!({"id": "r", "object": "response", "created_at": 7, "model": "m", "status": "completed", "output": [],
        "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}});
    match (path, model, stream) {
        ("/v1/responses", "openai/m", false) => answer(200, response.to_string()),
        ("/v1/responses", "openai/m", true) => events(&[
            json!({"type": "response.created", "sequence_number": 0, "response": response}),
            json!({"type": "response.completed", "sequence_number": 1, "response": response}),
        ]),
        (_, "anthropic/m", true) => events(&[
            json!({"type": "message_start", "message": {"id": "m", "model": "c", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}),
            json!({"type": "message_stop"}),
        ]),
        (_, "google/m", true) => {
            events(&[serde_json::from_slice(&hi(model).unwrap().body).unwrap()])
        }
        (_, "openai/m" | "own/m", true) => streamed(says("hi")),
        _ => hi(model),
    }
}

/// The report in an answer.
fn report(reply: &Reply) -> Value {
    let values = match reply.header("content-type") {
        Some("text/event-stream") => reply.events(),
        _ => vec![reply.json()],
    };
    let found = |value: &Value| [value["_2api"].clone(), value["response"]["_2api"].clone()];
    values.iter().flat_map(found).find(|it| it.is_object()).unwrap_or_else(|| panic!("{reply:?}"))
}

fn openai(param: &str, code: &str) -> Value {
    json!({"error": {"message": format!("{param} is not supported"), "type": "invalid_request_error", "param": param, "code": code}})
}

fn says_error(message: &str) -> Value {
    json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}})
}

const CHAT: &str = "/v1/chat/completions";
const MESSAGES: &str = "/v1/messages";
const RESPONSES: &str = "/v1/responses";

/// Each: the member, the error, where the provider gets the member, and what the client calls it.
#[test]
fn a_request_is_repeated_without_a_member_that_the_model_rejects() {
    let violation = "Invalid JSON payload received. Unknown name \"stopSequences\" at 'generation_config': Cannot find field.";
    let gemini = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": violation,
        "details": [{"fieldViolations": [{"field": "generation_config", "description": violation}]}]}});
    let mistral = json!({"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": 7}]});
    let deprecated = says_error("`temperature` is deprecated for this model.");
    for (path, model, members, error, place, name) in [
        (
            CHAT,
            "openai/m",
            json!({"temperature": 0.5}),
            openai("temperature", "unsupported_parameter"),
            "/temperature",
            "temperature",
        ),
        (CHAT, "own/m", json!({"seed": 7}), mistral, "/seed", "seed"),
        (
            CHAT,
            "own/m",
            json!({"verbosity": "low"}),
            says_error("property 'verbosity' is unsupported"),
            "/verbosity",
            "verbosity",
        ),
        (
            CHAT,
            "anthropic/m",
            json!({"temperature": 0.5}),
            deprecated.clone(),
            "/temperature",
            "temperature",
        ),
        (
            CHAT,
            "google/m",
            json!({"frequency_penalty": 1, "temperature": 0}),
            says_error("Penalty is not enabled for this model"),
            "/generationConfig/frequencyPenalty",
            "frequency_penalty",
        ),
        (
            MESSAGES,
            "anthropic/m",
            json!({"temperature": 0.5, "system": "S"}),
            deprecated.clone(),
            "/temperature",
            "temperature",
        ),
        (
            MESSAGES,
            "anthropic/m",
            json!({"context_management": {"edits": []}}),
            says_error("context_management: Extra inputs are not permitted"),
            "/context_management",
            "context_management",
        ),
        (
            MESSAGES,
            "anthropic/m",
            json!({"output_config": {"effort": "low"}}),
            says_error("This model does not support the effort parameter."),
            "/output_config",
            "output_config.effort",
        ),
        (
            MESSAGES,
            "anthropic/m",
            json!({"thinking": {"type": "adaptive", "display": "omitted"}}),
            says_error("thinking.adaptive.display: Extra inputs are not permitted"),
            "/thinking/display",
            "thinking.display",
        ),
        (
            MESSAGES,
            "openai/m",
            json!({"temperature": 0.5}),
            openai("temperature", "unsupported_parameter"),
            "/temperature",
            "temperature",
        ),
        (
            MESSAGES,
            "google/m",
            json!({"stop_sequences": ["a"], "top_p": 1}),
            gemini,
            "/generationConfig/stopSequences",
            "stop_sequences",
        ),
        (
            RESPONSES,
            "openai/m",
            json!({"reasoning": {"effort": "low", "summary": "auto"}}),
            openai("reasoning.effort", "unsupported_parameter"),
            "/reasoning/effort",
            "reasoning.effort",
        ),
        (
            RESPONSES,
            "openai/m",
            json!({"include": ["reasoning.encrypted_content"]}),
            openai("include", "unsupported_parameter"),
            "/include",
            "include",
        ),
        (
            RESPONSES,
            "anthropic/m",
            json!({"temperature": 0.5}),
            deprecated,
            "/temperature",
            "temperature",
        ),
        (
            RESPONSES,
            "own/m",
            json!({"text": {"verbosity": "low"}}),
            says_error("property 'verbosity' is unsupported"),
            "/verbosity",
            "text.verbosity",
        ),
    ] {
        for stream in [false, true] {
            let mut members = members.clone();
            members["stream"] = json!(stream);
            let body = request(path, model, &members);
            let context = format!("{path} {model} {members}");
            let gateway = gateway(path);
            let server = gateway.server();
            let rejected = [400, 422].map(|status| answer(status, error.to_string()));
            // As the first event of a stream, too.
            let event = match (path, model) {
                (RESPONSES, "openai/m") => {
                    let mut event = error["error"].clone();
                    event["type"] = json!("error");
                    event
                }
                _ => error.clone(),
            };
            let first = event.get("type").map(|_| "event: error\n").unwrap_or_default();
            let event = answer(200, format!("{first}data: {event}\n\n"));
            let is_event = stream && error.get("detail").is_none();
            for rejected in rejected.into_iter().chain(is_event.then_some(event)) {
                let server = gateway.server();
                let answers = vec![rejected, hello(path, model, stream)];
                let reply = ask((&gateway, &server), answers, &body);
                assert_eq!((reply.status, reply.sent.len()), (200, 2), "{context} {}", reply.text);
            }
            let answers = vec![answer(400, error.to_string()), hello(path, model, stream)];
            let reply = ask((&gateway, &server), answers, &body);
            let [first, second] = &reply.sent[..] else { panic!("{context} {}", reply.text) };
            let mut expected = first.body.clone();
            let (parent, member) = place.rsplit_once('/').unwrap();
            let parent = expected.pointer_mut(parent).unwrap().as_object_mut().unwrap();
            assert!(parent.remove(member).is_some(), "{context} {}", first.body);
            assert_eq!(second.body, expected, "{context}");
            let found = report(&reply);
            assert_eq!(found["dropped"], json!([name]), "{context} {found}");
            let warning = format!("{name} was left out, because {model} rejects it");
            let has =
                |found: &Value| found["warnings"].as_array().unwrap().contains(&json!(warning));
            assert!(has(&found), "{context} {found}");
            let statuses: Vec<_> = found["attempts"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it["status"].clone())
                .collect();
            assert_eq!(statuses, [json!(400), json!(200)], "{context}");
            // Later requests leave it out at once.
            let reply = ask((&gateway, &server), vec![hello(path, model, stream)], &body);
            let [sent] = &reply.sent[..] else { panic!("{context} {}", reply.text) };
            assert_eq!(sent.body, expected, "{context}");
            assert!(has(&report(&reply)), "{context} {}", reply.text);
        }
    }
}

#[test]
fn what_changes_the_meaning_is_never_left_out() {
    let tool = tool("temperature");
    let format =
        json!({"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}});
    let all = json!({"temperature": 0.5, "tools": [tool], "tool_choice": "required", "response_format": format,
        "max_completion_tokens": 9, "store": false, "messages": [{"role": "user", "content": "`temperature` is deprecated"}]});
    let named = |param: &str| (400, openai(param, "unsupported_parameter"));
    for (status, error) in [
        named("messages"),
        named("messages[0].content"),
        named("tools"),
        named("tools[0].function.parameters"),
        named("tool_choice"),
        named("response_format"),
        named("max_completion_tokens"),
        named("max_tokens"),
        named("model"),
        named("store"),
        // Not in the request.
        named("top_p"),
        (400, says_error("The text \"`temperature` is deprecated\" is against the rules.")),
        (400, says_error("Invalid text: temperature: 0.5")),
        (401, openai("temperature", "unsupported_parameter")),
        (404, openai("temperature", "unsupported_parameter")),
        (413, openai("temperature", "unsupported_parameter")),
        (429, openai("temperature", "unsupported_parameter")),
        (500, openai("temperature", "unsupported_parameter")),
    ] {
        for stream in [false, true] {
            let mut all = all.clone();
            all["stream"] = json!(stream);
            let answers = vec![answer(status, error.to_string()), says("hi")];
            let reply = TestGateway::new().ask(answers, &chat(all));
            assert_eq!(reply.sent.len(), 1, "{status} {error} {}", reply.text);
            assert_ne!(reply.status, 200, "{status} {error}");
        }
    }
}

/// The client gets the error of the provider.
#[test]
fn a_strict_request_is_sent_as_it_is() {
    for path in [CHAT, MESSAGES, RESPONSES] {
        let gateway = gateway(path);
        let server = gateway.server();
        let error =
            || answer(400, says_error("`temperature` is deprecated for this model.").to_string());
        let hello = || hello(path, "anthropic/m", false);
        let body = |strict: bool| {
            let options = json!({"strict": strict});
            request(path, "anthropic/m", &json!({"temperature": 0.5, "request_options": options}))
        };
        let reply = ask((&gateway, &server), vec![error(), hello()], &body(true));
        assert_eq!((reply.status, reply.sent.len()), (400, 1), "{path} {}", reply.text);
        let reply = ask((&gateway, &server), vec![error(), hello()], &body(false));
        assert_eq!((reply.status, reply.sent.len()), (200, 2), "{path} {}", reply.text);
        // Whatever is known.
        let reply = ask((&gateway, &server), vec![hello()], &body(true));
        assert_eq!(reply.sent[0].body["temperature"], 0.5, "{path}");
    }
}

#[test]
fn each_error_may_name_another_member() {
    let members =
        json!({"temperature": 0.5, "top_p": 1, "seed": 7, "top_k": 3, "min_p": 0.1, "user": "u"});
    let body = chat(members.clone());
    let error = |name: &str| answer(400, openai(name, "unsupported_parameter").to_string());
    let all = ["temperature", "top_p", "seed", "top_k", "min_p"];
    for (count, status) in [(1, 200), (2, 200), (4, 200), (5, 400)] {
        let mut answers: Vec<_> = all.iter().take(count).map(|name| error(name)).collect();
        answers.push(says("hi"));
        let reply = TestGateway::new().ask(answers, &body);
        let sent = reply.sent.len();
        assert_eq!((reply.status, sent), (status, 5.min(count + 1)), "{}", reply.text);
        for (at, sent) in reply.sent.iter().enumerate() {
            for (position, name) in all.iter().enumerate() {
                assert_eq!(sent.body.get(name).is_none(), position < at, "{at} {name}");
            }
            assert_eq!(sent.body["user"], "u");
        }
    }
    // All that one error names.
    let item = |name: &str| json!({"type": "extra_forbidden", "loc": ["body", name], "msg": "m"});
    let error =
        answer(422, json!({"detail": [item("seed"), item("user"), item("tools")]}).to_string());
    let reply = TestGateway::new().ask(vec![error, says("hi")], &body);
    let sent = &reply.sent[1].body;
    assert!(sent.get("seed").is_none() && sent.get("user").is_none(), "{sent}");
    // A provider that repeats itself.
    let error = || answer(400, openai("seed", "").to_string());
    let reply = TestGateway::new().ask(vec![error(), error(), says("hi")], &body);
    assert_eq!((reply.status, reply.sent.len()), (400, 2), "{}", reply.text);
}

#[test]
fn each_repetition_takes_from_the_subrequests() {
    let error = || answer(400, openai("temperature", "unsupported_parameter").to_string());
    let body = chat(json!({"temperature": 0.5}));
    for (most, status, sent) in [("1", 502, 1), ("2", 200, 2)] {
        let gateway = TestGateway::with(&[("GATEWAY_MAX_SUBREQUESTS", most)]);
        let reply = gateway.ask(vec![error(), says("hi")], &body);
        assert_eq!((reply.status, reply.sent.len()), (status, sent), "{}", reply.text);
    }
}

/// The next model gets what the first one has rejected.
#[test]
fn a_fallback_gets_all_members() {
    let models = r#"{"two": {"targets": [{"provider": "openai", "model": "a"}, {"provider": "openai", "model": "b"}]}}"#;
    let error = || answer(400, openai("temperature", "unsupported_parameter").to_string());
    let body = chat(json!({"model": "two", "temperature": 0.5}));
    let gateway = TestGateway::with(&[("MODELS", models)]);
    let reply = gateway.ask(vec![error(), answer(503, "{}"), says("hi")], &body);
    let sent: Vec<_> = reply
        .sent
        .iter()
        .map(|it| (&it.body["model"], it.body.get("temperature").is_some()))
        .collect();
    assert_eq!(sent, [(&json!("a"), true), (&json!("a"), false), (&json!("b"), true)]);
    assert!(report(&reply).get("dropped").is_none(), "{}", reply.text);
}

#[test]
fn tokens_are_counted_without_it() {
    let path = "/v1/messages/count_tokens";
    let gateway = gateway(path);
    let server = gateway.server();
    let error = answer(
        400,
        says_error("thinking.adaptive.display: Extra inputs are not permitted").to_string(),
    );
    let body = request(
        MESSAGES,
        "anthropic/m",
        &json!({"thinking": {"type": "adaptive", "display": "omitted"}}),
    );
    let counted = || answer(200, r#"{"input_tokens":7}"#);
    for (answers, sent) in [(vec![error, counted()], 2), (vec![counted()], 1)] {
        let reply = ask((&gateway, &server), answers, &body);
        assert_eq!((reply.json(), reply.sent.len()), (json!({"input_tokens": 7}), sent));
        assert_eq!(reply.sent.last().unwrap().body["thinking"], json!({"type": "adaptive"}));
    }
}
