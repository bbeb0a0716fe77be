//! Requests in the format of OpenAI Responses.

use serde_json::value::RawValue;

use crate::gateway::conversation::MessageBody;
use crate::gateway::conversation::request::{
    ChatRequest, NativeRequest, Passage, ResponsesContext, repeats_ids,
};
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::fields::Fields;
use crate::gateway::format::adapter::Format;
use crate::gateway::format::responses::front::input::Input;
use crate::gateway::format::responses::front::tools::Tools;
use crate::gateway::format::responses::front::{NAMES, choice};
use crate::gateway::ids::UniqueIds;
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::{
    RawMembers, body_members, raw_items, raw_member, raw_members, raw_of, to_raw,
};
use crate::wire::responses::request::SAME_AS_CHAT;
use crate::wire::{Json, Members};
use toolbooth::json::{self, Rendered, Value};
use toolbooth::schema::text::excerpt;

/// The most items of a conversation.
const MAX_ITEMS: usize = 65_536;

/// The members that OpenAI gets as they are.
const PASSED_ON: &[&str] = &[
    "context_management",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "parallel_tool_calls",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

/// The members that are for this server, or that a server without a store needs not.
const OWN: &[&str] = &[
    "background",
    "client_metadata",
    "conversation",
    "model",
    "previous_response_id",
    "request_options",
    "store",
];

/// Reads the body of a request.
pub(in crate::gateway) fn decode(body: &str, notes: &Notes) -> Result<ChatRequest> {
    let (value, members) = body_members(body)?;
    let raw_of = |name: &str| raw_of(&members, name);
    let mut fields = Fields::of(value, String::new(), notes)?;
    check_stateless(&mut fields)?;
    let stream = fields.boolean("stream")?.unwrap_or(false);
    let background = background(&mut fields, stream)?;
    let model = fields.name("model", "the name of a model, such as \"openai/gpt-5\"")?;
    let mut tools = Tools::default();
    tools.read(fields.take("tools"), raw_of("tools"), "tools", notes)?;
    tools.may_repeat = true;
    let mut input = Input::new(tools, notes);
    if let Some(instructions) = fields.text("instructions")? {
        input.text("instructions", instructions.into_owned(), MessageBody::System);
    }
    read_input(fields.take("input"), raw_of("input"), &mut input)?;
    let Input { history, mut tools, removed, .. } = input;
    let tool_choice = choice::tool_choice(fields.take("tool_choice"), &mut tools)?;
    let own_members = own_members(&mut fields, raw_of, &mut tools.lost)?;
    notes.drop_unknown(&members, &[PASSED_ON, OWN]);
    let losses = Notes::default();
    tools.lost.iter().for_each(|path| losses.drop_member(path));
    let native = NativeRequest {
        format: Format::Responses,
        members: native_members(&members, &removed, repeats_ids(&history))?,
        passage: match input.needs_translation || tools.differ {
            true => Passage::Translated,
            false => Passage::AsIs,
        },
        has_own_calls: false,
        headers: Vec::new(),
        unloaded: Vec::new(),
        left_out: input.has_sealed.then_some("input[].encrypted_content"),
        names: NAMES,
        server_name: tools.label().to_owned(),
    };
    Ok(ChatRequest {
        model,
        stream,
        include_usage: true,
        history,
        tools: tools.list,
        selections: tools.selections,
        tool_choice,
        request_options: raw_of("request_options").map(RawValue::to_owned),
        state: None,
        members: own_members,
        losses,
        native: Some(native),
        responses: Some(Box::new(ResponsesContext {
            tools: tools.client,
            further_tools: tools.client_run.len(),
            longest_namespace: tools.longest_namespace,
            untranslatable: input.untranslatable,
            server: tools.server,
            approved: input.approved,
            background,
            token: None,
        })),
    })
}

/// Rejects what needs earlier responses, which this server does not store.
fn check_stateless(fields: &mut Fields<'_>) -> Result<()> {
    for (name, instead) in [
        ("previous_response_id", "send the whole conversation in input, with store: false"),
        ("conversation", "send the whole conversation in input, with store: false"),
        ("prompt", "send instructions"),
    ] {
        if fields.take(name).is_some() {
            let message = format!(
                "{name} is not supported, because this server keeps no conversations: {instead}"
            );
            return Err(GatewayError::invalid(name, message));
        }
    }
    Ok(())
}

/// Whether the client asks for the answer later.
fn background(fields: &mut Fields<'_>, stream: bool) -> Result<bool> {
    let (background, store) = (fields.boolean("background")?, fields.boolean("store")?);
    if background != Some(true) {
        return Ok(false);
    }
    if stream {
        let message = "A response in the background is not streamed: leave out stream, and ask for \
                       it with GET /v1/responses/{id} until it has ended";
        return Err(GatewayError::invalid("stream", message));
    }
    if store == Some(false) {
        let message = "A response in the background is stored until it is deleted or expires: \
                       leave out store, or leave out background";
        return Err(GatewayError::invalid("store", message));
    }
    Ok(true)
}

fn read_input(
    value: Option<Value<'_>>,
    json: Option<&RawValue>,
    input: &mut Input<'_>,
) -> Result<()> {
    let expected = "a string, or an array of items that is not empty";
    match value {
        Some(Value::String(text)) => input.text("input", text.into_owned(), MessageBody::User),
        Some(Value::Array(list)) if (1..=MAX_ITEMS).contains(&list.len()) => {
            for (index, (json, item)) in raw_items(json).into_iter().zip(list).enumerate() {
                input.item(index, item, json)?;
            }
        }
        _ => return Err(GatewayError::expected("input", expected)),
    }
    input.end()?;
    if input.history.is_empty() {
        let error = GatewayError::expected("input", "a conversation with a message");
        if !input.is_incomplete {
            return Err(error);
        }
        input.untranslatable.get_or_insert(error);
    }
    Ok(())
}

/// The members of the gateway's own form. `lost` gets those that it cannot express.
fn own_members<'t>(
    fields: &mut Fields<'_>,
    raw_of: impl Fn(&str) -> Option<&'t RawValue>,
    lost: &mut Vec<String>,
) -> Result<RawMembers> {
    let mut members = RawMembers::default();
    for name in SAME_AS_CHAT {
        members.add(name, raw_of(name));
    }
    members.add("max_completion_tokens", raw_of("max_output_tokens"));
    if let Some(mut reasoning) = fields.fields("reasoning")? {
        if reasoning.text("effort")?.is_some() {
            members.add(
                "reasoning_effort",
                raw_of("reasoning").and_then(|it| raw_member(it, &["effort"])),
            );
        }
        lose(reasoning, lost);
    }
    if let Some(mut text) = fields.fields("text")? {
        let json = raw_of("text");
        if text.text("verbosity")?.is_some() {
            members.add("verbosity", json.and_then(|it| raw_member(it, &["verbosity"])));
        }
        if let Some(format) = text.fields("format")? {
            let json = json.and_then(|it| raw_member(it, &["format"]));
            if let Some(format) = response_format(format, json)? {
                members.add("response_format", Some(&format));
            }
        }
        lose(text, lost);
    }
    for name in fields.texts("include")?.unwrap_or_default() {
        if name != "reasoning.encrypted_content" {
            lost.push(format!("include.{}", excerpt(&name)));
        }
    }
    if fields.text("truncation")?.is_some_and(|it| it != "disabled") {
        lost.push("truncation".to_owned());
    }
    // Answers that are translated have no probabilities.
    for name in ["max_tool_calls", "context_management", "stream_options", "top_logprobs"] {
        if fields.take(name).is_some() {
            lost.push(name.to_owned());
        }
    }
    Ok(members)
}

/// What is left is lost in a translation.
fn lose(fields: Fields<'_>, lost: &mut Vec<String>) {
    let path = fields.path.clone();
    for (name, _) in fields.into_object() {
        lost.push(format!("{path}.{}", excerpt(&name)));
    }
}

/// `text.format` as the `response_format` of OpenAI Chat Completions; `None` if it is plain text.
fn response_format(
    mut format: Fields<'_>,
    json: Option<&RawValue>,
) -> Result<Option<Box<RawValue>>> {
    let kind = format.required_text("type")?;
    match kind.as_ref() {
        "text" => Ok(None),
        "json_object" => Ok(Some(to_raw(&Rendered(r#"{"type":"json_object"}"#))?)),
        "json_schema" => {
            if !matches!(format.get("schema"), Some(Value::Object(_))) {
                return format.expected("schema", "a JSON Schema object");
            }
            let mut own = Members::default();
            for name in ["name", "description", "strict", "schema"] {
                own.add(name, json.and_then(|it| raw_member(it, &[name])));
            }
            Ok(Some(to_raw(&own.of_type("json_schema"))?))
        }
        _ => format.expected("type", "one of text, json_object, json_schema"),
    }
}

/// The members that OpenAI gets, in the client's order. OpenAI is told to store nothing.
fn native_members(
    members: &[(String, &RawValue)],
    removed: &[usize],
    repeats_ids: bool,
) -> Result<RawMembers> {
    let mut native = RawMembers::default();
    for (name, json) in members {
        match name.as_str() {
            "input" if !removed.is_empty() || repeats_ids => {
                let kept = raw_items(Some(json)).into_iter().enumerate();
                let kept = kept.filter(|(index, _)| removed.binary_search(index).is_err());
                let mut ids = UniqueIds::default();
                let kept: Vec<_> = kept.map(|(_, json)| with_unique_id(json, &mut ids)).collect();
                native.add_value(name, &kept)?;
            }
            name if PASSED_ON.contains(&name) => native.add(name, Some(json)),
            _ => {}
        }
    }
    native.add_value("store", &false)?;
    Ok(native)
}

/// An item with an id of its own, if it is a call, or with that of its call.
fn with_unique_id<'t>(json: &'t RawValue, ids: &mut UniqueIds) -> Json<'t> {
    let text = |name| json::read::<String>(raw_member(json, &[name])?.get().as_bytes());
    let (Some(kind), Some(id)) = (text("type"), text("call_id")) else { return json.into() };
    let new = match kind.ends_with("_output") {
        true => ids.of_result(&id),
        false => ids.of_call(&id),
    };
    let Some(new) = new else { return json.into() };
    let mut item = Members::default();
    for (name, json) in raw_members(json.get()).unwrap_or_default() {
        let is_id = name == "call_id";
        let value = if is_id { Value::String(new.clone().into()).into() } else { json.into() };
        item.0.push((name.into(), value));
    }
    Json::from(&item)
}
