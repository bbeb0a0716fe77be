//! Blocks of Anthropic that mean nothing to the gateway, and citations, in answers that it rewrites.

use crate::gateway::tests::messages::{ask, gateway, message, own_tools};
use crate::gateway::tests::*;

/// What Anthropic says: it has searched, cites what it found, and calls a tool of this server.
fn cited() -> (Value, Vec<Value>) {
    let citation = |text: &str| json!({"type": "web_search_result_location", "url": "http://a.example/", "title": "A", "encrypted_index": "x", "cited_text": text});
    let blocks = vec![
        json!({"type": "thinking", "thinking": "Hm", "signature": "s"}),
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}),
        json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "web_search_result", "url": "http://a.example/"}]}),
        json!({"type": "text", "text": "It says "}),
        json!({"type": "text", "text": "this", "citations": [citation("1"), citation("2")]}),
        json!({"type": "text", "text": " and ", "citations": null}),
        json!({"type": "text", "text": "that.", "citations": [citation("3")]}),
    ];
    let call =
        json!({"type": "tool_use", "id": "toolu_1", "name": "Echo_Say", "input": {"text": "a"}});
    (call, blocks)
}

/// The same as a stream.
fn streamed(blocks: &[Value], stop_reason: &str) -> Result<HttpResponse, HttpError> {
    let mut text = String::new();
    let mut event = |data: Value| {
        text.push_str(&format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap()));
    };
    let head = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 9, "output_tokens": 1}});
    event(json!({"type": "message_start", "message": head}));
    for (index, block) in blocks.iter().enumerate() {
        let (mut start, mut deltas) = (block.clone(), Vec::new());
        if let Some(text) = block["text"].as_str() {
            start["text"] = json!("");
            deltas.push(json!({"type": "text_delta", "text": text}));
            if block["citations"].is_array() {
                start["citations"] = json!([]);
            }
            for citation in block["citations"].as_array().into_iter().flatten() {
                deltas.push(json!({"type": "citations_delta", "citation": citation}));
            }
        } else if let Some(thinking) = block["thinking"].as_str() {
            start = json!({"type": "thinking", "thinking": "", "signature": ""});
            deltas.push(json!({"type": "thinking_delta", "thinking": thinking}));
            deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
        } else if block["input"].is_object() {
            start["input"] = json!({});
            let text = block["input"].to_string();
            let (first, second) = text.split_at(3);
            for part in [first, second] {
                deltas.push(json!({"type": "input_json_delta", "partial_json": part}));
            }
        }
        event(json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        event(json!({"type": "content_block_stop", "index": index}));
    }
    event(
        json!({"type": "message_delta", "delta": {"stop_reason": stop_reason, "stop_sequence": null}, "usage": {"output_tokens": 5}}),
    );
    event(json!({"type": "message_stop"}));
    answer(200, text)
}

/// The blocks of a stream, as Anthropic's SDKs join them.
fn joined(reply: &Reply) -> Vec<Value> {
    let mut blocks: Vec<Value> = Vec::new();
    for event in reply.events() {
        match event["type"].as_str().unwrap() {
            "content_block_start" => {
                assert_eq!(event["index"], blocks.len());
                blocks.push(event["content_block"].clone());
            }
            "content_block_delta" => {
                assert_eq!(event["index"], blocks.len() - 1, "one block after the other");
                let (block, delta) = (blocks.last_mut().unwrap(), &event["delta"]);
                for name in ["text", "thinking", "signature"] {
                    if let Some(more) = delta[name].as_str() {
                        block[name] = json!(format!("{}{more}", block[name].as_str().unwrap()));
                    }
                }
                if delta["type"] == "citations_delta" {
                    if block["citations"].is_null() {
                        block["citations"] = json!([]);
                    }
                    block["citations"].as_array_mut().unwrap().push(delta["citation"].clone());
                }
            }
            _ => {}
        }
    }
    blocks
}

/// Without `citations` that are none.
fn plain(blocks: &[Value]) -> Vec<Value> {
    let mut blocks = blocks.to_vec();
    for block in &mut blocks {
        if block["citations"].as_array().is_none_or(Vec::is_empty) {
            block.as_object_mut().unwrap().remove("citations");
        }
        // The result of a call, which the gateway has written.
        for inner in block["content"].as_array_mut().into_iter().flatten() {
            inner.as_object_mut().unwrap().remove("citations");
        }
    }
    blocks
}

#[test]
fn blocks_and_citations_are_kept_with_compiled_in_tools() {
    let (call, blocks) = cited();
    let asks = [&blocks[..], std::slice::from_ref(&call)].concat();
    let ran = [
        json!({"type": "mcp_tool_use", "id": "toolu_1", "name": "Echo_Say", "server_name": "own", "input": {"text": "a"}}),
        json!({"type": "mcp_tool_result", "tool_use_id": "toolu_1", "is_error": false, "content": [{"type": "text", "text": "a"}]}),
    ];
    let expected = [&blocks[..], &ran, &blocks[1..]].concat();
    let gateway = crate::gateway::tests::loops::world(
        &[crate::gateway::tests::messages::VARIABLES, &[]].concat(),
    );
    let gateway = TestGateway { path: "/v1/messages", ..gateway };
    for stream in [false, true] {
        let of = |blocks: &[Value], reason| match stream {
            true => streamed(blocks, reason),
            false => message(json!(blocks), reason),
        };
        let answers = vec![of(&asks, "tool_use"), of(&blocks[1..], "end_turn")];
        let mut body = own_tools("never");
        body["stream"] = json!(stream);
        let reply = gateway.ask(answers, &ask("anthropic/m", body));
        let got = if stream {
            joined(&reply)
        } else {
            reply.json()["content"].as_array().unwrap_or_else(|| panic!("{}", reply.text)).clone()
        };
        assert_eq!(plain(&got), plain(&expected), "{stream}");
        assert!(!reply.text.contains("not translated"), "{}", reply.text);
        // Anthropic gets back what it wrote.
        let sent = &reply.sent[1].body["messages"][1]["content"];
        assert_eq!(plain(sent.as_array().unwrap()), plain(&asks), "{stream}");
        // The client goes on: Anthropic gets all of it back, in its order and with the client's betas.
        let mut next = ask("anthropic/m", own_tools("never"));
        next["messages"].as_array_mut().unwrap().extend([
            json!({"role": "assistant", "content": got}),
            json!({"role": "user", "content": "go on"}),
        ]);
        let headers = [JSON, LOCAL, ("anthropic-beta", "b1")];
        let done = message(json!([{"type": "text", "text": "done"}]), "end_turn");
        let reply = gateway.ask_with(vec![done], &headers, &next, usize::MAX);
        let [sent] = &reply.sent[..] else { panic!("{}", reply.text) };
        assert_eq!(sent.header("anthropic-beta"), "b1");
        let messages = sent.body["messages"].as_array().unwrap();
        let roles: Vec<_> = messages.iter().map(|it| it["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"], "{}", sent.body);
        assert_eq!(plain(messages[1]["content"].as_array().unwrap()), plain(&asks), "{stream}");
        assert_eq!(messages[2]["content"][0]["tool_use_id"], "toolu_1", "{}", sent.body);
        let answer = messages[3]["content"].as_array().unwrap();
        assert_eq!(plain(answer), plain(&blocks[1..]), "{stream}");
        assert_eq!(reply.json()["_2api"]["dropped"], Value::Null, "{}", reply.text);
    }
}

/// Clients of other formats learn what they do not get.
#[test]
fn other_clients_are_warned() {
    let (_, blocks) = cited();
    let body = chat(json!({"model": "anthropic/m"}));
    let gateway = TestGateway { path: "/v1/chat/completions", ..gateway(&[]) };
    let json = gateway.ask(vec![message(json!(blocks), "end_turn")], &body).json();
    assert_eq!(json["choices"][0]["message"]["content"], "It says this and that.");
    let warnings = json["_2api"]["warnings"].to_string();
    assert!(
        warnings.contains("server_tool_use") && warnings.contains("web_search_tool_result"),
        "{warnings}"
    );
}
