//! The roles of messages, and their order, as a dialect takes them. Chat templates of many models know one system message, the first
//! one, and some reject two messages of the same role in a row.

use serde_json::value::RawValue;

use crate::gateway::conversation::{
    Assistant, HistoryItem, Message, MessageBody, Part, PartContent, joined,
};
use crate::gateway::dialect::{Dialect, Feature};
use crate::gateway::format::adapter::conversation::begins_with_assistant;
use crate::gateway::format::chat_completions::adapter::files::{has_file, write_files};
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::{raw_items, raw_member, raw_members, to_raw};
use crate::wire::Members;
use toolbooth::json::Value;
use toolbooth::schema::text::excerpt;

/// The members of messages that are written anew.
const KEPT: [&str; 12] = [
    "role",
    "content",
    "refusal",
    "tool_calls",
    "tool_call_id",
    "images",
    "extra_content",
    "_2api",
    "reasoning_content",
    "reasoning",
    "thinking",
    "reasoning_details",
];

/// What the assistant says between a result and the user.
pub(super) const RESULT_RECEIVED: &str = "I have the result.";

/// The conversation as a dialect takes it; `None` if nothing changes.
pub(super) fn arranged(
    history: &[HistoryItem],
    dialect: &Dialect,
    notes: &Notes,
) -> Option<Vec<HistoryItem>> {
    let [has_files, has_refusals, has_parts, has_system, has_developer, repeats, lacks_answers] = [
        !dialect.takes(Feature::Files) && history.iter().any(has_file),
        !dialect.takes(Feature::Refusals) && history.iter().any(has_refusal),
        !dialect.takes(Feature::TextParts) && history.iter().any(has_text_parts),
        !dialect.takes(Feature::LaterSystemMessages) && has_later_system(history),
        !dialect.takes(Feature::Developer) && history.iter().any(is_developer),
        !dialect.takes(Feature::RepeatedRoles) && has_repeated_roles(history, dialect),
        dialect.needs_answers_to_results(),
    ];
    let is_same = !has_files && !has_refusals && !has_parts && !has_system && !has_developer;
    if is_same && !repeats && !lacks_answers {
        return None;
    }
    let mut arranged = history.to_vec();
    if has_files {
        arranged.iter_mut().filter(|item| has_file(item)).for_each(|item| {
            rewrite(item, notes);
            write_files(item, notes);
        });
    }
    if has_refusals {
        arranged.iter_mut().filter(|item| has_refusal(item)).for_each(|item| {
            rewrite(item, notes);
            text_for_refusal(item);
        });
    }
    if has_parts {
        arranged.iter_mut().filter(|item| has_text_parts(item)).for_each(|it| rewrite(it, notes));
    }
    if has_developer {
        arranged.iter_mut().for_each(system_for_developer);
    }
    if has_system {
        arranged = leading_system(arranged, notes);
    }
    // What stood between two messages may have gone.
    if !dialect.takes(Feature::RepeatedRoles) {
        arranged = merged(arranged, dialect, notes);
    }
    if lacks_answers {
        arranged = answered(arranged, dialect, notes);
    }
    Some(arranged)
}

/// Whether a client has written a list of parts that are only texts.
fn has_text_parts(item: &HistoryItem) -> bool {
    let HistoryItem::Message(Message { body, written: Some(json), .. }) = item else {
        return false;
    };
    let parts = match body {
        MessageBody::System(parts) | MessageBody::Developer(parts) | MessageBody::User(parts) => {
            parts
        }
        MessageBody::Assistant(assistant) => &assistant.content,
        MessageBody::Result(result) => &result.content.0,
    };
    let is_list = raw_member(json, &["content"]).is_some_and(|it| it.get().starts_with('['));
    is_list && parts.iter().all(|part| part.as_text().is_some())
}

fn is_developer(item: &HistoryItem) -> bool {
    matches!(body(item), Some(MessageBody::Developer(_)))
}

fn is_system(item: &HistoryItem) -> bool {
    matches!(body(item), Some(MessageBody::System(_) | MessageBody::Developer(_)))
}

/// Whether a system message is not the first message, or there is no other message.
fn has_later_system(history: &[HistoryItem]) -> bool {
    history.iter().skip(1).any(is_system) || history.iter().all(is_system)
}

/// Whether it is a message of an assistant that refuses, or that is a sound which OpenAI has stored.
fn has_refusal(item: &HistoryItem) -> bool {
    let HistoryItem::Message(Message { body: MessageBody::Assistant(said), written, .. }) = item
    else {
        return false;
    };
    let audio = written.as_deref().and_then(|json| raw_member(json, &["audio"]));
    audio.is_some_and(|audio| audio.get() != "null")
        || said.content.iter().any(|part| matches!(part.content, PartContent::Refusal(_)))
}

/// What a model has refused is what it has said.
fn text_for_refusal(item: &mut HistoryItem) {
    let parts = item.assistant_mut().map(|said| said.content.as_mut_slice());
    for part in parts.unwrap_or_default() {
        if let PartContent::Refusal(text) = &mut part.content {
            part.content = PartContent::Text(std::mem::take(text));
        }
    }
}

/// Whether two messages of a role come in a row, or the assistant comes first.
fn has_repeated_roles(history: &[HistoryItem], dialect: &Dialect) -> bool {
    let said = || history.iter().filter(|item| !item.says_nothing(dialect));
    let mut pairs = said().zip(said().skip(1));
    let first = said().find(|item| !is_system(item)).and_then(body);
    matches!(first, Some(MessageBody::Assistant(_)))
        || pairs.any(|(item, next)| {
            matches!(
                (body(item), body(next)),
                (Some(MessageBody::User(_)), Some(MessageBody::User(_)))
                    | (Some(MessageBody::Assistant(_)), Some(MessageBody::Assistant(_)))
            )
        })
}

fn body(item: &HistoryItem) -> Option<&MessageBody> {
    match item {
        HistoryItem::Message(message) => Some(&message.body),
        HistoryItem::Turn(_) => None,
    }
}

/// From now on, a message is written anew. The name of who says it is lost, as are members that only the client's format has.
fn rewrite(item: &mut HistoryItem, notes: &Notes) {
    let HistoryItem::Message(message) = item else { return };
    let Some(json) = message.written.take() else { return };
    let is_result = matches!(message.body, MessageBody::Result(_));
    for (name, value) in raw_members(json.get()).unwrap_or_default() {
        if name == "tool_calls" {
            name_lost_of_calls(value, &format!("{}.tool_calls[]", message.path), notes);
        }
        let is_known = KEPT.contains(&name.as_str()) || is_result && name == "name";
        if !is_known && !matches!(value.get(), "null" | "[]") {
            notes.drop_member(&format!("{}.{}", message.path, excerpt(&name)));
        }
    }
}

/// Names the members of calls that are not written anew.
fn name_lost_of_calls(calls: &RawValue, path: &str, notes: &Notes) {
    for call in raw_items(Some(calls)) {
        for (name, value) in raw_members(call.get()).unwrap_or_default() {
            match name.as_str() {
                "id" | "type" | "index" | "extra_content" => {}
                "function" | "custom" => {
                    for (inner, _) in raw_members(value.get()).unwrap_or_default() {
                        if !matches!(inner.as_str(), "name" | "arguments" | "input") {
                            notes.drop_member(&format!("{path}.{name}.{}", excerpt(&inner)));
                        }
                    }
                }
                _ => notes.drop_member(&format!("{path}.{}", excerpt(&name))),
            }
        }
    }
}

/// It is otherwise as the client wrote it.
fn system_for_developer(item: &mut HistoryItem) {
    let HistoryItem::Message(Message { body, written, .. }) = item else { return };
    if let MessageBody::Developer(parts) = body {
        *body = MessageBody::System(std::mem::take(parts));
        if let Some(json) = written.as_deref() {
            *written = with_role(json, "system");
        }
    }
}

/// The JSON of a message with another role.
fn with_role(json: &RawValue, role: &'static str) -> Option<Box<RawValue>> {
    let mut changed = Members::default();
    for (name, json) in raw_members(json.get())? {
        let value = if name == "role" { Value::from(role).into() } else { json.into() };
        changed.0.push((name.into(), value));
    }
    to_raw(&changed).ok()
}

/// The conversation with one system message, the first one, which has the texts of all. Without any other message, it is one of the
/// user: models need one to answer.
fn leading_system(history: Vec<HistoryItem>, notes: &Notes) -> Vec<HistoryItem> {
    let (mut texts, mut others) = (Vec::new(), Vec::new());
    for mut item in history {
        if !is_system(&item) {
            others.push(item);
            continue;
        }
        rewrite(&mut item, notes);
        let HistoryItem::Message(Message { path, body, .. }) = item else { continue };
        if !others.is_empty() {
            notes.warn(format!(
                "{path}: a system message within the conversation applies to all of it"
            ));
        }
        if let MessageBody::System(parts) | MessageBody::Developer(parts) = body {
            texts.extend(system_text(&parts, notes));
        }
    }
    if texts.is_empty() {
        return others;
    }
    let parts = vec![Part::text(texts.join("\n\n"), "")];
    let body = match others.is_empty() {
        true => MessageBody::User(parts),
        false => MessageBody::System(parts),
    };
    others.insert(0, HistoryItem::message("messages[]", body));
    others
}

/// The text of a system message. Nothing else has a place in the first one.
fn system_text(parts: &[Part], notes: &Notes) -> Option<String> {
    for part in parts {
        if part.as_text().is_none() {
            notes.drop_member(&part.path);
        }
        if part.cache_control.is_some() {
            notes.drop_member(&format!("{}.cache_control", part.path));
        }
    }
    let text = joined(parts).into_owned();
    Some(text).filter(|text| !text.trim().is_empty())
}

/// The conversation with one message for several of the same role in a row, and one of the user first.
fn merged(history: Vec<HistoryItem>, dialect: &Dialect, notes: &Notes) -> Vec<HistoryItem> {
    let mut merged: Vec<HistoryItem> = Vec::with_capacity(history.len());
    for item in history {
        if item.says_nothing(dialect) {
            merged.push(item);
            continue;
        }
        let begins = merged.iter().all(|item| is_system(item) || item.says_nothing(dialect));
        if begins && matches!(body(&item), Some(MessageBody::Assistant(_))) {
            let parts = vec![Part::text(begins_with_assistant(notes), "")];
            merged.push(HistoryItem::message("messages[]", MessageBody::User(parts)));
        }
        match merged.iter_mut().rfind(|item| !item.says_nothing(dialect)) {
            Some(last) if can_join(last, &item, dialect) => join(last, item, notes),
            _ => merged.push(item),
        }
    }
    merged
}

/// The conversation with a message of the assistant between each result and a message of the user.
fn answered(history: Vec<HistoryItem>, dialect: &Dialect, notes: &Notes) -> Vec<HistoryItem> {
    let mut answered: Vec<HistoryItem> = Vec::with_capacity(history.len());
    for item in history {
        if matches!(body(&item), Some(MessageBody::User(_)))
            && answered
                .iter()
                .rfind(|it| !it.says_nothing(dialect))
                .is_some_and(|it| it.result().is_some() || body(it).is_none())
        {
            notes.warn(
                "messages: the user follows a result, so a message of the assistant precedes it",
            );
            let content = vec![Part::text(RESULT_RECEIVED, "")];
            let assistant = Assistant { content, ..Assistant::default() };
            answered.push(HistoryItem::message("messages[]", MessageBody::Assistant(assistant)));
        }
        answered.push(item);
    }
    answered
}

/// Whether two messages can be one. What a model has thought belongs to its own message, if the provider gets it.
fn can_join(first: &HistoryItem, second: &HistoryItem, dialect: &Dialect) -> bool {
    match (body(first), body(second)) {
        (Some(MessageBody::User(_)), Some(MessageBody::User(_))) => true,
        (Some(MessageBody::Assistant(first)), Some(MessageBody::Assistant(_))) => {
            let mut thoughts = first.state.members.iter();
            first.calls.is_empty() && !thoughts.any(|(name, _)| dialect.takes_reasoning(name))
        }
        _ => false,
    }
}

fn join(first: &mut HistoryItem, mut second: HistoryItem, notes: &Notes) {
    rewrite(first, notes);
    rewrite(&mut second, notes);
    let (HistoryItem::Message(first), HistoryItem::Message(second)) = (first, second) else {
        return;
    };
    match (&mut first.body, second.body) {
        (MessageBody::User(parts), MessageBody::User(more)) => parts.extend(more),
        (MessageBody::Assistant(first), MessageBody::Assistant(second)) => {
            first.content.extend(second.content);
            first.calls = second.calls;
            second.extra_content.into_iter().for_each(|(owner, value)| {
                first.extra_content.insert(owner, value);
            });
            first.state = second.state;
        }
        _ => {}
    }
}
