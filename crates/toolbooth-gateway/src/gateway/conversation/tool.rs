//! The tools of a request, whatever the format of the client, and which of them the model may call.

use std::collections::BTreeSet;

use serde_json::value::RawValue;

use crate::gateway::error::{GatewayError, Result};
use crate::gateway::raw_json::parse;
use crate::wire::{Json, Members};
use toolbooth::json::Value;
use toolbooth::schema::text::excerpt;

#[derive(Debug, Clone)]
pub(crate) enum Tool {
    Function(FunctionTool),
    /// A tool with plain text as input, which the client runs. Only OpenAI-compatible providers know it.
    Custom {
        name: String,
        description: Option<String>,
        json: Box<RawValue>,
    },
    /// A tool that the provider itself runs, such as `web_search` or `mcp`.
    Hosted {
        kind: String,
        json: Box<RawValue>,
    },
}

impl Tool {
    /// The type and the JSON of a tool that the provider runs.
    pub(crate) fn hosted(self) -> Option<(String, Box<RawValue>)> {
        match self {
            Self::Hosted { kind, json } => Some((kind, json)),
            Self::Function(_) | Self::Custom { .. } => None,
        }
    }

    /// The definition, in the format of Chat Completions or in that of the provider that runs it.
    pub(crate) fn json(&self) -> Json<'_> {
        match self {
            Self::Function(function) => function.json(),
            Self::Custom { json, .. } | Self::Hosted { json, .. } => Json::from(&**json),
        }
    }

    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Function(tool) => Some(&tool.name),
            Self::Custom { name, .. } => Some(name),
            Self::Hosted { .. } => None,
        }
    }

    /// The error: several of these tools have the same name.
    pub(in crate::gateway) fn check_names(tools: &[Self]) -> Result<()> {
        let mut names = BTreeSet::new();
        let repeated = tools.iter().filter_map(Self::name).find(|name| !names.insert(*name));
        repeated.map_or(Ok(()), |name| Err(Self::repeated(name)))
    }

    pub(in crate::gateway) fn repeated(name: &str) -> GatewayError {
        let message = format!("There are several tools named \"{}\"", excerpt(name));
        GatewayError::invalid("tools", message)
    }
}

/// A function that the client runs (2api.ai, 2.1).
#[derive(Debug, Clone)]
pub(crate) struct FunctionTool {
    pub name: String,
    pub description: Option<String>,
    /// The schema of its arguments; `None` if it has none.
    pub parameters: Option<Box<RawValue>>,
    /// Whether the provider must enforce the schema, if the client says so.
    pub strict: Option<bool>,
    /// Anthropic's `cache_control`, which many clients send in OpenAI's format.
    pub cache_control: Option<Value<'static>>,
    /// The definition as a client of Chat Completions wrote it. Providers with that format get it.
    pub written: Option<Box<RawValue>>,
}

impl FunctionTool {
    pub(in crate::gateway) fn is_strict(&self) -> bool {
        self.strict.unwrap_or(false)
    }

    /// The definition in the format of Chat Completions.
    pub(in crate::gateway) fn json(&self) -> Json<'_> {
        match &self.written {
            Some(json) => Json::from(&**json),
            None => self.definition(self.parameters.as_deref().map(Json::from), self.strict),
        }
    }

    /// The same with other parameters, and `strict`. What else a client of Chat Completions wrote stays.
    pub(in crate::gateway) fn with(
        &self,
        parameters: Value<'static>,
        is_strict: bool,
    ) -> Json<'static> {
        let strict = if is_strict == self.is_strict() { self.strict } else { Some(is_strict) };
        let written = self.written.as_ref().and_then(|json| parse(json.get(), "tools").ok());
        let Some(Value::Object(mut definition)) = written.map(Value::into_owned) else {
            return self.definition(Some(Json::Value(parameters)), strict);
        };
        if let Some(Value::Object(mut function)) = definition.take("function") {
            function.insert("parameters".into(), parameters);
            if let Some(strict) = strict {
                function.insert("strict".into(), Value::Bool(strict));
            }
            definition.insert("function".into(), Value::Object(function));
        }
        Json::Value(Value::Object(definition))
    }

    fn definition(&self, parameters: Option<Json<'_>>, strict: Option<bool>) -> Json<'static> {
        let mut function = Members::default();
        function.add("name", Some(Value::from(self.name.as_str())));
        function.add("description", self.description.as_deref().map(Value::from));
        function.add("parameters", parameters);
        function.add("strict", strict.map(Value::Bool));
        Json::from(&function.of_type("function"))
    }
}

/// An entry of `tools` that selects compiled-in tools: `{"type": "toolbooth", "allowed": ["Weather.*"],
/// "require_approval": "never"}`, or that of an MCP server with the `server_url` `toolbooth`.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    /// Where it is in the request.
    pub path: String,
    /// Ids, names or `Toolkit.*`; `None`: all tools that the caller may call.
    pub allowed: Option<Vec<String>>,
    pub approval: Approval,
    /// The member that says that the model must search for the tools, if there is one.
    pub search: Option<String>,
}

/// Which calls the user must approve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Approval {
    Never,
    /// Those of tools that are not read-only: what applies if the entry says nothing.
    UnlessReadOnly,
    Always,
    /// All calls of some tools and none of others, by their names; the rest as if the entry said nothing.
    ByTool {
        always: Vec<String>,
        never: Vec<String>,
    },
}

impl Approval {
    /// Whether the user must approve the calls of a compiled-in tool.
    pub(in crate::gateway) fn is_needed(&self, tool: &str, is_read_only: bool) -> bool {
        let has = |names: &[String]| names.iter().any(|name| name == tool);
        match self {
            Self::Never => false,
            Self::UnlessReadOnly => !is_read_only,
            Self::Always => true,
            Self::ByTool { always, never } => has(always) || !is_read_only && !has(never),
        }
    }
}

/// Which tools the model may or must call (2api.ai, 3.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ToolChoice {
    None,
    Auto,
    Required,
    Function(String),
    /// Any number of these, or at least one.
    Allowed {
        required: bool,
        names: Vec<String>,
    },
    /// A choice that only OpenAI-compatible providers know, such as a custom tool: its JSON.
    Other(String),
}

impl ToolChoice {
    pub(crate) fn forces_call(&self) -> bool {
        match self {
            Self::Required | Self::Function(_) | Self::Other(_) => true,
            Self::Allowed { required, .. } => *required,
            Self::None | Self::Auto => false,
        }
    }
}
