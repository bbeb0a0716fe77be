//! Collects a completion from its parts, for streams and for whole bodies alike.

use super::completion::{Completion, FinishReason, ToolCall, UpstreamError};
use super::stream::Delta;
use super::{IdSource, Usage};
use crate::json::{Object, Value};

/// The most calls in an answer. The limit of the gateway's settings is lower.
const MAX_CALLS: usize = 1024;

/// The most bytes of arguments in an answer. The limit of the gateway's settings is lower.
const MAX_ARGUMENT_BYTES: usize = 8 << 20;

/// The most warnings about an answer, or about a request.
pub(super) const MAX_WARNINGS: usize = 64;

/// The most bytes of text that are kept for the tool loop.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// A completion that grows. Each method returns the delta that corresponds to its part.
#[derive(Debug)]
pub(super) struct Builder {
    pub(super) completion: Completion,
    pub(super) ids: IdSource,
    /// Whether text and reasoning are kept.
    collect: bool,
    argument_bytes: usize,
    kept_bytes: usize,
}

impl Builder {
    pub(super) fn new(ids: IdSource, collect: bool) -> Self {
        Self { completion: Completion::default(), ids, collect, argument_bytes: 0, kept_bytes: 0 }
    }

    /// Whether text, reasoning and the native message are kept.
    pub(super) fn collects(&self) -> bool {
        self.collect
    }

    /// Whether `more` bytes of text are kept.
    fn keeps(&mut self, more: usize) -> bool {
        self.kept_bytes = self.kept_bytes.saturating_add(more);
        self.collect && self.kept_bytes <= MAX_KEPT_BYTES
    }

    pub(super) fn text(&mut self, text: &str) -> Delta {
        if self.keeps(text.len()) {
            self.completion.message.content.get_or_insert_default().push_str(text);
        }
        Delta::Text(text.to_owned())
    }

    pub(super) fn refusal(&mut self, text: &str) -> Delta {
        if self.keeps(text.len()) {
            self.completion.message.refusal.get_or_insert_default().push_str(text);
        }
        Delta::Refusal(text.to_owned())
    }

    pub(super) fn reasoning(&mut self, text: &str) -> Delta {
        if self.keeps(text.len()) {
            self.completion.message.reasoning.get_or_insert_default().push_str(text);
        }
        Delta::Reasoning(text.to_owned())
    }

    /// A call begins. Without an id, it gets one.
    ///
    /// # Errors
    /// There are too many calls.
    pub(super) fn call(
        &mut self,
        id: Option<&str>,
        name: &str,
        custom: bool,
        extra: Object<'static>,
    ) -> Result<Delta, UpstreamError> {
        let calls = &mut self.completion.message.tool_calls;
        if calls.len() >= MAX_CALLS {
            return Err(UpstreamError::malformed("there are too many tool calls"));
        }
        let id = match id {
            Some(id) if !id.is_empty() => id.to_owned(),
            Some(_) | None => self.ids.next_id(),
        };
        let extra_content = extra.get("extra_content").cloned();
        let index = calls.len();
        let name = name.to_owned();
        calls.push(ToolCall {
            id: id.clone(),
            name: name.clone(),
            arguments: String::new(),
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
        let Some(call) = self.completion.message.tool_calls.get_mut(index) else {
            return Err(UpstreamError::malformed("arguments belong to no tool call"));
        };
        call.arguments.push_str(fragment);
        Ok(Delta::Arguments { index, fragment: fragment.to_owned() })
    }

    /// Gives a call without arguments an empty object, because clients parse the text.
    pub(super) fn complete_call(&mut self, index: usize) -> Option<Delta> {
        let call = self.completion.message.tool_calls.get_mut(index)?;
        if call.custom || !call.arguments.is_empty() {
            return None;
        }
        call.arguments.push_str("{}");
        Some(Delta::Arguments { index, fragment: "{}".to_owned() })
    }

    /// The same for all calls.
    pub(super) fn complete_calls(&mut self) -> Vec<Delta> {
        (0..self.completion.message.tool_calls.len())
            .filter_map(|index| self.complete_call(index))
            .collect()
    }

    /// `extra_content` of the message.
    pub(super) fn extra_content(&mut self, value: Value<'static>) -> Delta {
        self.completion.message.extra.insert("extra_content".into(), value.clone());
        Delta::ExtraContent(value)
    }

    /// The model stopped. With calls, `stop` means `tool_calls` (2api.ai, 9).
    pub(super) fn finish(&mut self, reason: FinishReason) -> Delta {
        let has_calls = !self.completion.message.tool_calls.is_empty();
        let reason = match reason {
            FinishReason::Stop if has_calls => FinishReason::ToolCalls,
            FinishReason::ToolCalls if !has_calls => FinishReason::Stop,
            reason => reason,
        };
        self.completion.finish_reason = reason;
        Delta::Finish(reason)
    }

    pub(super) fn usage(&mut self, usage: Usage) -> Delta {
        self.completion.usage = Some(usage.clone());
        Delta::Usage(usage)
    }

    pub(super) fn warn(&mut self, warning: String) {
        let warnings = &self.completion.warnings;
        if warnings.len() < MAX_WARNINGS && !warnings.contains(&warning) {
            self.completion.warnings.push(warning);
        }
    }
}
