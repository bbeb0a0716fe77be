//! Anthropic Messages.

use super::turn::{Arguments, Ending, ToolCall, Turn, object, present, text};
use super::{Answered, Format};
use crate::json::{Value, Writer};

pub(super) static FORMAT: Format = Format { read, member: "messages", write, pairs_by_id: true };

const EXPECTED: &str = "The body must be a message (an object with content) or the array of its \
    content blocks";

fn read(body: Value<'_>) -> Result<Turn<'_>, String> {
    let mut turn = Turn::default();
    let (blocks, place) = match body {
        Value::Array(blocks) => (blocks, ""),
        Value::Object(body) => {
            let mut body = present(body);
            turn.ending = match text(&mut body, &["stop_reason"]).as_deref() {
                None | Some("tool_use") => Ending::Regular,
                Some("max_tokens" | "model_context_window_exceeded") => Ending::CutOff,
                Some(_) => Ending::Other,
            };
            match body.take("content") {
                Some(Value::Array(blocks)) => (blocks, "content"),
                Some(Value::String(_)) => (Vec::new(), "content"),
                Some(_) => return Err("content must be an array of blocks".to_owned()),
                None => return Err(EXPECTED.to_owned()),
            }
        }
        _ => return Err(EXPECTED.to_owned()),
    };
    turn.length = blocks.len();
    for (at, block) in blocks.into_iter().enumerate() {
        let mut block = object(block, format_args!("{place}[{at}]"))?;
        match text(&mut block, &["type"]).as_deref() {
            Some("tool_use") => {
                turn.calls.push(ToolCall {
                    place: at,
                    id: text(&mut block, &["id"]),
                    name: text(&mut block, &["name"]).unwrap_or_default(),
                    arguments: Arguments::object(block.take("input")),
                });
            }
            Some(kind) if kind.ends_with("_tool_use") => turn.hosted.push(kind.to_owned()),
            Some(_) => {}
            None => return Err(format!("{place}[{at}] is not a content block, which has a type")),
        }
    }
    Ok(turn)
}

/// All results in one message, which must be the next, as its first blocks.
fn write(writer: &mut Writer, answered: &[Answered<'_>]) {
    writer.json("[");
    if !answered.is_empty() {
        writer.json(r#"{"content":"#).array(answered, block).json(r#","role":"user"}"#);
    }
    writer.json("]");
}

fn block(writer: &mut Writer, answered: &Answered<'_>) {
    let is_error = if answered.result.is_err() { "true" } else { "false" };
    writer.json(r#"{"content":"#).string(&answered.text());
    writer.json(r#","is_error":"#).json(is_error);
    writer.json(r#","tool_use_id":"#).string(&answered.handle.id);
    writer.json(r#","type":"tool_result"}"#);
}
