//! The dialects of OpenAI's Chat Completions format: what the providers with that format accept of it.
//!
//! `dialects.json` has a row for each, with its source and date. What it does not know of a provider is what all of them accept.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::gateway::facts::Facts;
use toolbooth::json;

const TABLE: &str = include_str!("dialects.json");

/// A row of the table.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Dialect {
    /// The value of `<ID>_DIALECT`.
    name: String,
    /// The hosts of the provider, each perhaps with a port.
    addresses: Vec<String>,
    /// What the provider accepts beyond what all do.
    takes: Vec<Feature>,
    /// The members of an assistant message with the reasoning that the provider takes back.
    reasoning: Vec<String>,
    /// Whether the ids of calls must have nine letters and digits.
    has_nine_character_ids: bool,
    /// Whether the model must have answered results before the user's next message.
    needs_answers_to_results: bool,
    /// Whether a call without that reasoning is rejected. An empty one is not.
    needs_reasoning: bool,
    /// The members of a request that the provider knows, apart from those with the conversation and the tools, if not all.
    members: Option<Vec<String>>,
    /// Those of an assistant message, apart from reasoning.
    message_members: Option<Vec<String>>,
    /// What it calls the member `seed`, if that has another name.
    seed: Option<String>,
    /// The types of `response_format` that the provider knows, if not all.
    formats: Option<Vec<String>>,
    /// What all models of the provider accept.
    facts: Facts,
}

/// What some providers accept and others reject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Feature {
    /// The role `developer`.
    Developer,
    /// System messages anywhere, and several of them.
    LaterSystemMessages,
    /// Several messages of the user, or of the assistant, in a row.
    RepeatedRoles,
    /// A list of parts as the content of a message that is only text.
    TextParts,
    /// Parts of the type `file`.
    Files,
    /// The member `extra_content` of messages and calls, with signatures.
    ExtraContent,
    /// The member `max_completion_tokens`.
    MaxCompletionTokens,
    /// The member `stream_options`.
    StreamOptions,
    /// A message of the assistant as the last one.
    Prefill,
    /// The members `refusal` and `audio` of a message of the assistant.
    Refusals,
    /// Calls whose arguments are not the JSON of an object.
    MalformedArguments,
}

#[derive(Debug, Default, Deserialize)]
struct Table {
    default: Dialect,
    others: Vec<Dialect>,
}

fn table() -> &'static Table {
    static READ: LazyLock<Table> =
        LazyLock::new(|| json::read(TABLE.as_bytes()).unwrap_or_default());
    &READ
}

impl Dialect {
    /// The one for providers of which nothing is known.
    pub(crate) fn usual() -> &'static Self {
        &table().default
    }

    /// The one with this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        Self::all().find(|dialect| dialect.name == name)
    }

    /// That of the provider at a base URL.
    pub(crate) fn at(base_url: &str) -> &'static Self {
        let host = host(base_url);
        let is_there = |address: &String| {
            let rest = host.strip_suffix(address.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        let found = Self::all().find(|dialect| dialect.addresses.iter().any(is_there));
        found.unwrap_or_else(Self::usual)
    }

    #[cfg(test)]
    pub(crate) fn of(takes: &[Feature], reasoning: &[&str]) -> Self {
        let reasoning = reasoning.iter().map(|&name| name.to_owned()).collect();
        Self { takes: takes.to_vec(), reasoning, ..Self::default() }
    }

    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        Self::all().map(|dialect| dialect.name.as_str())
    }

    pub(crate) fn takes(&self, feature: Feature) -> bool {
        self.takes.contains(&feature)
    }

    /// What it calls a member of a request; `None` if it does not know it.
    pub(crate) fn member<'n>(&'n self, name: &'n str) -> Option<&'n str> {
        let name = self.seed.as_deref().filter(|_| name == "seed").unwrap_or(name);
        knows(&self.members, name).then_some(name)
    }

    /// Whether it knows a member of an assistant message.
    pub(crate) fn knows_message_member(&self, name: &str) -> bool {
        knows(&self.message_members, name) || self.takes_reasoning(name)
    }

    /// Whether it knows a type of `response_format`.
    pub(crate) fn knows_format(&self, kind: &str) -> bool {
        knows(&self.formats, kind)
    }

    /// What all models of the provider accept.
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Whether it takes back reasoning in this member.
    pub(crate) fn takes_reasoning(&self, member: &str) -> bool {
        self.reasoning.iter().any(|known| known == member)
    }

    pub(crate) fn has_nine_character_ids(&self) -> bool {
        self.has_nine_character_ids
    }

    pub(crate) fn needs_answers_to_results(&self) -> bool {
        self.needs_answers_to_results
    }

    /// The member of a message with calls that must have reasoning, even if there is none.
    pub(crate) fn needed_reasoning(&self) -> Option<&str> {
        self.reasoning.first().filter(|_| self.needs_reasoning).map(String::as_str)
    }

    fn all() -> impl Iterator<Item = &'static Self> {
        let Table { default, others } = table();
        std::iter::once(default).chain(others)
    }
}

/// Whether a list has a name. Without a list, all are known.
fn knows(list: &Option<Vec<String>>, name: &str) -> bool {
    list.as_ref().is_none_or(|known| known.iter().any(|known| known == name))
}

/// The host of a URL in lower case, with the port unless that is the usual one.
fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let authority = authority.strip_suffix(":443").unwrap_or(authority);
    authority.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn each_row_is_read_and_has_a_source() {
        let file: Value = serde_json::from_str(TABLE).unwrap();
        let rows: Vec<_> = std::iter::once(&file["default"])
            .chain(file["others"].as_array().unwrap())
            .map(|row| row["name"].as_str().unwrap())
            .collect();
        assert_eq!(Dialect::names().collect::<Vec<_>>(), rows);
        for row in std::iter::once(&file["default"]).chain(file["others"].as_array().unwrap()) {
            let text = |name: &str| row[name].as_str().unwrap();
            assert!(!text("source").is_empty(), "{row}");
            let date = text("date").split_once('-').unwrap();
            assert!(date.0.len() == 4 && date.1.len() == 2, "{row}");
        }
    }

    #[test]
    fn dialects_by_address() {
        for (url, name) in [
            ("https://api.deepseek.com/v1", "deepseek"),
            ("https://API.DeepSeek.com:443", "deepseek"),
            ("https://openrouter.ai/api/v1", "openrouter"),
            ("https://eu.openrouter.ai/api/v1", "openrouter"),
            ("https://notopenrouter.ai/api/v1", "default"),
            ("https://openrouter.ai.example/api/v1", "default"),
            ("https://api.mistral.ai/v1", "mistral"),
            ("https://api.groq.com/openai/v1", "groq"),
            ("https://api.moonshot.cn/v1", "moonshot"),
            ("https://open.bigmodel.cn/api/paas/v4", "zai"),
            ("https://api.z.ai/api/coding/paas/v4", "zai"),
            ("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "qwen"),
            ("https://api.fireworks.ai/inference/v1", "fireworks"),
            ("https://mine.openai.azure.com/openai/v1", "openai"),
            ("http://localhost:11434/v1", "ollama"),
            ("http://127.0.0.1:8000/v1", "default"),
            ("", "default"),
        ] {
            assert_eq!(Dialect::at(url).name, name, "{url}");
        }
        assert!(Dialect::named("qwen").is_some() && Dialect::named("Qwen").is_none());
    }
}
