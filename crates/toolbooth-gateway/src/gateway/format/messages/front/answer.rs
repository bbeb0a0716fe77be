//! Whole messages.

use std::borrow::Cow;

use serde::Serialize;

use crate::gateway::answer::completion::AssistantMessage;
use crate::gateway::format::front::Answer;
use crate::gateway::format::front::with_report;
use crate::gateway::format::messages::front::block::{
    Block, Counts, Null, is_object, message_id, stop_reason,
};
use crate::gateway::format::messages::front::stream::shows_reasoning;
use crate::gateway::raw_json::nested;
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
    pub(super) stop_sequence: Option<&'a str>,
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
        return with_report(body, None, &report.json());
    }
    let message = &completion.message;
    let calls = &message.tool_calls;
    let inputs: Vec<_> = calls.iter().map(|call| input(&call.arguments.text())).collect();
    let notice = report.notice();
    let shows_reasoning = shows_reasoning(request);
    let mut content = Vec::new();
    for round in answer.rounds() {
        said(round.message, shows_reasoning, &mut content);
        content.extend(Block::state(&round.message.state()));
        content.extend(Block::of_ran(round.ran, request.server_name()));
    }
    content.extend(text(notice.as_deref()));
    for (call, input) in calls.iter().zip(&inputs) {
        content.extend(call.extra.get("extra_content").map(Block::extra_content));
        content.push(Block::call(&call.id, &call.name, input));
    }
    let usage = completion.usage.as_ref();
    let counts = usage.map_or_else(|| Counts::of(&Usage::default()), Counts::of);
    let stop_sequence = completion.stop_sequence.as_deref();
    let refuses = message.refusal.is_some();
    let stop = stop_reason(completion.finish_reason, refuses, stop_sequence);
    let own = report.json();
    json::to_vec(&Message {
        content,
        stop_reason: Some(stop),
        stop_sequence,
        report: Some(Rendered(&own)),
        ..Message::new(&info.id, &info.model, counts)
    })
}

/// A block of text, unless it is empty: clients cannot send that back.
fn text(text: Option<&str>) -> Option<Block<'_>> {
    text.filter(|text| !text.is_empty()).map(Block::text)
}

/// Adds what a message says, and what the model thought before.
fn said<'a>(message: &'a AssistantMessage, shows_reasoning: bool, content: &mut Vec<Block<'a>>) {
    if !message.blocks.is_empty() {
        return content.extend(message.blocks.iter().map(Block::Verbatim));
    }
    let thoughts = thoughts(&message.extra);
    content.extend(thoughts.iter().map(Block::Verbatim));
    if thoughts.is_empty() && shows_reasoning {
        content.extend(message.reasoning_text().map(Block::reasoning));
    }
    content.extend(text(message.content.as_deref()));
    content.extend(text(message.refusal.as_deref()));
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
        _ => nested("malformed_arguments", arguments.into()).text(),
    }
}
