//! The format of OpenAI Responses, from request to response.

mod background;
mod own_tools;

use crate::gateway::format::responses::front::tests::answers::{checked, parsed};
use crate::gateway::tests::loops::{streamed, world};
use crate::gateway::tests::*;

fn gateway(variables: &[(&str, &str)]) -> TestGateway {
    TestGateway { path: "/v1/responses", ..world(variables) }
}

/// A request that is translated has an answer that is translated back, even if the provider has the client's format.
#[test]
fn a_translated_stream_has_the_clients_names() {
    let tools = json!([{"type": "namespace", "name": "files", "description": "d", "tools": [{"type": "function", "name": "read"}]}]);
    // What was left out of the conversation's tools has to be translated.
    let request = body(json!({"tools": tools, "input": [
        {"role": "user", "content": "hi"}, {"type": "additional_tools", "tools": [{"type": "web_search"}]}]}));
    let calls = json!([function_call("c1", "files__read", &json!({}))]);
    let (result, sent) = both(&gateway(&[]), &[calls], &request);
    assert_eq!(sent[0].body["tools"][0]["name"], "files__read");
    let call = &result["output"][0];
    assert_eq!((&call["namespace"], &call["name"]), (&json!("files"), &json!("read")));
}

const ANTHROPIC: &[(&str, &str)] = &[("ANTHROPIC_API_KEY", "sk-ant")];
const GROQ: &[(&str, &str)] = &[
    ("PROVIDERS", "groq,own"),
    ("GROQ_BASE_URL", "https://groq.example/v1"),
    ("OWN_BASE_URL", "https://own.example/v1"),
    ("OWN_API", "responses"),
];

fn body(more: Value) -> Value {
    let mut body = json!({"model": "openai/m", "input": "hi"});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

/// A response of OpenAI with these items.
fn response(items: Value) -> Value {
    json!({"id": "resp_9", "object": "response", "created_at": 7, "model": "m-1", "status": "completed", "output": items,
        "usage": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}})
}

pub(super) fn message(text: &str) -> Value {
    json!({"id": "msg_9", "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

pub(super) fn function_call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({"id": format!("fc_{id}"), "type": "function_call", "call_id": id, "name": name,
        "arguments": arguments.to_string(), "status": "completed"})
}

pub(super) fn native(items: Value) -> Result<HttpResponse, HttpError> {
    answer(200, response(items).to_string())
}

/// The same response as a stream, whose items have no deltas.
pub(super) fn native_stream(items: &Value) -> String {
    let mut text = String::new();
    let mut number = 0;
    let mut event = |mut event: Value| {
        event["sequence_number"] = json!(number);
        number += 1;
        text.push_str(&format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
    };
    event(json!({"type": "response.created", "response": response(json!([]))}));
    for (index, item) in items.as_array().unwrap().iter().enumerate() {
        event(json!({"type": "response.output_item.added", "output_index": index, "item": item}));
        event(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    event(json!({"type": "response.completed", "response": response(items.clone())}));
    text
}

/// What a request returns as a whole; as a stream it must have the same items.
fn both(gateway: &TestGateway, answers: &[Value], body: &Value) -> (Value, Vec<Sent>) {
    let whole = gateway.ask(answers.iter().map(|items| native(items.clone())).collect(), body);
    assert_eq!(whole.status, 200, "{}", whole.text);
    let mut streaming = body.clone();
    streaming["stream"] = json!(true);
    let answers = answers.iter().map(|items| answer(200, native_stream(items)));
    let stream = gateway.ask(answers.collect(), &streaming);
    let last = checked(&parsed(&stream.text));
    let result = whole.json();
    // What is sealed differs, because its length tells nothing.
    let items = |response: &Value| {
        let output = response["output"].as_array().unwrap().iter();
        Vec::from_iter(output.filter(|item| item["type"] != "reasoning").cloned())
    };
    assert_eq!(items(&last), items(&result));
    assert_eq!(kinds(&last), kinds(&result));
    assert_eq!(stream.sent.len(), whole.sent.len());
    (result, whole.sent)
}

fn kinds(response: &Value) -> Vec<String> {
    let output = response["output"].as_array().unwrap().iter();
    output.map(|item| item["type"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn bytes_pass_to_openai() {
    let request = body(json!({"temperature": 1.0, "client_metadata": {"a": "b"}, "input": [
        {"role": "user", "content": "hi"}, {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}]}));
    let reply = gateway(&[]).ask(vec![native(json!([message("T")]))], &request);
    assert_eq!(reply.sent[0].url, "https://api.openai.com/v1/responses");
    assert_eq!(reply.sent[0].header("authorization"), "Bearer sk-openai");
    let sent = &reply.sent[0].body;
    assert_eq!((&sent["input"], &sent["model"]), (&request["input"], &json!("m")));
    assert_eq!((sent.get("client_metadata"), &sent["store"]), (None, &json!(false)));
    let own = &reply.json()["_2api"];
    assert_eq!((&own["provider"], &own["usage"]["input_tokens"]), (&json!("openai"), &json!(10)));
    let plain = response(json!([message("T")])).to_string();
    assert!(reply.text.starts_with(&plain[..plain.len() - 1]), "{}", reply.text);
    assert_eq!(reply.line()["gen_ai.usage.output_tokens"], 2);

    let mut streaming = request.clone();
    streaming["stream"] = json!(true);
    let text = native_stream(&json!([message("T")]));
    let reply = gateway(&[]).ask(vec![answer(200, text.clone())], &streaming);
    let (before, _) = text.split_once("event: response.completed").unwrap();
    assert!(reply.text.starts_with(before), "{}", reply.text);
    let last = parsed(&reply.text).pop().unwrap();
    assert_eq!(last["response"]["_2api"]["usage"]["output_tokens"], 2);
    assert_eq!(last["response"]["output"], json!([message("T")]));
}

/// A provider has the format of the client, or one into which the request is translated.
#[test]
fn each_provider_has_a_format_for_each_front() {
    let settings = [GROQ, &[("ANTHROPIC_API_KEY", "k"), ("GEMINI_API_KEY", "k")]].concat();
    for (path, model, url) in [
        ("/v1/responses", "openai/m", "https://api.openai.com/v1/responses"),
        ("/v1/responses", "groq/m", "https://groq.example/v1/chat/completions"),
        ("/v1/responses", "own/m", "https://own.example/v1/responses"),
        ("/v1/responses", "anthropic/m", "https://api.anthropic.com/v1/messages"),
        (
            "/v1/responses",
            "google/m",
            "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent",
        ),
        ("/v1/chat/completions", "openai/m", "https://api.openai.com/v1/chat/completions"),
        ("/v1/chat/completions", "groq/m", "https://groq.example/v1/chat/completions"),
        ("/v1/chat/completions", "own/m", "https://own.example/v1/responses"),
    ] {
        let gateway = TestGateway { path, ..world(&settings) };
        let body =
            json!({"model": model, "input": "hi", "messages": [{"role": "user", "content": "hi"}]});
        let reply = gateway.ask(vec![], &body);
        assert_eq!(reply.sent[0].url, url, "{path} {model}");
    }
}

/// A client of the chat front gets the answers of a provider with the format of Responses.
#[test]
fn chats_with_a_provider_of_responses() {
    let items = json!([
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hmm"}], "encrypted_content": "gAAAA"},
        message("T"), function_call("c1", "a", &json!({"city": "x"})),
    ]);
    let gateway = world(GROQ);
    let request = chat(json!({"model": "own/m", "tools": [tool("a")], "max_tokens": 50}));
    let reply = gateway.ask(vec![native(items.clone())], &request);
    let sent = &reply.sent[0].body;
    assert_eq!(sent["tools"][0]["name"], "a");
    assert_eq!((&sent["max_output_tokens"], &sent["store"]), (&json!(50), &json!(false)));
    let answer = &reply.json()["choices"][0];
    assert_eq!(answer["finish_reason"], "tool_calls");
    let message = &answer["message"];
    assert_eq!((&message["content"], &message["reasoning_content"]), (&json!("T"), &json!("hmm")));
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], "{\"city\":\"x\"}");
    // The client sends the message back as it came.
    let mut next = request.clone();
    next["messages"]
        .as_array_mut()
        .unwrap()
        .extend([message.clone(), json!({"role": "tool", "tool_call_id": "c1", "content": "R"})]);
    let reply =
        gateway.ask(vec![native(json!([crate::gateway::tests::responses::message("U")]))], &next);
    let input = reply.sent[0].body["input"].as_array().unwrap();
    let kinds: Vec<_> = input.iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "reasoning", "message", "function_call", "function_call_output"]);
    assert_eq!(input[1]["encrypted_content"], "gAAAA");
}

#[test]
fn hosted_tools_need_the_operators_list() {
    let tools = json!([{"type": "web_search"}, {"type": "function", "name": "a"}]);
    let request = body(json!({"tools": tools}));
    let reply = gateway(&[]).ask(vec![native(json!([message("T")]))], &request);
    assert_eq!(reply.sent[0].body["tools"], json!([{"type": "function", "name": "a"}]));
    assert_eq!(reply.json()["_2api"]["dropped"], json!(["tools[] (web_search)"]));
    let listed = [("GATEWAY_TOOL_ALLOWLIST", "web_search,a")];
    let reply = gateway(&listed).ask(vec![native(json!([message("T")]))], &request);
    assert_eq!(reply.sent[0].body["tools"], tools);
    for more in [
        json!({"tools": tools, "tool_choice": {"type": "web_search"}}),
        json!({"tools": [{"type": "mcp", "server_label": "x", "server_url": "https://x.example"}]}),
    ] {
        let reply = gateway(&[]).ask(vec![], &body(more));
        assert_eq!(
            (reply.code().as_str(), reply.sent.len()),
            ("tool_not_allowed", 0),
            "{}",
            reply.text
        );
    }
    // Where a shell runs decides who runs it.
    let shell = |environment: Value| json!({"type": "shell", "environment": environment});
    let shells = json!([shell(json!({"type": "local"})), {"type": "function", "name": "a"}, shell(json!({"type": "container_auto"})), shell(Value::Null), {"type": "shell"}]);
    let reply = gateway(&[]).ask(vec![], &body(json!({"tools": shells})));
    assert_eq!(reply.sent[0].body["tools"], json!([shells[0], shells[1]]));
    let added = json!([{"role": "user", "content": "hi"}, {"type": "additional_tools", "tools": [shells[2]]}]);
    let reply = gateway(&[]).ask(vec![], &body(json!({"input": added})));
    assert!(!reply.sent[0].body.to_string().contains("shell"), "{:?}", reply.sent[0].body);
    // A provider with a different format never gets them.
    let more = body(json!({"model": "anthropic/m", "tools": [{"type": "web_search"}]}));
    let reply = gateway(&[listed.as_slice(), ANTHROPIC].concat()).ask(vec![], &more);
    assert_eq!(reply.sent[0].body.get("tools"), None);
}

/// Thinking of Anthropic is sealed, goes back to it, and to no other provider.
#[test]
fn what_a_provider_must_get_back_is_sealed() {
    let thinking = json!({"type": "thinking", "thinking": "hmm", "signature": "sig"});
    let content = json!([thinking, {"type": "tool_use", "id": "c1", "name": "a", "input": {}}]);
    let answer_of = || {
        answer(
            200,
            json!({"id": "m", "model": "c", "content": content, "stop_reason": "tool_use"})
                .to_string(),
        )
    };
    let request = body(
        json!({"model": "anthropic/claude-opus-4-6", "tools": [{"type": "function", "name": "a"}]}),
    );
    let gateway = gateway(ANTHROPIC);
    let result = gateway.ask(vec![answer_of()], &request).json();
    assert_eq!(kinds(&result), ["reasoning", "function_call", "reasoning"]);
    assert!(!result["output"][2].to_string().contains("sig\""), "{result}");
    let next = |model: &str| {
        let mut input = vec![json!({"role": "user", "content": "hi"})];
        input.extend(result["output"].as_array().unwrap().iter().cloned());
        input.push(json!({"type": "function_call_output", "call_id": "c1", "output": "R"}));
        body(json!({"model": model, "input": input, "tools": request["tools"]}))
    };
    let sent = gateway.ask(vec![], &next("anthropic/claude-opus-4-6")).sent;
    assert_eq!(sent[0].body["messages"][1]["content"][0], thinking);
    let sent = gateway.ask(vec![], &next("openai/m")).sent;
    assert!(!sent[0].body.to_string().contains("toolbooth."), "{:?}", sent[0].body);
    let kinds: Vec<_> =
        sent[0].body["input"].as_array().unwrap().iter().map(|it| it["type"].clone()).collect();
    assert_eq!(kinds, [Value::Null, json!("function_call"), json!("function_call_output")]);
    let mut forged = next("anthropic/claude-opus-4-6");
    forged["input"][3]["encrypted_content"] = json!("toolbooth.extra.AAAA");
    let reply = gateway.ask(vec![], &forged);
    assert_eq!((reply.status, reply.json()["error"]["param"].as_str()), (400, Some("input")));
    // Without a key, it is left out with a warning.
    let without =
        TestGateway { path: "/v1/responses", ..world(&[ANTHROPIC, &[("STATE_KEY", "")]].concat()) };
    let result = without.ask(vec![answer_of()], &request).json();
    assert_eq!(crate::gateway::tests::responses::kinds(&result), ["reasoning", "function_call"]);
    let warnings = result["_2api"]["warnings"].as_array().unwrap();
    assert!(
        warnings.iter().any(|it| it.as_str().unwrap().starts_with("STATE_KEY")),
        "{warnings:?}"
    );
}

#[test]
fn errors_have_openais_form() {
    for (answers, more, status, code) in [
        (vec![], json!({"previous_response_id": "r"}), 400, "invalid_request"),
        (
            vec![answer(401, r#"{"error":{"message":"bad key"}}"#)],
            json!({}),
            502,
            "provider_auth_error",
        ),
        (vec![answer(429, r#"{"error":{"message":"slow"}}"#)], json!({}), 429, "rate_limited"),
        (
            vec![answer(400, r#"{"error":{"message":"no"}}"#)],
            json!({"stream": true}),
            400,
            "provider_error",
        ),
        (
            vec![answer(200, response(json!([])).to_string().replace("completed", "failed"))],
            json!({}),
            502,
            "provider_error",
        ),
    ] {
        let reply = gateway(&[]).ask(answers, &body(more));
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{}", reply.text);
    }
    let reply = gateway(&[]).ask_with(
        vec![],
        &[("content-type", "text/plain"), LOCAL],
        &json!({}),
        usize::MAX,
    );
    assert!(reply.json()["error"]["message"].is_string(), "{}", reply.text);
}

/// A stream that ends early ends with `response.failed`, whether or not it was translated.
#[test]
fn a_broken_stream_is_a_failed_response() {
    let whole = native_stream(&json!([message("T")]));
    let cut = whole.split("event: response.completed").next().unwrap().to_owned();
    let reply = gateway(&[]).ask(vec![answer(200, cut)], &body(json!({"stream": true})));
    let events = parsed(&reply.text);
    let last = events.last().unwrap();
    assert_eq!((&last["type"], &last["sequence_number"]), (&json!("response.failed"), &json!(3)));
    assert_eq!(
        (&last["response"]["id"], &last["response"]["error"]["code"]),
        (&json!("resp_9"), &json!("server_error"))
    );
    assert_eq!(reply.line()["http.response.status_code"], 502);
    let chat = streamed(says("par"));
    let text = String::from_utf8(chat.unwrap().body).unwrap();
    let cut = text.split("data: {\"choices\":[{\"delta\":{},").next().unwrap().to_owned();
    let request = body(json!({"model": "groq/m", "stream": true}));
    let reply = gateway(GROQ).ask(vec![answer(200, cut)], &request);
    assert_eq!(checked(&parsed(&reply.text))["status"], "failed");
}

/// What Codex 0.169.0 sends, with its texts shortened: a call and its result, a namespace, and tools that it has searched.
#[test]
fn the_requests_of_codex_reach_each_provider() {
    let recorded = include_str!("../format/responses/front/tests/codex.json");
    let requests: Vec<Value> = serde_json::from_str(recorded).unwrap();
    let settings = [
        GROQ,
        &[("ANTHROPIC_API_KEY", "k"), ("GEMINI_API_KEY", "k"), ("GATEWAY_TOOLS", "Echo.Say")],
    ]
    .concat();
    for variables in [&settings[..settings.len() - 1], &settings] {
        for mut request in requests.clone() {
            for model in ["openai/m", "groq/m", "own/m", "anthropic/m", "google/m"] {
                request["model"] = json!(model);
                let reply = gateway(variables).ask(vec![], &request);
                assert_eq!(reply.sent.len(), 1, "{model} {}", reply.text);
                let sent = reply.sent[0].body.to_string();
                for text in ["exec_command", "call_x4", "call_j0W5qeOks79XQsDi"] {
                    let is_id = text.starts_with("call");
                    let is_sent =
                        request.to_string().contains(text) && !(is_id && model == "google/m");
                    assert!(!is_sent || sent.contains(text), "{model} {text} {sent}");
                }
                assert!(!sent.contains("client_metadata"), "{sent}");
            }
        }
    }
}
