//! A request of a coding agent in the midst of a task, of about 100 KB: instructions, tools, and a history of calls and results.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::scenario::Message;

const TOOLS: usize = 24;
const TURNS: usize = 24;
const WORDS: [&str; 16] = [
    "the", "parser", "reads", "a", "token", "and", "keeps", "its", "place", "so", "an", "error",
    "names", "where", "it", "began",
];

/// The request in Anthropic's format, as Claude Code writes it.
pub(crate) fn messages(model: &str) -> Message {
    let start = json!({"role": "user", "content": [text(prose(3000, 1)), text("Mend the parser.".to_owned())]});
    let conversation: Vec<_> = [start].into_iter().chain((0..TURNS).flat_map(turn)).collect();
    let body = json!({
        "model": model,
        "messages": conversation,
        "system": [text("You are an agent.".to_owned()), text(prose(9000, 2))],
        "tools": Value::from_iter((0..TOOLS).map(tool)),
        "metadata": {"user_id": "device-0_account-0_session-0"},
        "max_tokens": 32000,
        "thinking": {"type": "enabled", "budget_tokens": 31999},
        "stream": true,
    });
    Message::post("/v1/messages", &body)
        .with([("host", "localhost:8787"), ("anthropic-version", "2023-06-01")])
}

fn text(text: String) -> Value {
    json!({"type": "text", "text": text})
}

/// What the model said and called, and the result.
fn turn(at: usize) -> [Value; 2] {
    let id = format!("toolu_{at:022}");
    let input = json!({"path": format!("src/part_{at}.ts"), "limit": 200 + at, "mode": "once"});
    [
        json!({"role": "assistant", "content": [
            text(prose(160, at)),
            {"type": "tool_use", "id": id, "name": "tool_0", "input": input},
        ]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": listing(at)}]}),
    ]
}

fn tool(at: usize) -> Value {
    let property = |kind: Value| {
        let mut property = kind;
        property["description"] = prose(90, at).into();
        property
    };
    let edit = json!({"type": "object", "properties": {"from": {"type": "string"}, "to": {"type": "string"}}, "required": ["from", "to"]});
    json!({
        "name": format!("tool_{at}"),
        "description": prose(900, at),
        "input_schema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "path": property(json!({"type": "string"})),
                "limit": property(json!({"type": "integer", "minimum": 1})),
                "mode": property(json!({"type": "string", "enum": ["once", "each", "never"]})),
                "edits": property(json!({"type": "array", "items": edit})),
            },
            "required": ["path"],
            "additionalProperties": false,
        },
    })
}

/// Text of about so many bytes, with line breaks and quotes, which JSON escapes.
fn prose(bytes: usize, seed: usize) -> String {
    let mut text = String::new();
    for (at, word) in WORDS.iter().cycle().skip(seed).step_by(5).enumerate() {
        if text.len() >= bytes {
            break;
        }
        let _ = match at % 19 {
            18 => writeln!(text, "{word}."),
            7 => write!(text, "\"{word}\" – "),
            _ => write!(text, "{word} "),
        };
    }
    text
}

/// What a command prints: 2 KB of code.
fn listing(seed: usize) -> String {
    (1..=28).fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{line:>5}\tconst value_{line} = read(\"file/{seed}.ts\", {{ strict: true, depth: {} }});", line % 7);
        text
    })
}
