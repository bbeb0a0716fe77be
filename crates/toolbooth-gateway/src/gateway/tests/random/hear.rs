//! What a client reads in an answer or a stream, which must be as its SDK expects it.

use serde_json::{Value, json};

use crate::gateway::tests::Reply;
use crate::gateway::tests::random::hear_events;
use crate::gateway::tests::random::world::Front;

#[derive(Debug, Default, PartialEq)]
pub(super) struct Heard {
    pub(super) text: String,
    pub(super) thoughts: String,
    /// With id, name and arguments.
    pub(super) calls: Vec<[String; 3]>,
    pub(super) finish: Value,
    /// Tokens of the answer.
    pub(super) tokens: Value,
    pub(super) is_error: bool,
    /// Whether a refusal was told.
    pub(super) refusal: String,
}

/// What is heard, and the answer as the client keeps it. The error says what its SDK could not read.
pub(super) fn hear(front: Front, reply: &Reply) -> Result<(Heard, Value), String> {
    let is_stream =
        reply.header("content-type").is_some_and(|it| it.starts_with("text/event-stream"));
    if !is_stream {
        let answer = reply.json();
        let heard = if reply.status == 200 { whole(front, &answer) } else { failed() };
        return Ok((heard, answer));
    }
    let events = reply.events();
    let joined = match front {
        Front::Chat => hear_events::chunks(&events)?,
        Front::Messages => hear_events::message(&events)?,
        Front::Responses => hear_events::response(&events)?,
    };
    let heard = joined.as_ref().map_or_else(failed, |answer| whole(front, answer));
    Ok((heard, joined.unwrap_or_default()))
}

fn failed() -> Heard {
    Heard { is_error: true, ..Heard::default() }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> + Clone {
    value.as_array().into_iter().flatten()
}

fn whole(front: Front, answer: &Value) -> Heard {
    let mut heard = Heard::default();
    match front {
        Front::Chat => {
            let choice = &answer["choices"][0];
            let message = &choice["message"];
            heard.text = text(&message["content"]).to_owned();
            heard.refusal = text(&message["refusal"]).to_owned();
            for name in ["reasoning_content", "reasoning"] {
                heard.thoughts += text(&message[name]);
            }
            for call in list(&message["tool_calls"]) {
                let function = &call["function"];
                heard.call([&call["id"], &function["name"], &function["arguments"]]);
            }
            heard.finish = choice["finish_reason"].clone();
            heard.tokens = answer["usage"]["completion_tokens"].clone();
        }
        Front::Messages => {
            for block in list(&answer["content"]) {
                heard.text += text(&block["text"]);
                heard.thoughts += text(&block["thinking"]);
                if block["type"] == "tool_use" {
                    let input = Value::from(block["input"].to_string());
                    heard.call([&block["id"], &block["name"], &input]);
                }
            }
            heard.finish = answer["stop_reason"].clone();
            heard.tokens = answer["usage"]["output_tokens"].clone();
        }
        Front::Responses => {
            for item in list(&answer["output"]) {
                let parts = list(&item["content"]).map(|part| text(&part["text"]));
                match text(&item["type"]) {
                    "message" => {
                        heard.text.extend(parts);
                        let refusals = list(&item["content"]).map(|part| text(&part["refusal"]));
                        heard.refusal.extend(refusals);
                    }
                    "reasoning" => {
                        heard.thoughts.extend(list(&item["summary"]).map(|it| text(&it["text"])));
                    }
                    "function_call" => {
                        heard.call([&item["call_id"], &item["name"], &item["arguments"]]);
                    }
                    _ => {}
                }
            }
            heard.finish = json!([answer["status"], answer["incomplete_details"]["reason"]]);
            heard.tokens = answer["usage"]["output_tokens"].clone();
            heard.is_error = answer["status"] == "failed";
            if heard.is_error {
                heard = failed();
            }
        }
    }
    heard
}

impl Heard {
    fn call(&mut self, parts: [&Value; 3]) {
        let [id, name, arguments] = parts.map(|part| text(part).to_owned());
        let arguments =
            serde_json::from_str::<Value>(&arguments).map_or(arguments, |it| it.to_string());
        self.calls.push([id, name, arguments]);
    }
}
