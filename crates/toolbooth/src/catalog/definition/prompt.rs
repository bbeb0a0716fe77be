//! What clients offer to their users: prompts and documents (MCP).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A prompt that a user can select and send to a model, for example to have it use the tool.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Prompt {
    /// Its name, with the same characters as a tool's; unique in the catalogue.
    pub name: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description.
    pub description: String,
    /// The arguments that the user fills in.
    #[serde(default)]
    pub arguments: Vec<PromptArgument>,
    /// The text; `{name}` is replaced by an argument. Without a text, the prompt runs the tool with the
    /// arguments as its input, and each block of its value is a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// A description.
    pub description: String,
    /// Whether it is required.
    #[serde(default)]
    pub required: bool,
    /// The possible values, if there are few.
    #[serde(default, rename = "enum", skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// The tool that completes what a user types.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<Completion>,
}

/// A document, or many of a kind. Without `text` and `blob`, reading it runs the tool: its value, or each block
/// of it, is the content.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Resource {
    /// Its URI. A URI with `{name}` is a template for many documents; the name is a parameter of the tool, and
    /// matches one or more characters other than `/`. `{+name}` at its end also matches `/`.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description.
    pub description: String,
    /// Its media type.
    pub mime_type: String,
    /// Its content, if that is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its content in base64, if that is binary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// The tools that complete the names in its URI. Without one, the `enum` of the parameter does.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub complete: BTreeMap<String, Completion>,
}

impl Resource {
    /// Whether its URI is a template.
    pub fn is_template(&self) -> bool {
        self.uri.contains('{')
    }

    /// The names in its URI.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        let parts = self.uri.split('{').skip(1);
        let names = parts.map(|part| part.split_once('}').map_or(part, |(name, _)| name));
        names.map(|name| name.strip_prefix('+').unwrap_or(name))
    }
}

/// The tool that completes an argument while a user types it (MCP `completion/complete`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Completion {
    /// Its id without a version. Its parameter `value` is what the user has typed, and it returns a list of strings.
    pub tool: String,
    /// The other arguments that it receives, once the user has filled them in.
    #[serde(default)]
    pub with: Vec<String>,
}
