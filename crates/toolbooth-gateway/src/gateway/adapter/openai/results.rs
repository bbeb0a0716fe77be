//! Images and files of results. Chat Completions has them only in messages of the user.

use crate::gateway::adapter::Result;
use crate::gateway::raw_json::{pair, parse, to_raw, typed};
use crate::gateway::{HistoryItem, Role, ToolContent};
use toolbooth::json::Value;

/// Whether results have parts that could be images or files.
pub(super) fn have_parts(history: &[HistoryItem]) -> bool {
    history.iter().any(|item| match item {
        // Within a text, the quotes would be escaped.
        HistoryItem::Message { role: Role::Tool, json } => json.get().contains("\"type\""),
        HistoryItem::Message { .. } => false,
        HistoryItem::Turn(turn) => {
            turn.results.iter().any(|it| matches!(it.content, ToolContent::Parts(_)))
        }
    })
}

/// The conversation with the images and files of results in a message of the user that follows the results.
pub(super) fn show(history: Vec<HistoryItem>) -> Result<Vec<HistoryItem>> {
    let mut all = Vec::with_capacity(history.len());
    let mut shown = Vec::new();
    for mut item in history {
        if !matches!(item, HistoryItem::Message { role: Role::Tool, .. }) {
            all.extend(message(&mut shown)?);
        }
        match &mut item {
            HistoryItem::Message { role: Role::Tool, json } => {
                if let Value::Object(mut message) = parse(json.get(), "messages")?
                    && let Some(Value::Array(parts)) = message.take("content")
                {
                    let text = text(parts, &mut shown);
                    message.insert("content".into(), Value::String(text.into()));
                    *json = to_raw(&Value::Object(message))?;
                }
            }
            HistoryItem::Message { .. } => {}
            HistoryItem::Turn(turn) => {
                for result in &mut turn.results {
                    if let Value::Array(parts) = result.content.value()? {
                        result.content = ToolContent::Text(text(parts, &mut shown));
                    }
                }
            }
        }
        all.push(item);
    }
    all.extend(message(&mut shown)?);
    Ok(all)
}

/// The texts of a result. `shown` gets the rest.
fn text(parts: Vec<Value<'_>>, shown: &mut Vec<Value<'static>>) -> String {
    let (texts, others): (Vec<_>, Vec<_>) = parts.into_iter().partition(is_text);
    let text = match texts.is_empty() && !others.is_empty() {
        true => "The result is shown in the message that follows.".to_owned(),
        false => join(&texts),
    };
    shown.extend(others.into_iter().map(Value::into_owned));
    text
}

pub(super) fn is_text(part: &Value<'_>) -> bool {
    part.get("type").and_then(Value::as_str) == Some("text")
}

/// The texts, separated by empty lines.
pub(super) fn join(parts: &[Value<'_>]) -> String {
    let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
    texts.collect::<Vec<_>>().join("\n\n")
}

/// The message with the images and files of the results before it, if there are any.
fn message(shown: &mut Vec<Value<'static>>) -> Result<Option<HistoryItem>> {
    if shown.is_empty() {
        return Ok(None);
    }
    let mut content = vec![typed("text", "From the results of the tools:".into())];
    content.append(shown);
    let message = pair(("role", "user".into()), ("content", Value::Array(content)));
    Ok(Some(HistoryItem::Message { role: Role::User, json: to_raw(&Value::Object(message))? }))
}
