//! Calls of Anthropic and Responses, and of the servers with these formats, which write them differently.

use crate::gateway::tests::shapes::*;

/// The other formats have the same kinds.
#[test]
fn calls_of_other_formats() {
    let event = |event: Value| format!("data: {event}\n\n");
    let start = |index: usize, name: &str, input: Value| {
        event(
            json!({"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "id": name, "name": name, "input": input}}),
        )
    };
    let part = |index: usize, json: &str| {
        event(
            json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": json}}),
        )
    };
    let stop = |index: usize| event(json!({"type": "content_block_stop", "index": index}));
    let begin =
        event(json!({"type": "message_start", "message": {"id": "m", "model": "c", "usage": {}}}));
    let end = event(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}))
        + &event(json!({"type": "message_stop"}));
    for (what, events) in [
        (
            "an input before its parts",
            start(0, "w", json!({})) + &part(0, "{\"city\":") + &part(0, "\"Rome\"}") + &stop(0),
        ),
        (
            "all of the input before its parts",
            start(0, "w", json!({"city": "Oslo"})) + &part(0, ROME) + &stop(0),
        ),
        (
            "a placeholder among the parts",
            start(0, "w", json!({})) + &part(0, "{}") + &part(0, ROME) + &stop(0),
        ),
        ("no end of the block", start(0, "w", json!({})) + &part(0, ROME)),
        (
            "a ghost",
            start(0, "", json!({})) + &stop(0) + &start(1, "w", json!({"city": "Rome"})) + &stop(1),
        ),
        (
            "no end, and one index",
            start(0, "", json!({})) + &start(0, "w", json!({})) + &part(0, ROME),
        ),
    ] {
        for path in ["/v1/chat/completions", "/v1/responses"] {
            let reply = ask(path, "anthropic/c", true, begin.clone() + &events + &end);
            let read = Read::of(path, true, &reply);
            assert_eq!(
                read.calls,
                [("w".to_owned(), ROME.to_owned())],
                "{what} {path} {}",
                reply.text
            );
        }
    }
    let own: &[(&str, &str)] = &[
        ("PROVIDERS", "own"),
        ("OWN_BASE_URL", "https://own.example/v1"),
        ("OWN_API", "responses"),
    ];
    let item = |id: Value, name: &str, arguments: Value| json!({"type": "function_call", "id": id, "call_id": "c", "name": name, "arguments": arguments});
    let at = |kind: &str, place: Value, more: Value| {
        let mut data = json!({"type": format!("response.{kind}")});
        for members in [place, more] {
            members
                .as_object()
                .unwrap()
                .iter()
                .for_each(|(name, value)| data[name] = value.clone());
        }
        event(data)
    };
    let added = |place: Value, item: Value| at("output_item.added", place, json!({"item": item}));
    let delta = |place: Value, text: &str| {
        at("function_call_arguments.delta", place, json!({"delta": text}))
    };
    let done = |place: Value, item: Value| at("output_item.done", place, json!({"item": item}));
    let thought = json!({"type": "reasoning", "id": "r", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm"}]});
    let none = || json!({});
    let first = || json!({"output_index": 0});
    let whole = || item(json!("f"), "w", json!(ROME));
    for (what, events, output) in [
        (
            "the name at the end",
            added(first(), item(json!("f"), "", json!("")))
                + &delta(first(), ROME)
                + &done(first(), whole()),
            json!([]),
        ),
        (
            "parts before the beginning",
            delta(first(), ROME) + &added(first(), item(json!("f"), "w", json!(""))),
            json!([]),
        ),
        (
            "a placeholder",
            added(first(), item(json!("f"), "w", json!("")))
                + &delta(first(), "{}")
                + &delta(first(), ROME)
                + &done(first(), whole()),
            json!([]),
        ),
        ("an object", done(first(), item(json!("f"), "w", json!({"city": "Rome"}))), json!([])),
        ("only in the list", String::new(), json!([whole()])),
        // lemonade-sdk/lemonade#3607
        (
            "no positions",
            added(none(), thought.clone())
                + &done(none(), thought.clone())
                + &added(none(), item(json!("f"), "w", json!("")))
                + &delta(none(), "{\"city\":")
                + &delta(none(), "\"Rome\"}")
                + &done(none(), whole()),
            json!([thought, whole()]),
        ),
        // BerriAI/litellm#36375
        (
            "one position for all, and other ids in the list",
            added(first(), thought.clone())
                + &done(first(), thought.clone())
                + &added(first(), item(json!("f"), "w", json!("")))
                + &delta(json!({"output_index": 0, "item_id": "f"}), ROME)
                + &done(first(), whole()),
            json!([thought, item(json!("x"), "w", json!(ROME))]),
        ),
        (
            "an item that had no events",
            added(json!({"output_index": 1}), item(json!("f"), "w", json!("")))
                + &delta(json!({"output_index": 1}), ROME)
                + &done(json!({"output_index": 1}), whole()),
            json!([thought, whole()]),
        ),
        (
            "a ghost",
            added(first(), item(json!("g"), "", json!("")))
                + &done(first(), item(json!("g"), "", json!("{}")))
                + &done(json!({"output_index": 1}), whole()),
            json!([]),
        ),
    ] {
        let events = events
            + &event(
                json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": output}}),
            );
        for path in ["/v1/chat/completions", "/v1/messages"] {
            let gateway = TestGateway { path, ..TestGateway::with(own) };
            let reply =
                gateway.ask(vec![answer(200, events.clone())], &request(path, "own/m", true));
            let read = Read::of(path, true, &reply);
            assert_eq!(
                read.calls,
                [("w".to_owned(), ROME.to_owned())],
                "{what} {path} {}",
                reply.text
            );
            let thinks = events.contains("reasoning_text");
            assert_eq!(
                read.reasoning,
                if thinks { "Hm" } else { "" },
                "{what} {path} {}",
                reply.text
            );
        }
    }
}
