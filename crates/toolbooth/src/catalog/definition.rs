//! A definition: what its author says of a tool, in one JSON file.

use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The definition of one version of a tool: OXP's `ToolDefinition` and Toolbooth's own fields.
///
/// Unknown fields are refused, so that a misspelt one is not silently without effect.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// `Toolkit.Tool@x.y.z`.
    pub id: String,
    /// The name that models see, `[A-Za-z0-9_-]{1,64}`; the same for all versions of a tool.
    pub name: String,
    /// A name for people.
    #[serde(default)]
    pub title: Option<String>,
    /// What it does and when to use it, for people and models. At most 1,024 characters.
    pub description: String,
    /// `x.y.z`, the same as in `id`.
    pub version: Version,
    /// JSON Schema 2020-12 of the input, an object; each property has a description.
    pub input_schema: Map<String, Value>,
    /// JSON Schema 2020-12 of the value; `{}` is any value, `null` says that the tool returns nothing.
    #[serde(deserialize_with = "present")]
    pub output_schema: Option<Map<String, Value>>,
    /// Scopes that the caller's API key or token must have, all of them.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// What a call needs beyond its input.
    #[serde(default)]
    pub requirements: Option<Requirements>,
    /// Inputs with what comes of them. The tests run each one; at least one must be given.
    #[serde(default)]
    pub examples: Vec<Example>,
    /// What a client may assume of a call.
    #[serde(default)]
    pub annotations: Annotations,
    /// Whether the value is made for people and models to see: a list of blocks, as
    /// [`ContentBlock`](crate::call::Content) has them, which `output_schema` must say too.
    #[serde(default)]
    pub content: bool,
    /// Words that a user can pick in clients that have a place for them (MCP).
    #[serde(default)]
    pub prompts: Vec<Prompt>,
    /// Documents that clients with a place for them (MCP) can list and read.
    #[serde(default)]
    pub resources: Vec<Resource>,
    /// Set when callers should move to something else.
    #[serde(default)]
    pub deprecated: Option<Deprecated>,
}

/// `null` is a value here: unlike `Option`'s own rule, the field must be written.
fn present<'de, D>(deserializer: D) -> Result<Option<Map<String, Value>>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    Option::deserialize(deserializer)
}

/// OXP `requirements`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Requirements {
    /// Tokens that the call needs, one an authorization provider.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authorization: Vec<AuthorizationRequirement>,
    /// Secrets that the call needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretRequirement>,
    /// Whether the call must say for which user it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub user_id: bool,
}

/// OXP `requirements.authorization[]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AuthorizationRequirement {
    /// The provider, such as `github`.
    pub id: String,
    /// What must be granted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oauth2: Option<OAuth2>,
}

/// OXP `requirements.authorization[].oauth2`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OAuth2 {
    /// The scopes that must be granted.
    #[serde(default)]
    pub scopes: Vec<String>,
}

/// OXP `requirements.secrets[]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SecretRequirement {
    /// The name of the secret, such as `TWILIO_API_KEY`.
    pub id: String,
}

/// An input with the value, or the error, that it must lead to.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// What the example shows.
    #[serde(default)]
    pub title: Option<String>,
    /// The input.
    pub input: Value,
    /// The value that comes back.
    #[serde(default, deserialize_with = "some")]
    pub value: Option<Value>,
    /// The error that comes back instead of a value.
    #[serde(default)]
    pub error: Option<ExampleError>,
    /// The keys of the questions that come back instead, sorted: the tool needs answers first.
    #[serde(default)]
    pub asks: Option<Vec<String>>,
}

/// Keeps a written `null` apart from a missing field.
fn some<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// The part of a tool's error that an example fixes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExampleError {
    /// The error's message.
    pub message: String,
}

/// What a client may assume of a call. The defaults are the careful ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Annotations {
    /// Changes nothing.
    pub read_only: bool,
    /// May destroy something.
    pub destructive: bool,
    /// Calling again with the same input changes nothing more.
    pub idempotent: bool,
    /// Reaches out to the world beyond the server.
    pub open_world: bool,
}

impl Default for Annotations {
    fn default() -> Self {
        Self { read_only: false, destructive: true, idempotent: false, open_world: true }
    }
}

/// Words for a user to pick and send to a model, for instance to have the tool used.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Prompt {
    /// Its name, as tools are named; no two prompts of a catalogue have one name.
    pub name: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    pub description: String,
    /// What the user fills in.
    #[serde(default)]
    pub arguments: Vec<PromptArgument>,
    /// The words; `{name}` stands for an argument. Without, the tool itself is run, with the arguments
    /// as its input, and each block of its value is a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What a user fills in in a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// What belongs there.
    pub description: String,
    /// Whether the prompt makes no sense without it.
    #[serde(default)]
    pub required: bool,
    /// The values to offer, if there are few.
    #[serde(default, rename = "enum", skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

/// A document, or many of one kind. Without `text` and `blob` the tool itself is run: its value, or
/// each block of it, is what stands in the document.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// Its address. With a `{name}` in it, it is the address of many; the name is a parameter of the
    /// tool, and stands for one or more characters other than `/`.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What stands in it.
    pub description: String,
    /// Its media type.
    pub mime_type: String,
    /// The text that stands in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes that stand in it, in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
}

impl Resource {
    /// Whether it is one of many.
    pub fn is_template(&self) -> bool {
        self.uri.contains('{')
    }
}

/// Tells callers to move on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Deprecated {
    /// Why, and what to do.
    pub message: String,
    /// The day from which it may be gone, `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sunset: Option<String>,
    /// The id of the tool to use instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacement: Option<String>,
}
