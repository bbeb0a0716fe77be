//! The conversation for providers whose format is not OpenAI's: instructions apart, and calls with their results.

use std::borrow::Cow;

use crate::gateway::conversation::{
    self, HistoryItem, Message, MessageBody, Part, PartContent, ToolResult, Turn,
};
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::format::adapter::job::Job;
use crate::gateway::format::adapter::{Format, MAX_EVENT_VALUES, custom};
use crate::gateway::format::chat_completions::front::message::of_turn;
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::nested;
use crate::wire::{Json, ToolCall};
use toolbooth::json::{self, Value};

#[derive(Default)]
pub(in crate::gateway::format) struct Conversation<'t> {
    /// The system and developer messages.
    pub(in crate::gateway::format) system: Vec<&'t Part>,
    /// The other messages.
    pub(in crate::gateway::format) entries: Vec<Entry<'t>>,
}

/// A message, or an assistant message with the results of its calls.
pub(in crate::gateway::format) enum Entry<'t> {
    User(Vec<&'t Part>),
    Assistant(Assistant<'t>),
    /// A round of the tool loop in the provider's own format, with the results of its calls.
    Native(&'t Turn),
}

pub(in crate::gateway::format) struct Assistant<'t> {
    pub(in crate::gateway::format) message: Cow<'t, conversation::Assistant>,
    /// The result of each call, once it was found.
    results: Vec<Option<&'t ToolResult>>,
    path: String,
}

/// A call with its result.
pub(in crate::gateway::format) struct AnsweredCall<'e> {
    pub(in crate::gateway::format) call: &'e ToolCall<'static>,
    /// A JSON object.
    pub(in crate::gateway::format) arguments: Json<'e>,
    pub(in crate::gateway::format) result: Option<&'e ToolResult>,
}

impl Assistant<'_> {
    /// The texts, of which none is empty. The notes get the other parts, which only the client's format has.
    pub(in crate::gateway::format) fn texts<'e>(
        &'e self,
        notes: &'e Notes,
    ) -> impl Iterator<Item = &'e str> {
        let texts = self.message.content.iter().filter_map(|part| {
            if part.as_text().is_none() {
                notes.drop_member(&part.path);
            }
            part.as_text()
        });
        texts.filter(|text| !text.is_empty())
    }

    /// The calls, each with its result.
    pub(in crate::gateway::format) fn calls<'e>(
        &'e self,
        notes: &'e Notes,
    ) -> impl Iterator<Item = AnsweredCall<'e>> {
        let calls = self.message.calls.iter().zip(&self.results).enumerate();
        calls.map(|(index, (call, result))| {
            let place = || format!("{}.tool_calls[{index}].function.arguments", self.path);
            AnsweredCall { call, arguments: arguments(call, place, notes), result: *result }
        })
    }
}

/// The arguments of a call, which is at `place`, as a JSON object.
fn arguments<'t>(call: &'t ToolCall<'_>, place: impl Fn() -> String, notes: &Notes) -> Json<'t> {
    let text = call.arguments.text();
    match call.custom {
        true => custom::arguments(&text),
        false => object_arguments(text, place, notes),
    }
}

/// The arguments of a function's call, which are at `place`, as a JSON object; a text that is none is wrapped in one.
pub(in crate::gateway::format) fn object_arguments<'t>(
    text: Cow<'t, str>,
    place: impl Fn() -> String,
    notes: &Notes,
) -> Json<'t> {
    let is_object = json::parse_within(&text, &mut { MAX_EVENT_VALUES })
        .is_ok_and(|value| value.as_object().is_some());
    match text {
        // As the model wrote it, with its order of members.
        text if is_object => Json::Text(text),
        text if text.trim().is_empty() => Json::Text("{}".into()),
        text => {
            let place = place();
            notes.warn(format!("{place} is not a JSON object, so it is sent as a member of one"));
            Json::Value(nested("malformed_arguments", Value::String(text)))
        }
    }
}

/// Reads the messages. The front has checked that each result answers a call before it, and that each call has one.
pub(in crate::gateway::format) fn read<'t>(
    job: &Job<'t>,
    format: Format,
) -> Result<Conversation<'t>> {
    let mut conversation = Conversation::default();
    for (index, item) in job.history().enumerate() {
        match item {
            HistoryItem::Message(message) => {
                conversation.message(message, job.notes);
                if let MessageBody::Assistant(assistant) = &message.body {
                    drop_foreign(assistant, &message.path, format, job.notes);
                }
            }
            HistoryItem::Turn(turn) if turn.format == format => {
                conversation.entries.push(Entry::Native(turn));
            }
            HistoryItem::Turn(turn) => {
                let path = format!("messages[{index}]");
                let message = of_turn(&turn.message, &path, job.notes)?;
                let results = turn.results.iter().map(Some).collect();
                let message = Assistant { message: Cow::Owned(message), results, path };
                conversation.entries.push(Entry::Assistant(message));
            }
        }
    }
    if conversation.entries.is_empty() {
        // The providers need a message that is not a system message.
        let system = std::mem::take(&mut conversation.system);
        conversation.entries.push(Entry::User(system));
    }
    Ok(conversation)
}

/// Names what other providers must get back of a message.
fn drop_foreign(assistant: &conversation::Assistant, path: &str, format: Format, notes: &Notes) {
    let own = if format == Format::Anthropic { "anthropic" } else { "google" };
    let of_calls = assistant.calls.iter().filter_map(|call| call.extra.get("extra_content"));
    let of_calls = of_calls.filter_map(Value::as_object).map(|extra| (".tool_calls[]", extra));
    for (place, extra) in [("", &assistant.extra_content)].into_iter().chain(of_calls) {
        for (name, _) in extra.iter() {
            if **name != *own && **name != *"toolbooth" {
                notes.drop_member(&format!("{path}{place}.extra_content.{name}"));
            }
        }
    }
}

impl<'t> Conversation<'t> {
    fn message(&mut self, message: &'t Message, notes: &Notes) {
        let Message { path, body, .. } = message;
        match body {
            MessageBody::System(parts) | MessageBody::Developer(parts) => {
                if !self.entries.is_empty() {
                    notes.warn(format!(
                        "{path}: a system message within the conversation applies to all of it"
                    ));
                }
                self.system.extend(parts);
            }
            MessageBody::User(parts) => {
                let known = parts.iter().filter(|part| {
                    let PartContent::Other(kind) = &part.content else { return true };
                    notes.drop_member(&format!("{} ({kind})", part.path));
                    false
                });
                let known: Vec<_> = known.collect();
                // Without a part, there is no message.
                if !known.is_empty() {
                    self.entries.push(Entry::User(known));
                }
            }
            MessageBody::Assistant(assistant) => self.entries.push(Entry::Assistant(Assistant {
                message: Cow::Borrowed(assistant),
                results: vec![None; assistant.calls.len()],
                path: path.clone(),
            })),
            MessageBody::Result(result) => self.result(result),
        }
    }

    fn result(&mut self, result: &'t ToolResult) {
        let Some(Entry::Assistant(last)) = self.entries.last_mut() else { return };
        let mut open = last.message.calls.iter().zip(&mut last.results);
        let open = open.find(|(call, place)| call.id == result.call_id && place.is_none());
        if let Some((_, place)) = open {
            *place = Some(result);
        }
    }
}

/// What precedes a conversation that begins with the assistant: clients cut long ones, and these providers want a message of the user
/// first.
pub(in crate::gateway::format) fn begins_with_assistant(notes: &Notes) -> &'static str {
    notes.warn(
        "messages: the conversation begins with the assistant, so a message of the user precedes it",
    );
    "The conversation continues."
}

/// What the model reads in place of a picture, a sound or a file of a type that the provider does not accept. The notes get the part.
pub(in crate::gateway::format) fn not_shown(part: &Part, notes: &Notes) -> String {
    notes.drop_member(&part.path);
    let what = match &part.content {
        PartContent::File { name: Some(name), .. } => name,
        PartContent::Image { .. } => "An image",
        PartContent::Audio { .. } => "A sound",
        _ => "A file",
    };
    format!("{what} is not shown.")
}

/// The error: nothing of the conversation is left that the provider accepts.
pub(in crate::gateway::format) fn is_empty() -> GatewayError {
    let message = "messages has nothing that this provider accepts: its texts are only white space, or its parts are of \
                   types that the provider does not know";
    GatewayError::invalid("messages", message)
}
