//! Counts of tokens.

use serde::{Deserialize, Serialize, Serializer};

use super::fields::lenient;
use toolbooth::json::{self, Value};

/// Counts of tokens, as OpenAI defines them: the prompt includes what was cached, the completion includes the
/// reasoning.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    pub completion_tokens: u64,
    /// All tokens, as far as the provider counts more than these two.
    pub total_tokens: u64,
    /// Tokens of the prompt that came from a cache.
    pub cached_tokens: u64,
    /// Tokens of the answer that are reasoning.
    pub reasoning_tokens: u64,
    /// The provider's own object, if its format is OpenAI's and it has all counts that OpenAI's has.
    pub extra: Option<Value<'static>>,
}

/// OpenAI's object.
#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct Counts {
    #[serde(deserialize_with = "lenient")]
    prompt_tokens: u64,
    #[serde(deserialize_with = "lenient")]
    completion_tokens: u64,
    #[serde(deserialize_with = "lenient")]
    total_tokens: u64,
    #[serde(deserialize_with = "lenient")]
    prompt_tokens_details: PromptDetails,
    #[serde(deserialize_with = "lenient")]
    completion_tokens_details: CompletionDetails,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct PromptDetails {
    #[serde(deserialize_with = "lenient")]
    cached_tokens: u64,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct CompletionDetails {
    #[serde(deserialize_with = "lenient")]
    reasoning_tokens: u64,
}

impl Usage {
    /// The counts in OpenAI's object; `None` if it is none.
    pub fn of_openai(value: &Value<'_>) -> Option<Self> {
        const REQUIRED: [&str; 3] = ["prompt_tokens", "completion_tokens", "total_tokens"];
        let counts: Counts = json::read_value(value)?;
        let is_count = |name| value.get(name).is_some_and(|it| it.as_number().is_some());
        let both = counts.prompt_tokens.saturating_add(counts.completion_tokens);
        Some(Self {
            prompt_tokens: counts.prompt_tokens,
            completion_tokens: counts.completion_tokens,
            total_tokens: counts.total_tokens.max(both),
            cached_tokens: counts.prompt_tokens_details.cached_tokens,
            reasoning_tokens: counts.completion_tokens_details.reasoning_tokens,
            extra: REQUIRED.into_iter().all(is_count).then(|| value.clone().into_owned()),
        })
    }

    /// Adds the tokens of another answer, for the sum over the rounds of the tool loop.
    pub fn add(&mut self, other: &Self) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
        self.extra = None;
    }
}

/// OpenAI's object.
impl Serialize for Usage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(own) = &self.extra {
            return own.serialize(serializer);
        }
        let counts = Counts {
            prompt_tokens: self.prompt_tokens,
            completion_tokens: self.completion_tokens,
            total_tokens: self.total_tokens,
            prompt_tokens_details: PromptDetails { cached_tokens: self.cached_tokens },
            completion_tokens_details: CompletionDetails {
                reasoning_tokens: self.reasoning_tokens,
            },
        };
        counts.serialize(serializer)
    }
}
