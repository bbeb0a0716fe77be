//! Requests in OpenAI's Chat Completions format.

use serde_json::value::RawValue;

use crate::gateway::conversation::open_calls::OpenCalls;
use crate::gateway::conversation::request::{ChatRequest, Role};
use crate::gateway::conversation::{HistoryItem, Message};
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::fields::Fields;
use crate::gateway::format::chat_completions::front::message;
use crate::gateway::format::chat_completions::front::tools::{tool_choice, tools};
use crate::gateway::format::front::address;
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::{RawMembers, body_members, raw_members, raw_of, to_raw};
use crate::wire::Members;
use toolbooth::json::Value;
use toolbooth::schema::text::excerpt;

/// The members that are read here.
const OWN: &[&str] =
    &["model", "messages", "stream", "tools", "tool_choice", "request_options", "_2api"];

/// The members that are passed on: those of OpenAI's format, and what other providers add to it for sampling and thinking.
/// No other may get past the limits: `plugins`, `models` or `extra_body` mean something to one provider or another.
const PASSED_ON: &[&str] = &[
    "audio",
    "chat_template_kwargs",
    "enable_thinking",
    "frequency_penalty",
    "guided_choice",
    "guided_grammar",
    "guided_json",
    "guided_regex",
    "include_reasoning",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "metadata",
    "min_p",
    "min_tokens",
    "modalities",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_retention",
    "random_seed",
    "reasoning",
    "reasoning_effort",
    "reasoning_format",
    "repeat_penalty",
    "repetition_penalty",
    "response_format",
    "safe_prompt",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "stop_token_ids",
    "store",
    "stream_options",
    "structured_outputs",
    "temperature",
    "thinking",
    "thinking_budget",
    "top_a",
    "top_k",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
];

/// The members of messages that clients write.
const MESSAGE_MEMBERS: [&str; 5] = ["role", "content", "name", "tool_call_id", "cache_control"];

/// OpenAI's old form of tools, and what has replaced it.
const REPLACED: [(&str, &str); 2] = [("functions", "tools"), ("function_call", "tool_choice")];

/// Reads the body of a request. An error is also one that no provider could get (`n` above 1, no messages).
pub(in crate::gateway) fn decode(body: &str, notes: &Notes) -> Result<ChatRequest> {
    let (value, raw) = body_members(body)?;
    let raw_of = |name: &str| raw_of(&raw, name);
    let mut fields = Fields::of(value, String::new(), notes)?;
    for (old, new) in REPLACED {
        if fields.get(old).is_some() {
            let message = format!("{old} is OpenAI's old form, which is not accepted: use {new}");
            return Err(GatewayError::invalid(old, message));
        }
    }
    let model = fields.name("model", "the name of a model, such as \"openai/gpt-5\"")?;
    let messages = fields.take("messages");
    if messages.as_ref().and_then(Value::as_array).is_none_or(<[_]>::is_empty) {
        return fields.expected("messages", "an array of messages that is not empty");
    }
    // Providers with this format get the messages as they are.
    let losses = Notes::default();
    let messages = Fields::of_array(messages, raw_of("messages"), "messages", &losses)?;
    let history = history(messages, notes)?;
    if fields.take("n").is_some_and(|n| n.as_f64() != Some(1.0)) {
        let message = "n must be 1: send several requests instead";
        return Err(GatewayError::invalid("n", message));
    }
    let (tools, selections) = tools(fields.take("tools"), raw_of("tools"), &losses)?;
    let include_usage = match fields.fields("stream_options")? {
        Some(mut options) => options.boolean("include_usage")?.unwrap_or(false),
        None => false,
    };
    notes.drop_unknown(&raw, &[OWN, PASSED_ON]);
    let mut members = RawMembers::default();
    for (name, json) in raw.iter().filter(|(name, _)| PASSED_ON.contains(&name.as_str())) {
        members.add(name, Some(json));
    }
    let state = fields.take("_2api").and_then(|it| Some(it.get("state")?.as_str()?.to_owned()));
    let (choice, raw_choice) = (fields.take("tool_choice"), raw_of("tool_choice"));
    Ok(ChatRequest {
        model,
        stream: fields.boolean("stream")?.unwrap_or(false),
        include_usage,
        history,
        tool_choice: tool_choice(choice, raw_choice, &tools, !selections.is_empty())?,
        tools,
        selections,
        request_options: raw_of("request_options").map(RawValue::to_owned),
        state,
        members,
        losses: losses.clone(),
        native: None,
        responses: None,
    })
}

/// The messages. What a client says between calls and their results follows the results: providers want these first.
fn history<'n>(
    messages: impl Iterator<Item = Result<(Fields<'n>, &'n RawValue)>>,
    notes: &Notes,
) -> Result<Vec<HistoryItem>> {
    let (mut history, mut held) = (Vec::new(), Vec::new());
    let mut open = OpenCalls::default();
    for message in messages {
        let (mut message, json) = message?;
        let role = role(&mut message)?;
        check_addresses(&message)?;
        check_calls(role, &message, &mut open)?;
        let written = match role {
            // Models add members to their messages, and some need them back.
            Role::Assistant => json.to_owned(),
            _ => known_members(json, &mut message, notes)?,
        };
        let path = message.path.clone();
        let is_held = !open.is_empty() && matches!(role, Role::System | Role::Developer);
        if is_held {
            notes.warn(format!("{path} follows the results of the calls before it"));
        }
        let body = message::body(role, message)?;
        let item = HistoryItem::Message(Message { path, body, written: Some(written) });
        if is_held {
            held.push(item)
        } else {
            history.push(item)
        }
        if open.is_empty() {
            history.append(&mut held);
        }
    }
    open.close()?;
    Ok(history)
}

/// A message without the members that the gateway does not know: some providers take tools from them.
fn known_members(
    json: &RawValue,
    message: &mut Fields<'_>,
    notes: &Notes,
) -> Result<Box<RawValue>> {
    let all = raw_members(json.get()).unwrap_or_default();
    let is_known = |name: &str| MESSAGE_MEMBERS.contains(&name);
    let (known, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(name, _)| is_known(name));
    if others.is_empty() {
        return Ok(json.to_owned());
    }
    for (name, _) in others {
        message.take(&name);
        notes.drop_member(&message.path_of(&excerpt(&name)));
    }
    let known = known.into_iter().map(|(name, json)| (name.into(), json.into()));
    to_raw(&Members(known.collect()))
}

/// Checks that calls and results match.
fn check_calls(role: Role, message: &Fields<'_>, open: &mut OpenCalls) -> Result<()> {
    match role {
        Role::System | Role::Developer => {}
        Role::User => open.close()?,
        Role::Assistant => {
            open.close()?;
            let calls = message.get("tool_calls").and_then(Value::as_array).unwrap_or_default();
            for (index, call) in calls.iter().enumerate() {
                let path = format!("{}[{index}]", message.path_of("tool_calls"));
                let Some(id) = call.get("id").and_then(Value::as_str) else {
                    return Err(GatewayError::expected(&format!("{path}.id"), "a string"));
                };
                open.add(id, path)?;
            }
        }
        Role::Tool => {
            let Some(id) = message.get("tool_call_id").and_then(Value::as_str) else {
                return message.expected("tool_call_id", "a string");
            };
            open.answer(id, message.path_of("tool_call_id"))?;
        }
    }
    Ok(())
}

/// Checks the addresses of images and files.
fn check_addresses(message: &Fields<'_>) -> Result<()> {
    let parts = message.get("content").filter(|content| content.as_array().is_some());
    parts.map_or(Ok(()), |parts| address::check(&message.path_of("content"), parts))
}

fn role(message: &mut Fields<'_>) -> Result<Role> {
    let expected = "one of system, developer, user, assistant, tool";
    if message.take("function_call").is_some() {
        let path = message.path_of("function_call");
        let old = "is OpenAI's old form, which is not accepted: use tool_calls";
        return Err(GatewayError::invalid(&path, format!("{path} {old}")));
    }
    let role = Role::of(&message.name("role", expected)?);
    role.map_or_else(|| message.expected("role", expected), Ok)
}

#[cfg(test)]
mod tests;
