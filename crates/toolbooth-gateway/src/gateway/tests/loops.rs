//! The loop over compiled-in tools.

use crate::gateway::tests::*;
use toolbooth::catalog::{Entry, List, ListBody, Lists, Needs, SearchIndex, Tool};

/// Narrow is found by `say`, too. Private is always listed.
const INDEX: SearchIndex = SearchIndex {
    words: &[("echo", &[1, 1, 1, 3, 3, 1]), ("mail", &[2, 9]), ("say", &[1, 4, 4, 9])],
    pinned: &[2],
};

/// The catalogue of the pipeline's tests with lists for models. `Echo_Narrow` is not read-only.
fn catalog() -> &'static Catalog {
    fn list(name: &'static str, entry: fn(&str) -> Value) -> List {
        let (mut body, mut entries) = ("[".to_owned(), Vec::new());
        for (index, tool) in CATALOG.tools.iter().enumerate() {
            if CATALOG.named(tool.name).is_none_or(|it| it.version != tool.version) {
                continue;
            }
            let start = body.len();
            body.push_str(&entry(tool.name).to_string());
            let unsupported: &[&str] = if tool.name == "Echo_Broken" { &["oneOf"] } else { &[] };
            let end = if unsupported.is_empty() { body.len() } else { start };
            entries.push(Entry {
                tool: index,
                needs: Needs::Tool,
                name: tool.name,
                start,
                end,
                unsupported,
                warnings: &[],
            });
            body.push(',');
        }
        List {
            name,
            body: ListBody::Plain(body.leak()),
            head: 1,
            entries: entries.leak(),
            etag: "",
        }
    }
    let lists = vec![
        list("openai", |name| json!({"type": "function", "function": {"name": name}})),
        list("openai-responses", |name| {
            json!({"type": "function", "name": name, "description": "D", "strict": false,
                "parameters": {"type": "object", "properties": {}}})
        }),
        list("gemini", |name| json!({"name": name})),
        list("anthropic", |name| json!({"name": name, "input_schema": {"type": "object"}})),
        list(
            "search",
            |name| json!({"name": name, "description": "D", "inputSchema": {"type": "object"}}),
        ),
    ];
    let copy = |tool: &Tool| Tool {
        version: tool.version.clone(),
        read_only: tool.name != "Echo_Narrow",
        ..*tool
    };
    let tools: Vec<Tool> = CATALOG.tools.iter().map(copy).collect();
    Box::leak(Box::new(Catalog {
        tools: tools.leak(),
        lists: vec![
            Lists::all(lists.leak()),
            Lists { capability: "search", lists: &[], search: Some(INDEX) },
        ]
        .leak(),
        ..*CATALOG
    }))
}

pub(super) fn world(variables: &[(&str, &str)]) -> TestGateway {
    TestGateway { catalog: catalog(), ..TestGateway::with(variables) }
}

/// A request with the tool `Echo_Say` of the server.
fn with_say(more: Value) -> Value {
    let own = json!({"type": "toolbooth", "allowed": ["Echo.Say"], "require_approval": "never"});
    let mut body = chat(json!({"tools": [own]}));
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

pub(super) fn say(id: &str, text: &str) -> Value {
    call(id, "Echo_Say", &json!({"text": text}).to_string())
}

/// An answer of the provider as a stream.
pub(super) fn streamed(answer: Result<HttpResponse, HttpError>) -> Result<HttpResponse, HttpError> {
    let body: Value = serde_json::from_slice(&answer.unwrap().body).unwrap();
    let choice = &body["choices"][0];
    let mut text = String::new();
    let mut chunk = |delta: Value, finish_reason: Value, usage: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
        let mut chunk = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]});
        if !usage.is_null() {
            chunk["choices"] = json!([]);
            chunk["usage"] = usage;
        }
        text.push_str(&format!("data: {chunk}\n\n"));
    };
    let message = &choice["message"];
    if message["reasoning_content"].is_string() {
        let reasoning = json!({"reasoning_content": message["reasoning_content"]});
        chunk(reasoning, Value::Null, Value::Null);
    }
    if message["content"].is_string() {
        chunk(json!({"content": message["content"]}), Value::Null, Value::Null);
    }
    for (index, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
        let mut call = call.clone();
        call["index"] = json!(index);
        chunk(json!({"tool_calls": [call]}), Value::Null, Value::Null);
    }
    chunk(json!({}), choice["finish_reason"].clone(), Value::Null);
    chunk(json!({}), Value::Null, body["usage"].clone());
    text.push_str("data: [DONE]\n\n");
    crate::gateway::tests::answer(200, text)
}

/// What a request returns as a whole and as a stream: text, finish reason, calls and `_2api`.
pub(super) fn both(
    world: &TestGateway,
    answers: &[Result<HttpResponse, HttpError>],
    body: &Value,
) -> (Value, Vec<Sent>) {
    let whole = world.ask(answers.to_vec(), body);
    assert_eq!(whole.status, 200, "{}", whole.text);
    let json = whole.json();
    let choice = &json["choices"][0];
    let result = json!({
        "text": choice["message"]["content"].as_str().unwrap_or_default(),
        "reasoning": choice["message"]["reasoning_content"].as_str().unwrap_or_default(),
        "finish_reason": choice["finish_reason"],
        "calls": choice["message"]["tool_calls"].as_array().map(|calls| names(calls)).unwrap_or_default(),
        "_2api": stable(&json["_2api"]),
    });
    let mut body = body.clone();
    body["stream"] = json!(true);
    let stream = world.ask(answers.iter().cloned().map(streamed).collect(), &body);
    let events = stream.events();
    let finish: Vec<_> = events.iter().filter(|it| it["_2api"].is_object()).collect();
    assert_eq!(finish.len(), 1, "{}", stream.text);
    let calls: Vec<Value> = events
        .iter()
        .filter_map(|it| it["choices"][0]["delta"]["tool_calls"].as_array())
        .flatten()
        .filter(|call| call["id"].is_string())
        .cloned()
        .collect();
    let reasoning =
        events.iter().filter_map(|it| it["choices"][0]["delta"]["reasoning_content"].as_str());
    let streamed = json!({
        "text": stream.content(),
        "reasoning": reasoning.collect::<String>(),
        "finish_reason": finish[0]["choices"][0]["finish_reason"],
        "calls": names(&calls),
        "_2api": stable(&finish[0]["_2api"]),
    });
    assert_eq!(streamed, result, "a stream returns the same: {}", stream.text);
    assert_eq!(*events.last().unwrap(), "[DONE]");
    assert_eq!(stream.sent.len(), whole.sent.len());
    (result, whole.sent)
}

pub(super) fn names(calls: &[Value]) -> Vec<Value> {
    calls.iter().map(|call| call["function"]["name"].clone()).collect()
}

/// Without times and sealed text.
fn stable(two_api: &Value) -> Value {
    let mut stable = two_api.clone();
    for list in ["attempts", "tool_calls"] {
        for item in stable[list].as_array_mut().into_iter().flatten() {
            item["ms"] = json!(0);
        }
    }
    for member in ["state", "challenge"] {
        if stable[member].is_null() {
            stable.as_object_mut().unwrap().remove(member);
        } else {
            stable[member] = json!("…");
        }
    }
    stable
}

#[test]
fn rounds() {
    let answers = [calls(&[say("call_1", "one"), say("call_2", "two")]), says("done")];
    let (result, sent) = both(&world(&[]), &answers, &with_say(json!({})));
    assert_eq!(result["text"], "done");
    assert_eq!(result["finish_reason"], "stop");
    let two_api = &result["_2api"];
    assert_eq!(two_api["rounds"], 2);
    assert_eq!(
        two_api["usage"],
        json!({"input_tokens": 20, "output_tokens": 4, "cached_tokens": 0, "tool_calls": 2, "rounds": 2})
    );
    let ran = json!([{"id": "call_1", "tool": "Echo_Say", "ms": 0}, {"id": "call_2", "tool": "Echo_Say", "ms": 0}]);
    assert_eq!(two_api["tool_calls"], ran);
    assert_eq!(names(sent[0].body["tools"].as_array().unwrap()), ["Echo_Say"]);
    let messages = sent[1].body["messages"].as_array().unwrap();
    assert_eq!(names(messages[1]["tool_calls"].as_array().unwrap()), ["Echo_Say", "Echo_Say"]);
    for (index, (id, text)) in [("call_1", "one"), ("call_2", "two")].iter().enumerate() {
        let result = &messages[2 + index];
        assert_eq!((&result["tool_call_id"], &result["content"]), (&json!(id), &json!(text)));
    }
}

/// The texts and the reasoning of all rounds are in the answer, with empty lines between them.
#[test]
fn what_the_model_said_and_thought_in_each_round() {
    let thinks = |text: &str, reasoning: &str, calls: Value| {
        let message = json!({"role": "assistant", "content": text, "reasoning_content": reasoning, "tool_calls": calls});
        completion(message)
    };
    let answers = [
        thinks("a", "one", json!([say("call_1", "x")])),
        calls(&[say("call_2", "y")]),
        thinks("b", "two", json!([])),
    ];
    let (result, _) = both(&world(&[]), &answers, &with_say(json!({})));
    assert_eq!((&result["text"], &result["reasoning"]), (&json!("a\n\nb"), &json!("one\n\ntwo")));
}

#[test]
fn when_the_loop_ends() {
    let again = |text: &str| calls(&[say("call_1", text)]);
    let cut_off = |text: &str| {
        let body = again(text).unwrap().body;
        let body = String::from_utf8(body).unwrap();
        answer(200, body.replace(r#""finish_reason":"tool_calls""#, r#""finish_reason":"length""#))
    };
    let one = json!({"request_options": {"max_rounds": 1}});
    for (body, answers, finish_reason, rounds, warning) in [
        (json!({}), vec![again("a"), again("a")], "stop", 2, "repeated"),
        (json!({}), vec![again("a"), again("b"), says("x")], "stop", 3, ""),
        (one, vec![again("a")], "length", 1, "max_rounds"),
        (json!({}), vec![cut_off("a")], "length", 1, "no call ran"),
    ] {
        let (result, sent) = both(&world(&[]), &answers, &with_say(body));
        assert_eq!(
            (&result["finish_reason"], sent.len()),
            (&json!(finish_reason), rounds),
            "{result}"
        );
        let warnings = result["_2api"]["warnings"].to_string();
        assert!(warnings.contains(warning), "{warnings}");
        assert_eq!(result["calls"], json!([]), "the client cannot run them");
    }
    let eight: Vec<_> = (0..9).map(|at| again(&at.to_string())).collect();
    let (result, sent) = both(&world(&[]), &eight, &with_say(json!({})));
    assert_eq!((&result["finish_reason"], sent.len()), (&json!("length"), 8), "the default");
    let few = world(&[("GATEWAY_MAX_SUBREQUESTS", "2")]);
    let reply = few.ask(vec![again("a"), says("x")], &with_say(json!({})));
    assert_eq!((reply.status, reply.code().as_str()), (502, "subrequest_budget_exceeded"));
    let short = world(&[("GATEWAY_DEADLINE_MS", "5")]);
    let reply = short.ask((0..9).map(|at| again(&at.to_string())).collect(), &with_say(json!({})));
    assert_eq!((reply.status, reply.code().as_str()), (504, "deadline_exceeded"));
}

#[test]
fn a_forcing_choice_holds_for_the_first_round() {
    let answers = [calls(&[say("call_1", "a")]), says("done")];
    let (result, sent) = both(&world(&[]), &answers, &with_say(json!({"tool_choice": "required"})));
    assert_eq!(result["text"], "done");
    assert_eq!(sent[0].body["tool_choice"], "required");
    assert_ne!(sent[1].body["tool_choice"], "required");
}

#[test]
fn results_that_are_errors() {
    for (call, expected) in [
        (call("1", "Echo_Say", "{"), "Error: Invalid JSON in arguments"),
        (call("1", "Echo_Say", "{}"), "Error: Invalid arguments for tool 'Echo_Say'"),
        (say("1", "fail"), "Error: It failed"),
    ] {
        let (result, sent) =
            both(&world(&[]), &[calls(&[call]), says("sorry")], &with_say(json!({})));
        let content = sent[1].body["messages"][2]["content"].as_str().unwrap();
        assert!(content.starts_with(expected), "{content}");
        assert!(result["_2api"]["tool_calls"][0]["error"].is_string(), "{result}");
    }
}

#[test]
fn calls_of_both_kinds() {
    let world = world(&[]);
    let own = json!({"type": "toolbooth", "allowed": ["Echo.Say"], "require_approval": "never"});
    let body = chat(json!({"tools": [own, tool("get_weather")]}));
    let weather = call("call_w", "get_weather", r#"{"city":"x"}"#);
    let answers = [
        calls(&[say("call_1", "one")]),
        calls(&[say("call_2", "two"), weather, say("call_3", "three")]),
    ];
    let (result, _) = both(&world, &answers, &body);
    assert_eq!(result["calls"], json!(["get_weather"]));
    assert_eq!(result["finish_reason"], "tool_calls");
    assert_eq!(result["_2api"]["state"], "…");

    // The client answers its own call, with the message as it got it or with the state.
    let first = world.ask(answers.to_vec(), &body).json();
    let message = &first["choices"][0]["message"];
    let state = &message["tool_calls"][0]["extra_content"]["toolbooth"]["state"];
    assert_eq!(*state, first["_2api"]["state"]);
    let message_with_state = message.clone();
    let mut plain = message.clone();
    plain["tool_calls"][0].as_object_mut().unwrap().remove("extra_content");
    let result = json!({"role": "tool", "tool_call_id": "call_w", "content": "sunny"});
    for (message, more) in
        [(message.clone(), json!({})), (plain.clone(), json!({"_2api": {"state": state}}))]
    {
        let mut next = body.clone();
        next["messages"].as_array_mut().unwrap().extend([message, result.clone()]);
        for (name, value) in more.as_object().unwrap() {
            next[name] = value.clone();
        }
        let reply = world.ask(vec![says("done")], &next);
        assert_eq!(reply.status, 200, "{}", reply.text);
        let sent = &reply.sent[0].body;
        assert!(!sent.to_string().contains("toolbooth"), "{sent}");
        let messages = sent["messages"].as_array().unwrap();
        let results: Vec<_> = messages
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| {
                (message["tool_call_id"].as_str().unwrap(), message["content"].as_str().unwrap())
            })
            .collect();
        assert_eq!(
            results,
            [("call_1", "one"), ("call_2", "two"), ("call_w", "sunny"), ("call_3", "three")]
        );

        // The next answer of both kinds carries its own rounds only.
        let more = [say("call_4", "four"), call("call_v", "get_weather", r#"{"city":"y"}"#)];
        let again = world.ask(vec![calls(&more)], &next).json();
        let second = json!({"role": "tool", "tool_call_id": "call_v", "content": "rain"});
        let mut last = next.clone();
        last["messages"]
            .as_array_mut()
            .unwrap()
            .extend([again["choices"][0]["message"].clone(), second]);
        if last["_2api"].is_object() {
            // The client sends the state of the last answer; the earlier one is in its message.
            last["messages"][1] = message_with_state.clone();
            last["_2api"]["state"] = again["_2api"]["state"].clone();
        }
        let sent = world.ask(vec![says("done")], &last).sent[0].body.clone();
        let ids: Vec<_> = sent["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|message| message["tool_call_id"].as_str())
            .collect();
        assert_eq!(ids, ["call_1", "call_2", "call_w", "call_3", "call_4", "call_v"]);
    }

    // A state of another server, another caller, or without the client's result.
    let mut next = body.clone();
    let mut forged = message.clone();
    forged["tool_calls"][0]["extra_content"]["toolbooth"]["state"] = json!("forged");
    for (messages, reason) in [
        (vec![forged, result.clone()], "was not issued by this server"),
        (vec![message.clone()], "messages[1].tool_calls[0] has no result"),
    ] {
        next["messages"] = json!([{"role": "user", "content": "hi"}]);
        next["messages"].as_array_mut().unwrap().extend(messages);
        let reply = world.ask(vec![says("done")], &next);
        assert_eq!(reply.status, 400, "{}", reply.text);
        assert!(reply.text.contains(reason), "{}", reply.text);
    }
    let without_key = TestGateway {
        path: "/v1/chat/completions",
        capabilities: CAPABILITIES,
        catalog: catalog(),
        host: {
            let mut host = TestGateway::new().host;
            host.variables.remove("STATE_KEY");
            host
        },
    };
    let reply = without_key.ask(answers.to_vec(), &body).json();
    assert!(reply["_2api"]["warnings"].to_string().contains("STATE_KEY"), "{reply}");
}

/// A provider with the client's format gets the results of the client as they are.
#[test]
fn results_of_the_client_that_continue_a_round() {
    let world = world(&[]);
    let own = json!({"type": "toolbooth", "allowed": ["Echo.Say"], "require_approval": "never"});
    let body = chat(json!({"tools": [own, tool("get_weather")]}));
    let both = calls(&[say("c1", "one"), call("c2", "get_weather", r#"{"city":"x"}"#)]);
    let message = world.ask(vec![both], &body).json()["choices"][0]["message"].clone();
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image_url", "image_url": {"url": "https://a.example/b.png"}});
    let shown = json!([text("From the results of the tools:"), image]);
    let follows = "The result is shown in the message that follows.";
    for (content, result, shown) in [
        (json!("a"), "a", None),
        (json!([text("a"), text("b")]), "a\n\nb", None),
        (json!([text("Error: a"), image.clone()]), "Error: a", Some(&shown)),
        (json!([image]), follows, Some(&shown)),
    ] {
        let expected = result;
        let result = json!({"role": "tool", "tool_call_id": "c2", "content": content});
        let mut next = body.clone();
        next["messages"].as_array_mut().unwrap().extend([message.clone(), result]);
        let reply = world.ask(vec![says("done")], &next);
        let mut messages = reply.sent[0].body["messages"].as_array().unwrap().iter().rev();
        if let Some(shown) = shown {
            assert_eq!(messages.next().unwrap()["content"], *shown, "{}", reply.text);
        }
        assert_eq!(messages.next().unwrap()["content"], expected, "{}", reply.text);
        assert_eq!(reply.json()["_2api"]["dropped"], Value::Null);
    }
}

#[test]
fn the_client_gets_comments_between_two_rounds() {
    // A tenth of this is no time at all.
    let world = world(&[("GATEWAY_TIMEOUT_MS", "5")]);
    world.host.upstream_waits.set(true);
    let body = with_say(json!({"stream": true}));
    let answers = || vec![streamed(calls(&[say("1", "a")])), streamed(says("b"))];
    let reply = world.ask(answers(), &body);
    assert!(reply.text.contains(": keep-alive\n\n"), "{reply:?}");
    assert_eq!(reply.content(), "b");
    // The comment is the first write: the client has gone.
    let reply = world.ask_with(answers(), &[JSON, LOCAL], &body, 0);
    assert!(reply.log.concat().contains("\"http.response.status_code\":499"), "{:?}", reply.log);
}
