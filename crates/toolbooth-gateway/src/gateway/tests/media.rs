//! Pictures, sounds and other files in answers.

use crate::gateway::tests::loops::world as with_tools;
use crate::gateway::tests::members::PROVIDERS;
use crate::gateway::tests::streams::stream;
use crate::gateway::tests::*;

pub(super) const CHAT: &str = "/v1/chat/completions";
pub(super) const RESPONSES: &str = "/v1/responses";
const MESSAGES: &str = "/v1/messages";

/// A text, a picture and a text of Gemini.
pub(super) const PICTURE: &str = r#"[{"text":"Here:","thoughtSignature":"S1"},
    {"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="},"thoughtSignature":"S2"},{"text":"Done."}]"#;

pub(super) fn request(path: &str, model: &str, streams: bool) -> Value {
    let messages = json!([{"role": "user", "content": "hi"}]);
    match path {
        RESPONSES => json!({"model": model, "input": "hi", "stream": streams}),
        MESSAGES => {
            json!({"model": model, "max_tokens": 9, "messages": messages, "stream": streams})
        }
        _ => json!({"model": model, "messages": messages, "stream": streams}),
    }
}

/// An answer of Gemini with these parts: whole, or a chunk for each.
pub(super) fn gemini(parts: &str, streams: bool) -> Result<HttpResponse, HttpError> {
    let parts: Vec<Value> = serde_json::from_str(parts).unwrap();
    let usage =
        json!({"promptTokenCount": 10, "candidatesTokenCount": 1120, "totalTokenCount": 1130});
    let body = |parts: &[Value], finish: Value| {
        let candidate =
            json!({"content": {"role": "model", "parts": parts}, "finishReason": finish});
        json!({"candidates": [candidate], "usageMetadata": usage, "responseId": "r1"}).to_string()
    };
    if !streams {
        return answer(200, body(&parts, "STOP".into()));
    }
    let chunks = parts.chunks(1).map(|part| body(part, Value::Null));
    let chunks = chunks.chain([body(&[], "STOP".into())]);
    let events: Vec<_> = chunks.map(|chunk| format!("data: {chunk}\n\n")).collect();
    stream(&events.iter().map(String::as_str).collect::<Vec<_>>())
}

fn ask(path: &'static str, streams: bool, parts: &str) -> Reply {
    let gateway = TestGateway { path, ..TestGateway::with(PROVIDERS) };
    gateway.ask(vec![gemini(parts, streams)], &request(path, "google/g", streams))
}

fn image(index: usize, url: &str, signature: Option<&str>) -> Value {
    let mut image = json!({"type": "image_url", "image_url": {"url": url}, "index": index});
    if let Some(signature) = signature {
        image["extra_content"] = json!({"google": {"thought_signature": signature}});
    }
    image
}

#[test]
fn pictures_of_gemini_in_chat() {
    let url = "data:image/png;base64,iVBORw0KGgo=";
    let expected = image(0, url, Some("S2"));
    let reply = ask(CHAT, false, PICTURE);
    let message = &reply.json()["choices"][0]["message"];
    assert_eq!(message["images"], json!([expected]), "{}", reply.text);
    assert_eq!(message["content"], "Here:Done.");
    assert_eq!(message["extra_content"]["google"]["thought_signature"], "S1");
    assert_eq!(reply.json()["usage"]["completion_tokens"], 1120, "as Gemini counts it");
    let reply = ask(CHAT, true, PICTURE);
    let deltas: Vec<_> =
        reply.events().iter().map(|it| it["choices"][0]["delta"].clone()).collect();
    assert_eq!(
        deltas[..4],
        [
            json!({"role": "assistant", "content": ""}),
            json!({"content": "Here:"}),
            json!({"images": [expected]}),
            json!({"content": "Done."}),
        ]
    );
    // Each has its position; one at an address stays there.
    let parts = r#"[{"inline_data":{"mime_type":"image/jpeg","data":"AA=="}},{"fileData":{"mimeType":"image/webp","fileUri":"https://f.example/1"}}]"#;
    let expected =
        [image(0, "data:image/jpeg;base64,AA==", None), image(1, "https://f.example/1", None)];
    let reply = ask(CHAT, false, parts);
    assert_eq!(reply.json()["choices"][0]["message"]["images"], json!(expected));
    let found = ask(CHAT, true, parts).events();
    let found = found.iter().filter_map(|it| it["choices"][0]["delta"]["images"].as_array());
    assert_eq!(found.flatten().cloned().collect::<Vec<_>>(), expected);
}

#[test]
fn pictures_of_gemini_in_responses() {
    let text = |text: &str| json!([{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]);
    let picture = json!({"id": "ig_r1_1", "type": "image_generation_call", "status": "completed",
        "result": "iVBORw0KGgo=", "output_format": "png"});
    for streams in [false, true] {
        let reply = ask(RESPONSES, streams, PICTURE);
        let events = if streams { reply.events() } else { vec![] };
        let body = events.last().map_or_else(|| reply.json(), |it| it["response"].clone());
        let output = body["output"].as_array().unwrap();
        assert_eq!(
            (&output[0]["content"], &output[2]["content"]),
            (&text("Here:"), &text("Done."))
        );
        assert_eq!(output[1], picture);
        assert_eq!(output[3]["type"], "reasoning", "what Gemini must get back");
        assert_eq!(output.len(), 4);
        let of_picture = events.iter().filter(|event| event["output_index"] == 1);
        let kinds: Vec<_> = of_picture.map(|event| event["type"].as_str().unwrap()).collect();
        if streams {
            let own = "response.image_generation_call";
            assert_eq!(
                kinds,
                [
                    "response.output_item.added",
                    &format!("{own}.in_progress"),
                    &format!("{own}.generating"),
                    &format!("{own}.completed"),
                    "response.output_item.done",
                ]
            );
        }
    }
}

/// What has no place in the client's format has been paid for, so that it is an error; and another attempt would cost as much.
#[test]
fn files_without_a_place_are_errors() {
    const MODELS: &str = r#"{"two": {"targets": [{"provider": "google", "model": "g"}, {"provider": "openai", "model": "m"}], "retry": {"attempts": 3}}}"#;
    let picture = r#"{"inlineData":{"mimeType":"image/png","data":"AA=="}}"#;
    let address = r#"{"fileData":{"mimeType":"image/png","fileUri":"https://f.example/1"}}"#;
    let sound = r#"{"inlineData":{"mimeType":"audio/L16;rate=24000","data":"AA=="}}"#;
    let film = r#"{"inlineData":{"mimeType":"video/mp4","data":"AA=="}}"#;
    let unknown = r#"{"inlineData":{"data":"AA=="}}"#;
    for (path, part, media_type) in [
        (MESSAGES, picture, "image/png"),
        (MESSAGES, sound, "audio/L16;rate=24000"),
        (RESPONSES, address, "image/png"),
        (RESPONSES, sound, "audio/L16;rate=24000"),
        (RESPONSES, film, "video/mp4"),
        (CHAT, film, "video/mp4"),
        (CHAT, unknown, "application/octet-stream"),
    ] {
        let gateway =
            TestGateway { path, ..TestGateway::with(&[PROVIDERS, &[("MODELS", MODELS)]].concat()) };
        for streams in [false, true] {
            for before in ["", r#"{"text":"Here:"},"#] {
                let parts = format!("[{before}{part}]");
                let answers = vec![gemini(&parts, streams), says("hi")];
                let reply = gateway.ask(answers, &request(path, "two", streams));
                let has_begun = streams && !before.is_empty();
                assert_eq!(reply.status, if has_begun { 200 } else { 400 }, "{}", reply.text);
                assert_eq!(reply.sent.len(), 1, "no other model is asked");
                let last = if has_begun { reply.events().pop().unwrap() } else { reply.json() };
                let error = last.get("response").unwrap_or(&last)["error"].clone();
                let message = error["message"].as_str().unwrap();
                assert!(message.contains(&format!("type {media_type}, for which")), "{message}");
                assert!(!reply.text.contains("AA=="), "{}", reply.text);
                assert_eq!(reply.line()["error.type"], "no_place_for_file");
                if !streams {
                    assert_eq!(reply.line()["gen_ai.usage.output_tokens"], 1120);
                }
            }
        }
    }
}

#[test]
fn sounds_in_chat() {
    let sound = r#"{"inlineData":{"mimeType":"audio/L16;rate=24000","data":"AAEC"}}"#;
    let expected = json!({"id": "audio_r1", "data": "AAEC", "expires_at": 0, "transcript": ""});
    let reply = ask(CHAT, false, &format!("[{sound}]"));
    assert_eq!(reply.json()["choices"][0]["message"]["audio"], expected);
    assert!(reply.text.contains("The sound is audio/L16;rate=24000"), "{}", reply.text);
    let reply = ask(CHAT, true, &format!("[{sound},{sound}]"));
    let parts = reply.events();
    let parts = parts.iter().filter_map(|it| it["choices"][0]["delta"].get("audio"));
    assert_eq!(parts.cloned().collect::<Vec<_>>(), [expected.clone(), expected]);
    // A body has a place for one.
    let reply = ask(CHAT, false, &format!("[{sound},{sound}]"));
    assert_eq!(reply.code(), "provider_bad_response", "{}", reply.text);
}

/// A picture of the model's thoughts is none of its answer.
#[test]
fn pictures_of_thoughts() {
    let thought = r#"{"inlineData":{"mimeType":"image/png","data":"AA=="},"thought":true}"#;
    for path in [CHAT, RESPONSES, MESSAGES] {
        let reply = ask(path, false, &format!(r#"[{thought},{{"text":"T"}}]"#));
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert!(!reply.text.contains("AA=="), "{}", reply.text);
        assert!(reply.text.contains("kind \\\"thought\\\""), "{}", reply.text);
    }
}

/// Those of other gateways are in the same members, and those of OpenAI Responses in items.
#[test]
fn pictures_of_other_formats() {
    let url = "data:image/png;base64,AA==";
    let entry =
        json!({"type": "image_url", "image_url": {"url": url, "detail": "auto"}, "index": 0});
    let message = json!({"role": "assistant", "content": "T", "images": [entry]});
    let chunk = |delta: &Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!("data: {}\n\n", json!({"id": "c1", "choices": [choice]}))
    };
    let parts = [chunk(&message, Value::Null), chunk(&json!({}), "stop".into())];
    let own = json!([{"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "AA=="}]);
    let response =
        json!({"id": "resp_1", "object": "response", "status": "completed", "output": own})
            .to_string();
    let done = json!({"type": "response.completed", "response": serde_json::from_str::<Value>(&response).unwrap()});
    let event = format!("event: response.completed\ndata: {done}\n\n");
    let variables = [
        PROVIDERS,
        &[
            ("PROVIDERS", "own,next"),
            ("OWN_BASE_URL", "https://own.example/v1"),
            ("NEXT_BASE_URL", "https://next.example"),
            ("NEXT_API", "responses"),
        ],
    ]
    .concat();
    for (model, whole, streamed) in [
        ("own/m", completion(message.clone()), stream(&[&parts[0], &parts[1], "data: [DONE]\n\n"])),
        ("next/m", answer(200, response.clone()), stream(&[&event])),
    ] {
        for (streams, answered) in [(false, whole), (true, streamed)] {
            for path in [CHAT, RESPONSES, MESSAGES] {
                let gateway = TestGateway { path, ..TestGateway::with(&variables) };
                let reply = gateway.ask(vec![answered.clone()], &request(path, model, streams));
                let case = format!("{model} {path} {}", reply.text);
                match path {
                    MESSAGES => assert!(reply.text.contains("type image/png, for which"), "{case}"),
                    CHAT => assert!(reply.text.contains(url), "{case}"),
                    _ => assert!(reply.text.contains(r#""result":"AA==""#), "{case}"),
                }
                assert_eq!(
                    reply.text.contains("\"detail\":\"auto\""),
                    path == CHAT && model == "own/m",
                    "{case}"
                );
            }
        }
    }
}

/// The rounds of the loop may have pictures too.
#[test]
fn pictures_in_the_loop() {
    let call = json!([{"text": "a"}, {"inlineData": {"mimeType": "image/png", "data": "AA=="}, "thoughtSignature": "S2"},
        {"functionCall": {"name": "Echo_Say", "args": {"text": "x"}}, "thoughtSignature": "S3"}]);
    let last = json!([{"inlineData": {"mimeType": "image/png", "data": "BB=="}}]);
    let members = json!({"tools": [{"type": "toolbooth", "allowed": ["Echo.Say"], "require_approval": "never"}]});
    for streams in [false, true] {
        let answers = vec![gemini(&call.to_string(), streams), gemini(&last.to_string(), streams)];
        let mut body = chat(members.clone());
        body["model"] = "google/g".into();
        body["stream"] = streams.into();
        let reply = with_tools(PROVIDERS).ask(answers, &body);
        let events = if streams { reply.events() } else { vec![reply.json()] };
        let found = events.iter().flat_map(|event| {
            let choice = &event["choices"][0];
            let message = choice.get("message").unwrap_or(&choice["delta"]);
            message["images"].as_array().cloned().unwrap_or_default()
        });
        let expected = [
            image(0, "data:image/png;base64,AA==", Some("S2")),
            image(1, "data:image/png;base64,BB==", None),
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected, "{}", reply.text);
        // The model gets its own round back.
        let sent = &reply.sent[1].body["contents"][1]["parts"];
        assert_eq!(*sent, call);
    }
}

/// A picture is one event of a stream, and may be as large as any answer.
#[test]
fn the_size_of_a_picture_is_limited() {
    for (bytes, status) in [(7 << 20, 200), (9 << 20, 502)] {
        let part = format!(
            r#"[{{"inlineData":{{"mimeType":"image/png","data":"{}"}}}}]"#,
            "A".repeat(bytes)
        );
        for path in [CHAT, RESPONSES] {
            let reply = ask(path, true, &part);
            assert_eq!(reply.status, status, "{path}");
            assert_eq!(reply.text.len() > bytes, status == 200, "{path}");
        }
    }
}
