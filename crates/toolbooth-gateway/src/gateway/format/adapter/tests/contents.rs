//! Contents in parts, and reasoning in the members that providers with OpenAI's format have for it.

use crate::gateway::format::adapter::tests::shapes::{read, stream};
use crate::gateway::format::adapter::tests::*;

/// G12: a content in parts is a text for every client, and thoughts are reasoning.
#[test]
fn contents_in_parts() {
    let thoughts = |inner: Value| json!({"type": "thinking", "thinking": inner});
    let text = |text: &str| json!({"type": "text", "text": text});
    let reference = json!({"type": "reference", "reference_ids": [1]});
    for (content, expected, reasoning, warnings) in [
        // vercel/ai#8072, BerriAI/litellm#16272
        (json!([thoughts(json!([text("Hm")])), text("Hi")]), "Hi", "Hm", 0),
        (json!([thoughts(json!("Hm"))]), "", "Hm", 0),
        (json!([thoughts(json!([text("H"), "m", reference]))]), "", "Hm", 1),
        (json!([thoughts(json!([thoughts(json!([text("Hm")]))]))]), "", "Hm", 0),
        (json!(["H", text("i"), text("")]), "Hi", "", 0),
        (json!([text("H"), reference, text("i"), reference]), "Hi", "", 1),
        (
            json!([{"type": "reference", "text": "[1]"}, {"type": "tool_reference", "title": "T"}]),
            "[1]",
            "",
            1,
        ),
        (json!({"type": "text", "text": "Hi"}), "Hi", "", 0),
        (json!([null, 1, {"type": "image_url", "image_url": "data:,"}]), "", "", 1),
        (json!([]), "", "", 0),
    ] {
        let (chunks, streamed) =
            read(&stream(&[json!({"role": "assistant", "content": content})], "stop"));
        let delta = &chunks[0]["choices"][0]["delta"];
        assert_eq!(delta["role"], "assistant");
        assert_eq!(delta["content"].as_str().unwrap_or_default(), expected, "{content}");
        assert!(delta["content"].is_string() || delta.get("content").is_none(), "{delta}");
        assert_eq!(delta["reasoning_content"].as_str().unwrap_or_default(), reasoning, "{content}");
        let message = json!({"role": "assistant", "content": content});
        let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
            .to_string();
        let whole = Format::OpenAiCompatible
            .decode(body.as_bytes(), ids(), DecodeOptions::default())
            .unwrap();
        for completion in [streamed, whole] {
            let message = &completion.message;
            assert_eq!(message.content.as_deref().unwrap_or_default(), expected, "{content}");
            assert_eq!(message.reasoning.as_deref().unwrap_or_default(), reasoning, "{content}");
            let left_out = completion.warnings.iter().filter(|it| it.contains("left out")).count();
            assert_eq!(left_out, warnings, "{content} {:?}", completion.warnings);
        }
    }
    let refusal = [json!({"content": [{"type": "refusal", "refusal": "No"}]})];
    let (chunks, completion) = read(&stream(&refusal, "stop"));
    assert_eq!(chunks[0]["choices"][0]["delta"], json!({"refusal": "No"}));
    assert_eq!(completion.message.refusal.as_deref(), Some("No"));
}

/// Reasoning is read once, in whatever members it is. Its details are kept as the whole answer has them.
#[test]
fn reasoning_in_each_member() {
    let detail =
        |text: &str| json!({"type": "reasoning.text", "index": 0, "text": text, "format": "f"});
    let encrypted = json!({"type": "reasoning.encrypted", "index": 1, "data": "x"});
    let signed = json!({"type": "reasoning.text", "index": 0, "signature": "S", "text": null});
    let mut joined = detail("Hm");
    joined["signature"] = json!("S");
    for (parts, details) in [
        (vec![json!({"reasoning_content": "H"}), json!({"reasoning_content": "m"})], Value::Null),
        (vec![json!({"reasoning": "Hm"})], Value::Null),
        (vec![json!({"thinking": "Hm"})], Value::Null),
        // can1357/oh-my-pi#2434, aixplain/aiXplain#1012
        (vec![json!({"reasoning": "Hm", "reasoning_content": "Hm"})], Value::Null),
        (
            vec![
                json!({"reasoning": "H", "reasoning_details": [detail("H")]}),
                json!({"reasoning": "m", "reasoning_details": [detail("m")]}),
                json!({"reasoning_details": [signed]}),
                json!({"reasoning_details": [encrypted]}),
            ],
            json!([joined, encrypted]),
        ),
        (
            vec![
                json!({"reasoning_details": [detail("H")]}),
                json!({"reasoning_details": [detail("m"), signed]}),
            ],
            json!([joined]),
        ),
        (
            vec![
                json!({"reasoning_details": [{"type": "reasoning.summary", "summary": "H"}]}),
                json!({"reasoning_details": [{"type": "reasoning.summary", "summary": "m"}]}),
            ],
            json!([{"type": "reasoning.summary", "summary": "Hm"}]),
        ),
    ] {
        let (_, completion) =
            read(&stream(&[&parts[..], &[json!({"content": "Hi"})]].concat(), "stop"));
        assert_eq!(completion.message.reasoning.as_deref(), Some("Hm"), "{parts:?}");
        let kept = completion.message.extra.get("reasoning_details");
        assert_eq!(
            kept.map_or(Value::Null, |it| serde_json::from_str(&it.text()).unwrap()),
            details
        );
    }
    for message in [
        json!({"content": "Hi", "thinking": "Hm"}),
        json!({"content": "Hi", "reasoning": "Hm", "reasoning_details": [detail("Hm")]}),
        json!({"content": "Hi", "reasoning_details": [detail("H"), detail("m")]}),
    ] {
        let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
            .to_string();
        let completion = Format::OpenAiCompatible
            .decode(body.as_bytes(), ids(), DecodeOptions::default())
            .unwrap();
        assert_eq!(completion.message.reasoning_text(), Some("Hm"), "{message}");
    }
}
