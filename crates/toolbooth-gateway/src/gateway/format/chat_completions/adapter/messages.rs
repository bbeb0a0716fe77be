//! The conversation as the messages of Chat Completions.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::gateway::conversation::{
    Assistant, HistoryItem, Message, MessageBody, Part, PartContent, Source, ToolResult, joined,
};
use crate::gateway::dialect::Feature;
use crate::gateway::error::Result;
use crate::gateway::format::adapter::custom;
use crate::gateway::format::adapter::job::Job;
use crate::gateway::format::chat_completions::adapter::files::titled;
use crate::gateway::format::chat_completions::adapter::kept::Kept;
use crate::gateway::format::chat_completions::adapter::roles::RESULT_RECEIVED;
use crate::gateway::format::chat_completions::front::message::of_turn;
use crate::gateway::raw_json::{parse, raw_member};
use crate::wire::openai::ToolMessage;
use crate::wire::openai::message::{Call, Message as AssistantMessage};
use crate::wire::openai::request::{Content, File, ImageUrl, InputAudio, Part as SentPart, Said};
use crate::wire::{Json, ToolCall};
use toolbooth::json::{self, Object, Value};

/// The members of an assistant message that OpenAI knows.
const MESSAGE_MEMBERS: &[&str] = &["role", "content", "refusal", "name", "audio", "tool_calls"];

/// The members of a call that OpenAI knows.
const CALL_MEMBERS: &[&str] = &["id", "type", "function", "custom"];

/// Collects messages.
struct Messages<'j, 't> {
    job: &'j Job<'t>,
    /// Whether they are for OpenAI itself, which rejects members that it does not know.
    strict: bool,
    kept: Kept<'t>,
    /// Whether the provider has functions in place of custom tools.
    lacks_custom: bool,
    list: Vec<Json<'t>>,
    /// The images and files of the results before. Chat Completions has them only in messages of the user.
    shown: Vec<SentPart<'t>>,
}

/// The messages. One that a client of Chat Completions wrote has as few changes as possible.
pub(super) fn messages<'t>(job: &Job<'t>, strict: bool) -> Result<Vec<Json<'t>>> {
    let lacks_custom = custom::is_lacked(job.request, job.format);
    let list = Vec::with_capacity(job.request.history.len());
    let kept = Kept::of(job, strict);
    let mut messages = Messages { job, strict, kept, lacks_custom, list, shown: Vec::new() };
    for (index, item) in job.history().enumerate() {
        messages.item(item, index)?;
    }
    messages.show();
    Ok(messages.list)
}

impl<'t> Messages<'_, 't> {
    fn item(&mut self, item: &'t HistoryItem, index: usize) -> Result<()> {
        if self.shows_with(item) {
            return Ok(());
        }
        let says_nothing = item.says_nothing(self.job.options.dialect);
        if item.result().is_none() && !says_nothing {
            self.show();
        }
        match item {
            // The notes get what is lost of it.
            HistoryItem::Message(Message { written: Some(json), .. }) if says_nothing => {
                self.written_assistant(json.get(), index).map(drop)
            }
            HistoryItem::Message(Message { body, written: Some(json), .. }) => {
                self.written(body, json, index)
            }
            HistoryItem::Message(Message { body, path, written: None }) => {
                match body {
                    MessageBody::System(parts) => self.say("system", parts),
                    MessageBody::Developer(parts) => self.say("developer", parts),
                    MessageBody::User(parts) => self.say("user", parts),
                    MessageBody::Assistant(assistant) => self.assistant(assistant, path),
                    MessageBody::Result(result) => self.result(result),
                }
                Ok(())
            }
            HistoryItem::Turn(turn) => {
                if self.lacks_custom && turn.message.contains("\"custom\"") {
                    let path = format!("messages[{index}]");
                    let assistant = of_turn(&turn.message, &path, self.job.notes)?;
                    self.assistant(&assistant, &path);
                } else {
                    let message = self.written_assistant(&turn.message, index)?;
                    self.list.push(message);
                }
                turn.results.iter().for_each(|result| self.result(result));
                Ok(())
            }
        }
    }

    /// A message that a client of Chat Completions wrote.
    fn written(&mut self, body: &'t MessageBody, json: &'t RawValue, index: usize) -> Result<()> {
        let message = match body {
            MessageBody::Assistant(assistant)
                if self.lacks_custom && assistant.calls.iter().any(|call| call.custom) =>
            {
                self.assistant(assistant, &format!("messages[{index}]"));
                return Ok(());
            }
            MessageBody::Assistant(_) => self.written_assistant(json.get(), index)?,
            MessageBody::Result(result)
                if result.content.0.iter().any(|part| part.as_text().is_none()) =>
            {
                self.result(result);
                return Ok(());
            }
            MessageBody::Result(_) => self.written_result(json)?,
            MessageBody::System(_) | MessageBody::Developer(_) | MessageBody::User(_) => {
                self.without_mark(json, index)?
            }
        };
        self.list.push(message);
        Ok(())
    }

    fn say(&mut self, role: &'static str, parts: &'t [Part]) {
        let content = self.content(parts);
        self.list.push(Json::Text(json::to_string(&Said { role, content }).into()));
    }

    /// A message without its mark for the cache, which OpenAI does not know.
    fn without_mark(&self, json: &'t RawValue, index: usize) -> Result<Json<'t>> {
        const MARK: &str = "cache_control";
        if !self.strict || raw_member(json, &[MARK]).is_none() {
            return Ok(json.into());
        }
        let Value::Object(mut message) = parse(json.get(), "the body")? else {
            return Ok(json.into());
        };
        self.job.notes.drop_member(&format!("messages[{index}].{MARK}"));
        message.take(MARK);
        Ok(Value::Object(message).into())
    }

    /// Shows the images and files of the results in the user's next message, if the provider takes no two of these in a row. Returns
    /// whether this is it.
    fn shows_with(&mut self, item: &'t HistoryItem) -> bool {
        let HistoryItem::Message(Message { body: MessageBody::User(parts), path, written }) = item
        else {
            return false;
        };
        let dialect = self.job.options.dialect;
        let repeats = self.strict || dialect.takes(Feature::RepeatedRoles);
        if self.shown.is_empty() || repeats {
            return false;
        }
        if written.as_deref().is_some_and(|json| raw_member(json, &["name"]).is_some()) {
            self.job.notes.drop_member(&format!("{path}.name"));
        }
        let said: Vec<_> = parts.iter().filter_map(|part| self.part(part)).collect();
        self.shown.extend(said);
        self.show();
        true
    }

    /// The message with the images and files of the results before it, if there are any.
    fn show(&mut self) {
        if self.shown.is_empty() {
            return;
        }
        if self.job.options.dialect.needs_answers_to_results() {
            let content = Content::Text(RESULT_RECEIVED.into());
            let answer = Said { role: "assistant", content };
            self.list.push(Json::Text(json::to_string(&answer).into()));
        }
        let mut parts = vec![SentPart::Text { text: "From the results of the tools:".into() }];
        parts.append(&mut self.shown);
        let message = Said { role: "user", content: Content::Parts(parts) };
        self.list.push(Json::Text(json::to_string(&message).into()));
    }

    fn assistant(&mut self, assistant: &Assistant, path: &str) {
        let (mut said, mut refused) = (Vec::new(), Vec::new());
        for part in &assistant.content {
            match &part.content {
                PartContent::Text(text) if text.is_empty() => {}
                PartContent::Text(text) => said.push(text.as_str()),
                PartContent::Refusal(text) => refused.push(text.as_str()),
                _ => self.job.notes.drop_member(&part.path),
            }
            self.drop_cache_control(part);
        }
        let extra_content = self.kept.extra_content(&assistant.extra_content, path);
        let mut state = assistant.state.members.clone();
        self.kept.leave_reasoning(&mut state, !assistant.calls.is_empty(), path);
        if said.is_empty() && refused.is_empty() && assistant.calls.is_empty() {
            return;
        }
        let [said, refused] =
            [said, refused].map(|texts| (!texts.is_empty()).then(|| texts.join("\n\n")));
        let calls = assistant.calls.iter().enumerate();
        let calls: Vec<_> = calls.map(|(at, call)| self.call(call, at, path)).collect();
        let calls = calls.iter().map(|SentCall { id, name, arguments, custom, extra_content }| {
            let extra_content = extra_content.as_ref();
            Call { extra_content, ..Call::begin(*custom, id, name, arguments) }
        });
        let message = AssistantMessage {
            role: Some("assistant"),
            content: Some(said.as_deref()),
            refusal: refused.as_deref().map(Some),
            extra_content: extra_content.as_ref(),
            tool_calls: calls.collect(),
            extra: Some(&state),
            ..AssistantMessage::default()
        };
        self.list.push(Json::Text(json::to_string(&message).into()));
    }

    fn call<'c>(&self, call: &'c ToolCall<'static>, at: usize, path: &str) -> SentCall<'c> {
        let text = call.arguments.text();
        let arguments = match call.custom {
            true if self.lacks_custom => json::to_string(&custom::arguments(&text)).into(),
            true => text,
            false => self.kept.arguments(text, &format!("{path}.tool_calls[{at}]")),
        };
        let extra = call.extra.get("extra_content").and_then(Value::as_object);
        let path = format!("{path}.tool_calls[]");
        SentCall {
            id: self.kept.id(call.id.as_ref().into()),
            name: &call.name,
            arguments,
            custom: call.custom && !self.lacks_custom,
            extra_content: extra.and_then(|extra| self.kept.extra_content(extra, &path)),
        }
    }

    fn result(&mut self, result: &'t ToolResult) {
        let (texts, others): (Vec<&Part>, Vec<&Part>) =
            result.content.0.iter().partition(|part| part.as_text().is_some());
        for part in &texts {
            self.drop_cache_control(part);
        }
        let content = match texts.is_empty() && !others.is_empty() {
            true => Cow::Borrowed("The result is shown in the message that follows."),
            false => result.content.text(),
        };
        let shown: Vec<_> = others.into_iter().filter_map(|part| self.part(part)).collect();
        self.shown.extend(shown);
        let tool_call_id = &self.kept.id(Cow::Borrowed(&result.call_id));
        let message = ToolMessage { tool_call_id, content };
        self.list.push(Json::Text(json::to_string(&message).into()));
    }

    /// Texts as one string: not every provider takes parts.
    fn content(&self, parts: &'t [Part]) -> Content<'t> {
        if parts.iter().all(|part| part.as_text().is_some()) {
            parts.iter().for_each(|part| self.drop_cache_control(part));
            return Content::Text(joined(parts));
        }
        Content::Parts(parts.iter().filter_map(|part| self.part(part)).collect())
    }

    /// A part as the provider gets it; `None` if it cannot get it.
    fn part(&self, part: &'t Part) -> Option<SentPart<'t>> {
        self.drop_cache_control(part);
        let Part { content, path, .. } = part;
        match content {
            PartContent::Text(text) | PartContent::Refusal(text) => {
                Some(SentPart::Text { text: text.into() })
            }
            PartContent::Image { source, detail } => {
                let url = source.address()?;
                Some(SentPart::ImageUrl { image_url: ImageUrl { url, detail: detail.as_deref() } })
            }
            PartContent::Audio { format, base64 } => {
                let input_audio = InputAudio { data: base64, format };
                Some(SentPart::InputAudio { input_audio })
            }
            PartContent::File { source: Source::Url(_), .. } => {
                self.job.notes.drop_member(&format!("{path}.source.url"));
                None
            }
            PartContent::File { source, name } if let Some(text) = source.text() => {
                Some(SentPart::Text { text: titled(name.as_deref(), &text).into() })
            }
            PartContent::File { source, name } => {
                let (file_data, file_id) = (source.address(), source.id());
                let filename = name.as_deref();
                Some(SentPart::File { file: File { file_data, filename, file_id } })
            }
            PartContent::Other(kind) => {
                self.job.notes.drop_member(&format!("{path} ({kind})"));
                None
            }
        }
    }

    fn drop_cache_control(&self, part: &Part) {
        if part.cache_control.is_some() {
            self.job.notes.drop_member(&format!("{}.cache_control", part.path));
        }
    }

    fn written_result(&self, json: &'t RawValue) -> Result<Json<'t>> {
        let Value::Object(mut message) = parse(json.get(), "the body")? else {
            return Ok(json.into());
        };
        let is_changed = self.kept.change_id(&mut message, "tool_call_id")
            | (self.strict && message.take("cache_control").is_some());
        Ok(if is_changed { Value::Object(message).into() } else { json.into() })
    }

    /// An assistant message without what only the gateway or another provider understands.
    fn written_assistant(&self, json: &'t str, index: usize) -> Result<Json<'t>> {
        let Value::Object(mut message) = parse(json, "messages")? else {
            return Ok(Json::Text(json.into()));
        };
        let (strict, notes) = (self.strict, self.job.notes);
        let path = format!("messages[{index}]");
        let mut is_changed = self.kept.leave_extra(&mut message, &path);
        // The format has no place for them, whoever has made them.
        if message.take("images").is_some_and(|images| !images.is_null()) {
            notes.drop_member(&format!("{path}.images"));
            is_changed = true;
        }
        let has_calls = message.contains("tool_calls");
        is_changed |= self.kept.leave_reasoning(&mut message, has_calls, &path);
        // Reports what is dropped, unless it means nothing to the provider. Returns whether anything is.
        let clean =
            |object: &mut Object<'_>, path: &str, known: &dyn Fn(&str) -> bool, own: Own| {
                let before = object.len();
                object.retain(|name, value| {
                    let is_own = own(name, value);
                    let keep = !is_own && known(name);
                    if !keep && !is_own && !value.is_null() {
                        notes.drop_member(&format!("{path}.{name}"));
                    }
                    keep
                });
                object.len() < before
            };
        let dialect = self.job.options.dialect;
        let knows = |name: &str| match strict {
            true => MESSAGE_MEMBERS.contains(&name),
            false => dialect.knows_message_member(name),
        };
        is_changed |= clean(&mut message, &path, &knows, |name, value| match name {
            "_2api" => true,
            "tool_calls" => value.as_array().is_some_and(<[_]>::is_empty),
            _ => false,
        });
        if let Some(Value::Array(mut calls)) = message.take("tool_calls") {
            let path = format!("{path}.tool_calls[]");
            let knows_of_call = |name: &str| !strict || CALL_MEMBERS.contains(&name);
            for (at, call) in calls.iter_mut().enumerate() {
                let Value::Object(call) = call else { continue };
                let place = format!("messages[{index}].tool_calls[{at}]");
                is_changed |= self.kept.change_call(call, &place);
                is_changed |= self.kept.leave_extra(call, &path);
                is_changed |= clean(call, &path, &knows_of_call, |name, _| name == "index");
                is_changed |= self.kept.change_id(call, "id");
            }
            message.insert("tool_calls".into(), Value::Array(calls));
        }
        Ok(if is_changed { Value::Object(message).into() } else { Json::Text(json.into()) })
    }
}

/// A call as the provider gets it.
struct SentCall<'c> {
    id: Cow<'c, str>,
    name: &'c str,
    arguments: Cow<'c, str>,
    custom: bool,
    extra_content: Option<Value<'static>>,
}

/// Whether a member is for the gateway or for clients.
type Own = fn(&str, &Value<'_>) -> bool;
