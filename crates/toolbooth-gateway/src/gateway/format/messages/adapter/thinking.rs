//! `reasoning_effort` for Anthropic, and the thinking blocks that it must get back.

use crate::gateway::error::Result;
use crate::gateway::facts::{Effort, Facts, Thinking as Way};
use crate::gateway::fields::{Fields, effort_of};
use crate::gateway::format::adapter::Format;
use crate::gateway::format::adapter::conversation::{Conversation, Entry};
use crate::gateway::format::adapter::job::Job;
use crate::gateway::format::messages::adapter::is_thinking;
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
            None | Some(Mode::Disabled | Mode::BetweenTools) => false,
            Some(Mode::Adaptive { .. } | Mode::Enabled { .. }) => true,
            Some(Mode::Verbatim(value)) => effort_of(value) != Some(Effort::None),
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

/// Reads `reasoning_effort`, and Anthropic's own `thinking`.
pub(super) fn select<'t>(
    fields: &mut Fields<'t>,
    conversation: &Conversation<'_>,
    job: &Job<'_>,
    forces_call: bool,
) -> Result<Thinking<'t>> {
    let own = fields.take("thinking");
    let mut effort = fields.effort()?;
    if let Some(own) = own {
        // Clients of Anthropic write both.
        let is_native = job.request.native_of(Format::Anthropic).is_some();
        if effort.take_if(|_| !is_native).is_some() {
            fields.notes.drop_member("reasoning_effort");
        }
        match takes(job.options.facts, &own) {
            Ok(()) => return Ok(verbatim(own, effort, job)),
            Err(kind) => {
                let target = job.options.target;
                job.notes.warn(format!("thinking: {target} does not take the type {kind}"));
                effort = effort.filter(|_| kind != "disabled").or(effort_of(&own));
                // The model decides, as it does with this effort where it can.
                effort = effort.or(Some(Effort::High));
            }
        }
    }
    match effort {
        None => Ok(usual(job, forces_call)),
        Some(Effort::None) => Ok(none(job)),
        Some(effort) => some(effort, fields, conversation, job, forces_call),
    }
}

/// Whether the model takes the type of a `thinking` that a client has written. The error: the type.
fn takes<'v>(facts: &Facts, own: &'v Value<'_>) -> std::result::Result<(), &'v str> {
    let kind = own.get("type").and_then(Value::as_str).unwrap_or_default();
    let way = match kind {
        "adaptive" => Way::Adaptive,
        "enabled" => Way::Enabled,
        "disabled" => Way::Disabled,
        "between_tools" => Way::BetweenTools,
        _ => return Ok(()),
    };
    if facts.accepts(way) { Ok(()) } else { Err(kind) }
}

/// `thinking` as the client has written it. What the model thinks is in the answer if the client can see it.
fn verbatim<'t>(mut own: Value<'t>, effort: Option<Effort>, job: &Job<'_>) -> Thinking<'t> {
    if let Value::Object(own) = &mut own
        && own.get("type").and_then(Value::as_str) == Some("adaptive")
        && own.get("display").is_none()
        && let Some(display) = display(job)
    {
        own.insert("display".into(), Value::from(display));
    }
    let effort = effort.and_then(|effort| job.effort(effort));
    Thinking { mode: Some(Mode::Verbatim(own)), effort: effort.map(Effort::as_str) }
}

/// What the display of thinking must be set to, so that the client can see it.
fn display(job: &Job<'_>) -> Option<&'static str> {
    let is_missing = job.options.facts.omits_thinking() && job.request.shows_thinking();
    if is_missing {
        job.notes.keep_member("reasoning.summary");
    }
    is_missing.then_some("summarized")
}

/// For a request that says nothing of thinking. A summary must be asked for.
fn usual(job: &Job<'_>, forces_call: bool) -> Thinking<'static> {
    let facts = job.options.facts;
    let is_thinking = facts.is_thinking(None) && facts.accepts(Way::Adaptive) && !forces_call;
    if !is_thinking || !job.request.asks_for_summary() {
        return Thinking::default();
    }
    let mode = display(job).map(|display| Mode::Adaptive { display: Some(display) });
    Thinking { mode, effort: None }
}

/// For a request without thinking.
fn none(job: &Job<'_>) -> Thinking<'static> {
    let facts = job.options.facts;
    let ways = [(Way::Disabled, Mode::Disabled), (Way::BetweenTools, Mode::BetweenTools)];
    let mode = ways.into_iter().find(|(way, _)| facts.accepts(*way)).map(|(_, mode)| mode);
    let must_think = mode.is_none() && facts.accepts(Way::Adaptive);
    let lowest = facts.effort(Effort::None, Format::Anthropic).filter(|_| must_think);
    if let Some(effort) = lowest {
        job.notes.warn(format!(
            "reasoning_effort: {} always thinks, so it is asked with {}",
            job.options.target,
            effort.as_str()
        ));
    }
    Thinking { mode, effort: lowest.map(Effort::as_str) }
}

/// For a request with thinking.
fn some(
    effort: Effort,
    fields: &Fields<'_>,
    conversation: &Conversation<'_>,
    job: &Job<'_>,
    forces_call: bool,
) -> Result<Thinking<'static>> {
    let facts = job.options.facts;
    let drop = |reason: &str| {
        fields.notes.warn(format!("reasoning_effort: {reason}"));
        fields.notes.drop_member("reasoning_effort");
        Ok(Thinking::default())
    };
    if ![Way::Adaptive, Way::Enabled].into_iter().any(|way| facts.accepts(way)) {
        return drop("this model cannot think");
    }
    if forces_call {
        return drop("Anthropic does not let a model think that is forced to call a tool");
    }
    if facts.accepts(Way::Adaptive) {
        let mode = Some(Mode::Adaptive { display: display(job) });
        let effort = job.effort(effort);
        return Ok(Thinking { mode, effort: effort.map(Effort::as_str) });
    }
    if !continues_thinking(conversation) {
        return drop("the last assistant message with calls has no thinking blocks");
    }
    let budget_tokens = match effort {
        Effort::None | Effort::Minimal | Effort::Low => 1024,
        Effort::Medium => 2048,
        Effort::High => 4096,
        Effort::Xhigh => 8192,
        Effort::Max => 16384,
    };
    Ok(Thinking { mode: Some(Mode::Enabled { budget_tokens }), effort: None })
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
