//! Whole messages.

use std::borrow::Cow;

use serde::Serialize;

use super::block::{Block, Counts, Null, is_object, message_id, stop_reason};
use super::stream::shows_reasoning;
use crate::gateway::front::{Answer, with_report};
use crate::gateway::report::RanCall;
use crate::wire::Usage;
use toolbooth::json::{self, Object, Rendered, Value};

/// A message, or the beginning of one that is streamed.
#[derive(Serialize)]
#[serde(tag = "type", rename = "message")]
pub(super) struct Message<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) role: &'static str,
    pub(super) model: &'a str,
    pub(super) content: Vec<Block<'a>>,
    pub(super) stop_reason: Option<&'static str>,
    pub(super) stop_sequence: Null,
    pub(super) stop_details: Null,
    pub(super) container: Null,
    pub(super) diagnostics: Null,
    pub(super) usage: Counts,
    /// The gateway's own member: the JSON of its report.
    #[serde(rename = "_2api", skip_serializing_if = "Option::is_none")]
    pub(super) report: Option<Rendered<'a>>,
}

impl<'a> Message<'a> {
    /// A message without content, which has not ended.
    pub(super) fn new(id: &'a str, model: &'a str, usage: Counts) -> Self {
        Self {
            id: message_id(id),
            role: "assistant",
            model,
            content: Vec::new(),
            stop_reason: None,
            stop_sequence: None,
            stop_details: None,
            container: None,
            diagnostics: None,
            usage,
            report: None,
        }
    }
}

/// The body of a response.
pub(super) fn encode(answer: &Answer<'_>) -> Vec<u8> {
    let Answer { request, completion, info, report, .. } = answer;
    if let Some(body) = &completion.native_body {
        return with_report(body, &report.json());
    }
    let said = &completion.message;
    let inputs: Vec<_> = said.tool_calls.iter().map(|call| input(&call.arguments.text())).collect();
    let notice = report.notice();
    let mut content = Vec::new();
    let mut ran = 0;
    for round in answer.earlier {
        content.extend(text(round.text.as_deref()));
        content.extend(Block::of_ran(between(&report.ran, ran, round.ran)));
        ran = round.ran;
    }
    let thoughts = thoughts(&said.extra);
    content.extend(thoughts.iter().map(Block::Verbatim));
    if thoughts.is_empty() && shows_reasoning(request) {
        content.extend(said.reasoning_text().map(Block::reasoning));
    }
    for said in [said.content.as_deref(), said.refusal.as_deref(), notice.as_deref()] {
        content.extend(text(said));
    }
    for (call, input) in said.tool_calls.iter().zip(&inputs) {
        content.extend(call.extra.get("extra_content").map(Block::extra_content));
        content.push(Block::call(&call.id, &call.name, input));
    }
    let usage = completion.usage.as_ref();
    let counts = usage.map_or_else(|| Counts::of(&Usage::default()), Counts::of);
    let stop = stop_reason(completion.finish_reason, said.refusal.is_some());
    let own = report.json();
    json::to_vec(&Message {
        content,
        stop_reason: Some(stop),
        report: Some(Rendered(&own)),
        ..Message::new(&info.id, &info.model, counts)
    })
}

/// A block of text, unless it is empty: clients cannot send that back.
fn text(text: Option<&str>) -> Option<Block<'_>> {
    text.filter(|text| !text.is_empty()).map(Block::text)
}

fn between(calls: &[RanCall], from: usize, to: usize) -> &[RanCall] {
    calls.get(from..to).unwrap_or_default()
}

/// The thinking blocks of Anthropic.
fn thoughts<'v>(extra: &'v Object<'static>) -> &'v [Value<'static>] {
    let blocks =
        extra.get("extra_content").and_then(|it| it.get("anthropic")?.get("thinking_blocks"));
    blocks.and_then(Value::as_array).unwrap_or_default()
}

/// Arguments as the object that `input` must be.
fn input(arguments: &str) -> String {
    match arguments.trim() {
        "" => "{}".to_owned(),
        text if is_object(text) => text.to_owned(),
        _ => {
            let text = Value::from(arguments);
            Value::Object(Object::from_iter([("malformed_arguments", text)])).text()
        }
    }
}
