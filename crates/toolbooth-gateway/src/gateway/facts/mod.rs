//! What a model accepts, as data: a row of `models.json`, with what an entry of `MODELS` says instead.

mod effort;
mod entry;
mod name;
mod table;

use std::borrow::Cow;

use serde::Deserialize;

pub(crate) use effort::Effort;
use table::Maker;

use crate::gateway::format::adapter::Format;

/// What is known of a model. What is absent is as for most models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Facts {
    /// The name of a model that it is like. Only an operator says that.
    like: Option<String>,
    /// The API in which the provider must be asked.
    api: Option<Api>,
    /// The members of a request that the model always rejects.
    rejects: Option<Vec<Member>>,
    /// The members that it rejects while it thinks.
    rejects_thinking: Option<Vec<Member>>,
    /// How a request says that the model thinks, or that it does not; the usual way comes first. An empty list: it cannot think.
    thinking: Option<Vec<Thinking>>,
    /// Whether it thinks if a request says nothing of it.
    thinks_by_default: Option<bool>,
    /// The efforts that it knows.
    efforts: Option<Vec<Effort>>,
    /// The efforts that it knows at `/responses` only.
    responses_efforts: Option<Vec<Effort>>,
    /// The least and the most tokens of a budget for thinking.
    budgets: Option<[u64; 2]>,
    /// Whether an answer has what the model thought, if a request does not say.
    display: Option<Display>,
    /// Whether the calls of a conversation must have the model's signatures.
    signatures: Option<bool>,
    /// Whether it can be forced to call a tool.
    forced_calls: Option<bool>,
    /// Whether it continues a message of the assistant.
    prefill: Option<bool>,
    /// The most tokens of an answer.
    max_output_tokens: Option<u64>,
}

/// A restriction to one of the APIs of a provider that has several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Api {
    /// Chat Completions only.
    Chat,
    /// Responses only.
    Responses,
    /// With tools, Responses only, unless a request says that the model must not think.
    ResponsesForTools,
    /// With tools, Responses only if a request says how much the model thinks.
    ResponsesForToolsWithEffort,
}

/// A member of a request that some models reject, by the names of OpenAI Chat Completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Member {
    FrequencyPenalty,
    LogitBias,
    Logprobs,
    PresencePenalty,
    Seed,
    Stop,
    Temperature,
    TopK,
    TopLogprobs,
    TopP,
}

impl Member {
    const ALL: [(&str, Self); 10] = [
        ("frequency_penalty", Self::FrequencyPenalty),
        ("logit_bias", Self::LogitBias),
        ("logprobs", Self::Logprobs),
        ("presence_penalty", Self::PresencePenalty),
        ("seed", Self::Seed),
        ("stop", Self::Stop),
        ("temperature", Self::Temperature),
        ("top_k", Self::TopK),
        ("top_logprobs", Self::TopLogprobs),
        ("top_p", Self::TopP),
    ];

    fn of(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, member)| *member)
    }
}

/// How a request says that a model thinks, or that it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Thinking {
    /// Anthropic: the model decides how much, by the effort.
    Adaptive,
    /// Anthropic: with a budget.
    Enabled,
    /// Anthropic: it does not think.
    Disabled,
    /// Anthropic: it does not think before it answers.
    BetweenTools,
    /// OpenAI: by the effort.
    Effort,
    /// Gemini: with a budget.
    Budget,
    /// Gemini: by a level.
    Level,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Display {
    Summarized,
    Omitted,
}

impl Facts {
    /// What is known of a model that is asked in this format, with what an operator says of it. A provider that is none of the makers
    /// adapts requests itself: of its models, only the operator knows more.
    pub(crate) fn of(
        format: Format,
        model: &str,
        own: Option<&Self>,
        usual: &'static Self,
    ) -> Cow<'static, Self> {
        let maker = match format {
            Format::Anthropic => Some(Maker::Anthropic),
            Format::OpenAi | Format::Responses => Some(Maker::OpenAi),
            Format::Gemini => Some(Maker::Google),
            Format::OpenAiCompatible | Format::WorkersAi => None,
        };
        let like = own.and_then(|own| own.like.as_deref());
        let known = match (maker, like) {
            (Some(maker), like) => table::find(maker, like.unwrap_or(model)),
            (None, Some(like)) => table::find(Maker::OpenAi, like),
            (None, None) => Some(usual),
        };
        match (known, own) {
            (Some(known), None) => Cow::Borrowed(known),
            (known, own) => {
                let own = own.cloned().unwrap_or_default();
                Cow::Owned(known.map_or(own.clone(), |known| own.or(known)))
            }
        }
    }

    /// These facts, and others for what they do not say.
    pub(crate) fn or(self, others: &Self) -> Self {
        Self {
            like: self.like.or_else(|| others.like.clone()),
            api: self.api.or(others.api),
            rejects: self.rejects.or_else(|| others.rejects.clone()),
            rejects_thinking: self.rejects_thinking.or_else(|| others.rejects_thinking.clone()),
            thinking: self.thinking.or_else(|| others.thinking.clone()),
            thinks_by_default: self.thinks_by_default.or(others.thinks_by_default),
            efforts: self.efforts.or_else(|| others.efforts.clone()),
            responses_efforts: self.responses_efforts.or_else(|| others.responses_efforts.clone()),
            budgets: self.budgets.or(others.budgets),
            display: self.display.or(others.display),
            signatures: self.signatures.or(others.signatures),
            forced_calls: self.forced_calls.or(others.forced_calls),
            prefill: self.prefill.or(others.prefill),
            max_output_tokens: self.max_output_tokens.or(others.max_output_tokens),
        }
    }
}

impl Facts {
    /// Whether a request can say in this way that the model thinks, or that it does not.
    pub(crate) fn accepts(&self, way: Thinking) -> bool {
        self.thinking.as_ref().is_some_and(|ways| ways.contains(&way))
    }

    /// The effort that the model knows and that is nearest to this one, in a format.
    pub(crate) fn effort(&self, wanted: Effort, format: Format) -> Option<Effort> {
        let Some(known) = &self.efforts else { return Some(wanted) };
        let further = self.responses_efforts.iter().filter(|_| format == Format::Responses);
        wanted.nearest(known.iter().chain(further.flatten()).copied())
    }

    /// Whether the model thinks if a request asks for this effort.
    pub(crate) fn is_thinking(&self, effort: Option<Effort>) -> bool {
        match effort {
            None => self.thinks_by_default.unwrap_or(false),
            Some(Effort::None) => !self.can_stop_thinking(),
            Some(_) => true,
        }
    }

    /// Whether an effort says that the model does not think.
    pub(crate) fn can_stop_thinking(&self) -> bool {
        self.efforts.as_ref().is_none_or(|efforts| efforts.contains(&Effort::None))
    }

    /// Whether the model cannot think.
    pub(crate) fn cannot_think(&self) -> bool {
        self.thinking.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether an answer does not have what the model thought, unless a request says so.
    pub(crate) fn omits_thinking(&self) -> bool {
        self.display == Some(Display::Omitted)
    }

    /// Whether the model continues a message of the assistant, if that is known.
    pub(crate) fn continues_messages(&self) -> Option<bool> {
        self.prefill
    }

    /// The format in which a model is asked of a provider that has these. `usual` is the one that the client reads.
    pub(crate) fn format(
        &self,
        formats: &[Format],
        usual: Format,
        has_tools: bool,
        effort: Option<Effort>,
    ) -> Format {
        let is_only_there = match self.api {
            None => return usual,
            Some(Api::Chat) => false,
            Some(Api::Responses) => true,
            Some(Api::ResponsesForTools) if has_tools && self.is_thinking(effort) => true,
            Some(Api::ResponsesForToolsWithEffort)
                if has_tools && effort.is_some() && self.is_thinking(effort) =>
            {
                true
            }
            Some(Api::ResponsesForTools | Api::ResponsesForToolsWithEffort) => return usual,
        };
        let fits = |format: &&Format| (**format == Format::Responses) == is_only_there;
        formats.iter().find(fits).copied().unwrap_or(usual)
    }

    /// Whether the model rejects a member of a request, by its name in OpenAI Chat Completions.
    pub(crate) fn rejects(&self, name: &str, is_thinking: bool) -> bool {
        let while_thinking = self.rejects_thinking.iter().filter(|_| is_thinking).flatten();
        let mut rejected = self.rejects.iter().flatten().chain(while_thinking);
        Member::of(name).is_some_and(|member| rejected.any(|it| *it == member))
    }

    /// The least and the most tokens of a budget for thinking.
    pub(crate) fn budgets(&self) -> [u64; 2] {
        self.budgets.unwrap_or([1024, u64::MAX])
    }

    /// Whether the calls of a conversation must have the model's signatures.
    pub(crate) fn needs_signatures(&self) -> bool {
        self.signatures.unwrap_or(false)
    }

    /// Whether the model can be forced to call a tool.
    pub(crate) fn can_be_forced(&self) -> bool {
        self.forced_calls.unwrap_or(true)
    }

    /// The most tokens of an answer, if they are known.
    pub(crate) fn max_output_tokens(&self) -> Option<u64> {
        self.max_output_tokens
    }
}

#[cfg(test)]
mod tests;
