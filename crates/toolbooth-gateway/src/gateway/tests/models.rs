//! What models accept, from request to response: OpenAI's models that take tools at `/responses` only, and what `MODELS` says.

use crate::gateway::tests::loops::{self, streamed};
use crate::gateway::tests::responses::{function_call, message, native, native_stream};
use crate::gateway::tests::*;

const PROVIDERS: &[(&str, &str)] =
    &[("ANTHROPIC_API_KEY", "k"), ("PROVIDERS", "own"), ("OWN_BASE_URL", "https://own.example/v1")];

/// A request with a tool in each format of clients, and how each says that the model shall not think.
fn requests(model: &str) -> [(&'static str, Value, Value); 3] {
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let hi = json!([{"role": "user", "content": "hi"}]);
    let function = json!({"type": "function", "name": "w", "parameters": parameters});
    [
        (
            "/v1/chat/completions",
            json!({"model": model, "messages": hi, "tools": [tool("w")]}),
            json!({"reasoning_effort": "none"}),
        ),
        (
            "/v1/messages",
            json!({"model": model, "messages": hi, "max_tokens": 100, "tools": [{"name": "w", "input_schema": parameters}]}),
            json!({"thinking": {"type": "disabled"}}),
        ),
        (
            "/v1/responses",
            json!({"model": model, "input": hi, "tools": [function]}),
            json!({"reasoning": {"effort": "none"}}),
        ),
    ]
}

fn with(mut body: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

/// A client of any format gets the call, whole and streamed.
#[test]
fn models_that_take_tools_at_responses_only() {
    let items = json!([function_call("c1", "w", &json!({"city": "Rome"}))]);
    for (path, body, off) in requests("openai/gpt-5.6-sol") {
        for stream in [false, true] {
            let gateway = TestGateway { path, ..TestGateway::new() };
            let body = with(body.clone(), &json!({"stream": stream}));
            let answers = match stream {
                true => vec![answer(200, native_stream(&items))],
                false => vec![native(items.clone())],
            };
            let reply = gateway.ask(answers, &body);
            assert_eq!(reply.status, 200, "{path} {}", reply.text);
            let sent = &reply.sent[0];
            assert_eq!(sent.url, "https://api.openai.com/v1/responses", "{path}");
            let tool = &sent.body["tools"][0];
            assert_eq!((&tool["type"], &tool["name"]), (&json!("function"), &json!("w")));
            assert_eq!(sent.body.get("reasoning_effort"), None);
            assert!(reply.text.contains("Rome") && reply.text.contains("\"w\""), "{}", reply.text);
        }
        // Chat Completions takes the tools if the model does not think. A client of Responses is at its own address.
        let gateway = TestGateway { path, ..TestGateway::new() };
        let chats = path != "/v1/responses";
        let answers = vec![if chats { says("hi") } else { native(json!([message("hi")])) }];
        let reply = gateway.ask(answers, &with(body, &off));
        assert_eq!(reply.status, 200, "{path} {}", reply.text);
        let is_chat = reply.sent[0].url.ends_with("/chat/completions");
        assert_eq!(is_chat, chats, "{path}");
        if chats {
            assert_eq!(reply.sent[0].body["reasoning_effort"], "none", "{path}");
        }
    }
}

/// The tools of the server are tools, too. Later rounds, and a client that continues one, stay in the format.
#[test]
fn rounds_at_responses() {
    for stream in [false, true] {
        let gateway = loops::world(&[]);
        let own =
            json!({"type": "toolbooth", "allowed": ["Echo.Say"], "require_approval": "never"});
        let body = chat(json!({"model": "openai/gpt-6-astra", "tools": [own], "stream": stream}));
        let said = |text: &str| json!({"text": text});
        let answered = |items: Value| match stream {
            true => answer(200, native_stream(&items)),
            false => native(items),
        };
        let first = answered(json!([function_call("c1", "Echo_Say", &said("one"))]));
        let reply = gateway.ask(vec![first.clone(), answered(json!([message("done")]))], &body);
        assert_eq!((reply.status, reply.sent.len()), (200, 2), "{}", reply.text);
        assert!(reply.sent.iter().all(|sent| sent.url.ends_with("/responses")), "{reply:?}");
        let kinds = reply.sent[1].body["input"].as_array().unwrap().iter();
        let kinds: Vec<_> = kinds.map(|item| item["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["message", "function_call", "function_call_output"]);

        // With a tool of the client, the round before its call comes back sealed.
        if stream {
            continue;
        }
        let tools = json!({"tools": [body["tools"][0], tool("get_weather")]});
        let body = with(body, &tools);
        let both = json!([
            function_call("c2", "Echo_Say", &said("two")),
            function_call("w", "get_weather", &json!({"city": "x"})),
        ]);
        let reply = gateway.ask(vec![first, native(both)], &body).json();
        let said = &reply["choices"][0]["message"];
        assert_eq!(said["tool_calls"][0]["function"]["name"], "get_weather", "{reply}");
        let result = json!({"role": "tool", "tool_call_id": "w", "content": "sunny"});
        let mut next = body;
        next["messages"].as_array_mut().unwrap().extend([said.clone(), result]);
        let reply = gateway.ask(vec![native(json!([message("done")]))], &next);
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert!(reply.sent[0].url.ends_with("/responses"), "{reply:?}");
        let outputs = reply.sent[0].body["input"].as_array().unwrap().iter();
        let outputs = outputs.filter(|item| item["type"] == "function_call_output");
        assert_eq!(outputs.count(), 3, "{}", reply.sent[0].body);
    }
}

/// Without tools, or with an older model, a chat is one at OpenAI too.
#[test]
fn models_that_are_asked_as_before() {
    let tools = json!({"tools": [tool("w")]});
    let effort = with(tools.clone(), &json!({"reasoning_effort": "high"}));
    for (model, more) in [
        ("openai/gpt-5", &effort),
        ("openai/gpt-5.4", &tools),
        ("openai/gpt-5.6-sol", &json!({"reasoning_effort": "high"})),
        ("own/gpt-5.6-sol", &effort),
        ("own/openai/gpt-5.6-sol", &effort),
    ] {
        for stream in [false, true] {
            let body = with(chat(json!({"model": model, "stream": stream})), more);
            let answers = vec![if stream { streamed(says("hi")) } else { says("hi") }];
            let reply = TestGateway::with(PROVIDERS).ask(answers, &body);
            assert_eq!(reply.status, 200, "{model} {}", reply.text);
            assert!(reply.sent[0].url.ends_with("/chat/completions"), "{model}");
            assert_eq!(reply.sent[0].body.get("reasoning_effort"), more.get("reasoning_effort"));
        }
    }
}

/// An entry of `MODELS` says what the gateway does not know, for a name and for the model itself.
#[test]
fn facts_of_the_operator() {
    let entry = |provider: &str, model: &str, facts: &Value| {
        let target = json!({"provider": provider, "model": model, "facts": facts});
        json!({"mine": {"targets": [target], "facts": {"efforts": ["low", "high"]}}}).to_string()
    };
    let tools = json!({"tools": [tool("w")]});
    for (provider, model, facts, more, name, expected) in [
        (
            "openai",
            "m",
            json!({"rejects": ["temperature"]}),
            json!({"temperature": 0.5}),
            "temperature",
            Value::Null,
        ),
        (
            "openai",
            "m",
            json!({}),
            json!({"reasoning_effort": "xhigh"}),
            "reasoning_effort",
            json!("high"),
        ),
        (
            "openai",
            "gpt-5",
            json!({"rejects_thinking": []}),
            json!({"temperature": 0.5}),
            "temperature",
            json!(0.5),
        ),
        ("own", "m", json!({"rejects": ["top_p"]}), json!({"top_p": 0.5}), "top_p", Value::Null),
        (
            "own",
            "m",
            json!({"like": "gpt-5"}),
            json!({"temperature": 0.5}),
            "temperature",
            Value::Null,
        ),
        (
            "own",
            "m",
            json!({"forced_calls": false}),
            with(tools.clone(), &json!({"tool_choice": "required"})),
            "tool_choice",
            json!("auto"),
        ),
        (
            "openai",
            "gpt-6-astra",
            json!({"api": "chat"}),
            tools.clone(),
            "messages",
            json!([{"role": "user", "content": "hi"}]),
        ),
    ] {
        let models = entry(provider, model, &facts);
        for asked in ["mine".to_owned(), format!("{provider}/{model}")] {
            let gateway = TestGateway::with(&[PROVIDERS, &[("MODELS", &*models)]].concat());
            let body = with(chat(json!({"model": asked})), &more);
            let reply = gateway.ask(vec![says("hi")], &body);
            assert_eq!(reply.status, 200, "{facts} {}", reply.text);
            assert_eq!(reply.sent[0].body[name], expected, "{model} {facts}");
        }
    }
    // Another name of a model of Anthropic, and a deployment that needs Responses.
    for (provider, facts, end) in [
        ("openai", json!({"like": "gpt-5.6"}), "/responses"),
        ("openai", json!({"api": "responses_for_tools", "thinks_by_default": true}), "/responses"),
        ("openai", json!({"api": "responses"}), "/responses"),
        ("openai", json!({}), "/chat/completions"),
    ] {
        let models = entry(provider, "deployment", &facts);
        let gateway = TestGateway::with(&[PROVIDERS, &[("MODELS", &*models)]].concat());
        let body = with(chat(json!({"model": "mine"})), &tools);
        let reply = gateway.ask(vec![native(json!([message("hi")]))], &body);
        assert!(reply.sent[0].url.ends_with(end), "{facts} {}", reply.sent[0].url);
    }
    let models =
        entry("anthropic", "deployment", &json!({"like": "claude-opus-5", "efforts": ["low"]}));
    let gateway = TestGateway::with(&[PROVIDERS, &[("MODELS", &*models)]].concat());
    let body = chat(json!({"model": "mine", "temperature": 0.5, "reasoning_effort": "max"}));
    let reply = gateway.ask(vec![members::hi("anthropic/m")], &body);
    let sent = &reply.sent[0].body;
    assert_eq!((sent.get("temperature"), &sent["output_config"]["effort"]), (None, &json!("low")));
    assert_eq!(sent["thinking"], json!({"type": "adaptive", "display": "summarized"}));
}

/// A client of Responses that asks for a summary sees what the model thinks.
#[test]
fn summaries_for_clients_of_responses() {
    let gateway = TestGateway { path: "/v1/responses", ..TestGateway::with(PROVIDERS) };
    let shown = json!({"type": "adaptive", "display": "summarized"});
    for (model, reasoning, expected) in [
        ("claude-opus-4-8", json!({"effort": "high", "summary": "auto"}), shown.clone()),
        ("claude-opus-4-8", json!({"effort": "high"}), json!({"type": "adaptive"})),
        ("claude-opus-4-8", json!({"summary": "auto"}), Value::Null),
        (
            "claude-sonnet-4-6",
            json!({"effort": "high", "summary": "auto"}),
            json!({"type": "adaptive"}),
        ),
        ("claude-opus-5", json!({"summary": "detailed"}), shown.clone()),
        ("claude-fable-5", json!({"effort": "none", "summary": "auto"}), Value::Null),
    ] {
        let body =
            json!({"model": format!("anthropic/{model}"), "input": "hi", "reasoning": reasoning});
        let reply = gateway.ask(vec![members::hi("anthropic/m")], &body);
        assert_eq!(reply.status, 200, "{model} {}", reply.text);
        assert_eq!(reply.sent[0].body["thinking"], expected, "{model} {reasoning}");
        let dropped = reply.json()["_2api"]["dropped"].to_string();
        let is_dropped = dropped.contains("reasoning.summary");
        let asks = reasoning.get("summary").is_some();
        assert_eq!(is_dropped, asks && expected != shown, "{model} {reasoning} {dropped}");
    }
}

/// A conversation that the client wrote for Anthropic, and that is translated, ends as the model needs it; one that passes is not changed.
#[test]
fn conversations_of_clients_of_anthropic() {
    let gateway = TestGateway { path: "/v1/messages", ..TestGateway::with(PROVIDERS) };
    for (first, passes) in [("text", true), ("tool_addition", false)] {
        let block =
            json!([{"type": first, "text": "x", "tools": []}, {"type": "text", "text": "hi"}]);
        let body = json!({"model": "anthropic/claude-opus-5", "max_tokens": 9, "temperature": 0.5,
            "messages": [{"role": "user", "content": block}, {"role": "assistant", "content": "part"}]});
        let reply = gateway.ask(vec![members::hi("anthropic/m")], &body);
        assert_eq!(reply.status, 200, "{}", reply.text);
        let sent = &reply.sent[0].body;
        let mut roles = sent["messages"].as_array().unwrap().iter().map(|it| &it["role"]);
        assert_eq!(
            roles.next_back(),
            Some(&json!(if passes { "assistant" } else { "user" })),
            "{sent}"
        );
        assert_eq!(sent.get("temperature").is_some(), passes, "{sent}");
    }
}

/// Claude's tokens are counted for the request that it would get.
#[test]
fn counting_tokens_of_models_that_reject_members() {
    let gateway = TestGateway { path: "/v1/messages/count_tokens", ..TestGateway::with(PROVIDERS) };
    let block = json!([{"type": "tool_addition", "tools": []}, {"type": "text", "text": "hi"}]);
    let body = json!({"model": "anthropic/claude-fable-5", "thinking": {"type": "disabled"},
        "messages": [{"role": "user", "content": block}, {"role": "assistant", "content": "part"}]});
    let reply = gateway.ask(vec![answer(200, r#"{"input_tokens":8}"#)], &body);
    assert_eq!(reply.json(), json!({"input_tokens": 8}), "{}", reply.text);
    let sent = &reply.sent[0].body;
    assert_eq!((sent.get("thinking"), sent["messages"].as_array().unwrap().len()), (None, 3));
    // The estimate for OpenAI is one of the request at the address where the model would be asked.
    for (path, mut body, _) in requests("openai/gpt-5.6") {
        if path == "/v1/messages" {
            body.as_object_mut().unwrap().remove("max_tokens");
            let reply = gateway.ask(vec![], &body);
            assert!(reply.json()["input_tokens"].as_u64().is_some_and(|it| it > 10), "{reply:?}");
        }
    }
}
