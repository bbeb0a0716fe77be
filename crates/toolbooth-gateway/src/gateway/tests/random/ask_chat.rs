//! A conversation as a client of Chat Completions writes it.

use serde_json::{Map, Value, json};

use crate::gateway::tests::random::marks::{self, Marks};
use crate::gateway::tests::random::talk::{
    ARGUMENTS, Answer, Assistant, Choice, Said, Talk, Texts, Thought, Tool, Turn,
};

pub(super) fn write(talk: &Talk) -> (Map<String, Value>, Marks) {
    let mut marks = Marks::default();
    let mut messages = Vec::new();
    for turn in &talk.turns {
        match turn {
            Turn::System { developer, texts } => {
                let role = if *developer { "developer" } else { "system" };
                let content = content(texts, |text| marks.system(text));
                messages.push(json!({"role": role, "content": content}));
            }
            Turn::User(said, list) => messages.push(user(said, *list, &mut marks)),
            Turn::Assistant(said) => assistant(talk, said, &mut messages, &mut marks),
            Turn::Unknown(kind) => {
                let text = marks.user("@");
                let name = ["name", "cache_control", "x_new", "metadata"][*kind % 4];
                let value =
                    [json!("Ada"), json!({"type": "ephemeral"}), json!({"a": [1]}), json!("x")];
                messages.push(json!({"role": "user", "content": text, name: value[*kind % 4]}));
            }
        }
    }
    if marks.exact.is_empty() {
        messages.push(json!({"role": "user", "content": marks.user("@")}));
    }
    let mut body = Map::from_iter([("messages".to_owned(), messages.into())]);
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
    if body.contains_key("max_completion_tokens") {
        body.remove("max_tokens");
    }
    if !talk.stream {
        body.remove("stream_options");
    }
    if tools_are_missing(&body) {
        body.remove("parallel_tool_calls");
    }
    (body, marks)
}

fn tools_are_missing(body: &Map<String, Value>) -> bool {
    !body.contains_key("tools")
}

fn content(texts: &Texts, mut mark: impl FnMut(&'static str) -> String) -> Value {
    let Texts(texts, list) = texts;
    match (texts.as_slice(), list) {
        ([only], false) => mark(only).into(),
        // A list is not empty.
        ([], _) => "".into(),
        (texts, _) => {
            texts.iter().map(|text| json!({"type": "text", "text": mark(text)})).collect()
        }
    }
}

fn user(said: &[Said], list: bool, marks: &mut Marks) -> Value {
    let content = match said {
        [] => "".into(),
        [Said::Text(text)] if !list => marks.user(text).into(),
        said => said.iter().map(|it| part(it, marks)).collect::<Value>(),
    };
    json!({"role": "user", "content": content})
}

fn part(said: &Said, marks: &mut Marks) -> Value {
    match said {
        Said::Text(text) => json!({"type": "text", "text": marks.user(text)}),
        Said::Image(kind) => {
            let url = match kind {
                0 => format!("data:image/png;base64,{}", marks.data()),
                1 => format!("data:image/jpg;base64,{}", marks.data()),
                2 => format!("https://a.example/{}.png", marks.media()),
                3 => format!("data:image/svg+xml;base64,{}", marks.data()),
                _ => format!("data:image/webp;base64,{}", marks.data()),
            };
            match kind {
                4 => json!({"type": "image_url", "image_url": {"url": url, "detail": "low"}}),
                _ => json!({"type": "image_url", "image_url": {"url": url}}),
            }
        }
        Said::File(kind) => {
            let file = match kind {
                0 => {
                    json!({"file_data": format!("data:application/pdf;base64,{}", marks.data()), "filename": "a.pdf"})
                }
                1 => {
                    json!({"file_data": format!("data:text/csv;base64,{}", marks.text_data()), "filename": "a.csv"})
                }
                2 => {
                    json!({"file_data": format!("data:application/json;base64,{}", marks.text_data())})
                }
                3 => {
                    json!({"file_data": format!("data:application/zip;base64,{}", marks.data()), "filename": "a.zip"})
                }
                4 => {
                    json!({"file_id": "file-1"})
                }
                _ => {
                    json!({"file_data": format!("data:text/plain;base64,{}", marks.text_data()), "filename": "é"})
                }
            };
            json!({"type": "file", "file": file})
        }
        Said::Audio => {
            json!({"type": "input_audio", "input_audio": {"data": marks.data(), "format": "mp3"}})
        }
        Said::Unknown => {
            json!({"type": "text", "text": marks.user("@"), "cache_control": {"type": "ephemeral"}})
        }
    }
}

fn assistant(talk: &Talk, said: &Assistant, messages: &mut Vec<Value>, marks: &mut Marks) {
    let Assistant { thought, texts, calls, aside, .. } = said;
    let mut message = json!({"role": "assistant"});
    message["content"] = content(texts, |text| marks.assistant(text));
    let (mut made, mut results) = (Vec::new(), Vec::new());
    for (at, call) in calls.iter().enumerate() {
        let (name, custom) = marks::called(talk, call, false);
        let id = marks::id(call.id, at, marks.calls.len());
        let number = marks.calls.len();
        let text = marks.call(ARGUMENTS[call.arguments]);
        made.push(match custom {
            true => json!({"id": id, "type": "custom", "custom": {"name": name, "input": text}}),
            false => {
                json!({"id": id, "type": "function", "function": {"name": name, "arguments": text}})
            }
        });
        let content = match &call.result {
            Answer::Text(text) => marks.result(number, text).into(),
            Answer::Parts(texts) if !texts.is_empty() => texts
                .iter()
                .map(|text| json!({"type": "text", "text": marks.result(number, text)}))
                .collect(),
            Answer::Failed(text) => format!("Error: {}", marks.result(number, text)).into(),
            Answer::Image(text) => {
                let url = format!("data:image/png;base64,{}", marks.data());
                let image = json!({"type": "image_url", "image_url": {"url": url}});
                let text =
                    text.map(|text| json!({"type": "text", "text": marks.result(number, text)}));
                text.into_iter().chain([image]).collect::<Value>()
            }
            Answer::Parts(_) | Answer::None => "".into(),
            Answer::Missing => {
                marks.is_invalid = true;
                continue;
            }
        };
        let result = json!({"role": "tool", "tool_call_id": id, "content": content});
        results.push((call.place, result));
    }
    if !made.is_empty() {
        if texts.0.is_empty() {
            message["content"] = Value::Null;
        }
        message["tool_calls"] = made.into();
    }
    think(*thought, &mut message, marks);
    messages.push(message);
    if let Some(text) = aside.filter(|_| !results.is_empty()) {
        messages.push(json!({"role": "system", "content": marks.system(text)}));
    }
    results.sort_by_key(|(place, _)| *place);
    messages.extend(results.into_iter().map(|(_, result)| result));
}

/// The members with what the model has thought, as answers have them.
fn think(thought: Thought, message: &mut Value, marks: &mut Marks) {
    let mut mark = || marks.thought(thought);
    match thought {
        Thought::None => {}
        Thought::Plain => message["reasoning_content"] = mark().into(),
        Thought::Hidden => {
            message["reasoning_details"] =
                json!([{"type": "reasoning.encrypted", "data": mark(), "index": 0}]);
        }
        Thought::Anthropic => {
            let block = json!({"type": "thinking", "thinking": "hm", "signature": mark()});
            message["extra_content"] = json!({"anthropic": {"thinking_blocks": [block]}});
        }
        Thought::OpenAi => {
            let item = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": mark()});
            message["extra_content"] = json!({"openai": {"reasoning": [item]}});
        }
        Thought::Google => {
            let extra = json!({"google": {"thought_signature": mark()}});
            match message.pointer_mut("/tool_calls/0") {
                Some(call) => call["extra_content"] = extra,
                None => message["extra_content"] = extra,
            }
        }
    }
}

fn tool(tool: &Tool, at: usize) -> Value {
    let mut function = json!({"name": marks::name(tool, at, false)});
    if tool.description {
        function["description"] = "D".into();
    }
    if tool.custom {
        if tool.schema.is_multiple_of(2) {
            let grammar = json!({"syntax": "lark", "definition": "start: \"a\""});
            function["format"] = json!({"type": "grammar", "grammar": grammar});
        }
        return json!({"type": "custom", "custom": function});
    }
    if !tool.schema.is_multiple_of(11) {
        function["parameters"] = marks::schema(tool.schema);
    }
    if let Some(strict) = tool.strict {
        function["strict"] = strict.into();
    }
    json!({"type": "function", "function": function})
}

fn choice(talk: &Talk) -> Option<Value> {
    let one = |at: usize| {
        let at = at % talk.tools.len();
        let kind = if talk.tools[at].custom { "custom" } else { "function" };
        json!({"type": kind, kind: {"name": marks::name(&talk.tools[at], at, false)}})
    };
    Some(match talk.choice {
        Choice::Absent => return None,
        Choice::Auto => "auto".into(),
        Choice::None => "none".into(),
        Choice::Required => "required".into(),
        Choice::Tool(at) => one(at),
        Choice::Allowed { required, first } => {
            let mode = if required { "required" } else { "auto" };
            json!({"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": [one(first)]}})
        }
    })
}

fn members() -> Vec<(&'static str, Value)> {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
        "additionalProperties": false});
    vec![
        ("temperature", json!(0.3)),
        ("temperature", json!(2)),
        ("top_p", json!(0.5)),
        ("max_tokens", json!(4000)),
        ("max_tokens", json!(5)),
        ("max_completion_tokens", json!(2000)),
        ("stop", json!("end")),
        ("stop", json!(["a", " ", "\n\n", "b"])),
        ("seed", json!(7)),
        ("presence_penalty", json!(0.1)),
        ("frequency_penalty", json!(-0.1)),
        ("logit_bias", json!({"50256": -100})),
        ("logprobs", json!(true)),
        ("user", json!("ada")),
        ("safety_identifier", json!("ada-1")),
        ("metadata", json!({"k": "v"})),
        ("parallel_tool_calls", json!(false)),
        ("parallel_tool_calls", json!(true)),
        ("store", json!(false)),
        ("service_tier", json!("auto")),
        ("verbosity", json!("low")),
        ("modalities", json!(["text"])),
        ("prompt_cache_key", json!("k")),
        ("prediction", json!({"type": "content", "content": "p"})),
        ("reasoning_effort", json!("none")),
        ("reasoning_effort", json!("minimal")),
        ("reasoning_effort", json!("high")),
        ("reasoning_effort", json!("xhigh")),
        ("stream_options", json!({"include_usage": true})),
        ("stream_options", json!({"include_obfuscation": false})),
        ("response_format", json!({"type": "text"})),
        ("response_format", json!({"type": "json_object"})),
        (
            "response_format",
            json!({"type": "json_schema", "json_schema": {"name": "n", "schema": schema, "strict": true}}),
        ),
        ("x_new", json!({"a": 1})),
        ("n", json!(1)),
    ]
}
