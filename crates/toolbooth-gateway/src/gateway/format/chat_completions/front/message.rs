//! Messages of Chat Completions.

use toolbooth::json::{Object, Value};

use crate::gateway::conversation::request::Role;
use crate::gateway::conversation::{
    Assistant, MessageBody, Part, PartContent, Source, ToolContent, ToolResult,
};
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::fields::Fields;
use crate::gateway::notes::Notes;
use crate::gateway::provider_state::ProviderState;
use crate::gateway::raw_json::parse;
use crate::wire::{Arguments, ToolCall};

/// Reads a message. The notes get the members that only providers with this format know.
pub(super) fn body(role: Role, mut message: Fields<'_>) -> Result<MessageBody> {
    if role == Role::Assistant {
        return Ok(MessageBody::Assistant(assistant(message)?));
    }
    let call_id = match role {
        Role::Tool => message.required_text("tool_call_id")?.into_owned(),
        _ => String::new(),
    };
    if role == Role::Tool {
        // The name is known from the call.
        message.take("name");
    }
    let content = content(&mut message)?;
    message.finish();
    Ok(match role {
        Role::System => MessageBody::System(content),
        Role::Developer => MessageBody::Developer(content),
        Role::User | Role::Assistant => MessageBody::User(content),
        Role::Tool => {
            let content = ToolContent(content);
            let is_error = content.is_error();
            MessageBody::Result(ToolResult { call_id, name: String::new(), content, is_error })
        }
    })
}

/// Reads the assistant message of a round, which the gateway wrote.
pub(in crate::gateway) fn of_turn(json: &str, path: &str, notes: &Notes) -> Result<Assistant> {
    let mut message = Fields::of(parse(json, path)?, path.to_owned(), notes)?;
    message.take("role");
    assistant(message)
}

fn assistant(mut message: Fields<'_>) -> Result<Assistant> {
    message.take("_2api");
    let mut content = content(&mut message)?;
    if let Some(refusal) = message.text("refusal")? {
        let content_of = PartContent::Refusal(refusal.into_owned());
        content.push(Part::new(content_of, message.path_of("refusal")));
    }
    content.extend(pictures(&mut message));
    let mut calls = Vec::new();
    match message.take("tool_calls") {
        None => {}
        Some(Value::Array(list)) => {
            let path = message.path_of("tool_calls");
            for (index, item) in list.into_iter().enumerate() {
                calls.push(call(Fields::of(item, format!("{path}[{index}]"), message.notes)?)?);
            }
        }
        Some(_) => return message.expected("tool_calls", "an array"),
    }
    let extra_content = object(message.take("extra_content"));
    // Only providers with this format know the members.
    let state = ProviderState::of("", message.object());
    message.finish();
    Ok(Assistant { content, calls, extra_content, state })
}

/// `images`: the pictures that the model has made. The notes get those that no provider can get back.
fn pictures(message: &mut Fields<'_>) -> Vec<Part> {
    let path = message.path_of("images");
    let Some(Value::Array(images)) = message.take("images") else { return Vec::new() };
    let pictures = images.into_iter().filter_map(|image| {
        let source =
            image.get("image_url").and_then(|it| Source::of_address(it.get("url")?.as_str()?));
        let Some(source) = source else {
            message.notes.drop_member(&path);
            return None;
        };
        let extra_content = image.get("extra_content").cloned().map(Value::into_owned);
        let content = PartContent::Image { source, detail: None };
        Some(Part { extra_content, ..Part::new(content, path.as_str()) })
    });
    pictures.collect()
}

fn call(mut call: Fields<'_>) -> Result<ToolCall<'static>> {
    call.take("index");
    let id = call.required_text("id")?.into_owned();
    let kind = call.text("type")?.unwrap_or("function".into());
    let custom = match kind.as_ref() {
        "function" => false,
        "custom" => true,
        _ => return call.expected("type", "\"function\" or \"custom\""),
    };
    let (member, argument) = crate::wire::openai::argument_of(custom);
    let mut called = call.required_fields(member)?;
    let name = called.required_text("name")?.into_owned();
    let arguments = match called.take(argument) {
        None => String::new(),
        Some(Value::String(text)) => text.into_owned(),
        // Some clients write the object itself.
        Some(value @ Value::Object(_)) if !custom => value.text(),
        Some(_) => return called.expected(argument, "a string"),
    };
    let mut extra = Object::default();
    if let Some(content) = call.take("extra_content") {
        extra.insert("extra_content".into(), content.into_owned());
    }
    called.finish();
    call.finish();
    let arguments = Arguments::Text(arguments.into());
    Ok(ToolCall { id: id.into(), name: name.into(), arguments, custom, extra })
}

fn object(value: Option<Value<'_>>) -> Object<'static> {
    match value.map(Value::into_owned) {
        Some(Value::Object(object)) => object,
        _ => Object::default(),
    }
}

/// The content of a message: a string, or parts.
fn content(message: &mut Fields<'_>) -> Result<Vec<Part>> {
    let path = message.path_of("content");
    match message.take("content") {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![Part::text(text, path)]),
        Some(Value::Array(parts)) => {
            let parts = parts.into_iter().enumerate();
            parts
                .map(|(at, value)| part(Fields::of(value, format!("{path}[{at}]"), message.notes)?))
                .collect()
        }
        _ => Err(GatewayError::expected(&path, "a string or an array of parts")),
    }
}

fn part(mut part: Fields<'_>) -> Result<Part> {
    let kind = part.required_text("type")?;
    let content = match kind.as_ref() {
        "text" => PartContent::Text(part.required_text("text")?.into_owned()),
        "refusal" => PartContent::Refusal(part.required_text("refusal")?.into_owned()),
        // Some clients write only the address.
        "image_url" if matches!(part.get("image_url"), Some(Value::String(_))) => {
            PartContent::Image { source: address(&mut part, "image_url")?, detail: None }
        }
        "image_url" => {
            let mut image = part.required_fields("image_url")?;
            let source = address(&mut image, "url")?;
            let detail = image.text("detail")?.map(|it| it.into_owned());
            image.finish();
            PartContent::Image { source, detail }
        }
        "input_audio" => {
            let mut audio = part.required_fields("input_audio")?;
            let base64 = audio.required_text("data")?.into_owned();
            let format = audio.required_text("format")?.into_owned();
            audio.finish();
            PartContent::Audio { format, base64 }
        }
        "file" => {
            let mut file = part.required_fields("file")?;
            let source = match file.text("file_id")? {
                Some(id) => Source::Id(id.into_owned()),
                None => address(&mut file, "file_data")?,
            };
            let name = file.text("filename")?.map(|it| it.into_owned());
            file.finish();
            PartContent::File { source, name }
        }
        _ => return Ok(Part::new(PartContent::Other(kind.into_owned()), part.path)),
    };
    let cache_control = part.take("cache_control").map(Value::into_owned);
    let path = part.path.clone();
    part.finish();
    Ok(Part { cache_control, ..Part::new(content, path) })
}

/// The member `name`: a `data:` URL with base64, or an `https:` URL.
fn address(fields: &mut Fields<'_>, name: &str) -> Result<Source> {
    let source = Source::of_address(&fields.required_text(name)?);
    let expected = "an https URL, or a data URL such as data:image/png;base64,…";
    source.map_or_else(|| fields.expected(name, expected), Ok)
}
