//! Whole answers, and what they share with streams.

use serde_json::value::RawValue;

use crate::gateway::answer::completion::AssistantMessage;
use crate::gateway::answer::stream::Delta;
use crate::gateway::conversation::request::{ChatRequest, ModelTool};
use crate::gateway::format::front::Answer;
use crate::gateway::format::front::EventEncoder;
use crate::gateway::format::front::with_report;
use crate::gateway::format::responses::front::events::ResponseEncoder;
use crate::gateway::raw_json::raw_member;
use crate::wire::{Json, Members};
use toolbooth::json::{self, Value};

/// The body of a response. It has the items that the events of a stream lead to.
pub(super) fn encode(answer: &Answer<'_>) -> Vec<u8> {
    let Answer { request, completion, info, report, .. } = answer;
    if let Some(body) = &completion.native_body {
        return with_report(body, None, &report.json());
    }
    let mut encoder = ResponseEncoder::new(request, (*info).clone(), false);
    let mut out = Vec::new();
    for round in answer.rounds() {
        said(round.message, &mut encoder, &mut out);
        encoder.delta(&Delta::State(round.message.state()), &mut out);
        if !round.ran.is_empty() {
            encoder.ran(round.ran, &mut out);
        }
    }
    let message = &completion.message;
    if let Some(notice) = report.notice() {
        encoder.delta(&Delta::Text(notice), &mut out);
    }
    for (index, call) in message.tool_calls.iter().enumerate() {
        for delta in Delta::of_call(index, call) {
            encoder.delta(&delta, &mut out);
        }
    }
    encoder.report(report);
    encoder.delta(&Delta::Finish(completion.finish_reason), &mut out);
    if let Some(usage) = &completion.usage {
        encoder.delta(&Delta::Usage(usage.clone()), &mut out);
    }
    encoder.body()
}

/// Writes what a message says, with the pictures where they were in its text.
fn said(message: &AssistantMessage, encoder: &mut ResponseEncoder, out: &mut Vec<u8>) {
    let reasoning = message.reasoning_text().unwrap_or_default();
    encoder.delta(&Delta::Reasoning(reasoning.to_owned()), out);
    let text = message.content.as_deref().unwrap_or_default();
    let mut written = 0;
    for (after, file) in &message.media {
        let before = text.get(written..*after).unwrap_or_default();
        encoder.delta(&Delta::Text(before.to_owned()), out);
        encoder.picture(file, out);
        written = *after;
    }
    let rest = text.get(written..).unwrap_or_default();
    encoder.delta(&Delta::Text(rest.to_owned()), out);
    let refusal = message.refusal.as_deref().unwrap_or_default();
    encoder.delta(&Delta::Refusal(refusal.to_owned()), out);
}

/// The members of the request that a response repeats, with their defaults.
pub(super) fn request_members(request: &ChatRequest) -> Members<'static> {
    const REPEATED: [(&str, &str); 15] = [
        ("instructions", "null"),
        ("max_output_tokens", "null"),
        ("max_tool_calls", "null"),
        ("metadata", "{}"),
        ("parallel_tool_calls", "true"),
        ("prompt_cache_key", "null"),
        ("reasoning", "null"),
        ("safety_identifier", "null"),
        ("service_tier", "\"default\""),
        ("temperature", "null"),
        ("text", r#"{"format":{"type":"text"}}"#),
        ("tool_choice", "\"auto\""),
        ("tools", "[]"),
        ("top_p", "null"),
        ("truncation", "\"disabled\""),
    ];
    let sent = request.native.as_ref().map(|native| &native.members);
    let mut members = Members::default();
    for (name, default) in REPEATED {
        let json = sent.and_then(|members| members.get(name)).map_or(default, RawValue::get);
        let json = Json::Text(json.to_owned().into());
        members.0.push((name.into(), json));
    }
    for (name, json) in [("previous_response_id", "null"), ("store", "false")] {
        members.0.push((name.into(), Json::Text(json.into())));
    }
    members
}

/// The tools of this server, as `mcp_list_tools` has them.
pub(super) fn listed(tools: &[ModelTool]) -> String {
    let tool = |tool: &ModelTool| {
        let json: &RawValue = serde_json::from_str(tool.definition.as_ref()?).ok()?;
        let mut tool = Members::default();
        for (own, name) in
            [("name", "name"), ("description", "description"), ("input_schema", "parameters")]
        {
            let value = raw_member(json, &[name])?.get().to_owned();
            tool.0.push((own.into(), Json::Text(value.into())));
        }
        tool.add("annotations", Some(Value::Null));
        Some(tool)
    };
    json::to_string(&tools.iter().filter_map(tool).collect::<Vec<_>>())
}
