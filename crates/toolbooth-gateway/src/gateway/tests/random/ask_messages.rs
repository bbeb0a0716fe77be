//! A conversation as a client of Anthropic's Messages writes it.

use serde_json::{Map, Value, json};

use crate::gateway::tests::random::marks::{self, Marks};
use crate::gateway::tests::random::talk::{
    ARGUMENTS, Answer, Assistant, Choice, OBJECTS, Said, Talk, Thought, Tool, Turn,
};

pub(super) fn write(talk: &Talk) -> (Map<String, Value>, Marks) {
    let mut marks = Marks::default();
    let mut body = Map::new();
    let mut messages: Vec<Value> = Vec::new();
    // Anthropic wants the user first.
    let begins = matches!(talk.turns.first(), Some(Turn::User(said, _)) if !said.is_empty());
    if !begins {
        messages.push(json!({"role": "user", "content": marks.user("@")}));
    }
    for turn in &talk.turns {
        match turn {
            Turn::System { texts, developer } => {
                let blocks = texts.0.iter().map(|text| {
                    let mut block = json!({"type": "text", "text": marks.system(text)});
                    if *developer {
                        block["cache_control"] = json!({"type": "ephemeral"});
                    }
                    block
                });
                let blocks: Vec<_> = blocks.collect();
                match body.contains_key("system") {
                    // A message of the system follows one of the user.
                    true if !blocks.is_empty() && is_last(&messages, "user") => {
                        messages.push(json!({"role": "system", "content": blocks}));
                    }
                    true => marks.system.truncate(marks.system.len() - marked(&blocks)),
                    false if texts.1 => drop(body.insert("system".to_owned(), blocks.into())),
                    false => {
                        let texts = blocks.iter().map(|it| it["text"].as_str().unwrap());
                        let text = texts.collect::<Vec<_>>().join("\n");
                        body.insert("system".to_owned(), text.into());
                    }
                }
            }
            Turn::User(said, list) => {
                let content: Value = match said.as_slice() {
                    [] => continue,
                    [Said::Text(text)] if !list => marks.user(text).into(),
                    said => said.iter().map(|it| part(it, &mut marks)).collect(),
                };
                messages.push(json!({"role": "user", "content": content}));
            }
            Turn::Assistant(said) => assistant(talk, said, &mut messages, &mut marks),
            Turn::Unknown(kind) => unknown(*kind, &mut messages, &mut marks),
        }
    }
    if marks.exact.is_empty() {
        messages.push(json!({"role": "user", "content": marks.user("@")}));
    }
    body.insert("messages".to_owned(), messages.into());
    body.insert("max_tokens".to_owned(), 4000.into());
    let tools: Vec<_> = talk.tools.iter().enumerate().map(|(at, it)| tool(it, at)).collect();
    if !tools.is_empty() {
        body.insert("tools".to_owned(), tools.into());
        if let Some(choice) = choice(talk) {
            body.insert("tool_choice".to_owned(), choice);
        }
    }
    if talk.stream {
        body.insert("stream".to_owned(), true.into());
    }
    for seed in &talk.members {
        let members = members();
        let (name, value) = &members[seed % members.len()];
        body.insert((*name).to_owned(), value.clone());
    }
    settle(&mut body);
    (body, marks)
}

fn marked(blocks: &[Value]) -> usize {
    blocks.iter().filter(|it| !it["text"].as_str().unwrap().trim().is_empty()).count()
}

fn is_last(messages: &[Value], role: &str) -> bool {
    messages.last().is_some_and(|it| it["role"] == role)
}

/// Leaves out what Anthropic would reject together.
fn settle(body: &mut Map<String, Value>) {
    let mut count = 0;
    body.values_mut().for_each(|value| keep_marks(value, &mut count));
    if count >= 4 {
        body.remove("cache_control");
    }
    let choice = body.get("tool_choice").map(|it| it["type"].clone()).unwrap_or_default();
    if choice == "any" || choice == "tool" {
        body.remove("thinking");
    }
    let thinks = body.get("thinking").is_some_and(|it| it["type"] != "disabled");
    if thinks {
        for name in ["temperature", "top_p", "top_k"] {
            body.remove(name);
        }
    }
}

/// Leaves four marks for the cache.
fn keep_marks(value: &mut Value, count: &mut usize) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| keep_marks(item, count)),
        Value::Object(members) => {
            *count += usize::from(members.contains_key("cache_control"));
            if *count > 4 {
                members.remove("cache_control");
            }
            members.values_mut().for_each(|value| keep_marks(value, count));
        }
        _ => {}
    }
}

fn part(said: &Said, marks: &mut Marks) -> Value {
    let base64 = |media_type: &str, data: String| json!({"type": "base64", "media_type": media_type, "data": data});
    match said {
        Said::Text(text) => json!({"type": "text", "text": marks.user(text)}),
        Said::Image(kind) => {
            let source = match kind {
                0 => base64("image/png", marks.data()),
                1 => base64("image/jpeg", marks.data()),
                2 => {
                    json!({"type": "url", "url": format!("https://a.example/{}.png", marks.media())})
                }
                3 => base64("image/gif", marks.data()),
                _ => base64("image/webp", marks.data()),
            };
            json!({"type": "image", "source": source})
        }
        Said::File(kind) => {
            let source = match kind {
                0 => base64("application/pdf", marks.data()),
                1 => json!({"type": "text", "media_type": "text/plain", "data": marks.media()}),
                2 => {
                    json!({"type": "content", "content": [{"type": "text", "text": marks.media()}]})
                }
                3 => {
                    json!({"type": "url", "url": format!("https://a.example/{}.pdf", marks.media())})
                }
                4 => json!({"type": "file", "file_id": marks.media()}),
                _ => base64("text/csv", marks.text_data()),
            };
            let mut block = json!({"type": "document", "source": source});
            if *kind % 2 == 1 {
                block["title"] = "T".into();
            }
            block
        }
        Said::Audio => json!({"type": "search_result", "source": "https://a.example", "title": "T",
            "content": [{"type": "text", "text": marks.media()}]}),
        Said::Unknown => {
            json!({"type": "text", "text": marks.user("@"), "cache_control": {"type": "ephemeral"}})
        }
    }
}

fn assistant(talk: &Talk, said: &Assistant, messages: &mut Vec<Value>, marks: &mut Marks) {
    let Assistant { thought, texts, calls, late, aside } = said;
    let mut blocks = Vec::new();
    blocks.extend(match thought {
        Thought::None | Thought::OpenAi | Thought::Google => None,
        Thought::Hidden => {
            Some(json!({"type": "redacted_thinking", "data": marks.thought(Thought::Anthropic)}))
        }
        Thought::Plain | Thought::Anthropic => {
            let signature = marks.thought(Thought::Anthropic);
            Some(json!({"type": "thinking", "thinking": "hm", "signature": signature}))
        }
    });
    for text in &texts.0 {
        blocks.push(json!({"type": "text", "text": marks.assistant(text)}));
    }
    let mut results = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        let (name, custom) = marks::called(talk, call, true);
        let number = marks.calls.len();
        let id = marks::id(call.id, at, number);
        let pattern = ARGUMENTS[if custom { 0 } else { call.arguments % OBJECTS }];
        let input: Value = serde_json::from_str(&marks.call(pattern)).unwrap();
        blocks.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
        let text = |text: String| json!({"type": "text", "text": text});
        let mut result = json!({"type": "tool_result", "tool_use_id": id});
        match &call.result {
            Answer::Text(it) => result["content"] = marks.result(number, it).into(),
            Answer::Parts(texts) => {
                result["content"] = texts.iter().map(|it| text(marks.result(number, it))).collect();
            }
            Answer::Failed(it) => {
                result["content"] = marks.result(number, it).into();
                result["is_error"] = true.into();
                marks.calls[number].is_error = true;
            }
            Answer::Image(it) => {
                let source =
                    json!({"type": "base64", "media_type": "image/png", "data": marks.data()});
                let image = json!({"type": "image", "source": source});
                let texts = it.map(|it| text(marks.result(number, it)));
                result["content"] = texts.into_iter().chain([image]).collect();
            }
            Answer::None => {}
            Answer::Missing => {
                marks.is_invalid = true;
                continue;
            }
        }
        results.push((call.place, result));
    }
    if let Some(text) = late.filter(|_| !calls.is_empty()) {
        blocks.push(json!({"type": "text", "text": marks.moved(text)}));
    }
    if blocks.is_empty() {
        return;
    }
    messages.push(json!({"role": "assistant", "content": blocks}));
    results.sort_by_key(|(place, _)| *place);
    let mut results: Vec<_> = results.into_iter().map(|(_, result)| result).collect();
    if results.is_empty() {
        return;
    }
    if let Some(said) = aside {
        results.push(json!({"type": "text", "text": marks.user(said)}));
    }
    messages.push(json!({"role": "user", "content": results}));
}

/// Blocks of tools that Anthropic runs, and others that only its models know.
fn unknown(kind: usize, messages: &mut Vec<Value>, marks: &mut Marks) {
    let mut blocks = match kind {
        0 => vec![
            json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}),
            json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}),
        ],
        1 => vec![
            json!({"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "n", "server_name": "other", "input": {}}),
            json!({"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": false, "content": []}),
        ],
        2 => vec![json!({"type": "redacted_thinking", "data": marks.thought(Thought::Anthropic)})],
        _ => vec![],
    };
    blocks.push(json!({"type": "text", "text": marks.assistant("@")}));
    messages.push(json!({"role": "assistant", "content": blocks}));
    messages.push(json!({"role": "user", "content": marks.user("@")}));
}

fn tool(tool: &Tool, at: usize) -> Value {
    let mut schema = marks::schema(tool.schema);
    // Anthropic needs the type, and no combination beside it.
    schema["type"] = "object".into();
    schema.as_object_mut().unwrap().remove("anyOf");
    let mut own = json!({"name": marks::name(tool, at, true), "input_schema": schema});
    if tool.description {
        own["description"] = "D".into();
        own["cache_control"] = json!({"type": "ephemeral"});
    }
    if tool.strict == Some(false) {
        own["type"] = "custom".into();
    }
    own
}

fn choice(talk: &Talk) -> Option<Value> {
    Some(match talk.choice {
        Choice::Absent => return None,
        Choice::Auto => json!({"type": "auto"}),
        Choice::None => json!({"type": "none"}),
        Choice::Required => json!({"type": "any", "disable_parallel_tool_use": true}),
        Choice::Tool(at) => {
            let at = at % talk.tools.len();
            json!({"type": "tool", "name": marks::name(&talk.tools[at], at, true)})
        }
        Choice::Allowed { .. } => json!({"type": "auto", "disable_parallel_tool_use": true}),
    })
}

fn members() -> Vec<(&'static str, Value)> {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
        "additionalProperties": false});
    vec![
        ("temperature", json!(0.3)),
        ("top_p", json!(0.5)),
        ("top_k", json!(5)),
        ("stop_sequences", json!(["end", "\n\nHuman:"])),
        ("metadata", json!({"user_id": "ada"})),
        ("thinking", json!({"type": "enabled", "budget_tokens": 1024})),
        ("thinking", json!({"type": "adaptive"})),
        ("thinking", json!({"type": "adaptive", "display": "summarized"})),
        ("thinking", json!({"type": "disabled"})),
        ("output_config", json!({"effort": "low"})),
        ("output_config", json!({"effort": "max"})),
        ("output_config", json!({"format": {"type": "json_schema", "schema": schema}})),
        ("service_tier", json!("auto")),
        ("cache_control", json!({"type": "ephemeral"})),
        ("x_new", json!({"a": 1})),
        ("max_tokens", json!(8000)),
    ]
}
