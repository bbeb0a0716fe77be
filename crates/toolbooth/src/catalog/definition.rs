//! Tool definitions: the JSON file that describes one version of a tool.

mod prompt;
mod ui;

use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::http::{ExampleResponse, HttpDefinition};
pub use prompt::{Completion, Prompt, PromptArgument, Resource};
pub use ui::{Csp, NoSettings, Ui, ViewPermissions, Visibility};

/// The definition of one version of a tool: OXP's `ToolDefinition` and Toolbooth's own fields.
///
/// Unknown fields are errors, so that a misspelt field is noticed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Definition {
    /// `Toolkit.Tool@x.y.z`.
    pub id: String,
    /// The name that models see, `[A-Za-z0-9_-]{1,64}`; the same for all versions of a tool.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What the tool does and when to use it, for people and models. At most 1,024 characters, unless
    /// the build script allows more.
    pub description: String,
    /// `x.y.z`, the same as in `id`.
    pub version: Version,
    /// JSON Schema 2020-12 of the input, an object; each property should have a description.
    pub input_schema: Map<String, Value>,
    /// JSON Schema 2020-12 of the value; `{}` is any value, `null` means that the tool returns nothing.
    // With a function of its own, the field is required although it can be `null`.
    #[serde(deserialize_with = "Option::deserialize")]
    pub output_schema: Option<Map<String, Value>>,
    /// Scopes that the caller's API key or token must have, all of them.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The variables and secrets of the operator that the tool reads. If one of them is missing or invalid, calls
    /// of the tool are rejected.
    #[serde(default)]
    pub variables: Vec<String>,
    /// The resources of the host's platform that the tool uses, such as a database. If a required one is missing,
    /// calls of the tool are rejected.
    #[serde(default)]
    pub bindings: Vec<Binding>,
    /// The request that the tool sends, if it has no function.
    pub http: Option<HttpDefinition>,
    /// The binding of the host's platform whose service runs the tool, if it has no function here.
    pub service: Option<String>,
    /// What a call needs in addition to its input.
    pub requirements: Option<Requirements>,
    /// Inputs with their outcomes. The tests run all of them; at least one is required, unless the tool has `http`.
    #[serde(default)]
    pub examples: Vec<Example>,
    /// What a client may assume about a call.
    #[serde(default)]
    pub annotations: Annotations,
    /// Whether the value is for people and models to see: a list of
    /// [`ContentBlock`](crate::tool::ContentBlock)s, which `output_schema` must match.
    #[serde(default)]
    pub content: bool,
    /// Prompts for users of clients that support them (MCP).
    #[serde(default)]
    pub prompts: Vec<Prompt>,
    /// Documents for clients that support them (MCP).
    #[serde(default)]
    pub resources: Vec<Resource>,
    /// How hosts show the result (MCP Apps), and who may call the tool.
    pub ui: Option<Ui>,
    /// Set if callers should use something else.
    pub deprecated: Option<Deprecated>,
    /// Whether a call can or must run as a task, which may take longer than its client waits.
    pub task: Option<TaskSupport>,
    /// Whether lists have the tool, only the search of a large catalogue, or neither.
    #[serde(default)]
    pub listed: Listing,
}

/// How a tool runs that may take longer than a client waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskSupport {
    /// As a task, if the client and the server support it; otherwise within the request.
    Optional,
    /// As a task.
    Required,
}

/// Where a tool is found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Listing {
    /// In all lists; next to the search, if the catalogue is searched instead of listed.
    Always,
    /// In all lists, or by the search.
    #[default]
    Search,
    /// Nowhere: it only completes arguments.
    Never,
}

impl Definition {
    /// The part of the id before the dot.
    pub fn toolkit(&self) -> &str {
        self.id.split('.').next().unwrap_or_default()
    }

    /// Whether models see the tool. Otherwise only views call it, or it completes arguments.
    pub fn is_for_models(&self) -> bool {
        let is_visible = |ui: &Ui| ui.visibility.contains(&Visibility::Model);
        self.is_listed() && self.ui.as_ref().is_none_or(is_visible)
    }

    /// Whether any list has the tool.
    pub fn is_listed(&self) -> bool {
        self.listed != Listing::Never
    }

    /// The address of the view that shows the results; `None` if there is none.
    pub fn view_uri(&self) -> Option<String> {
        let file = self.ui.as_ref()?.file.as_ref()?;
        Some(format!("ui://{}/{file}", self.toolkit().to_ascii_lowercase()))
    }
}

/// A resource of the host's platform.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// Its name in the configuration of the host, such as `NOTES`.
    pub name: String,
    /// What it is, such as `d1`. The build knows the kinds.
    pub kind: String,
    /// Whether the tool works without it.
    #[serde(default)]
    pub optional: bool,
}

/// OXP `requirements`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Requirements {
    /// Tokens that the call needs, one per authorization provider.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authorization: Vec<AuthorizationRequirement>,
    /// Secrets of the caller that the call needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretRequirement>,
    /// Whether the call must have a user id.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub user_id: bool,
}

/// OXP `requirements.authorization[]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AuthorizationRequirement {
    /// The provider, such as `github`.
    pub id: String,
    /// The authorization that the user must grant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oauth2: Option<OAuth2>,
}

/// OXP `requirements.authorization[].oauth2`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct OAuth2 {
    /// The scopes that must be granted.
    #[serde(default)]
    pub scopes: Vec<String>,
}

/// OXP `requirements.secrets[]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SecretRequirement {
    /// The name of the secret, such as `TWILIO_API_KEY`.
    pub id: String,
}

/// An input with its outcome: a value, an error or requests for input.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Example {
    /// What the example shows.
    pub title: Option<String>,
    /// The calls that come before, in this order; they must succeed.
    #[serde(default)]
    pub setup: Vec<ExampleCall>,
    /// The input.
    pub input: Value,
    /// The value that the tool returns.
    #[serde(default, deserialize_with = "some")]
    pub value: Option<Value>,
    /// JSON pointers to the parts of the value that differ from call to call, such as a random id.
    #[serde(default)]
    pub varies: Vec<String>,
    /// The error that the tool returns instead.
    pub error: Option<ExampleError>,
    /// The keys of the input that the tool requests instead, sorted.
    pub asks: Option<Vec<String>>,
    /// The method and the address of the request that a tool with `http` sends: `GET https://orders.example/orders/7`.
    pub request: Option<String>,
    /// The JSON of its body.
    pub request_body: Option<Value>,
    /// The service's response to it.
    pub response: Option<ExampleResponse>,
}

/// Distinguishes `null` from a missing field.
fn some<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// A call that an example needs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExampleCall {
    /// The id of the tool, with or without a version.
    pub tool: String,
    /// The input.
    pub input: Value,
}

/// The part of a tool's error that an example checks.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExampleError {
    /// The error's message.
    pub message: String,
}

/// What a client may assume about a call. The defaults assume the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Annotations {
    /// The tool changes nothing.
    pub read_only: bool,
    /// It may destroy something.
    pub destructive: bool,
    /// A repeated call with the same input changes nothing more.
    pub idempotent: bool,
    /// It contacts other services.
    pub open_world: bool,
}

impl Default for Annotations {
    fn default() -> Self {
        Self { read_only: false, destructive: true, idempotent: false, open_world: true }
    }
}

/// Tells callers to use something else.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Deprecated {
    /// Why, and what to do.
    pub message: String,
    /// The date after which it may be removed, `YYYY-MM-DD`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sunset: Option<String>,
    /// The id of the tool to use instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replacement: Option<String>,
}
