//! OpenAI Responses.

use super::turn::{Arguments, Ending, ToolCall, Turn, list, object, present, text};
use super::{Answered, Format};
use crate::json::{Value, Writer};

pub(super) static FORMAT: Format = Format { read, member: "input", write, pairs_by_id: true };

const EXPECTED: &str =
    "The body must be a response (an object with output) or the array of its output items";

/// Calls that the provider runs by itself.
const HOSTED: &[&str] = &[
    "code_interpreter_call",
    "file_search_call",
    "image_generation_call",
    "mcp_call",
    "web_search_call",
];

fn read(body: Value<'_>) -> Result<Turn<'_>, String> {
    let mut turn = Turn::default();
    let (items, place) = match body {
        Value::Array(items) => (items, ""),
        Value::Object(body) => {
            let mut body = present(body);
            if !body.contains("output") {
                return Err(EXPECTED.to_owned());
            }
            turn.ending = match text(&mut body, &["status"]).as_deref() {
                None | Some("completed") => Ending::Regular,
                Some("incomplete") => Ending::CutOff,
                Some(_) => Ending::Other,
            };
            (list(&mut body, &["output"], format_args!(""))?, "output")
        }
        _ => return Err(EXPECTED.to_owned()),
    };
    turn.length = items.len();
    for (at, item) in items.into_iter().enumerate() {
        let mut item = object(item, format_args!("{place}[{at}]"))?;
        match text(&mut item, &["type"]).as_deref() {
            Some("function_call") => {
                let cut = text(&mut item, &["status"]).as_deref() == Some("incomplete");
                turn.calls.push(ToolCall {
                    place: at,
                    id: text(&mut item, &["call_id"]),
                    name: text(&mut item, &["name"]).unwrap_or_default(),
                    arguments: if cut {
                        Arguments::CUT_OFF
                    } else {
                        Arguments::text(item.take("arguments"))
                    },
                });
            }
            // An item of an earlier turn: its call must not run again.
            Some("function_call_output") => {
                let answered = text(&mut item, &["call_id"]);
                turn.calls.retain(|call| call.id.is_none() || call.id != answered);
            }
            Some(kind) if HOSTED.contains(&kind) => turn.hosted.push(kind.to_owned()),
            Some(kind) if kind.ends_with("_call") || kind == "mcp_approval_request" => {
                turn.others.push(kind.to_owned());
            }
            Some(_) => {}
            None if item.contains("role") => {}
            None => return Err(format!("{place}[{at}] is not an output item, which has a type")),
        }
    }
    Ok(turn)
}

/// One item for each call.
fn write(writer: &mut Writer, answered: &[Answered<'_>]) {
    writer.array(answered, |writer, answered| {
        writer.json(r#"{"call_id":"#).string(&answered.handle.id);
        writer.json(r#","output":"#).string(&answered.text());
        writer.json(r#","type":"function_call_output"}"#);
    });
}
