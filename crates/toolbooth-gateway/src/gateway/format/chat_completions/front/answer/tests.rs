use crate::gateway::format::chat_completions::front::answer::*;
use crate::wire::FinishReason;
use toolbooth::json::parse;

fn encoder() -> ChunkEncoder {
    let info = CompletionInfo { id: "id".to_owned(), model: "p/m".to_owned(), created: 9 };
    ChunkEncoder::new(info, true)
}

fn written(encoder: &mut ChunkEncoder, delta: &Delta) -> String {
    let mut out = Vec::new();
    encoder.delta(delta, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn every_delta_as_a_chunk() {
    let head =
        r#"data: {"id":"id","object":"chat.completion.chunk","created":9,"model":"p/m","choices":"#;
    let extra = parse(r#"{"google":{"thought_signature":"S"}}"#).unwrap().into_owned();
    let call = |custom| Delta::Call {
        index: 1,
        id: "i".to_owned(),
        name: "n".to_owned(),
        custom,
        extra_content: None,
    };
    for (delta, expected) in [
        (Delta::Text("x".to_owned()), r#"{"content":"x"}"#),
        (Delta::Refusal("x".to_owned()), r#"{"refusal":"x"}"#),
        (Delta::Reasoning("x".to_owned()), r#"{"reasoning_content":"x"}"#),
        (Delta::ExtraContent(extra), r#"{"extra_content":{"google":{"thought_signature":"S"}}}"#),
        (
            call(false),
            r#"{"tool_calls":[{"index":1,"id":"i","type":"function","function":{"name":"n","arguments":""}}]}"#,
        ),
        (
            call(true),
            r#"{"tool_calls":[{"index":1,"id":"i","type":"custom","custom":{"name":"n","input":""}}]}"#,
        ),
        (
            Delta::Arguments { index: 1, custom: false, fragment: "{".to_owned() },
            r#"{"tool_calls":[{"index":1,"function":{"arguments":"{"}}]}"#,
        ),
    ] {
        let mut encoder = encoder();
        let role = written(&mut encoder, &Delta::Text(String::new()));
        assert!(role.starts_with(&format!(
            r#"{head}[{{"index":0,"delta":{{"role":"assistant","content":""}},"finish_reason":null}}]}}"#
        )));
        let expected =
            format!("{head}[{{\"index\":0,\"delta\":{expected},\"finish_reason\":null}}]}}\n\n");
        assert_eq!(written(&mut encoder, &delta), expected);
    }
    let mut encoder = encoder();
    let report = Report::default();
    encoder.report(&report);
    let finish = written(&mut encoder, &Delta::Finish(FinishReason::Length));
    let expected = format!(
        "{head}[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"length\"}}],\"_2api\":{}}}\n\n",
        report.json()
    );
    assert!(finish.ends_with(&expected) && finish.len() > expected.len(), "{finish}");
    let usage = Usage { prompt_tokens: 1, total_tokens: 1, ..Usage::default() };
    let usage = written(&mut encoder, &Delta::Usage(usage));
    assert!(
        usage
            .starts_with(&format!(r#"{head}[],"usage":{{"prompt_tokens":1,"completion_tokens":0"#))
    );
    assert_eq!(written(&mut encoder, &Delta::Done), "data: [DONE]\n\n");
}
