//! Requests in Anthropic's Messages format.

use serde_json::value::RawValue;

use crate::gateway::conversation::request::{ChatRequest, NativeRequest, Passage};
use crate::gateway::error::Result;
use crate::gateway::fields::Fields;
use crate::gateway::format::adapter::Format;
use crate::gateway::format::messages::front::checks::{
    check_addresses, is_known, is_known_message,
};
use crate::gateway::format::messages::front::content::History;
use crate::gateway::format::messages::front::native::{self, Own, PASSED_ON};
use crate::gateway::format::messages::front::tools::{Servers, tool_choice, tools};
use crate::gateway::format::messages::front::{NAMES, repair};
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::{RawMembers, body_members, raw_items, raw_member, raw_of};
use crate::wire::Members;
use toolbooth::http::Headers;
use toolbooth::json::Value;

/// The members that Anthropic gets and no other provider understands.
const UNTRANSLATED: &[&str] = &["cache_control", "container", "context_management", "diagnostics"];

/// The members that the gateway reads itself.
const OWN: &[&str] = &["model", "request_options", "_2api"];

/// The service tier without the operator's reserved capacity.
const STANDARD_TIER: &str = "\"standard_only\"";

/// Reads the body of a request; `counts_only` is for one that only asks for the number of tokens.
pub(super) fn decode(
    body: &str,
    headers: &dyn Headers,
    notes: &Notes,
    counts_only: bool,
) -> Result<ChatRequest> {
    let losses = Notes::default();
    let (value, raw) = body_members(body)?;
    let raw_of = |name: &str| raw_of(&raw, name);
    let mut fields = Fields::of(value, String::new(), &losses)?;
    let model = fields.name("model", "the name of a model, such as \"anthropic/claude-opus-5\"")?;
    let servers = Servers::read(fields.take("mcp_servers"), raw_of("mcp_servers"), &losses)?;
    let own_names = servers.own_names();
    let own_server = servers.own_position();
    let tools = tools(fields.take("tools"), raw_of("tools"), servers, &losses)?;
    let mut history = History::new(&own_names, &losses);
    let mut is_checked = fields.get("system").is_none_or(is_known);
    if let Some(system) = fields.get("system") {
        check_addresses("system", system)?;
    }
    history.system(fields.take("system"), "system".to_owned())?;
    let messages = match fields.take("messages") {
        Some(Value::Array(messages)) if !messages.is_empty() => messages,
        _ => return fields.expected("messages", "an array of messages that is not empty"),
    };
    is_checked &= messages.iter().all(is_known_message);
    // Anthropic has such a message elsewhere.
    let first = messages.iter().find(|message| !repair::is_left_out(message));
    let first = first.and_then(|message| message.get("role")?.as_str());
    is_checked &= first != Some("system");
    let raw_messages = raw_items(raw_of("messages"));
    let is_repaired = repair::is_needed(&messages);
    let repaired = if is_repaired { repair::messages(&raw_messages)? } else { Vec::new() };
    let unloaded = tools.unloaded(&messages);
    for (index, message) in messages.iter().enumerate() {
        if let Some(content) = message.get("content") {
            check_addresses(&format!("messages[{index}].content"), content)?;
        }
    }
    for (index, (json, message)) in raw_messages.iter().zip(messages).enumerate() {
        history.message(json, Fields::of(message, format!("messages[{index}]"), &losses)?)?;
    }
    let history = history.finish()?;
    let mut members = own_members(&mut fields, raw_of, counts_only)?;
    let choice = tool_choice(&mut fields, &tools)?;
    if choice.is_single {
        members.add_value("parallel_tool_calls", &false)?;
    }
    for name in UNTRANSLATED.iter().filter(|name| raw_of(name).is_some()) {
        losses.drop_member(name);
    }
    notes.drop_unknown(&raw, &[PASSED_ON, OWN]);
    let own = Own {
        tools: &tools.own_positions,
        server: own_server,
        is_repaired,
        names: if history.has_own_calls { &own_names } else { &[] },
    };
    let repaired: Vec<_> = repaired.iter().map(|json| &**json).collect();
    let sent_messages = if is_repaired { &repaired } else { &raw_messages };
    let native = NativeRequest {
        format: Format::Anthropic,
        members: native::members(&raw, sent_messages, &own)?,
        headers: native::headers(headers)?,
        passage: match (is_checked, own_server) {
            (false, _) => Passage::Translated,
            (true, Some(_)) => Passage::Extended,
            (true, None) => Passage::AsIs,
        },
        has_own_calls: history.has_own_calls,
        unloaded,
        left_out: history.has_state.then_some("messages[].content[].thinking"),
        names: NAMES,
        server_name: own_names.first().cloned().unwrap_or_default(),
    };
    let state = fields.take("_2api").and_then(|it| Some(it.get("state")?.as_str()?.to_owned()));
    Ok(ChatRequest {
        model,
        stream: fields.boolean("stream")?.unwrap_or(false),
        include_usage: true,
        history: history.items,
        tools: tools.tools,
        selections: tools.selections,
        tool_choice: choice.choice,
        request_options: raw_of("request_options").map(RawValue::to_owned),
        state,
        members,
        losses: losses.clone(),
        native: Some(native),
        responses: None,
    })
}

/// The members of the gateway's own form, but for those of tools.
fn own_members<'t>(
    fields: &mut Fields<'_>,
    raw_of: impl Fn(&str) -> Option<&'t RawValue>,
    counts_only: bool,
) -> Result<RawMembers> {
    let mut members = RawMembers::default();
    limit(fields, counts_only, &mut members)?;
    for (name, own) in [
        ("temperature", "temperature"),
        ("top_p", "top_p"),
        ("top_k", "top_k"),
        ("stop", "stop_sequences"),
        ("thinking", "thinking"),
    ] {
        members.add(name, raw_of(own));
    }
    effort_and_format(fields, raw_of("output_config"), raw_of("output_format"), &mut members)?;
    user(fields, &mut members)?;
    match raw_of("service_tier") {
        Some(tier) if tier.get() == STANDARD_TIER => {
            members.add_value("service_tier", "default")?
        }
        tier => members.add("service_tier", tier),
    }
    Ok(members)
}

/// `max_tokens`, which a request for an answer must have.
fn limit(fields: &mut Fields<'_>, counts_only: bool, members: &mut RawMembers) -> Result<()> {
    match fields.count("max_tokens")? {
        Some(limit) => members.add_value("max_tokens", &limit),
        None if counts_only => Ok(()),
        None => fields.expected("max_tokens", "a positive integer"),
    }
}

/// `output_config`, whose older form is `output_format`.
fn effort_and_format(
    fields: &mut Fields<'_>,
    config: Option<&RawValue>,
    older: Option<&RawValue>,
    members: &mut RawMembers,
) -> Result<()> {
    let mut schema = raw_schema(older, &[]);
    if let Some(mut config_fields) = fields.fields("output_config")? {
        if let Some(effort) = config_fields.text("effort")? {
            members.add_value("reasoning_effort", &*effort)?;
        }
        schema = raw_schema(config, &["format"]).or(schema);
        config_fields.take("format");
        config_fields.finish();
    }
    fields.take("output_format");
    let Some(schema) = schema else { return Ok(()) };
    let mut format = Members::default();
    format.add("schema", Some(schema));
    format.add("strict", Some(Value::Bool(true)));
    members.add_value("response_format", &format.of_type("json_schema"))
}

/// `metadata.user_id`. Agents write JSON with the ids of a device and a session into it: that is no user on whose behalf
/// tools can run.
fn user(fields: &mut Fields<'_>, members: &mut RawMembers) -> Result<()> {
    let Some(mut metadata) = fields.fields("metadata")? else { return Ok(()) };
    if let Some(user) = metadata.text("user_id")? {
        members.add_value("safety_identifier", &*user)?;
        if !user.starts_with('{') {
            members.add_value("user", &*user)?;
        }
    }
    metadata.finish();
    Ok(())
}

/// The schema of a format.
fn raw_schema<'t>(json: Option<&'t RawValue>, path: &[&str]) -> Option<&'t RawValue> {
    let format = raw_member(json?, path)?;
    raw_member(format, &["schema"])
}
