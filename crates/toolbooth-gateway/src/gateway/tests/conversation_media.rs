//! Files in messages, as each provider takes them.

use crate::gateway::tests::conversation::{CHAT, Exchanged, MESSAGES, RESPONSES, ask, ask_all};
use crate::gateway::tests::*;

/// A request with this content of the user.
fn user(path: &str, content: &Value) -> Value {
    let list = json!([{"role": "user", "content": content}]);
    match path {
        RESPONSES => json!({"input": list}),
        _ => json!({"messages": list}),
    }
}

/// A file of this address, as a client of this format writes it.
fn file(path: &str, data: &str) -> Value {
    match path {
        RESPONSES => json!({"type": "input_file", "filename": "a", "file_data": data}),
        _ => json!({"type": "file", "file": {"filename": "a", "file_data": data}}),
    }
}

/// Data in addresses without base64 has escapes.
#[test]
fn data_without_base64() {
    for (data, expected) in [
        ("data:,a%20b", "a b"),
        ("data:text/plain;charset=utf-8,%C3%A9,+", "é,+"),
        ("data:application/json,{\"a\":1}", "{\"a\":1}"),
        ("DATA:Text/Plain;BASE64,YSBi", "a b"),
    ] {
        for path in [CHAT, RESPONSES] {
            let got = ask(path, "anthropic/claude-opus-5", &user(path, &json!([file(path, data)])));
            let source = &got.sent["messages"][0]["content"][0]["source"];
            let text = json!({"type": "text", "media_type": "text/plain", "data": expected});
            assert_eq!(*source, text, "{path} {data}");
        }
    }
}

/// Anthropic takes texts in base64 from no client, and other providers no sources that only Anthropic knows.
#[test]
fn sources_of_documents() {
    let ask = |model: &str, source: &Value| -> Exchanged {
        let blocks = json!([{"type": "document", "source": source}, {"type": "text", "text": "q"}]);
        ask(MESSAGES, model, &user(MESSAGES, &blocks))
    };
    for media_type in ["text/csv", "TEXT/Markdown; charset=utf-8", "application/json"] {
        let source = json!({"type": "base64", "media_type": media_type, "data": "eCx5"});
        let sent = ask("anthropic/claude-opus-5", &source).sent;
        let expected = json!({"type": "text", "media_type": "text/plain", "data": "x,y"});
        assert_eq!(sent["messages"][0]["content"][0]["source"], expected, "{media_type}");
        let sent = ask("google/gemini-3-pro", &source).sent;
        let expected = json!({"mimeType": "text/plain", "data": "eCx5"});
        assert_eq!(sent["contents"][0]["parts"][0]["inlineData"], expected, "{media_type}");
        let sent = ask("compat/m", &source).sent;
        assert_eq!(sent["messages"][0]["content"], "A file:\n\nx,y\n\nq", "{media_type}");
    }
    for (source, name) in [
        (json!({"type": "file", "file_id": "f1"}), "file_id"),
        (json!({"type": "newer", "data": "x"}), "newer"),
    ] {
        let sent = ask("anthropic/claude-opus-5", &source).sent;
        assert_eq!(sent["messages"][0]["content"][0]["source"], source);
        let got = ask("google/gemini-3-pro", &source);
        assert_eq!(got.sent["contents"][0]["parts"], json!([{"text": "q"}]), "{source}");
        assert_eq!(got.dropped(), [format!("messages[].content[].source.{name}")], "{source}");
    }
}

/// Who has no parts for files gets the texts of files, and of others learns that they are there.
#[test]
fn files_by_dialect() {
    let [text, pdf] = ["text/csv", "application/pdf"]
        .map(|media_type| file(CHAT, &format!("data:{media_type};base64,eCx5")));
    let stored = json!({"type": "file", "file": {"file_id": "f1"}});
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,eCx5"}});
    let part = |text| json!({"type": "text", "text": text});
    for (parts, expected, dropped) in [
        (json!([text]), json!("a:\n\nx,y"), &[][..]),
        (json!([part("q"), text]), json!("q\n\na:\n\nx,y"), &[]),
        (json!([image, text]), json!([image, part("a:\n\nx,y")]), &[]),
        (json!([pdf, part("q")]), json!("a is not shown.\n\nq"), &["messages[].content[]"]),
        (json!([stored]), json!("A file is not shown."), &["messages[].content[]"]),
    ] {
        let body = user(CHAT, &parts);
        let got = ask(CHAT, "compat/m", &body);
        assert_eq!(got.sent["messages"][0]["content"], expected, "{parts}");
        assert_eq!(got.dropped(), dropped, "{parts}");
        let openai = [("COMPAT_DIALECT", "openai")];
        let got = ask_all(CHAT, &openai, "compat/m", &[], &body, false);
        assert_eq!(got.sent["messages"][0]["content"], parts);
    }
}

/// The same of the results of calls.
#[test]
fn files_of_results() {
    let pdf = "data:application/pdf;base64,eCx5";
    let call = json!({"role": "assistant", "content": null, "tool_calls": [call("c1", "a", "{}")]});
    let result = json!({"role": "tool", "tool_call_id": "c1", "content": [file(CHAT, pdf)]});
    let hi = json!({"role": "user", "content": "hi"});
    let got = ask(CHAT, "compat/m", &json!({"messages": [hi, call, result]}));
    let expected = json!({"role": "tool", "tool_call_id": "c1", "content": "a is not shown."});
    assert_eq!(got.sent["messages"], json!([hi, call, expected]));
    let call = json!({"type": "function_call", "call_id": "c1", "name": "a", "arguments": "{}"});
    let file = file(RESPONSES, pdf);
    let result = json!({"type": "function_call_output", "call_id": "c1", "output": [file]});
    let got = ask(RESPONSES, "compat/m", &json!({"input": [hi, call, result]}));
    assert_eq!(got.sent["messages"][2], expected);
    assert_eq!(got.dropped(), ["input[].output[]"]);
}

/// In place of what a provider does not accept, the model reads that it is not shown.
#[test]
fn types_that_a_provider_lacks() {
    let sound = json!({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}});
    let image = |media_type: &str| json!({"type": "image_url", "image_url": {"url": format!("data:{media_type};base64,AAAA")}});
    let zip = file(CHAT, "data:application/zip;base64,AAAA");
    let (claude, gemini) = ("anthropic/claude-opus-5", "google/gemini-3-pro");
    for (model, part, expected) in [
        (claude, &sound, "A sound is not shown."),
        (claude, &image("image/bmp"), "An image is not shown."),
        (claude, &zip, "a is not shown."),
        (gemini, &zip, "a is not shown."),
        (gemini, &image("IMAGE/GIF"), "An image is not shown."),
    ] {
        let got = ask(CHAT, model, &user(CHAT, &json!([part])));
        let [claude, gemini] = ["/messages/0/content/0/text", "/contents/0/parts/0/text"];
        let text = got.sent.pointer(claude).or(got.sent.pointer(gemini));
        assert_eq!(text, Some(&json!(expected)), "{model} {part}");
        assert_eq!(got.dropped()[0], "messages[].content[]", "{model} {part}");
    }
}

/// Clients name the formats of sounds in several ways.
#[test]
fn formats_of_sounds() {
    for (format, expected) in [
        ("mp3", "audio/mpeg"),
        ("x-wav", "audio/wav"),
        ("WAV", "audio/wav"),
        ("flac", "audio/flac"),
    ] {
        let sound =
            json!({"type": "input_audio", "input_audio": {"data": "AAAA", "format": format}});
        let sent = ask(CHAT, "google/gemini-3-pro", &user(CHAT, &json!([sound]))).sent;
        let data = &sent["contents"][0]["parts"][0]["inlineData"];
        assert_eq!(*data, json!({"mimeType": expected, "data": "AAAA"}));
    }
}

/// The images of a result are a message of the user, which Mistral takes only after the assistant.
#[test]
fn images_of_results_for_mistral() {
    let calls =
        json!({"role": "assistant", "content": null, "tool_calls": [call("a00000001", "a", "{}")]});
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    let result = json!({"role": "tool", "tool_call_id": "a00000001", "content": [image]});
    let hi = json!({"role": "user", "content": "hi"});
    for (after, expected) in [
        (vec![], vec!["user", "assistant", "tool", "assistant", "user"]),
        (vec![&hi], vec!["user", "assistant", "tool", "assistant", "user", "assistant", "user"]),
    ] {
        let messages: Vec<_> = [&hi, &calls, &result].into_iter().chain(after).collect();
        let got = ask(CHAT, "mistral/m", &json!({"messages": messages}));
        let sent = got.sent["messages"].as_array().unwrap().iter();
        let roles: Vec<_> = sent.map(|it| it["role"].as_str().unwrap()).collect();
        assert_eq!(roles, expected);
    }
}
