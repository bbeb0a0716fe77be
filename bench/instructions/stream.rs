//! Model providers, whose answers are streams of a hundred chunks or one body.

use std::fmt::Write;
use std::sync::LazyLock;

use serde_json::{Value, json};
use toolbooth::host::{HttpError, HttpRequest, HttpResponse};
use toolbooth::testing::{CHUNK_END, FakeHost, respond};

/// A provider.
pub(crate) struct Provider {
    pub(crate) name: &'static str,
    key: (&'static str, &'static str),
    model: &'static str,
    /// The model that agents ask, by a name that the gateway may know.
    pub(crate) agent: &'static str,
    stream: Upstream,
    body: Upstream,
}

type Upstream = fn(&HttpRequest<'_>) -> Result<HttpResponse, HttpError>;

/// The format of one provider is that of the gateway's clients; that of the other is translated.
pub(crate) const PROVIDERS: [Provider; 2] = [
    Provider {
        name: "OpenAI",
        key: ("OPENAI_API_KEY", "sk-openai"),
        model: "openai/m",
        agent: "openai/gpt-4.1",
        stream: |_| respond(200, &*OPENAI),
        body: |_| respond(200, OPENAI_BODY),
    },
    Provider {
        name: "Anthropic",
        key: ("ANTHROPIC_API_KEY", "sk-anthropic"),
        model: "anthropic/m",
        agent: "anthropic/claude-sonnet-4-5",
        stream: |_| respond(200, &*ANTHROPIC),
        body: |_| respond(200, ANTHROPIC_BODY),
    },
];

impl Provider {
    /// Anybody may chat with it.
    pub(crate) fn host(&self, streams: bool) -> FakeHost {
        let variables = [("ANONYMOUS_SCOPES", "gateway"), ("DEVELOPMENT", "true"), self.key];
        let upstream = if streams { self.stream } else { self.body };
        FakeHost { upstream, ..FakeHost::with(&variables) }
    }

    pub(crate) fn request(&self, streams: bool) -> Value {
        let messages = json!([{"role": "user", "content": "hi"}]);
        json!({"model": self.model, "messages": messages, "stream": streams})
    }
}

const OPENAI_BODY: &str = r#"{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"A short answer.","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}"#;

const ANTHROPIC_BODY: &str = r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"A short answer."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":4}}"#;

static OPENAI: LazyLock<String> = LazyLock::new(|| {
    let chunk = |delta: Value, finish_reason: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
        json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})
    };
    let words = (0..98).map(|_| chunk(json!({"content": " word"}), None));
    let start = chunk(json!({"role": "assistant", "content": ""}), None);
    let chunks = [start].into_iter().chain(words).chain([chunk(json!({}), Some("stop"))]);
    stream(chunks.map(|it| format!("data: {it}"))) + "data: [DONE]\n\n"
});

static ANTHROPIC: LazyLock<String> = LazyLock::new(|| {
    let message = json!({
        "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [],
        "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    let block = json!({"type": "text", "text": ""});
    let delta = json!({"type": "text_delta", "text": " word"});
    let end = json!({"stop_reason": "end_turn", "stop_sequence": null});
    let words = json!({"type": "content_block_delta", "index": 0, "delta": delta});
    let start = [
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
    ];
    let end = [
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": 95}}),
        json!({"type": "message_stop"}),
    ];
    let events = start.into_iter().chain((0..95).map(|_| words.clone())).chain(end);
    stream(
        events.map(|it| format!("event: {}\ndata: {it}", it["type"].as_str().unwrap_or_default())),
    )
});

/// Events, each in a chunk of its own.
fn stream(events: impl Iterator<Item = String>) -> String {
    events.fold(String::new(), |mut all, event| {
        let _ = write!(all, "{event}\n\n{}", char::from(CHUNK_END));
        all
    })
}
