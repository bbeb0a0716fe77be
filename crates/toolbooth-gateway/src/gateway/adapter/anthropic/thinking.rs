//! `reasoning_effort` for Anthropic, and the thinking blocks that it must get back.

use super::is_thinking;
use crate::gateway::adapter::conversation::{Conversation, Entry};
use crate::gateway::adapter::{Job, Result};
use crate::gateway::{Effort, Facts, Fields, Thinking as Way};
use crate::wire::anthropic::request::Thinking as Mode;
use toolbooth::json::{Object, Value};

/// The tokens of an answer if nothing is known of the model.
const USUAL_TOKENS: u64 = 8192;

/// What the model is asked to think.
#[derive(Default)]
pub(super) struct Thinking<'t> {
    /// The member `thinking`.
    pub(super) mode: Option<Mode<'t>>,
    /// `output_config.effort`.
    pub(super) effort: Option<&'static str>,
}

impl Thinking<'_> {
    pub(super) fn is_on(&self) -> bool {
        match &self.mode {
            None | Some(Mode::Disabled) => false,
            Some(Mode::Adaptive | Mode::Enabled { .. }) => true,
            Some(Mode::Verbatim(value)) => {
                value.get("type").and_then(Value::as_str) != Some("disabled")
            }
        }
    }

    /// `max_tokens`, which must be more than the budget. If the caller may not have as many, the model does not think.
    pub(super) fn max_tokens(&mut self, wanted: Option<u64>, job: &Job<'_>) -> u64 {
        let most = job.options.max_output_tokens.unwrap_or(u64::MAX);
        let usual = || {
            let of_model = job.options.model_output_tokens;
            let usual = of_model.or(job.options.facts.max_output_tokens());
            let usual = usual.unwrap_or(USUAL_TOKENS).min(most);
            job.notes.warn(format!(
                "max_tokens: Anthropic needs it, and the request has none, so the answer may have {usual} tokens"
            ));
            usual
        };
        let wanted = wanted.unwrap_or_else(usual).clamp(1, most.max(1));
        let Some(Mode::Enabled { budget_tokens }) = self.mode else { return wanted };
        if wanted > budget_tokens {
            return wanted;
        }
        if most <= budget_tokens {
            job.notes.warn("reasoning_effort: the caller's token limit is too low for thinking");
            job.notes.drop_member("reasoning_effort");
            self.mode = None;
            return wanted;
        }
        budget_tokens.saturating_add(wanted).min(most)
    }
}

/// Reads `reasoning_effort`, or Anthropic's own `thinking`.
pub(super) fn select<'t>(
    fields: &mut Fields<'t>,
    conversation: &Conversation<'_>,
    facts: &Facts,
    forces_call: bool,
    is_native: bool,
) -> Result<Thinking<'t>> {
    let own = fields.take("thinking");
    let Some(effort) = fields.effort()? else {
        return Ok(Thinking { mode: own.map(Mode::Verbatim), effort: None });
    };
    let (budget, level) = match effort {
        Effort::None => (0, "low"),
        Effort::Minimal | Effort::Low => (1024, "low"),
        Effort::Medium => (2048, "medium"),
        Effort::High => (4096, "high"),
        Effort::Xhigh => (8192, "xhigh"),
        Effort::Max => (16384, "max"),
    };
    if let Some(own) = own {
        // Clients of Anthropic write both.
        if !is_native {
            fields.notes.drop_member("reasoning_effort");
        }
        let effort = is_native.then_some(level);
        return Ok(Thinking { mode: Some(Mode::Verbatim(own)), effort });
    }
    let drop = |reason: &str| {
        fields.notes.warn(format!("reasoning_effort: {reason}"));
        fields.notes.drop_member("reasoning_effort");
        Ok(Thinking::default())
    };
    if budget == 0 {
        let mode = facts.accepts(Way::Disabled).then_some(Mode::Disabled);
        return Ok(Thinking { mode, effort: None });
    }
    if ![Way::Adaptive, Way::Enabled].into_iter().any(|way| facts.accepts(way)) {
        return drop("this model cannot think");
    }
    if forces_call {
        return drop("Anthropic does not let a model think that is forced to call a tool");
    }
    if facts.accepts(Way::Adaptive) {
        return Ok(Thinking { mode: Some(Mode::Adaptive), effort: Some(level) });
    }
    if !continues_thinking(conversation) {
        return drop("the last assistant message with calls has no thinking blocks");
    }
    Ok(Thinking { mode: Some(Mode::Enabled { budget_tokens: budget }), effort: None })
}

/// Whether the conversation can go on with thinking: its last assistant message with calls must begin with it.
fn continues_thinking(conversation: &Conversation<'_>) -> bool {
    let last = conversation.entries.iter().rfind(|entry| !matches!(entry, Entry::User(_)));
    match last {
        Some(Entry::Assistant(assistant)) if !assistant.message.calls.is_empty() => {
            blocks(&assistant.message.extra_content).next().is_some()
        }
        Some(Entry::Native(turn)) => turn.native.contains("thinking"),
        Some(Entry::Assistant(_) | Entry::User(_)) | None => true,
    }
}

/// The thinking blocks in `extra_content`, which come first in an assistant message.
pub(super) fn blocks<'e, 't>(extra_content: &'e Object<'t>) -> impl Iterator<Item = &'e Value<'t>> {
    let blocks = extra_content.get("anthropic").and_then(|own| own.get("thinking_blocks"));
    let blocks = blocks.and_then(Value::as_array).unwrap_or_default();
    blocks.iter().filter(|block| is_thinking(block))
}
