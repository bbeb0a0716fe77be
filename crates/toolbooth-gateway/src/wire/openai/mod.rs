//! OpenAI Chat Completions.

pub(crate) mod content;
pub(crate) mod message;
pub(crate) mod request;

use serde::Serialize;

use super::fields::{JsonPath, count, has, object, take, take_list, take_text};
use super::{Arguments, Finish, FinishReason, Item, Media, ModelAnswer, Read, ToolCall, Usage};
use toolbooth::json::{Object, Value};

const EXPECTED: &str = "The body must be a chat completion (an object with choices), its assistant \
    message (an object with role or tool_calls) or the array of its tool calls";

/// A chat completion, and the members of its objects that mean nothing here.
#[derive(Default)]
pub(crate) struct Completion<'t> {
    /// What the model answered in the first choice.
    pub answer: ModelAnswer<'t>,
    /// When it was created, in seconds since the Unix epoch.
    pub created: Option<u64>,
    /// Further members of the body.
    pub body: Object<'t>,
    /// The further members of the first choice, and those of its message.
    pub choice: Option<(Object<'t>, Object<'t>)>,
}

/// Reads a chat completion, its message, or the array of the message's calls.
pub(crate) fn read(body: Value<'_>) -> Read<ModelAnswer<'_>> {
    let mut answer = ModelAnswer::default();
    match body {
        Value::Array(calls) => read_calls(calls, format_args!(""), &mut answer.items)?,
        Value::Object(body) if has(&body, &["choices"]) => return Ok(completion(body)?.answer),
        Value::Object(mut body)
            if has(&body, &["tool_calls"])
                || body.get("role").and_then(Value::as_str) == Some("assistant") =>
        {
            read_message(&mut body, format_args!(""), &mut answer.items)?;
        }
        _ => return Err(EXPECTED.to_owned()),
    }
    Ok(answer)
}

pub(crate) fn completion(mut body: Object<'_>) -> Read<Completion<'_>> {
    let mut completion = Completion::default();
    let answer = &mut completion.answer;
    let mut choices = take_list(&mut body, "choices", format_args!(""))?.into_iter();
    if let Some(first) = choices.next() {
        let mut choice = object(first, format_args!("choices[0]"))?;
        answer.finish =
            take_text(&mut choice, &["finish_reason"]).map(|it| Finish::new(it, finish_reason));
        let message = take(&mut choice, &["message"])
            .ok_or("choices[0].message is missing; join the chunks of a streamed response first")?;
        let mut message = object(message, format_args!("choices[0].message"))?;
        read_message(&mut message, format_args!("choices[0].message."), &mut answer.items)?;
        completion.choice = Some((choice, message));
    }
    answer.has_alternatives = choices.next().is_some();
    answer.id = take_text(&mut body, &["id"]);
    answer.model = take_text(&mut body, &["model"]);
    answer.usage = take(&mut body, &["usage"]).as_ref().and_then(Usage::of_openai);
    completion.created = count(take(&mut body, &["created"]).as_ref());
    completion.body = body;
    Ok(completion)
}

fn read_message<'t>(
    message: &mut Object<'t>,
    path: JsonPath<'_>,
    items: &mut Vec<Item<'t>>,
) -> Read {
    if let Some(content) = take(message, &["content"]) {
        content::read(content, items);
    }
    items.extend(take_text(message, &["refusal"]).map(Item::Refusal));
    read_media(message, items);
    // The deprecated predecessor of tool_calls, whose result is a message of another role.
    if matches!(message.get("function_call"), Some(Value::Object(_))) {
        items.push(Item::ClientCall("function_call".into()));
    }
    let calls = take_list(message, "tool_calls", path)?;
    read_calls(calls, format_args!("{path}tool_calls"), items)
}

/// The pictures and the sound of a message, or of a part of one.
pub(crate) fn read_media<'t>(message: &mut Object<'t>, items: &mut Vec<Item<'t>>) {
    if let Some(Value::Array(_)) = message.get("images")
        && let Some(Value::Array(images)) = message.take("images")
    {
        let media = images.into_iter().map(Media::of_image);
        items.extend(media.map(|it| it.map_or(Item::Other("images".into()), Item::Media)));
    }
    if let Some(Value::Object(_)) = message.get("audio") {
        items.extend(message.take("audio").and_then(Media::of_audio).map(Item::Media));
    }
}

fn read_calls<'t>(calls: Vec<Value<'t>>, path: JsonPath<'_>, items: &mut Vec<Item<'t>>) -> Read {
    for (at, call) in calls.into_iter().enumerate() {
        let path = format_args!("{path}[{at}]");
        let mut call = object(call, path)?;
        let kind = take_text(&mut call, &["type"]);
        let custom = kind.as_deref() == Some("custom");
        let (member, text) = argument_of(custom);
        let mut called = match (take(&mut call, &[member]), kind) {
            (Some(called), _) => object(called, format_args!("{path}.{member}"))?,
            (None, Some(kind)) if custom || kind == "function" => Object::default(),
            (None, Some(kind)) => {
                items.push(Item::ClientCall(kind));
                continue;
            }
            (None, None) => {
                return Err(format!(
                    "{path} is not a tool call, which has the members id, type and function"
                ));
            }
        };
        call.take("index");
        items.push(Item::Call(ToolCall {
            id: take_text(&mut call, &["id"]).unwrap_or_default(),
            name: take_text(&mut called, &["name"]).unwrap_or_default(),
            arguments: Arguments::from_text(take(&mut called, &[text])),
            custom,
            extra: call,
        }));
    }
    Ok(())
}

/// The member of a call that has its name and its arguments, and that of the arguments in it.
pub(crate) fn argument_of(custom: bool) -> (&'static str, &'static str) {
    if custom { ("custom", "input") } else { ("function", "arguments") }
}

/// Why a model stopped. Compatible providers have words of their own, or those of the model that they ask.
pub(crate) fn finish_reason(word: &str) -> FinishReason {
    match word.to_ascii_lowercase().as_str() {
        // Anthropic's words come from proxies, such as aws-samples/bedrock-access-gateway#11.
        "stop" | "end_turn" | "stop_sequence" => FinishReason::Stop,
        // Mistral: model_length. Z.ai: model_context_window_exceeded.
        "length" | "model_length" | "max_tokens" | "model_context_window_exceeded" => {
            FinishReason::Length
        }
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        // Z.ai: sensitive. Google's word comes from proxies.
        "content_filter" | "sensitive" | "safety" => FinishReason::ContentFilter,
        _ => FinishReason::Other,
    }
}

/// Whether an answer broke off because its provider failed. OpenRouter and Mistral: error. DeepSeek: insufficient_system_resource.
/// Z.ai: network_error (NousResearch/hermes-agent#92161). vLLM and SGLang: abort. IBM's watsonx: cancelled, time_limit.
pub(crate) fn is_failure(word: &str) -> bool {
    let word = word.to_ascii_lowercase().replace('-', "_");
    matches!(
        &*word,
        "error"
            | "insufficient_system_resource"
            | "network_error"
            | "abort"
            | "aborted"
            | "cancelled"
            | "time_limit"
    )
}

/// The result of a call.
#[derive(Debug, Serialize)]
#[serde(tag = "role", rename = "tool")]
pub(crate) struct ToolMessage<'r, C> {
    pub tool_call_id: &'r str,
    pub content: C,
}
