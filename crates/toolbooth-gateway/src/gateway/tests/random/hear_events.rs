//! Joins the events of a stream as the SDKs of the formats do, and checks what these rely on: the order of events, one beginning and
//! one end of each thing.

use serde_json::{Value, json};

use crate::gateway::tests::random::hear::list;

/// The answer; `None` if it ended with an error.
type Joined = Result<Option<Value>, String>;

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

fn append(place: &mut Value, more: &Value) {
    match (place.as_str(), more.as_str()) {
        (Some(before), Some(more)) => *place = format!("{before}{more}").into(),
        (_, Some(more)) => *place = more.into(),
        _ => {}
    }
}

fn at(event: &Value, name: &str) -> Result<usize, String> {
    let found = event[name].as_u64().ok_or_else(|| format!("no {name} in {event}"))?;
    Ok(usize::try_from(found).unwrap())
}

pub(super) fn chunks(events: &[Value]) -> Joined {
    let (last, chunks) = events.split_last().ok_or("no events")?;
    if events.iter().any(|event| event["error"].is_object()) {
        return Ok(None);
    }
    ensure(last == "[DONE]", || format!("the last event is {last}"))?;
    let mut answer =
        json!({"choices": [{"message": {"role": "assistant"}, "finish_reason": null}]});
    for chunk in chunks {
        ensure(chunk["object"] == "chat.completion.chunk", || format!("no chunk: {chunk}"))?;
        ensure(chunk["id"].is_string() && chunk["created"].is_u64(), || format!("no id: {chunk}"))?;
        if chunk["usage"].is_object() {
            answer["usage"] = chunk["usage"].clone();
        }
        if chunk["_2api"].is_object() {
            answer["_2api"] = chunk["_2api"].clone();
        }
        let choices = list(&chunk["choices"]).count();
        ensure(chunk["choices"].is_array() && choices < 2, || format!("choices: {chunk}"))?;
        let choice = &chunk["choices"][0];
        let own = &mut answer["choices"][0];
        for (name, value) in choice["delta"].as_object().into_iter().flatten() {
            let is_empty = value.is_null() || value == "";
            ensure(own["finish_reason"].is_null() || is_empty, || {
                format!("after the end: {chunk}")
            })?;
            match name.as_str() {
                "role" => {}
                "tool_calls" => {
                    for part in list(value) {
                        call(&mut own["message"]["tool_calls"], part)?;
                    }
                }
                name => match value {
                    Value::Array(more) => {
                        let mut all = own["message"][name].as_array().cloned().unwrap_or_default();
                        all.extend(more.iter().cloned());
                        own["message"][name] = all.into();
                    }
                    Value::Object(_) => own["message"][name] = value.clone(),
                    value => append(&mut own["message"][name], value),
                },
            }
        }
        if choice["finish_reason"].is_string() {
            ensure(own["finish_reason"].is_null(), || "two ends".to_owned())?;
            own["finish_reason"] = choice["finish_reason"].clone();
        }
    }
    ensure(answer["choices"][0]["finish_reason"].is_string(), || "no end".to_owned())?;
    Ok(Some(answer))
}

/// Adds a part to a call: the first one has id, type and name.
fn call(calls: &mut Value, part: &Value) -> Result<(), String> {
    if calls.is_null() {
        *calls = json!([]);
    }
    let list = calls.as_array_mut().unwrap();
    let at = at(part, "index")?;
    ensure(at <= list.len(), || format!("a call is left out before {part}"))?;
    if at == list.len() {
        let is_whole = part["id"].is_string() && part["function"]["name"].is_string();
        ensure(is_whole && part["type"] == "function", || format!("no call begins in {part}"))?;
        let mut call = part.clone();
        call.as_object_mut().unwrap().remove("index");
        list.push(call);
        return Ok(());
    }
    for name in ["id", "type"] {
        ensure(part.get(name).is_none_or(Value::is_null), || {
            format!("{name} comes again: {part}")
        })?;
    }
    let function = &part["function"];
    ensure(function.get("name").is_none_or(Value::is_null), || format!("a name again: {part}"))?;
    append(&mut list[at]["function"]["arguments"], &function["arguments"]);
    Ok(())
}

pub(super) fn message(events: &[Value]) -> Joined {
    let mut message = Value::Null;
    let (mut open, mut has_ended, mut input) = (None, false, String::new());
    for event in events {
        let kind = event["type"].as_str().unwrap_or_default();
        ensure(!has_ended, || format!("after the end: {event}"))?;
        ensure(!message.is_null() || matches!(kind, "message_start" | "ping" | "error"), || {
            format!("before the start: {event}")
        })?;
        match kind {
            "error" => return Ok(None),
            "ping" => {}
            "message_start" => {
                ensure(message.is_null(), || "two starts".to_owned())?;
                message = event["message"].clone();
                ensure(message["content"] == json!([]), || format!("content: {event}"))?;
            }
            "content_block_start" => {
                let blocks = message["content"].as_array_mut().unwrap();
                let index = at(event, "index")?;
                ensure(open.is_none() && index == blocks.len(), || format!("position: {event}"))?;
                blocks.push(event["content_block"].clone());
                (open, input) = (Some(index), String::new());
            }
            "content_block_delta" => {
                ensure(open == Some(at(event, "index")?), || format!("not open: {event}"))?;
                let block = &mut message["content"][open.unwrap()];
                let delta = &event["delta"];
                for name in ["text", "thinking", "signature"] {
                    if delta[name].is_string() {
                        let fits = block[name].is_string();
                        ensure(fits, || format!("the block has no {name}: {event}"))?;
                        append(&mut block[name], &delta[name]);
                    }
                }
                input += delta["partial_json"].as_str().unwrap_or_default();
            }
            "content_block_stop" => {
                ensure(open == Some(at(event, "index")?), || format!("not open: {event}"))?;
                let block = &mut message["content"][open.unwrap()];
                if !input.is_empty() {
                    block["input"] = serde_json::from_str(&input).map_err(|it| it.to_string())?;
                }
                open = None;
            }
            "message_delta" => {
                ensure(open.is_none(), || "a block is open".to_owned())?;
                if event["delta"]["stop_reason"].is_string() {
                    message["stop_reason"] = event["delta"]["stop_reason"].clone();
                }
                if event["usage"]["output_tokens"].is_u64() {
                    message["usage"]["output_tokens"] = event["usage"]["output_tokens"].clone();
                }
                message["_2api"] = event["_2api"].clone();
            }
            "message_stop" => has_ended = true,
            _ => return Err(format!("unknown: {event}")),
        }
    }
    ensure(has_ended && message["stop_reason"].is_string(), || "no end".to_owned())?;
    Ok(Some(message))
}

pub(super) fn response(events: &[Value]) -> Joined {
    let (last, others) = events.split_last().ok_or("no events")?;
    let kind = last["type"].as_str().unwrap_or_default();
    let is_end = |kind: &str| {
        ["response.completed", "response.incomplete", "response.failed"].contains(&kind)
    };
    ensure(is_end(kind), || format!("the last event is {last}"))?;
    for (number, event) in events.iter().enumerate() {
        ensure(event["sequence_number"] == number, || format!("number: {event}"))?;
    }
    // Items as they are built: what their deltas add up to.
    let mut items: Vec<(Value, bool)> = Vec::new();
    let mut texts: Vec<String> = Vec::new();
    for event in others {
        let kind = event["type"].as_str().unwrap_or_default();
        ensure(!is_end(kind), || format!("two ends: {event}"))?;
        if let "response.created" | "response.in_progress" | "response.queued" = kind {
            continue;
        }
        let index = at(event, "output_index")?;
        if kind == "response.output_item.added" {
            ensure(index == items.len(), || format!("position: {event}"))?;
            items.push((event["item"].clone(), false));
            texts.push(String::new());
            continue;
        }
        let Some((item, is_done)) = items.get_mut(index) else {
            return Err(format!("no item: {event}"));
        };
        ensure(!*is_done, || format!("the item is done: {event}"))?;
        if kind == "response.output_item.done" {
            *is_done = true;
            ensure(item["id"] == event["item"]["id"], || format!("another id: {event}"))?;
            *item = event["item"].clone();
            let whole = spoken(item);
            ensure(whole == texts[index], || format!("deltas {:?} of {item}", texts[index]))?;
            continue;
        }
        ensure(event["item_id"] == item["id"], || format!("another item: {event}"))?;
        if kind.ends_with(".delta") {
            texts[index] += event["delta"].as_str().unwrap_or_default();
        }
    }
    if kind == "response.failed" {
        return Ok(None);
    }
    ensure(items.iter().all(|(_, is_done)| *is_done), || "an item is not done".to_owned())?;
    let done: Vec<_> = items.into_iter().map(|(item, _)| item).collect();
    let output = &last["response"]["output"];
    ensure(*output == Value::from(done), || format!("the output is another one: {output}"))?;
    Ok(Some(last["response"].clone()))
}

/// What the deltas of an item add up to.
fn spoken(item: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of = |name: &str, member: &str| {
        list(&item[name]).map(|it| text(&it[member])).collect::<String>()
    };
    match item["type"].as_str().unwrap_or_default() {
        "message" => of("content", "text") + &of("content", "refusal"),
        "reasoning" => of("summary", "text"),
        "function_call" => text(&item["arguments"]),
        "custom_tool_call" => text(&item["input"]),
        _ => String::new(),
    }
}
