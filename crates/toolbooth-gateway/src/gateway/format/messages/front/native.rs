//! What Anthropic gets of a request in its format: all as the client wrote it, but for what only the gateway knows.

use std::mem;

use serde_json::value::RawValue;

use crate::gateway::error::{ErrorKind, GatewayError, Result};
use crate::gateway::format::messages::front::{repair, thinking};
use crate::gateway::ids;
use crate::gateway::raw_json::{RawMembers, raw_items, raw_member, raw_members, raw_of};
use crate::wire::{Json, Members};
use toolbooth::http::Headers;
use toolbooth::json::{self, Value};

/// The members that Anthropic gets, apart from the model. No other may get past the limits: `fallbacks` names further models, `speed`
/// and `inference_geo` raise the price.
pub(super) const PASSED_ON: &[&str] = &[
    "cache_control",
    "container",
    "context_management",
    "diagnostics",
    "max_tokens",
    "mcp_servers",
    "messages",
    "metadata",
    "output_config",
    "output_format",
    "service_tier",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
];

/// The headers that Anthropic gets. The betas decide which members and blocks there may be.
const HEADERS: [&str; 2] = ["anthropic-beta", "anthropic-version"];
const MAX_HEADER: usize = 4096;

/// What only the gateway knows of a request.
pub(super) struct Own<'n> {
    /// The positions of this server's entries in `tools`.
    pub(super) tools: &'n [usize],
    /// That of this server in `mcp_servers`.
    pub(super) server: Option<usize>,
    /// Whether messages are not as the client wrote them.
    pub(super) is_repaired: bool,
    /// What this server is called in the calls of the conversation that the gateway ran; empty without such calls.
    pub(super) names: &'n [String],
}

/// The members that Anthropic gets as they are, in the client's order. Only blocks of ours are replaced in the messages, and entries of
/// this server left out.
pub(super) fn members(
    members: &[(String, &RawValue)],
    messages: &[&RawValue],
    own: &Own<'_>,
) -> Result<RawMembers> {
    let mut native = RawMembers::default();
    for (name, json) in members {
        let positions = match name.as_str() {
            "tools" => own.tools,
            "mcp_servers" => own.server.as_slice(),
            _ => &[],
        };
        if !positions.is_empty() {
            let others = raw_items(Some(json)).into_iter().enumerate();
            let others = others.filter(|(at, _)| !positions.contains(at));
            let others: Vec<_> = others.map(|(_, json)| Json::from(json)).collect();
            if !others.is_empty() {
                native.add_value(name, &others)?;
            }
            continue;
        }
        match name.as_str() {
            "messages"
                if own.is_repaired
                    || !own.names.is_empty()
                    || thinking::may_contain(json.get()) =>
            {
                native.add_value(name, &known_messages(messages, own.names))?;
            }
            "system" if let Some(kept) = repair::system(json) => {
                let kept = (!kept.is_empty()).then_some(kept);
                kept.map_or(Ok(()), |kept| native.add_value(name, &kept))?;
            }
            name if PASSED_ON.contains(&name) => native.add(name, Some(json)),
            _ => {}
        }
    }
    Ok(native)
}

pub(super) fn headers(headers: &dyn Headers) -> Result<Vec<(&'static str, String)>> {
    let mut native = Vec::new();
    for name in HEADERS {
        let Some(value) = headers.get(name) else { continue };
        let is_plain = value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
        if !is_plain || value.len() > MAX_HEADER {
            let message = format!(
                "The header {name} must have at most {MAX_HEADER} visible ASCII characters"
            );
            return Err(GatewayError::new(ErrorKind::InvalidRequest, message));
        }
        native.push((name, value.to_string()));
    }
    Ok(native)
}

/// The messages without our blocks. All others are as the client wrote them.
fn known_messages<'t>(messages: &[&'t RawValue], own_names: &[String]) -> Vec<Json<'t>> {
    let mut known = Vec::new();
    for json in messages {
        let is_assistant =
            raw_member(json, &["role"]).is_some_and(|it| it.get() == "\"assistant\"");
        let blocks = match is_assistant {
            true => raw_items(raw_member(json, &["content"])),
            false => Vec::new(),
        };
        let mut rounds = Rounds::default();
        blocks.iter().for_each(|block| rounds.add(block, own_names));
        match rounds.calls.is_empty() && rounds.said.len() == blocks.len() {
            true => known.push(Json::from(*json)),
            false => known.append(&mut rounds.finish()),
        }
    }
    known
}

/// A message of the assistant, as several: each round of calls that the gateway ran ends with a message that has their results.
#[derive(Default)]
struct Rounds<'t> {
    messages: Vec<Json<'t>>,
    /// What the assistant says in this round.
    said: Vec<Json<'t>>,
    /// The ids of the calls that the gateway ran.
    calls: Vec<String>,
    /// The results of those of this round.
    results: Vec<Json<'t>>,
}

impl<'t> Rounds<'t> {
    fn add(&mut self, json: &'t RawValue, own_names: &[String]) {
        let block = raw_members(json.get()).unwrap_or_default();
        let text = |name| {
            let text = raw_of(&block, name);
            text.and_then(|it| json::read::<String>(it.get().as_bytes())).unwrap_or_default()
        };
        let kind = text("type");
        if kind != "mcp_tool_result" {
            self.end_round();
        }
        match kind.as_str() {
            "mcp_tool_use" if own_names.contains(&text("server_name")) => {
                let id = text("id");
                self.said.push(call(&block, &id));
                self.calls.push(id);
            }
            "mcp_tool_result" if self.calls.contains(&text("tool_use_id")) => {
                self.results.push(result(&block, &text("tool_use_id")));
            }
            _ if thinking::is_ours(json) => {}
            _ => self.said.push(json.into()),
        }
    }

    fn end_round(&mut self) {
        if !self.results.is_empty() {
            self.say();
            let results = mem::take(&mut self.results);
            self.messages.push(message("user", results));
        }
    }

    fn say(&mut self) {
        if !self.said.is_empty() {
            let said = mem::take(&mut self.said);
            self.messages.push(message("assistant", said));
        }
    }

    fn finish(mut self) -> Vec<Json<'t>> {
        self.end_round();
        self.say();
        self.messages
    }
}

fn message(role: &'static str, blocks: Vec<Json<'_>>) -> Json<'static> {
    let mut message = Members::default();
    message.add("role", Some(Value::from(role)));
    message.add("content", Some(Json::Text(json::to_string(&blocks).into())));
    Json::from(&message)
}

/// A call that the gateway ran, as one of a tool in the request. Another provider may have given it an id that Anthropic rejects.
fn call(block: &[(String, &RawValue)], id: &str) -> Json<'static> {
    let mut call = Members::default();
    call.add("type", Some(Value::from("tool_use")));
    call.add("id", Some(Value::String(ids::portable(id.into()))));
    for name in ["name", "cache_control"] {
        call.add(name, raw_of(block, name));
    }
    call.add("input", Some(raw_of(block, "input").map_or(Json::Text("{}".into()), Json::from)));
    Json::from(&call)
}

/// Its result.
fn result(block: &[(String, &RawValue)], id: &str) -> Json<'static> {
    let mut result = Members::default();
    result.add("type", Some(Value::from("tool_result")));
    result.add("tool_use_id", Some(Value::String(ids::portable(id.into()))));
    for name in ["is_error", "cache_control"] {
        result.add(name, raw_of(block, name));
    }
    result.add("content", raw_of(block, "content").and_then(without_empty));
    Json::from(&result)
}

/// A content without empty texts, which Anthropic rejects; `None` if nothing is left of it.
fn without_empty(content: &RawValue) -> Option<Value<'_>> {
    match json::parse_within(content.get(), &mut { usize::MAX }).ok()? {
        Value::Array(mut parts) => {
            parts.retain(|part| part.get("text").and_then(Value::as_str) != Some(""));
            (!parts.is_empty()).then_some(Value::Array(parts))
        }
        content => content.as_str().is_some_and(|text| !text.is_empty()).then_some(content),
    }
}
