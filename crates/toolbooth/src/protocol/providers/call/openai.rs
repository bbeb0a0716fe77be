//! OpenAI Chat Completions.

use std::borrow::Cow;

use super::turn::{Arguments, Ending, Place, ToolCall, Turn, list, object, present, text};
use super::{Answered, Format};
use crate::json::{Object, Value, Writer};

pub(super) static FORMAT: Format = Format { read, member: "messages", write, pairs_by_id: true };

const EXPECTED: &str = "The body must be a chat completion (an object with choices), its assistant \
    message (an object with role or tool_calls) or the array of its tool calls";

fn read(body: Value<'_>) -> Result<Turn<'_>, String> {
    let mut turn = Turn::default();
    match body {
        Value::Array(calls) => tool_calls(&mut turn, calls, format_args!(""))?,
        Value::Object(body) => whole(&mut turn, present(body))?,
        _ => return Err(EXPECTED.to_owned()),
    }
    Ok(turn)
}

/// A chat completion, or its message alone.
fn whole<'t>(turn: &mut Turn<'t>, mut body: Object<'t>) -> Result<(), String> {
    if !body.contains("choices") {
        let is_assistant = body.contains("tool_calls")
            || body.get("role").and_then(Value::as_str) == Some("assistant");
        return match is_assistant {
            true => message(turn, body, format_args!("")),
            false => Err(EXPECTED.to_owned()),
        };
    }
    let mut choices = list(&mut body, &["choices"], format_args!(""))?.into_iter();
    if let Some(first) = choices.next() {
        let mut first = object(first, format_args!("choices[0]"))?;
        turn.ending = match text(&mut first, &["finish_reason"]).as_deref() {
            None | Some("tool_calls") => Ending::Regular,
            Some("length") => Ending::CutOff,
            Some(_) => Ending::Other,
        };
        let answer = first
            .take("message")
            .ok_or("choices[0].message is missing; a streamed answer must be put together first")?;
        let answer = object(answer, format_args!("choices[0].message"))?;
        message(turn, answer, format_args!("choices[0].message."))?;
    }
    turn.alternatives = choices.next().is_some();
    Ok(())
}

fn message<'t>(
    turn: &mut Turn<'t>,
    mut message: Object<'t>,
    place: Place<'_>,
) -> Result<(), String> {
    // The form that tool_calls replaced; its result would be a message of another role.
    if matches!(message.get("function_call"), Some(Value::Object(_))) {
        turn.others.push("function_call".to_owned());
    }
    let calls = list(&mut message, &["tool_calls"], place)?;
    tool_calls(turn, calls, format_args!("{place}tool_calls"))
}

fn tool_calls<'t>(
    turn: &mut Turn<'t>,
    calls: Vec<Value<'t>>,
    place: Place<'_>,
) -> Result<(), String> {
    turn.length = calls.len();
    for (at, call) in calls.into_iter().enumerate() {
        let place = format_args!("{place}[{at}]");
        let mut call = object(call, place)?;
        let kind = text(&mut call, &["type"]);
        let function = match call.take("function") {
            Some(function) => object(function, format_args!("{place}.function"))?,
            None if kind.as_deref() == Some("function") => Object::default(),
            None => {
                let kind = kind.ok_or_else(|| {
                    format!(
                        "{place} is not a tool call, which has the members id, type and function"
                    )
                })?;
                turn.others.push(kind.into_owned());
                continue;
            }
        };
        turn.calls.push(function_call(at, text(&mut call, &["id"]), function));
    }
    Ok(())
}

fn function_call<'t>(
    place: usize,
    id: Option<Cow<'t, str>>,
    mut function: Object<'t>,
) -> ToolCall<'t> {
    ToolCall {
        place,
        id,
        name: text(&mut function, &["name"]).unwrap_or_default(),
        arguments: Arguments::text(function.take("arguments")),
    }
}

/// One message for each call.
fn write(writer: &mut Writer, answered: &[Answered<'_>]) {
    writer.array(answered, |writer, answered| {
        writer.json(r#"{"content":"#).string(&answered.text());
        writer.json(r#","role":"tool","tool_call_id":"#).string(&answered.handle.id).json("}");
    });
}
