//! Collects a completion from its parts, for streams and for whole bodies alike.

use super::IdSource;
use super::completion::{Completion, UpstreamError};
use super::stream::Delta;
use crate::wire::{Answer, Arguments, Finish, FinishReason, Item, ToolCall};
use toolbooth::json::{self, Object, Value};
use toolbooth::schema::text::excerpt;

/// The most calls in an answer. The limit of the gateway's settings is lower.
const MAX_CALLS: usize = 1024;

/// The most bytes of arguments in an answer. The limit of the gateway's settings is lower.
const MAX_ARGUMENT_BYTES: usize = 8 << 20;

/// The most warnings about an answer, or about a request.
pub(super) const MAX_WARNINGS: usize = 64;

/// The most bytes of text that are kept for the tool loop.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// A completion that grows. Most methods return the delta that corresponds to their part.
#[derive(Debug)]
pub(super) struct Builder {
    pub(super) completion: Completion,
    /// The content as the provider wrote it, for the next request.
    native: Vec<Value<'static>>,
    ids: IdSource,
    /// Whether text, reasoning and the native content are kept.
    collect: bool,
    argument_bytes: usize,
    kept_bytes: usize,
}

impl Builder {
    pub(super) fn new(ids: IdSource, collect: bool) -> Self {
        let (completion, native) = (Completion::default(), Vec::new());
        Self { completion, native, ids, collect, argument_bytes: 0, kept_bytes: 0 }
    }

    pub(super) fn into_completion(mut self) -> Completion {
        if self.collect && !self.native.is_empty() {
            self.completion.native = json::to_string(&self.native);
        }
        self.completion
    }

    /// Whether text, reasoning and the native content are kept.
    pub(super) fn collects(&self) -> bool {
        self.collect
    }

    /// The content that was kept.
    pub(super) fn native(&self) -> &[Value<'static>] {
        &self.native
    }

    /// Keeps a part of the native content.
    pub(super) fn keep(&mut self, part: Value<'static>) {
        self.native.push(part);
    }

    /// A whole answer.
    ///
    /// # Errors
    /// A call cannot be read, or there are too many.
    pub(super) fn answer(&mut self, mut answer: Answer<'_>) -> Result<(), UpstreamError> {
        self.head(&mut answer);
        for item in answer.items {
            self.item(item, &mut Vec::new())?;
        }
        let reason = answer.finish.map_or(FinishReason::Stop, |finish| self.reason(&finish));
        self.finish(reason);
        Ok(())
    }

    /// The id and the model, unless they are known.
    pub(super) fn head(&mut self, answer: &mut Answer<'_>) {
        let completion = &mut self.completion;
        let (id, model) = (answer.id.take(), answer.model.take());
        completion.id = completion.id.take().or(id.map(Into::into));
        completion.model = completion.model.take().or(model.map(Into::into));
        completion.usage = answer.usage.take().or(completion.usage.take());
    }

    /// A complete part of an answer.
    ///
    /// # Errors
    /// A call cannot be read, or there are too many.
    pub(super) fn item(
        &mut self,
        item: Item<'_>,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), UpstreamError> {
        match item {
            Item::Text(text) => deltas.extend(self.text(&text)),
            Item::Refusal(text) => deltas.extend(self.refusal(&text)),
            Item::Reasoning(text) => deltas.extend(self.reasoning(&text)),
            Item::Call(call) => {
                if let Arguments::Unreadable(reason) = call.arguments {
                    return Err(UpstreamError::malformed(reason));
                }
                let index = self.calls().len();
                let arguments = call.arguments.text().into_owned();
                let extra = call.extra.into_owned();
                deltas.push(self.call(&call.id, &call.name, call.custom, extra)?);
                if !arguments.is_empty() {
                    deltas.push(self.arguments(index, &arguments)?);
                }
                deltas.extend(self.complete_call(index));
            }
            Item::Hosted(kind) | Item::ClientCall(kind) | Item::Other(kind) => {
                let kind = excerpt(&kind);
                self.warn(format!(
                    "The answer has a part of the kind \"{kind}\", which is not translated"
                ));
            }
            Item::Signature(_) | Item::Result(_) => {}
        }
        Ok(())
    }

    /// The calls so far.
    pub(super) fn calls(&self) -> &[ToolCall<'static>] {
        &self.completion.message.tool_calls
    }

    pub(super) fn text(&mut self, text: &str) -> Option<Delta> {
        self.grow(|completion| &mut completion.message.content, text).map(Delta::Text)
    }

    pub(super) fn refusal(&mut self, text: &str) -> Option<Delta> {
        self.grow(|completion| &mut completion.message.refusal, text).map(Delta::Refusal)
    }

    pub(super) fn reasoning(&mut self, text: &str) -> Option<Delta> {
        self.grow(|completion| &mut completion.message.reasoning, text).map(Delta::Reasoning)
    }

    /// Adds text to a member, if text is kept. `None` if there is none.
    fn grow(
        &mut self,
        member: fn(&mut Completion) -> &mut Option<String>,
        more: &str,
    ) -> Option<String> {
        if more.is_empty() {
            return None;
        }
        self.kept_bytes = self.kept_bytes.saturating_add(more.len());
        if self.collect && self.kept_bytes <= MAX_KEPT_BYTES {
            member(&mut self.completion).get_or_insert_default().push_str(more);
        }
        Some(more.to_owned())
    }

    /// A call begins. Without an id, it gets one.
    ///
    /// # Errors
    /// It has no name, or there are too many calls.
    pub(super) fn call(
        &mut self,
        id: &str,
        name: &str,
        custom: bool,
        extra: Object<'static>,
    ) -> Result<Delta, UpstreamError> {
        if name.is_empty() {
            return Err(UpstreamError::malformed("a tool call names no tool"));
        }
        let index = self.calls().len();
        if index >= MAX_CALLS {
            return Err(UpstreamError::malformed("there are too many tool calls"));
        }
        let id = if id.is_empty() { self.ids.next_id() } else { id.to_owned() };
        let extra_content = extra.get("extra_content").cloned();
        let name = name.to_owned();
        self.completion.message.tool_calls.push(ToolCall {
            id: id.clone().into(),
            name: name.clone().into(),
            arguments: Arguments::default(),
            custom,
            extra,
        });
        Ok(Delta::Call { index, id, name, custom, extra_content })
    }

    /// More arguments of a call.
    ///
    /// # Errors
    /// There is no such call, or the arguments are too long.
    pub(super) fn arguments(
        &mut self,
        index: usize,
        fragment: &str,
    ) -> Result<Delta, UpstreamError> {
        self.argument_bytes = self.argument_bytes.saturating_add(fragment.len());
        if self.argument_bytes > MAX_ARGUMENT_BYTES {
            return Err(UpstreamError::malformed("the arguments of the tool calls are too long"));
        }
        let call = self.completion.message.tool_calls.get_mut(index);
        let Some(ToolCall { arguments: Arguments::Text(text), .. }) = call else {
            return Err(UpstreamError::malformed("arguments belong to no tool call"));
        };
        text.to_mut().push_str(fragment);
        Ok(Delta::Arguments { index, fragment: fragment.to_owned() })
    }

    /// Gives a call without arguments an empty object, because clients parse the text.
    pub(super) fn complete_call(&mut self, index: usize) -> Option<Delta> {
        let call = self.calls().get(index)?;
        let is_empty = !call.custom && call.arguments.text().is_empty();
        is_empty.then(|| self.arguments(index, "{}").ok()).flatten()
    }

    /// The same for all calls.
    pub(super) fn complete_calls(&mut self) -> Vec<Delta> {
        (0..self.calls().len()).filter_map(|index| self.complete_call(index)).collect()
    }

    /// `extra_content` of the message.
    pub(super) fn extra_content(&mut self, value: Value<'static>) -> Delta {
        self.completion.message.extra.insert("extra_content".into(), value.clone());
        Delta::ExtraContent(value)
    }

    /// The model stopped. With calls, `stop` means `tool_calls` (2api.ai, 9).
    pub(super) fn finish(&mut self, reason: FinishReason) -> Delta {
        let has_calls = !self.calls().is_empty();
        let reason = match (reason, has_calls) {
            (FinishReason::Stop | FinishReason::Failed(_) | FinishReason::Other, true) => {
                FinishReason::ToolCalls
            }
            (FinishReason::ToolCalls, false) => FinishReason::Stop,
            (reason, _) => reason,
        };
        self.completion.finish_reason = reason;
        Delta::Finish(reason)
    }

    /// Why the model stopped, with a warning if OpenAI has no word for it.
    pub(super) fn reason(&mut self, finish: &Finish<'_>) -> FinishReason {
        match finish.reason {
            FinishReason::Failed(advice) => self.warn(advice.to_owned()),
            FinishReason::Other => {
                let word = excerpt(&finish.word);
                self.warn(format!("The model ended with \"{word}\", which is reported as stop"));
            }
            FinishReason::Stop
            | FinishReason::Length
            | FinishReason::ToolCalls
            | FinishReason::ContentFilter => {}
        }
        finish.reason
    }

    pub(super) fn warn(&mut self, warning: String) {
        let warnings = &self.completion.warnings;
        if warnings.len() < MAX_WARNINGS && !warnings.contains(&warning) {
            self.completion.warnings.push(warning);
        }
    }
}
