//! Pictures that come back with the conversation, and requests for them.

use crate::gateway::tests::media::{CHAT, PICTURE, RESPONSES, gemini, request};
use crate::gateway::tests::members::{PROVIDERS, hi};
use crate::gateway::tests::*;

const DATA: &str = "iVBORw0KGgo=";

/// The second request of a client that sends an answer back as it came.
fn continued(path: &'static str, first: &Reply, model: &str) -> Value {
    let body = first.json();
    let user = json!({"role": "user", "content": "again"});
    let mut next = request(path, model, false);
    if path == RESPONSES {
        let mut items = vec![json!({"role": "user", "content": "hi"})];
        items.extend(body["output"].as_array().unwrap().iter().cloned());
        items.push(user);
        next["input"] = items.into();
    } else {
        let messages = next["messages"].as_array_mut().unwrap();
        messages.extend([body["choices"][0]["message"].clone(), user]);
    }
    next
}

fn picture(signature: &str) -> Value {
    let mut part = json!({"inlineData": {"mimeType": "image/png", "data": DATA}});
    if !signature.is_empty() {
        part["thoughtSignature"] = signature.into();
    }
    part
}

/// Gemini gets its pictures back with their signatures. Other providers get none, and the notes say so.
#[test]
fn pictures_come_back_to_gemini_only() {
    for (path, text, name) in [
        (CHAT, "Here:Done.", "messages[].images"),
        (RESPONSES, "Here:", "input[].image_generation_call"),
    ] {
        let gateway = TestGateway { path, ..TestGateway::with(PROVIDERS) };
        let ask = |model: &str, answered, body: &Value| {
            let mut body = body.clone();
            body["model"] = model.into();
            gateway.ask(vec![answered], &body)
        };
        let first =
            ask("google/gemini-3-pro-image", gemini(PICTURE, false), &request(path, "", false));
        let next = continued(path, &first, "");
        let reply = ask("google/gemini-3-pro-image", gemini(PICTURE, false), &next);
        let parts = &reply.sent[0].body["contents"][1]["parts"];
        assert_eq!(parts[0], json!({"text": text, "thoughtSignature": "S1"}), "{parts}");
        let pictures =
            parts.as_array().unwrap().iter().filter(|part| part.get("inlineData").is_some());
        assert_eq!(pictures.collect::<Vec<_>>(), [&picture("S2")], "{parts}");
        let report = &reply.json()["_2api"];
        assert_eq!(report.get("dropped"), None, "{report}");
        for model in ["openai/m", "own/m", "anthropic/m"] {
            let reply = ask(model, hi(model), &next);
            // OpenAI's own Responses knows the item.
            let is_known = path == RESPONSES && model == "openai/m";
            let sent = reply.sent[0].body.to_string();
            assert_eq!(sent.contains(DATA), is_known, "{model} {sent}");
            let dropped = reply.header("x-2api-warnings").unwrap_or_default();
            let is_told = dropped.contains(&format!("{name} is dropped"));
            assert_eq!(is_told, !is_known, "{model} {}", reply.text);
        }
    }
}

/// A picture without its signature: of another model, or of a client that drops what it does not know.
#[test]
fn pictures_without_a_signature() {
    let image =
        json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{DATA}")}});
    let message = json!({"role": "assistant", "content": null, "images": [image]});
    let item = json!({"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": DATA});
    let lost = json!({"type": "image_generation_call", "id": "ig_2", "status": "completed", "result": null});
    for (model, signature) in
        [("gemini-2.5-flash-image", ""), ("gemini-3-pro-image", "skip_thought_signature_validator")]
    {
        for path in [CHAT, RESPONSES] {
            let gateway = TestGateway { path, ..TestGateway::with(PROVIDERS) };
            let model = format!("google/{model}");
            let mut body = request(path, &model, false);
            let user = json!({"role": "user", "content": "U"});
            if path == RESPONSES {
                body["input"] = json!([user, item, lost, user]);
            } else {
                body["messages"] = json!([user, message, user]);
            }
            let reply = gateway.ask(vec![hi("google/m")], &body);
            let content = &reply.sent[0].body["contents"][1];
            assert_eq!(*content, json!({"role": "model", "parts": [picture(signature)]}));
            let warns = reply.text.contains("thought_signature is missing");
            assert_eq!(warns, !signature.is_empty(), "{}", reply.text);
        }
    }
    // One that no provider could fetch fails no conversation.
    let gateway = TestGateway::with(PROVIDERS);
    let mut body = chat(json!({"model": "google/m"}));
    let image = json!({"type": "image_url", "image_url": {"url": "gs://bucket/1"}});
    let message = json!({"role": "assistant", "content": "T", "images": [image]});
    body["messages"]
        .as_array_mut()
        .unwrap()
        .extend([message, json!({"role": "user", "content": "U"})]);
    let reply = gateway.ask(vec![hi("google/m")], &body);
    assert_eq!(reply.json()["_2api"]["dropped"], json!(["messages[].images"]));
}

/// How clients of Chat Completions ask for pictures and sounds.
#[test]
fn modalities() {
    let gateway = TestGateway::with(PROVIDERS);
    for (model, asked, path, sent, dropped) in [
        (
            "google/m",
            json!(["text", "image"]),
            "/generationConfig/responseModalities",
            json!(["TEXT", "IMAGE"]),
            json!(null),
        ),
        (
            "google/m",
            json!(["image"]),
            "/generationConfig/responseModalities",
            json!(["IMAGE"]),
            json!(null),
        ),
        (
            "google/m",
            json!(["text", "audio"]),
            "/generationConfig/responseModalities",
            json!(["AUDIO"]),
            json!(["modalities[] (text)"]),
        ),
        (
            "google/m",
            json!(["smell"]),
            "/generationConfig/responseModalities",
            json!(null),
            json!(["modalities[] (smell)"]),
        ),
        ("openai/m", json!(["text", "image"]), "/modalities", json!(null), json!(["modalities"])),
        (
            "openai/m",
            json!(["text", "audio"]),
            "/modalities",
            json!(["text", "audio"]),
            json!(null),
        ),
        ("own/m", json!(["text", "image"]), "/modalities", json!(["text", "image"]), json!(null)),
        (
            "anthropic/m",
            json!(["text", "image"]),
            "/modalities",
            json!(null),
            json!(["modalities"]),
        ),
    ] {
        let body = chat(json!({"model": model, "modalities": asked}));
        let reply = gateway.ask(vec![hi(model)], &body);
        let found = reply.sent[0].body.pointer(path).cloned().unwrap_or_default();
        assert_eq!(found, sent, "{model} {asked}");
        assert_eq!(reply.json()["_2api"]["dropped"], dropped, "{model} {asked}");
    }
}
