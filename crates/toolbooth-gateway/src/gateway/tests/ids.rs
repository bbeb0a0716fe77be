//! Ids of calls that a provider repeats.

use crate::gateway::tests::approval::{narrow, select};
use crate::gateway::tests::loops::{both, say, streamed, world};
use crate::gateway::tests::*;

fn ids(calls: &Value) -> Vec<&str> {
    calls.as_array().unwrap().iter().map(|call| call["id"].as_str().unwrap()).collect()
}

/// Who approves a call by its id approves no second one.
#[test]
fn calls_of_an_answer_have_different_ids() {
    let twice = || calls(&[narrow("x", "one"), say("y", "two"), narrow("x", "three")]);
    let body =
        chat(json!({"tools": [select(json!({"allowed": ["Echo.Narrow"]})), tool("get_weather")]}));
    let whole = world(&[]).ask(vec![twice()], &body).json();
    let got = &whole["choices"][0]["message"]["tool_calls"];
    let [first, second, third] = ids(got)[..] else { panic!("{whole}") };
    assert_eq!((first, second), ("x", "y"), "the first one keeps its id");
    assert!(third != "x" && third.starts_with("call_"), "{third}");
    assert_eq!(got[2]["function"]["arguments"], r#"{"text":"three"}"#);

    // In a stream that is passed on, and in one of several rounds.
    for tools in [json!([tool("Echo_Narrow"), tool("Echo_Say")]), body["tools"].clone()] {
        let body = chat(json!({"tools": tools, "stream": true}));
        let stream = world(&[]).ask(vec![streamed(twice())], &body);
        let events = stream.events();
        let parts =
            events.iter().filter_map(|it| it["choices"][0]["delta"]["tool_calls"].as_array());
        let sent: Vec<_> = parts.flatten().filter_map(|part| part["id"].as_str()).collect();
        assert_eq!(sent, [first, second, third], "{}", stream.text);
    }

    // The results of calls that the gateway runs.
    let answers = [calls(&[say("x", "one"), say("x", "two")]), says("done")];
    let own = select(json!({"require_approval": "never"}));
    let (_, sent) = both(&world(&[]), &answers, &chat(json!({"tools": [own]})));
    let messages = sent[1].body["messages"].as_array().unwrap();
    let called = ids(&messages[1]["tool_calls"]);
    assert!(called[0] == "x" && called[1] != "x", "{called:?}");
    for (index, text) in ["one", "two"].iter().enumerate() {
        let result = &messages[2 + index];
        assert_eq!(
            (&result["tool_call_id"], &result["content"]),
            (&json!(called[index]), &json!(text))
        );
    }
}

/// Anthropic gets its own blocks back, with the ids of their results.
#[test]
fn calls_of_anthropic_have_different_ids() {
    let block = |text: &str| json!({"type": "tool_use", "id": "x", "name": "Echo_Say", "input": {"text": text}});
    let message = |content: Value, reason: &str| {
        json!({"id": "m", "type": "message", "role": "assistant", "model": "c", "content": content,
            "stop_reason": reason, "usage": {"input_tokens": 1, "output_tokens": 1}})
    };
    let text = message(json!([{"type": "text", "text": "done"}]), "end_turn");
    let both = message(json!([block("one"), block("two")]), "tool_use");
    let event = |data: Value| format!("data: {data}\n\n");
    let begins = |index: usize| {
        event(
            json!({"type": "content_block_start", "index": index, "content_block": block(["one", "two"][index])}),
        ) + &event(json!({"type": "content_block_stop", "index": index}))
    };
    let end = event(
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}}),
    ) + &event(json!({"type": "message_stop"}));
    let parts = [
        event(json!({"type": "message_start", "message": {"id": "m", "model": "c"}})),
        begins(0),
        begins(1),
        end,
    ];
    let world = world(&[("ANTHROPIC_API_KEY", "k")]);
    for (stream, first) in [(false, both.to_string()), (true, parts.concat())] {
        let own = select(json!({"require_approval": "never"}));
        let body = chat(json!({"model": "anthropic/c", "tools": [own], "stream": stream}));
        let reply = world.ask(vec![answer(200, first), answer(200, text.to_string())], &body);
        let messages = &reply.sent[1].body["messages"];
        let id = |message: usize, block: usize, name: &str| {
            messages[message]["content"][block][name].clone()
        };
        assert_eq!(id(1, 0, "id"), "x", "{messages}");
        assert_ne!(id(1, 1, "id"), "x", "{messages}");
        for index in 0..2 {
            assert_eq!(id(1, index, "id"), id(2, index, "tool_use_id"), "{messages}");
        }
    }
}

/// Some providers count the calls of each answer from zero. The results of this server's tools stay what they are, also in a state
/// that the client carries.
#[test]
fn calls_of_all_rounds_have_different_ids() {
    let world = world(&[]);
    let own = select(json!({"allowed": ["Echo.Say"], "require_approval": "never"}));
    let body = chat(json!({"tools": [own, tool("get_weather")]}));
    let weather = call("0", "get_weather", r#"{"city":"x"}"#);
    let one = || calls(&[say("0", "one")]);
    for (answers, expected) in [
        (vec![one(), calls(std::slice::from_ref(&weather))], vec!["one", "sunny"]),
        (vec![one(), calls(&[say("0", "two"), weather.clone()])], vec!["one", "two", "sunny"]),
    ] {
        let (_, sent) = both(&world, &answers, &body);
        assert_eq!(sent.len(), 2);
        let message = world.ask(answers, &body).json()["choices"][0]["message"].clone();
        let called = &message["tool_calls"][0];
        assert_ne!(called["id"], "0", "{message}");
        let result = json!({"role": "tool", "tool_call_id": called["id"], "content": "sunny"});
        let mut next = body.clone();
        next["messages"].as_array_mut().unwrap().extend([message.clone(), result]);
        // Nor does the next answer repeat an id of the state.
        let reply = world.ask(vec![calls(std::slice::from_ref(&weather))], &next);
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert_ne!(reply.json()["choices"][0]["message"]["tool_calls"][0]["id"], "0");
        let messages = reply.sent[0].body["messages"].as_array().unwrap();
        let results = messages.iter().filter(|message| message["role"] == "tool");
        let results: Vec<_> = results.map(|result| result["content"].as_str().unwrap()).collect();
        assert_eq!(results, expected, "{messages:?}");
    }
}
