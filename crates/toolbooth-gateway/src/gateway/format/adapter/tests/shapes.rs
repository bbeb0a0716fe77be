//! What providers with OpenAI's format write differently, streamed and whole. Comments name the reports.

use crate::gateway::answer::completion::{Completion, UpstreamError};
use crate::gateway::format::adapter::tests::streams::{chunks, decoded_with, joined};
use crate::gateway::format::adapter::tests::*;

/// A stream of these parts of a message, which ends with this reason.
pub(super) fn stream(parts: &[Value], reason: &str) -> String {
    let chunk = |delta: &Value, reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        let chunk = json!({"id": "i", "model": "m", "created": 1, "choices": [choice]});
        format!("data: {chunk}\n\n")
    };
    let parts = parts.iter().map(|delta| chunk(delta, Value::Null));
    let end = chunk(&json!({}), json!(reason)) + "data: [DONE]\n\n";
    parts.chain([end]).collect()
}

/// The names of the functions `get`, `get_weather` and `w`.
fn names(provider: Format) -> Names {
    let tools = ["get", "get_weather", "w"].map(tool);
    provider.names(&request(json!({"tools": tools})))
}

/// The parts of calls, each in a chunk of its own.
fn calls(parts: &[Value]) -> Vec<Value> {
    parts.iter().map(|part| json!({"tool_calls": [part]})).collect()
}

/// What a chat client joins from a stream, and what is kept of it.
pub(super) fn read(text: &str) -> (Vec<Value>, Completion) {
    let provider = Format::OpenAiCompatible;
    let (events, error, decoder) = decoded_with(provider, names(provider), &[text.as_bytes()]);
    assert_eq!(error, None, "{text}");
    (chunks(&events, false), decoder.into_completion())
}

fn failed(provider: Format, text: &str) -> UpstreamError {
    let (_, error, _) = decoded_with(provider, names(provider), &[text.as_bytes()]);
    error.unwrap_or_else(|| panic!("{text}"))
}

/// A chat client gets the calls `[id, name, arguments]` from chunks that it can join, and all others get the same.
fn check(what: &str, parts: &[Value], expected: &Value, warnings: usize) {
    let (chunks, completion) = read(&stream(parts, "tool_calls"));
    let kept: Vec<_> = completion.message.tool_calls.iter().collect();
    let kept: Vec<_> = kept.iter().map(|it| json!([it.id, it.name, it.arguments.text()])).collect();
    assert_eq!(json!(kept), *expected, "{what}");
    let calls = joined(&chunks)["calls"].clone();
    let calls = calls.as_array().unwrap().iter();
    let calls: Vec<_> = calls.map(|it| json!([it["id"], it["name"], it["arguments"]])).collect();
    assert_eq!(json!(calls), *expected, "{what}");
    assert_eq!(completion.warnings.len(), warnings, "{what} {:?}", completion.warnings);
}

const OWN_ID: &str = "call_070707070707070707070707_0";

/// G11 and G13: however a call is cut, it is one.
#[test]
fn calls_in_parts_of_any_shape() {
    let rome = r#"{"city":"Rome"}"#;
    let arguments = |text: &str| json!({"index": 0, "function": {"arguments": text}});
    let whole = |index: Value, id: Value, name: &str, arguments: &str| json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let one = json!([["c", "w", rome]]);
    let two = json!([["c", "w", rome], ["d", "get", rome]]);
    for (what, parts, expected) in [
        // TriDefender/zcode-api#23, pipecat-ai/pipecat#4987
        (
            "id, name, arguments",
            vec![
                json!({"index": 0, "id": "c", "type": "function"}),
                json!({"index": 0, "function": {"name": "w"}}),
                arguments(rome),
            ],
            &one,
        ),
        (
            "name, id, arguments",
            vec![
                json!({"index": 0, "function": {"name": "w"}}),
                json!({"index": 0, "id": "c", "type": "function"}),
                arguments(rome),
            ],
            &one,
        ),
        // vercel/ai#14722
        (
            "arguments before the name",
            vec![
                json!({"index": 0, "id": "c", "function": {"arguments": "{\"city\":"}}),
                json!({"index": 0, "function": {"name": "w", "arguments": "\"Rome\"}"}}),
            ],
            &one,
        ),
        // router-for-me/CLIProxyAPI#3748
        (
            "neither id nor name at first",
            vec![arguments(""), whole(json!(0), json!("c"), "w", rome)],
            &one,
        ),
        // jjang-ai/vmlx#244, vercel/ai#16507, karthink/gptel#1550
        (
            "an empty name at first",
            vec![whole(json!(0), json!("c"), "", ""), whole(json!(0), json!("c"), "w", rome)],
            &one,
        ),
        // sgl-project/sglang#35542, Effect-TS/effect#8333
        (
            "nulls",
            vec![
                json!({"index": 0, "id": "c", "type": null, "function": null}),
                json!({"index": 0, "id": null, "function": {"name": "w", "arguments": null}}),
                json!({"index": 0, "id": null, "type": null, "function": {"name": null, "arguments": rome}}),
            ],
            &one,
        ),
        // AI-Shell-Team/aish#200, OpenBMB/PilotDeck#107
        (
            "an empty name after",
            vec![
                whole(json!(0), json!("c"), "w", ""),
                whole(json!(0), json!(""), "", "{\"city\":"),
                whole(json!(0), json!(""), "", "\"Rome\"}"),
            ],
            &one,
        ),
        (
            "a number as the id",
            vec![whole(json!(0), json!(7), "w", rome)],
            &json!([["7", "w", rome]]),
        ),
        // SillyTavern/SillyTavern#5948, JetBrains/koog#2052
        (
            "everything in each part",
            vec![
                whole(json!(0), json!("c"), "w", "{\"city\":"),
                whole(json!(0), json!("c"), "w", "\"Rome\"}"),
            ],
            &one,
        ),
        // poolsideai/pool#9
        (
            "a different id in each part",
            vec![
                whole(json!(0), json!("c"), "w", ""),
                json!({"index": 0, "id": "x", "function": {"arguments": "{\"city\":"}}),
                json!({"index": 0, "id": "y", "function": {"arguments": "\"Rome\"}"}}),
            ],
            &one,
        ),
        // openai/openai-agents-python#326
        (
            "a name in pieces",
            vec![
                json!({"index": 0, "id": "c", "function": {"name": "get_"}}),
                json!({"index": 0, "function": {"name": "weather"}}),
                arguments(rome),
            ],
            &json!([["c", "get_weather", rome]]),
        ),
        (
            "a name that grows",
            vec![
                json!({"index": 0, "id": "c", "function": {"name": "get_"}}),
                json!({"index": 0, "id": "c", "function": {"name": "get_weather", "arguments": rome}}),
            ],
            &json!([["c", "get_weather", rome]]),
        ),
        (
            "a name that no tool has",
            vec![whole(json!(0), json!("c"), "get_we", "{\"city\":"), arguments("\"Rome\"}")],
            &json!([["c", "get_we", rome]]),
        ),
        // vercel/ai#14277, ollama/ollama#15457
        (
            "one index for all",
            vec![whole(json!(0), json!("c"), "w", rome), whole(json!(0), json!("d"), "get", rome)],
            &two,
        ),
        (
            "one index for all, without ids",
            vec![
                whole(json!(0), json!(null), "w", "{}"),
                whole(json!(0), json!(null), "get", rome),
            ],
            &json!([[OWN_ID, "w", "{}"], [OWN_ID.replace("707_0", "707_1"), "get", rome]]),
        ),
        // ollama/ollama#7881, comet-ml/opik#8362
        (
            "no index",
            vec![
                whole(json!(null), json!("c"), "w", "{\"city\":"),
                json!({"function": {"arguments": "\"Rome\"}"}}),
                whole(json!(null), json!("d"), "get", rome),
            ],
            &two,
        ),
        // SamSaffron/term-llm#314
        (
            "an index from the second part on",
            vec![whole(json!(null), json!("c"), "w", "{\"city\":"), arguments("\"Rome\"}")],
            &one,
        ),
        (
            "an index from 1 on",
            vec![whole(json!(1), json!("c"), "w", rome), whole(json!(2), json!("d"), "get", rome)],
            &two,
        ),
        // QwenLM/Qwen-Agent#943
        (
            "calls that alternate",
            vec![
                whole(json!(0), json!("c"), "w", ""),
                whole(json!(1), json!("d"), "get", ""),
                arguments("{\"city\":"),
                json!({"index": 1, "function": {"arguments": rome}}),
                arguments("\"Rome\"}"),
            ],
            &two,
        ),
        (
            "calls without arguments",
            vec![whole(json!(0), json!("c"), "w", ""), whole(json!(1), json!("d"), "get", "{}")],
            &json!([["c", "w", "{}"], ["d", "get", "{}"]]),
        ),
        (
            "one id for calls of two tools",
            vec![whole(json!(0), json!("c"), "w", "{}"), whole(json!(0), json!("c"), "get", rome)],
            &json!([["c", "w", "{}"], [OWN_ID, "get", rome]]),
        ),
        (
            "arguments as an object",
            vec![
                json!({"index": 0, "id": "c", "type": "function", "function": {"name": "w", "arguments": {"city": "Rome"}}}),
            ],
            &one,
        ),
        // envoyproxy/ai-gateway#1465, openai/openai-agents-js#712
        (
            "a placeholder",
            vec![
                whole(json!(0), json!("c"), "w", "{}"),
                arguments("{\"city\":"),
                arguments("\"Rome\"}"),
            ],
            &one,
        ),
        (
            "a placeholder, and everything again",
            vec![whole(json!(0), json!("c"), "w", "{}"), whole(json!(0), json!("c"), "w", rome)],
            &one,
        ),
        (
            "a placeholder with a space",
            vec![whole(json!(0), json!("c"), "w", "{ }"), arguments(rome)],
            &one,
        ),
        (
            "a placeholder in two parts",
            vec![
                whole(json!(0), json!("c"), "w", "{"),
                arguments("}"),
                arguments("{"),
                arguments(&rome[1..]),
            ],
            &one,
        ),
        (
            "null as a placeholder",
            vec![whole(json!(0), json!("c"), "w", "null"), arguments(rome)],
            &one,
        ),
        (
            "a text as a placeholder",
            vec![whole(json!(0), json!("c"), "w", "\"\""), arguments(rome)],
            &one,
        ),
        (
            "an object as a placeholder",
            vec![
                json!({"index": 0, "id": "c", "type": "function", "function": {"name": "w", "arguments": {}}}),
                arguments(rome),
            ],
            &one,
        ),
        (
            "placeholders of two calls",
            vec![
                whole(json!(0), json!("c"), "w", "{}"),
                whole(json!(1), json!("d"), "get", "{}"),
                arguments(rome),
                json!({"index": 1, "function": {"arguments": rome}}),
            ],
            &two,
        ),
        (
            "nothing but a placeholder",
            vec![whole(json!(0), json!("c"), "w", "{}")],
            &json!([["c", "w", "{}"]]),
        ),
        (
            "nothing but null",
            vec![whole(json!(0), json!("c"), "w", "null")],
            &json!([["c", "w", "{}"]]),
        ),
        // mudler/cogito#66
        (
            "all arguments again",
            vec![
                whole(json!(0), json!("c"), "w", "{\"city\":"),
                arguments("\"Rome\"}"),
                arguments(rome),
            ],
            &one,
        ),
        (
            "the whole call again",
            vec![whole(json!(0), json!("c"), "w", rome), whole(json!(0), json!("c"), "w", rome)],
            &one,
        ),
    ] {
        check(what, &calls(&parts), expected, 0);
    }
    let both = json!({"tool_calls": [whole(json!(null), json!("c"), "w", rome), whole(json!(null), json!("d"), "get", rome)]});
    check("two calls in one chunk", &[both], &two, 0);
    let both = json!({"tool_calls": [whole(json!(0), json!(""), "w", ""), whole(json!(0), json!(""), "w", "")]});
    let ids = [OWN_ID.to_owned(), OWN_ID.replace("707_0", "707_1")];
    check(
        "two calls of one tool in one chunk",
        &[both],
        &json!([[ids[0], "w", "{}"], [ids[1], "w", "{}"]]),
        0,
    );
}

/// G11: a call that has neither a name nor arguments is none.
#[test]
fn calls_without_a_name() {
    let ghost = json!({"index": 0, "id": "", "type": "function", "function": {"name": "", "arguments": ""}});
    for part in [
        ghost.clone(),
        json!({"index": 0, "id": "g", "function": null}),
        json!({"index": 0, "function": {"name": "", "arguments": "{}"}}),
        json!({}),
    ] {
        // diegosouzapw/OmniRoute#6730
        let parts = [json!({"content": "Hi", "tool_calls": [part]})];
        let (chunks, completion) = read(&stream(&parts, "stop"));
        assert_eq!(
            joined(&chunks),
            json!({"content": "Hi", "calls": [], "finish": ["stop"]}),
            "{part}"
        );
        assert_eq!(
            completion.warnings,
            ["A call without a name and arguments is left out"],
            "{part}"
        );
        let real = json!({"index": 1, "id": "c", "type": "function", "function": {"name": "w", "arguments": "{}"}});
        check("beside a call", &calls(&[part.clone(), real]), &json!([["c", "w", "{}"]]), 1);
        // Nothing else: an answer that ended to call a tool is no success.
        let error = failed(Format::OpenAiCompatible, &stream(&calls(&[part]), "tool_calls"));
        assert!(matches!(error, UpstreamError::NoAnswer { status: 502, .. }), "{error:?}");
    }
    let nameless =
        [json!({"index": 0, "id": "c", "function": {"arguments": "{\"city\":\"Rome\"}"}})];
    let error = failed(Format::OpenAiCompatible, &stream(&calls(&nameless), "tool_calls"));
    assert_eq!(error, UpstreamError::malformed("a tool call names no tool"));
    let whole = |calls: Value| {
        let message = json!({"role": "assistant", "content": "Hi", "tool_calls": calls});
        let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
        Format::OpenAiCompatible.decode(
            body.to_string().as_bytes(),
            ids(),
            DecodeOptions::default(),
        )
    };
    let completion = whole(json!([ghost])).unwrap();
    assert_eq!((completion.message.tool_calls.len(), completion.warnings.len()), (0, 1));
    assert!(whole(json!(nameless)).is_err());
}
