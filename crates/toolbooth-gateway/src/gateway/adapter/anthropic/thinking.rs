//! `reasoning_effort` for Anthropic, and the thinking blocks that it must get back.

use super::is_thinking;
use crate::gateway::Fields;
use crate::gateway::adapter::conversation::{Conversation, Entry};
use crate::gateway::adapter::{Job, Result};
use crate::wire::anthropic::request::Thinking as Mode;
use toolbooth::json::{Object, Value};

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
            let usual = of_model.unwrap_or_else(|| most_tokens(job.options.model)).min(most);
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

/// The most tokens of an answer, by Anthropic's documentation: those of models whose name has no version, and of models of
/// others, are what most have at least. `MODELS` says it for a model that is not in this table.
fn most_tokens(model: &str) -> u64 {
    match version(model) {
        _ if !model.contains("claude") => 8192,
        Some(version) if version < (3, 5) => 4096,
        Some(version) if version < (3, 7) => 8192,
        Some(version) if version < (4, 5) && model.contains("opus") => 32_000,
        Some(_) => 64_000,
        None => 32_000,
    }
}

/// Reads `reasoning_effort`, or Anthropic's own `thinking`.
pub(super) fn select<'t>(
    fields: &mut Fields<'t>,
    conversation: &Conversation<'_>,
    model: &str,
    forces_call: bool,
    is_native: bool,
) -> Result<Thinking<'t>> {
    let own = fields.take("thinking");
    let effort = fields.effort(|effort| {
        Some(match effort {
            "none" => (0, "low"),
            "minimal" | "low" => (1024, "low"),
            "medium" => (2048, "medium"),
            "high" => (4096, "high"),
            "xhigh" => (8192, "xhigh"),
            "max" => (16384, "max"),
            _ => return None,
        })
    })?;
    let Some((budget, level)) = effort else {
        return Ok(Thinking { mode: own.map(Mode::Verbatim), effort: None });
    };
    if let Some(own) = own {
        // Clients of Anthropic write both.
        if !is_native {
            fields.notes.drop_member("reasoning_effort");
        }
        let effort = is_native.then_some(level);
        return Ok(Thinking { mode: Some(Mode::Verbatim(own)), effort });
    }
    let version = version(model);
    let drop = |reason: &str| {
        fields.notes.warn(format!("reasoning_effort: {reason}"));
        fields.notes.drop_member("reasoning_effort");
        Ok(Thinking::default())
    };
    if budget == 0 {
        // Models before 3.7 do not know the member.
        let knows = version.is_none_or(|version| version >= (3, 7));
        return Ok(Thinking { mode: knows.then_some(Mode::Disabled), effort: None });
    }
    if version.is_some_and(|version| version < (3, 7)) {
        return drop("this model cannot think");
    }
    if forces_call {
        return drop("Anthropic does not let a model think that is forced to call a tool");
    }
    if version.is_none_or(|version| version >= (4, 6)) {
        return Ok(Thinking { mode: Some(Mode::Adaptive), effort: Some(level) });
    }
    if !continues_thinking(conversation) {
        return drop("the last assistant message with calls has no thinking blocks");
    }
    Ok(Thinking { mode: Some(Mode::Enabled { budget_tokens: budget }), effort: None })
}

/// The version in a name such as `claude-opus-4-6` or `claude-3-7-sonnet-20250219`; `None` if there is none, as in the
/// names of newer models.
fn version(model: &str) -> Option<(u64, u64)> {
    let numbers = model.split(['-', '.', '@', ':']).skip_while(|part| number(part).is_none());
    let mut numbers = numbers.map_while(number);
    let major = numbers.next()?;
    Some((major, numbers.next().unwrap_or(0)))
}

/// A part of a version; dates are none.
fn number(part: &str) -> Option<u64> {
    if part.len() > 2 { None } else { part.parse().ok() }
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
