//! A conversation as a client of Responses writes it.

use serde_json::{Map, Value, json};

use crate::gateway::tests::random::marks::{self, Marks};
use crate::gateway::tests::random::talk::{
    ARGUMENTS, Answer, Assistant, Choice, Said, Talk, Texts, Thought, Tool, Turn,
};

pub(super) fn write(talk: &Talk) -> (Map<String, Value>, Marks) {
    let mut marks = Marks::default();
    let mut items = Vec::new();
    for turn in &talk.turns {
        match turn {
            Turn::System { developer, texts } => {
                let role = if *developer { "developer" } else { "system" };
                let content = content(texts, "input_text", |text| marks.system(text));
                items.push(json!({"type": "message", "role": role, "content": content}));
            }
            Turn::User(said, list) => {
                let content = match said.as_slice() {
                    [] => "".into(),
                    [Said::Text(text)] if !list => marks.user(text).into(),
                    said => said.iter().filter_map(|it| part(it, &mut marks)).collect::<Value>(),
                };
                items.push(json!({"role": "user", "content": content}));
            }
            Turn::Assistant(said) => assistant(talk, said, &mut items, &mut marks),
            Turn::Unknown(kind) => items.extend(unknown(*kind, &mut marks)),
        }
    }
    if marks.exact.is_empty() {
        items.push(json!({"role": "user", "content": marks.user("@")}));
    }
    let mut body = Map::from_iter([("input".to_owned(), items.into())]);
    let mut tools: Vec<_> = talk.tools.iter().enumerate().map(|(at, it)| tool(it, at)).collect();
    if !tools.is_empty() {
        if let Some(choice) = choice(talk) {
            body.insert("tool_choice".to_owned(), choice);
        }
        if talk.tools[0].schema.is_multiple_of(5) {
            tools.push(json!({"type": "web_search"}));
        }
        body.insert("tools".to_owned(), tools.into());
    }
    body.insert("stream".to_owned(), talk.stream.into());
    for seed in &talk.members {
        let members = members();
        let (name, value) = &members[seed % members.len()];
        body.insert((*name).to_owned(), value.clone());
    }
    if !talk.stream {
        body.remove("stream_options");
    }
    if body.contains_key("instructions") {
        marks.system.insert(0, "instructed".to_owned());
    }
    (body, marks)
}

fn content(texts: &Texts, kind: &str, mut mark: impl FnMut(&'static str) -> String) -> Value {
    let Texts(texts, list) = texts;
    match (texts.as_slice(), list) {
        ([only], false) => mark(only).into(),
        (texts, _) => texts.iter().map(|text| json!({"type": kind, "text": mark(text)})).collect(),
    }
}

fn part(said: &Said, marks: &mut Marks) -> Option<Value> {
    Some(match said {
        Said::Text(text) => json!({"type": "input_text", "text": marks.user(text)}),
        Said::Image(kind) => {
            let url = match kind {
                0 => format!("data:image/png;base64,{}", marks.data()),
                1 => format!("data:image/jpg;base64,{}", marks.data()),
                2 => format!("https://a.example/{}.png", marks.media()),
                3 => format!("data:image/svg+xml;base64,{}", marks.data()),
                _ => format!("data:image/webp;base64,{}", marks.data()),
            };
            match kind {
                4 => json!({"type": "input_image", "image_url": url, "detail": "low"}),
                _ => json!({"type": "input_image", "image_url": url}),
            }
        }
        Said::File(kind) => match kind {
            0 => json!({"type": "input_file", "filename": "a.pdf",
                "file_data": format!("data:application/pdf;base64,{}", marks.data())}),
            1 => json!({"type": "input_file", "filename": "a.csv",
                "file_data": format!("data:text/csv;base64,{}", marks.text_data())}),
            2 => {
                json!({"type": "input_file", "file_url": format!("https://a.example/{}.pdf", marks.media())})
            }
            3 => json!({"type": "input_file", "filename": "a.zip",
                "file_data": format!("data:application/zip;base64,{}", marks.data())}),
            4 => {
                json!({"type": "input_file", "file_id": "file-1"})
            }
            _ => json!({"type": "input_file", "filename": "é",
                "file_data": format!("data:text/plain;base64,{}", marks.text_data())}),
        },
        Said::Audio => return None,
        Said::Unknown => json!({"type": "input_text", "text": marks.user("@")}),
    })
}

fn assistant(talk: &Talk, said: &Assistant, items: &mut Vec<Value>, marks: &mut Marks) {
    let Assistant { thought, texts, calls, late, aside } = said;
    let number = items.len();
    if *thought != Thought::None && (!texts.0.is_empty() || !calls.is_empty()) {
        let mut item = json!({"type": "reasoning", "id": format!("rs_{number}"), "summary": []});
        if *thought == Thought::Plain {
            item["summary"] = json!([{"type": "summary_text", "text": "hm"}]);
        }
        item["encrypted_content"] = marks.thought(Thought::OpenAi).into();
        items.push(item);
    }
    if !texts.0.is_empty() {
        let content = content(texts, "output_text", |text| marks.assistant(text));
        let mut message = json!({"type": "message", "role": "assistant", "content": content});
        if content.is_array() {
            message["id"] = format!("msg_{number}").into();
            message["status"] = "completed".into();
        }
        items.push(message);
    }
    let mut results = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        let (name, custom) = marks::called(talk, call, false);
        let number = marks.calls.len();
        let id = marks::id(call.id, at, number);
        let text = marks.call(ARGUMENTS[call.arguments]);
        let (kind, argument) =
            if custom { ("custom_tool_call", "input") } else { ("function_call", "arguments") };
        let mut item = json!({"type": kind, "call_id": id, "name": name, argument: text});
        if let Some(namespace) = namespace(talk, call.tool) {
            item["namespace"] = namespace.into();
        }
        items.push(item);
        let text = |text: String| json!({"type": "input_text", "text": text});
        let output = match &call.result {
            Answer::Text(it) => marks.result(number, it).into(),
            Answer::Parts(texts) => texts.iter().map(|it| text(marks.result(number, it))).collect(),
            Answer::Failed(it) => format!("Error: {}", marks.result(number, it)).into(),
            Answer::Image(it) => {
                let url = format!("data:image/png;base64,{}", marks.data());
                let image = json!({"type": "input_image", "image_url": url, "detail": "auto"});
                let texts = it.map(|it| text(marks.result(number, it)));
                texts.into_iter().chain([image]).collect()
            }
            Answer::None => Value::from(""),
            Answer::Missing => {
                marks.is_invalid = true;
                continue;
            }
        };
        let item = json!({"type": format!("{kind}_output"), "call_id": id, "output": output});
        results.push((call.place, item));
    }
    if let Some(text) = late.filter(|_| !calls.is_empty()) {
        let content = json!([{"type": "output_text", "text": marks.moved(text)}]);
        items.push(json!({"type": "message", "role": "assistant", "content": content}));
    }
    if let Some(text) = aside.filter(|_| !calls.is_empty()) {
        items.push(json!({"role": "user", "content": marks.moved(text)}));
    }
    results.sort_by_key(|(place, _)| *place);
    items.extend(results.into_iter().map(|(_, item)| item));
}

/// Items that not all providers have.
fn unknown(kind: usize, marks: &mut Marks) -> Vec<Value> {
    let item = match kind {
        3 => return found_tools(marks),
        // A tool of this server, which has run.
        4 => {
            let (number, arguments) = (marks.calls.len(), marks.call(ARGUMENTS[0]));
            let output = marks.result(number, "@");
            json!({"type": "mcp_call", "id": format!("mcp_{number}x"), "server_label": "toolbooth", "name": "gone",
                "arguments": arguments, "output": output})
        }
        0 => json!({"type": "web_search_call", "id": "ws_1", "status": "completed",
            "action": {"type": "search", "query": "q"}}),
        1 => json!({"type": "agent_message", "author": "/main", "recipient": "/main/a",
            "content": [{"type": "input_text", "text": marks.moved("@")}]}),
        2 => {
            let data = marks.data();
            json!({"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": data})
        }
        _ => {
            marks.unknown.push("input[].new_item".to_owned());
            json!({"type": "new_item", "id": "ni_1", "data": [1]})
        }
    };
    vec![item]
}

/// A search of the client for tools, and what it has found.
fn found_tools(marks: &mut Marks) -> Vec<Value> {
    let number = marks.calls.len();
    let query: Value = serde_json::from_str(&marks.call(ARGUMENTS[0])).unwrap();
    let call_id = format!("search_{number}");
    let found = json!({"type": "function", "name": format!("found_{number}"), "defer_loading": true,
        "parameters": {"type": "object", "properties": {}}});
    let [call, output] = ["tool_search_call", "tool_search_output"].map(
        |kind| json!({"type": kind, "call_id": call_id, "execution": "client", "status": "completed"}),
    );
    let [mut call, mut output] = [call, output];
    call["arguments"] = query;
    output["tools"] = json!([found]);
    vec![call, output]
}

fn namespace(talk: &Talk, called: usize) -> Option<String> {
    let at = called.checked_rem(talk.tools.len())?;
    let tool = &talk.tools[at];
    (tool.name == 4 && !tool.custom).then(|| format!("ns{at}"))
}

fn tool(tool: &Tool, at: usize) -> Value {
    let name = marks::name(tool, at, false);
    let mut own = json!({"type": if tool.custom { "custom" } else { "function" }, "name": name});
    if tool.description {
        own["description"] = "D".into();
    }
    if tool.custom {
        if tool.schema.is_multiple_of(2) {
            own["format"] =
                json!({"type": "grammar", "syntax": "lark", "definition": "start: \"a\""});
        }
        return own;
    }
    own["parameters"] = if !tool.schema.is_multiple_of(11) {
        marks::schema(tool.schema)
    } else {
        json!({"type": "object", "properties": {}})
    };
    if let Some(strict) = tool.strict {
        own["strict"] = strict.into();
    }
    if tool.name == 4 {
        own = json!({"type": "namespace", "name": format!("ns{at}"), "description": "D", "tools": [own]});
    }
    own
}

fn choice(talk: &Talk) -> Option<Value> {
    let one = |at: usize| {
        let at = at % talk.tools.len();
        let tool = &talk.tools[at];
        let kind = if tool.custom { "custom" } else { "function" };
        let is_plain = tool.name != 4 || tool.custom;
        is_plain.then(|| json!({"type": kind, "name": marks::name(tool, at, false)}))
    };
    Some(match talk.choice {
        Choice::Absent => return None,
        Choice::Auto => "auto".into(),
        Choice::None => "none".into(),
        Choice::Required => "required".into(),
        Choice::Tool(at) => one(at)?,
        Choice::Allowed { required, first } => {
            let mode = if required { "required" } else { "auto" };
            json!({"type": "allowed_tools", "mode": mode, "tools": [one(first)?]})
        }
    })
}

fn members() -> Vec<(&'static str, Value)> {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
        "additionalProperties": false});
    vec![
        ("instructions", json!("instructed")),
        ("temperature", json!(0.3)),
        ("top_p", json!(0.5)),
        ("max_output_tokens", json!(4000)),
        ("max_output_tokens", json!(16)),
        ("metadata", json!({"k": "v"})),
        ("parallel_tool_calls", json!(false)),
        ("parallel_tool_calls", json!(true)),
        ("store", json!(false)),
        ("service_tier", json!("auto")),
        ("truncation", json!("auto")),
        ("user", json!("ada")),
        ("safety_identifier", json!("ada-1")),
        ("prompt_cache_key", json!("k")),
        ("top_logprobs", json!(2)),
        ("max_tool_calls", json!(3)),
        ("client_metadata", json!({"a": "b"})),
        ("include", json!(["reasoning.encrypted_content", "web_search_call.action.sources"])),
        ("include", json!(["message.output_text.logprobs"])),
        ("reasoning", json!({"effort": "none"})),
        ("reasoning", json!({"effort": "minimal", "summary": "auto"})),
        ("reasoning", json!({"effort": "xhigh", "summary": "detailed"})),
        ("reasoning", json!({"summary": "auto"})),
        ("stream_options", json!({"include_obfuscation": false})),
        ("text", json!({"verbosity": "low"})),
        ("text", json!({"format": {"type": "text"}})),
        ("text", json!({"format": {"type": "json_object"}})),
        (
            "text",
            json!({"format": {"type": "json_schema", "name": "n", "schema": schema, "strict": true}, "verbosity": "high"}),
        ),
        ("x_new", json!({"a": 1})),
    ]
}
