//! The members of requests that a model can answer without, and what they are called in requests and in errors.
//!
//! Members that change what is asked are none of them: messages, tools and their choice, the format of the answer, limits of tokens, and
//! what says whether the provider may store the request.

/// A member that a model can answer without.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::gateway) struct OptionalMember {
    /// What it is in the gateway's form of a request: the first of these that the client has sent.
    pub(super) names: &'static [&'static str],
    /// Where it is in the bodies for providers. Errors may name a part of it.
    pub(super) paths: &'static [&'static str],
    /// What errors call it beside that.
    aliases: &'static [&'static str],
}

/// The header with Anthropic's betas. Errors name one of them.
pub(super) const BETAS: &str = "anthropic-beta";

/// A member that all formats call the same.
const fn plain(name: &'static [&'static str; 1]) -> OptionalMember {
    OptionalMember { names: name, paths: name, aliases: &[] }
}

const fn member(
    names: &'static [&'static str],
    paths: &'static [&'static str],
    aliases: &'static [&'static str],
) -> OptionalMember {
    OptionalMember { names, paths, aliases }
}

/// The names and paths are those of the references of OpenAI, Anthropic, Gemini and Mistral (November 2026); the aliases those of the
/// errors in `complaint`, with the reports there.
static MEMBERS: &[OptionalMember] = &[
    // Sampling.
    member(&["temperature"], &["temperature", "generationConfig.temperature"], &[]),
    member(&["top_p"], &["top_p", "generationConfig.topP"], &[]),
    member(&["top_k"], &["top_k", "generationConfig.topK"], &[]),
    plain(&["top_a"]),
    plain(&["min_p"]),
    member(&["seed"], &["seed", "generationConfig.seed"], &[]),
    plain(&["random_seed"]),
    member(
        &["frequency_penalty"],
        &["frequency_penalty", "generationConfig.frequencyPenalty"],
        &["penalty"],
    ),
    member(
        &["presence_penalty"],
        &["presence_penalty", "generationConfig.presencePenalty"],
        &["penalty"],
    ),
    member(&["repetition_penalty"], &["repetition_penalty"], &["penalty"]),
    member(&["repeat_penalty"], &["repeat_penalty"], &["penalty"]),
    member(&["stop"], &["stop", "stop_sequences", "generationConfig.stopSequences"], &[]),
    plain(&["stop_token_ids"]),
    plain(&["min_tokens"]),
    plain(&["logit_bias"]),
    plain(&["logprobs"]),
    plain(&["top_logprobs"]),
    // It is 1.
    plain(&["n"]),
    // How much the model thinks, and what of it can be read.
    member(
        &["thinking.display"],
        &["thinking.display"],
        &["thinking.adaptive.display", "thinking.enabled.display", "thinking.disabled.display"],
    ),
    member(
        &["thinking", "reasoning_effort"],
        &["thinking", "generationConfig.thinkingConfig"],
        &["thinking_config", "thinking_config.include_thoughts"],
    ),
    member(
        &["reasoning_effort", "thinking", "reasoning"],
        &[
            "reasoning_effort",
            "reasoning.effort",
            "output_config.effort",
            "generationConfig.thinkingConfig.thinkingLevel",
            "generationConfig.thinkingConfig.thinkingBudget",
        ],
        &[
            "effort",
            "output_config",
            "thinking_level",
            "thinking_budget",
            "budget",
            "thinking",
            "think",
            "reasoning",
        ],
    ),
    plain(&["reasoning.summary"]),
    plain(&["reasoning"]),
    plain(&["include_reasoning"]),
    plain(&["reasoning_format"]),
    member(&["enable_thinking"], &["enable_thinking"], &["thinking"]),
    member(&["thinking_budget"], &["thinking_budget"], &["thinking", "budget"]),
    plain(&["chat_template_kwargs"]),
    // The form of the answer, but not its format.
    member(&["verbosity"], &["verbosity", "text.verbosity"], &["text"]),
    plain(&["include"]),
    plain(&["stream_options"]),
    member(
        &["parallel_tool_calls"],
        &["parallel_tool_calls", "tool_choice.disable_parallel_tool_use"],
        &[
            "tool_choice.auto.disable_parallel_tool_use",
            "tool_choice.any.disable_parallel_tool_use",
            "tool_choice.tool.disable_parallel_tool_use",
        ],
    ),
    // Speed, price, and what the provider keeps about users.
    plain(&["service_tier"]),
    plain(&["prediction"]),
    plain(&["cache_control"]),
    plain(&["prompt_cache_key"]),
    plain(&["prompt_cache_retention"]),
    plain(&["diagnostics"]),
    // Older results and thoughts that the model need not read again.
    member(
        &["context_management"],
        &["context_management"],
        &["clear_thinking_20251015", "clear_tool_uses_20250919"],
    ),
    member(&["metadata", "safety_identifier", "user"], &["metadata"], &[]),
    plain(&[BETAS]),
    member(&["user", "safety_identifier"], &["user"], &[]),
    plain(&["safety_identifier"]),
];

/// The members that a path in an error means, the likeliest first.
pub(super) fn named(path: &[String]) -> Vec<&'static OptionalMember> {
    let mut found: Vec<_> =
        MEMBERS.iter().filter_map(|member| Some((member, member.matched(path)?))).collect();
    // The sort is stable: otherwise the order is that of the table.
    found.sort_by_key(|(_, names)| std::cmp::Reverse(*names));
    found.into_iter().map(|(member, _)| member).collect()
}

impl OptionalMember {
    /// Whether the path of an error is all of its own, and not that of a part of it.
    pub(super) fn is_called(&self, path: &[String]) -> bool {
        let mut names = self.paths.iter().chain(self.aliases);
        names.any(|own| segments(own).eq(path.iter().cloned()))
    }

    /// How many names of the path of an error are its own, if it means this member.
    fn matched(&self, path: &[String]) -> Option<usize> {
        let begins = |own: &&str| {
            let names: Vec<_> = segments(own).collect();
            path.starts_with(&names).then_some(names.len())
        };
        let is_alias = self.aliases.iter().any(|own| segments(own).eq(path.iter().cloned()));
        let alias = is_alias.then_some(path.len());
        self.paths.iter().filter_map(begins).chain(alias).max()
    }
}

/// The names of a path, without positions. `thinking_level`, `thinkingLevel` and `Thinking level` are the same.
pub(super) fn segments(path: &str) -> impl Iterator<Item = String> {
    let names = path.split(['.', '[', ']', '/']).map(|name| {
        let letters = name.chars().filter(|it| it.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect::<String>()
    });
    names.filter(|name| !name.is_empty() && !name.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_paths_of_errors_mean() {
        for (path, expected) in [
            ("temperature", "temperature"),
            ("generation_config.temperature", "temperature"),
            ("thinking.adaptive.display", "thinking.display"),
            ("thinking.enabled.budget_tokens", "thinking"),
            ("generation_config.thinking_config.thinking_level", "reasoning_effort"),
            ("Thinking level", "reasoning_effort"),
            ("reasoning.effort", "reasoning_effort"),
            ("reasoningEffort", "reasoning_effort"),
            ("output_config.effort", "reasoning_effort"),
            ("stop[0]", "stop"),
            ("text.verbosity", "verbosity"),
            ("tool_choice.auto.disable_parallel_tool_use", "parallel_tool_calls"),
            ("stream_options.include_usage", "stream_options"),
            ("Penalty", "frequency_penalty"),
        ] {
            let path: Vec<_> = segments(path).collect();
            let found = named(&path).first().map(|member| member.names[0]);
            assert_eq!(found, Some(expected), "{path:?}");
        }
    }

    /// Nothing that changes what is asked.
    #[test]
    fn what_is_never_left_out() {
        for path in [
            "messages",
            "messages.0.temperature",
            "messages[3].content[0].thinking.cache_control",
            "input.0.reasoning",
            "contents[0].parts[0].thinking",
            "system.2.cache_control.ephemeral.scope",
            "instructions",
            "model",
            "tools.0.custom.stop",
            "tools",
            "tool_choice",
            "tool_choice.type",
            "toolConfig",
            "response_format",
            "text.format",
            "output_config.format",
            "output_format",
            "generationConfig",
            "generationConfig.responseJsonSchema",
            "generationConfig.maxOutputTokens",
            "max_tokens",
            "max_completion_tokens",
            "max_output_tokens",
            "modalities",
            "store",
            "stream",
            "safe_prompt",
            "guided_json",
            "structured_outputs",
            "mcp_servers",
            "container",
            "",
        ] {
            let path: Vec<_> = segments(path).collect();
            assert!(named(&path).is_empty(), "{path:?} {:?}", named(&path));
        }
    }
}
