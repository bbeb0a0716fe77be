//! OpenAI Chat Completions, and the providers with its format.

mod calls;
mod files;
pub(in crate::gateway::format) mod from_anthropic;
mod kept;
mod messages;
mod reasoning;
mod request;
mod roles;
mod stream;

use crate::gateway::answer::builder::Builder;
use crate::gateway::answer::completion::{Read, UpstreamError};
use crate::gateway::format::adapter::errors::reported;
use crate::gateway::format::adapter::names::{MAX_SENT_NAME, is_plain};
use crate::gateway::format::adapter::{Adapter, members_of_answer, raw};
use crate::gateway::raw_json::{compact, raw_items, raw_member};
use crate::wire::fields::text;
use crate::wire::{Arguments, Item, ToolCall, openai};
use toolbooth::json::{Object, Value};
use toolbooth::schema::text::excerpt;

pub(in crate::gateway::format) use stream::Stream;

/// OpenAI itself, which rejects members that it does not know.
pub(in crate::gateway::format) const OPENAI: Adapter = adapter(true);
/// Any other provider with its format.
pub(in crate::gateway::format) const COMPATIBLE: Adapter = adapter(false);

const fn adapter(strict: bool) -> Adapter {
    Adapter {
        list: "openai",
        function: [r#"{"type":"function","function":{"#, "parameters", "}}"],
        path: |_, _| "/chat/completions".to_owned(),
        models: Some("/models"),
        headers: |key| {
            key.map(|key| ("authorization", format!("Bearer {key}").into())).into_iter().collect()
        },
        accepts_name: |name| is_plain(name, MAX_SENT_NAME),
        translate: match strict {
            true => |job| request::translate(job, true),
            false => |job| request::translate(job, false),
        },
        limit_member: limit_member(strict),
        decode,
        decoder: match strict {
            true => || Box::new(stream::Stream::of_openai()),
            false => || Box::<stream::Stream>::default(),
        },
    }
}

/// The member that limits the tokens of an answer. OpenAI's newer models reject `max_tokens`. Other providers may ignore what they do
/// not know, and so the limit.
const fn limit_member(strict: bool) -> &'static str {
    if strict { "max_completion_tokens" } else { "max_tokens" }
}

pub(in crate::gateway::format) fn decode(
    json: &str,
    body: Value<'_>,
    builder: &mut Builder,
) -> Read {
    let mut body = members_of_answer(body)?;
    check_report(&body)?;
    if has_old_call(first_choice(&body).and_then(|choice| choice.get("message"))) {
        renew_first_call(&mut body);
    }
    if let Some(choice) = first_choice(&body) {
        check_end(choice)?;
    }
    let openai::Completion { mut answer, created, mut body, choice } =
        openai::completion(body).map_err(UpstreamError::Malformed)?;
    let is_call = |item: &&mut Item<'_>| match item {
        Item::Call(_) => true,
        Item::ClientCall(kind) => kind != "function_call",
        _ => false,
    };
    for (at, item) in answer.items.iter_mut().filter(is_call).enumerate() {
        // Some providers write an object.
        if let Item::Call(ToolCall { arguments: arguments @ Arguments::NotText(_), .. }) = item
            && let Some(json) = written_arguments(json, at)
        {
            *arguments = Arguments::Text(json.into());
        }
    }
    let Some((mut choice, mut message)) = choice else {
        return Err(UpstreamError::malformed("the answer has no choice"));
    };
    let (left_out, items) = answer.items.into_iter().partition(|it| matches!(it, Item::Other(_)));
    answer.items = items;
    leave_out(left_out, builder);
    builder.reasoning(&reasoning::unnamed(&message));
    builder.answer(answer)?;
    body.retain(|name, _| !matches!(name, "object" | "_2api"));
    choice.take("index");
    message.take("role");
    let completion = &mut builder.completion;
    completion.created = created;
    completion.message.extra = message.into_owned();
    completion.of_body = body.into_owned();
    completion.of_choice = choice.into_owned();
    Ok(())
}

/// Whether a message, or a part of one, has a call in OpenAI's old form: some servers still write it.
fn has_old_call(message: Option<&Value<'_>>) -> bool {
    message.and_then(|it| it.get("function_call")).is_some_and(|call| call.as_object().is_some())
}

/// Gives such a message the call in the form that clients know, unless it has calls in that form.
fn renew_call(message: &mut Object<'_>) {
    let Some(function @ Value::Object(_)) = message.take("function_call") else { return };
    let calls = message.get("tool_calls").and_then(Value::as_array).unwrap_or_default();
    if calls.is_empty() {
        let mut call = Object::default();
        call.insert("index".into(), Value::Number(0_u64.into()));
        call.insert("type".into(), "function".into());
        call.insert("function".into(), function);
        message.insert("tool_calls".into(), Value::Array(vec![Value::Object(call)]));
    }
}

/// The same for the message of the first choice.
fn renew_first_call(body: &mut Object<'_>) {
    let Some(Value::Array(mut choices)) = body.take("choices") else { return };
    if let Some(Value::Object(choice)) = choices.first_mut()
        && let Some(Value::Object(mut message)) = choice.take("message")
    {
        renew_call(&mut message);
        choice.insert("message".into(), Value::Object(message));
    }
    body.insert("choices".into(), Value::Array(choices));
}

fn first_choice<'b, 't>(body: &'b Object<'t>) -> Option<&'b Object<'t>> {
    body.get("choices")?.as_array()?.first()?.as_object()
}

/// Checks that a choice does not end with an error, as those of OpenRouter, Mistral and DeepSeek can: the answer is incomplete.
fn check_end(choice: &Object<'_>) -> Read {
    if choice.get("error").is_some_and(|error| !error.is_null()) {
        return Err(reported(200, &Value::Object(choice.clone())));
    }
    match text(choice.get("finish_reason")) {
        Some(word) if openai::is_failure(word) => {
            let word = excerpt(word);
            let message = format!("the answer ended with \"{word}\"");
            Err(UpstreamError::Reported { status: 500, message })
        }
        _ => Ok(()),
    }
}

/// Checks that an answer without choices is no error in a form of its own, as those of vLLM can be.
fn check_report(body: &Object<'_>) -> Read {
    let lacks_choices = body.get("choices").and_then(Value::as_array).is_none();
    let reports = || ["message", "detail"].iter().any(|name| text(body.get(name)).is_some());
    match lacks_choices && reports() {
        true => Err(reported(200, &Value::Object(body.clone()))),
        false => Ok(()),
    }
}

/// Names the parts of a content that no client gets, because OpenAI's content is a string.
fn leave_out(parts: Vec<Item<'_>>, builder: &mut Builder) {
    for part in parts {
        if let Item::Other(kind) = part {
            let kind = excerpt(&kind);
            builder
                .warn(format!("The answer has parts of the kind \"{kind}\", which are left out"));
        }
    }
}

/// The arguments of the call at this position in the first choice, as the provider wrote them.
fn written_arguments(body: &str, at: usize) -> Option<String> {
    let choices = raw_items(raw(body).and_then(|json| raw_member(json, &["choices"])));
    let first = choices.first()?;
    let calls = ["message", "delta"].iter().find_map(|it| raw_member(first, &[it, "tool_calls"]));
    let calls = raw_items(calls);
    let call = calls.get(at)?;
    let places = [["function", "arguments"], ["custom", "input"]];
    places.iter().find_map(|names| raw_member(call, names)).map(compact)
}
