//! Whole answers, and what they share with streams.

use serde_json::value::RawValue;

use super::events::ResponseEncoder;
use crate::gateway::fields::raw_member;
use crate::gateway::front::{Answer, EarlierRound, EventEncoder};
use crate::gateway::{ChatRequest, Delta};
use crate::wire::{Json, Members};
use toolbooth::json::{self, Value};

/// The body of a response. It has the items that the events of a stream lead to.
pub(super) fn encode(answer: &Answer<'_>) -> Vec<u8> {
    let Answer { request, completion, info, earlier, report } = answer;
    if let Some(body) = &completion.native_body {
        return with_report(body, None, &report.json());
    }
    let mut encoder = ResponseEncoder::new(request, (*info).clone(), false);
    let mut out = Vec::new();
    let mut done = 0;
    for EarlierRound { text, ran } in *earlier {
        if let Some(text) = text {
            encoder.delta(&Delta::Text(text.clone()), &mut out);
        }
        encoder.ran(report.ran.get(done..*ran).unwrap_or_default(), &mut out);
        done = *ran;
    }
    let message = &completion.message;
    for (text, delta) in [
        (&message.reasoning, Delta::Reasoning as fn(String) -> Delta),
        (&message.content, Delta::Text),
        (&message.refusal, Delta::Refusal),
    ] {
        if let Some(text) = text {
            encoder.delta(&delta(text.clone()), &mut out);
        }
    }
    encoder.ran(report.ran.get(done..).unwrap_or_default(), &mut out);
    if let Some(notice) = report.notice() {
        encoder.delta(&Delta::Text(notice), &mut out);
    }
    for (index, call) in message.tool_calls.iter().enumerate() {
        for delta in Delta::of_call(index, call) {
            encoder.delta(&delta, &mut out);
        }
    }
    if let Some(extra) = message.extra.get("extra_content") {
        encoder.delta(&Delta::ExtraContent(extra.clone()), &mut out);
    }
    encoder.report(report);
    encoder.delta(&Delta::Finish(completion.finish_reason), &mut out);
    if let Some(usage) = &completion.usage {
        encoder.delta(&Delta::Usage(usage.clone()), &mut out);
    }
    encoder.body()
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
    let sent = request.native.iter().flat_map(|native| &native.members);
    let sent: Vec<_> = sent.collect();
    let mut members = Members::default();
    for (name, default) in REPEATED {
        let json = sent.iter().find(|(known, _)| known == name).map(|(_, json)| json.get());
        let json = Json::Text(json.unwrap_or(default).to_owned().into());
        members.0.push((name.into(), json));
    }
    for (name, json) in [("previous_response_id", "null"), ("store", "false")] {
        members.0.push((name.into(), Json::Text(json.into())));
    }
    members
}

/// The tools of this server, as `mcp_list_tools` has them.
pub(super) fn listed(tools: &[(&str, &str)]) -> String {
    let tool = |(_, json): &(&str, &str)| {
        let json: &RawValue = serde_json::from_str(json).ok()?;
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

/// The JSON object with a further member `_2api`, or the object that is its member `name`.
pub(super) fn with_report(json: &[u8], name: Option<&str>, report: &str) -> Vec<u8> {
    let mut changed = json.to_vec();
    let start = name.map_or(Some(0), |name| value_of(json, name));
    let object = start.and_then(|start| {
        let rest = json.get(start..)?;
        let at = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        (rest.get(at) == Some(&b'{')).then_some(start + at + 1)
    });
    if let Some(object) = object {
        let rest = json.get(object..).unwrap_or_default();
        let is_empty = rest.iter().find(|it| !it.is_ascii_whitespace()) == Some(&b'}');
        let comma = if is_empty { "" } else { "," };
        changed.splice(object..object, format!("\"_2api\":{report}{comma}").into_bytes());
    }
    changed
}

/// Where the value of the first member with this name begins.
fn value_of(json: &[u8], name: &str) -> Option<usize> {
    // Quotes in strings are escaped, so that a name in quotes before a colon is that of a member.
    let name = format!("\"{name}\"").into_bytes();
    let ends = json.windows(name.len()).enumerate().filter(|(_, it)| *it == name);
    ends.map(|(at, _)| at + name.len()).find_map(|end| {
        let rest = json.get(end..)?;
        let at = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        (rest.get(at) == Some(&b':')).then_some(end + at + 1)
    })
}
