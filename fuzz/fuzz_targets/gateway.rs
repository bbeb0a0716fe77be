//! Fuzzes the gateway: what clients ask in each format, and what providers answer in each of theirs.
//!
//! The first three bytes choose the client's format, the provider, and whether the answer is streamed. The request follows, up to
//! a zero byte; if it is empty, a fixed one is sent. The rest is the provider's answer, in which `CHUNK_END` ends a chunk.
#![no_main]

use std::cell::RefCell;
use std::rc::Rc;

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use toolbooth::Server;
use toolbooth::host::{HttpError, HttpRequest, HttpResponse, async_trait};
use toolbooth::http::{Answer, Body, BodySink, ClientGone, Method, Request};
use toolbooth::testing::{FakeHost, Pairs};

const PATHS: [&str; 3] = ["/v1/chat/completions", "/v1/messages", "/v1/responses"];
const MODELS: [&str; 4] = ["openai/m", "anthropic/m", "google/m", "answers/m"];
const VARIABLES: &[(&str, &str)] = &[
    ("AUTH", "none"),
    ("ANONYMOUS_SCOPES", "*"),
    ("DEVELOPMENT", "true"),
    ("OPENAI_API_KEY", "k"),
    ("ANTHROPIC_API_KEY", "k"),
    ("GEMINI_API_KEY", "k"),
    ("PROVIDERS", "answers"),
    ("ANSWERS_API", "responses"),
    ("ANSWERS_API_KEY", "k"),
    ("ANSWERS_BASE_URL", "https://answers.example/v1"),
    ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
];
const HEADERS: Pairs<'_> = Pairs(&[
    ("content-type", "application/json"),
    ("host", "localhost:8787"),
    ("anthropic-version", "2023-06-01"),
]);

thread_local! {
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

fn provider(_: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    Ok(HttpResponse::new(200, ANSWER.with_borrow(Vec::clone)))
}

struct Written(Rc<RefCell<Vec<u8>>>);

#[async_trait(?Send)]
impl BodySink for Written {
    async fn write(&self, bytes: &[u8]) -> Result<(), ClientGone> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(())
    }
}

fuzz_target!(|bytes: &[u8]| {
    let [format, model, streamed, rest @ ..] = bytes else { return };
    let format = usize::from(*format) % PATHS.len();
    let model = MODELS[usize::from(*model) % MODELS.len()];
    let (request, answer) = match rest.iter().position(|byte| *byte == 0) {
        Some(end) => (&rest[..end], &rest[end + 1..]),
        None => (rest, &[][..]),
    };
    let body = if request.is_empty() {
        fixed(format, model, streamed % 2 == 1).to_string().into_bytes()
    } else {
        request.to_vec()
    };
    ANSWER.set(answer.to_vec());
    let host = FakeHost { upstream: provider, ..FakeHost::with(VARIABLES) };
    let server = Server::new(toolbooth::testing::echo::CATALOG, server_tests::CAPABILITIES, &host);
    let request = Request {
        own_origin: None,
        method: Method::Post,
        path: PATHS[format],
        query: "",
        headers: &HEADERS,
        body: Body::Read(body),
    };
    let (is_stream, text) = pollster::block_on(async {
        let Answer { head, rest } = server.answer(request, &host).await;
        let text = Rc::new(RefCell::new(head.body.into_owned()));
        let is_stream = rest.is_some();
        if let Some(write) = rest {
            write(Box::new(Written(Rc::clone(&text)))).await;
        }
        (is_stream, text.take())
    });
    let text = String::from_utf8(text).expect("responses are UTF-8");
    if is_stream {
        check(format, passes(format, model), &text);
    } else {
        let _: Value = serde_json::from_str(&text).expect("bodies are JSON");
    }
});

/// A request with a tool in each format.
fn fixed(format: usize, model: &str, stream: bool) -> Value {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let question = json!([{"role": "user", "content": "?"}]);
    match format {
        0 => json!({
            "model": model, "stream": stream, "messages": question,
            "tools": [{"type": "function", "function": {"name": "weather", "parameters": schema}}],
        }),
        1 => json!({
            "model": model, "stream": stream, "messages": question, "max_tokens": 100,
            "tools": [{"name": "weather", "input_schema": schema}],
        }),
        _ => json!({
            "model": model, "stream": stream, "input": question, "store": false,
            "tools": [
                {"type": "function", "name": "weather", "parameters": schema, "strict": false},
                {"type": "custom", "name": "apply_patch"},
            ],
        }),
    }
}

/// Whether the events of the provider reach the client as they are.
fn passes(format: usize, model: &str) -> bool {
    matches!((format, model), (0, "openai/m") | (1, "anthropic/m") | (2, "openai/m" | "answers/m"))
}

/// The name and the data of each event. Events that pass may have any line ends, and data in several lines.
fn events(text: &str) -> Vec<(String, String)> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let field = |event: &str, name: &str| {
        let lines = event.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let lines: Vec<_> = lines.map(|value| value.strip_prefix(' ').unwrap_or(value)).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    };
    let events = text.split("\n\n");
    let named = |event| Some((field(event, "event").unwrap_or_default(), field(event, "data")?));
    events.filter_map(named).collect()
}

/// What every stream of a format keeps to, whatever the provider has sent. If its events pass, that is the end alone.
fn check(format: usize, passes: bool, text: &str) {
    let all = events(text);
    let is_done = all.iter().any(|(_, data)| data == "[DONE]");
    let named = all.iter().filter(|(_, data)| data != "[DONE]");
    let events: Vec<(&str, Value)> = named
        .map(|(name, data)| (&**name, serde_json::from_str(data).expect("events are JSON")))
        .collect();
    let types: Vec<_> =
        events.iter().map(|(name, event)| event["type"].as_str().unwrap_or(name)).collect();
    let count = |kind: &str| types.iter().filter(|one| **one == kind).count();
    match format {
        0 => {
            let has_error = events.iter().any(|(_, event)| event.get("error").is_some());
            assert!(!has_error || !is_done, "a clean end after an error: {text}");
        }
        1 => {
            assert!(passes || count("message_start") <= 1, "{text}");
            assert!(count("error") + count("message_stop") == 1, "{text}");
            assert!(matches!(types.last(), Some(&("error" | "message_stop"))), "{text}");
        }
        _ => {
            let ends = ["response.completed", "response.incomplete", "response.failed", "error"];
            assert_eq!(ends.iter().map(|kind| count(kind)).sum::<usize>(), 1, "{text}");
            assert!(types.last().is_some_and(|last| ends.contains(last)), "{text}");
        }
    }
}
