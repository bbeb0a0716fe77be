//! Counts of tokens.

use serde::{Serialize, Serializer};

use super::fields::count;
use toolbooth::json::Value;

/// The members in which DeepSeek and Moonshot count what they had cached.
const CACHED: [&str; 2] = ["prompt_cache_hit_tokens", "cached_tokens"];

/// Counts of tokens, as OpenAI defines them: the prompt includes what was cached, the completion includes the
/// reasoning.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Usage {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// All tokens, as far as the provider counts more than these two.
    pub total_tokens: u64,
    pub cached_tokens: u64,
    /// Those of the prompt that were written into the cache.
    pub cache_write_tokens: u64,
    /// Those of them that the cache keeps for an hour. Only Anthropic's keeps anything for a time that the request names.
    pub long_cache_write_tokens: u64,
    pub reasoning_tokens: u64,
    /// The provider's own object, if its format is OpenAI's and it has all counts that OpenAI's has.
    pub extra: Option<Value<'static>>,
}

impl Usage {
    /// The counts in OpenAI's object; `None` if it is none.
    pub(crate) fn of_openai(value: &Value<'_>) -> Option<Self> {
        const REQUIRED: [&str; 3] = ["prompt_tokens", "completion_tokens", "total_tokens"];
        const DETAILS: [&str; 2] = ["prompt_tokens_details", "completion_tokens_details"];
        let is_count = |name| value.get(name).is_some_and(|it| it.as_number().is_some());
        let extra = REQUIRED.into_iter().all(is_count).then(|| value.clone().into_owned());
        Some(Self { extra, ..Self::read(value, REQUIRED, DETAILS, &CACHED)? })
    }

    /// The counts in the object of Responses; `None` if it is none.
    pub(crate) fn of_responses(value: &Value<'_>) -> Option<Self> {
        const NAMES: [&str; 3] = ["input_tokens", "output_tokens", "total_tokens"];
        const DETAILS: [&str; 2] = ["input_tokens_details", "output_tokens_details"];
        Self::read(value, NAMES, DETAILS, &[])
    }

    /// The counts in an object with these members. In `cached` are the cached tokens, if its details do not have them.
    fn read(
        value: &Value<'_>,
        names: [&str; 3],
        [of_prompt, of_completion]: [&str; 2],
        cached: &[&str],
    ) -> Option<Self> {
        value.as_object()?;
        let [prompt_tokens, completion_tokens, total_tokens] =
            names.map(|name| count(value.get(name)).unwrap_or_default());
        let detail = |details, name| count(value.get(details)?.get(name));
        let own_cached = || cached.iter().find_map(|name| count(value.get(name)));
        Some(Self {
            prompt_tokens,
            completion_tokens,
            total_tokens: total_tokens.max(prompt_tokens.saturating_add(completion_tokens)),
            cached_tokens: detail(of_prompt, "cached_tokens")
                .or_else(own_cached)
                .unwrap_or_default(),
            cache_write_tokens: detail(of_prompt, "cache_write_tokens").unwrap_or_default(),
            long_cache_write_tokens: 0,
            reasoning_tokens: detail(of_completion, "reasoning_tokens").unwrap_or_default(),
            extra: None,
        })
    }

    /// Adds the tokens of another answer, for the sum over the rounds of the tool loop.
    pub(crate) fn add(&mut self, other: &Self) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        self.long_cache_write_tokens =
            self.long_cache_write_tokens.saturating_add(other.long_cache_write_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
        self.extra = None;
    }
}

/// OpenAI's object.
impl Serialize for Usage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Counts {
            prompt_tokens: u64,
            completion_tokens: u64,
            total_tokens: u64,
            prompt_tokens_details: PromptDetails,
            completion_tokens_details: CompletionDetails,
        }
        #[derive(Serialize)]
        struct PromptDetails {
            cached_tokens: u64,
        }
        #[derive(Serialize)]
        struct CompletionDetails {
            reasoning_tokens: u64,
        }
        let Self { prompt_tokens, completion_tokens, total_tokens, .. } = *self;
        let Self { cached_tokens, reasoning_tokens, extra, .. } = self;
        match extra {
            Some(own) => own.serialize(serializer),
            None => Counts {
                prompt_tokens,
                completion_tokens,
                total_tokens,
                prompt_tokens_details: PromptDetails { cached_tokens: *cached_tokens },
                completion_tokens_details: CompletionDetails {
                    reasoning_tokens: *reasoning_tokens,
                },
            }
            .serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolbooth::json;

    #[test]
    fn cached_tokens_of_providers_with_the_format_of_openai() {
        for (details, expected) in [
            ("", 0),
            (r#","prompt_tokens_details":{"cached_tokens":4}"#, 4),
            (r#","prompt_tokens_details":{"cached_tokens":0},"cached_tokens":5"#, 0),
            (
                r#","prompt_tokens_details":null,"prompt_cache_hit_tokens":6,"prompt_cache_miss_tokens":3"#,
                6,
            ),
            (r#","cached_tokens":7"#, 7),
        ] {
            let text = format!(
                r#"{{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10{details}}}"#
            );
            let usage = Usage::of_openai(&json::parse(&text).unwrap()).unwrap();
            assert_eq!(usage.cached_tokens, expected, "{text}");
        }
    }
}
