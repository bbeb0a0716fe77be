//! `server/discover` and `initialize`: the server's versions and capabilities.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::about::{self, Implementation};
use super::message::{Era, LEGACY, MODERN, McpRequest};
use super::response::{CacheScope, Caching, EmptyObject, ResultOptions};
use super::skills::SkillSettings;
use super::tasks;
use super::views;
use crate::call::RequestContext;
use crate::http::Response;
use crate::json::Value;

/// The server's capabilities. None has `listChanged`: what is compiled in does not change.
#[derive(Default, Serialize)]
struct ServerCapabilities {
    tools: EmptyObject,
    resources: EmptyObject,
    prompts: EmptyObject,
    completions: EmptyObject,
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<Extensions>,
    /// Log messages come with calls. Since 2026-07-28 they need no capability.
    #[serde(skip_serializing_if = "Option::is_none")]
    logging: Option<EmptyObject>,
}

/// The extensions of MCP that the server supports, with their settings.
struct Extensions {
    skills: Option<SkillSettings>,
    /// Those of capabilities, which have no settings.
    others: Vec<&'static str>,
}

impl Serialize for Extensions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(skills) = &self.skills {
            map.serialize_entry("io.modelcontextprotocol/skills", skills)?;
        }
        for id in &self.others {
            map.serialize_entry(id, &EmptyObject {})?;
        }
        map.end()
    }
}

impl ServerCapabilities {
    fn of(context: &RequestContext<'_>, era: Era) -> Self {
        let skills = SkillSettings::of(context);
        let mut others = context.pipeline.settings.mcp_extensions.clone();
        // Since 2026-07-28.
        if era == Era::Modern && tasks::are_served(context) {
            others.push(tasks::EXTENSION);
        }
        if views::are_served(context) {
            others.push(views::EXTENSION);
        }
        let has_some = skills.is_some() || !others.is_empty();
        let extensions = has_some.then_some(Extensions { skills, others });
        Self { extensions, ..Self::default() }
    }
}

/// `server/discover`. Like the reference servers, it only names modern versions, although legacy ones are served too.
#[inline(never)]
pub(super) fn discover(request: &McpRequest<'_>, context: &RequestContext<'_>) -> Response {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct DiscoverResult {
        supported_versions: [&'static str; 1],
        capabilities: ServerCapabilities,
        #[serde(skip_serializing_if = "Option::is_none")]
        instructions: Option<String>,
    }
    let result = DiscoverResult {
        supported_versions: [MODERN],
        capabilities: ServerCapabilities::of(context, request.era),
        instructions: about::instructions(context),
    };
    // Whether a list is short may depend on the caller, and so do instructions for one.
    let has_search = context.pipeline.search.is_some();
    let cache_scope = if has_search { CacheScope::of(context) } else { CacheScope::Public };
    let options = ResultOptions {
        caching: Some(Caching::lasting(cache_scope)),
        server_info: Some(Implementation::of(context)),
        ..ResultOptions::default()
    };
    request.result_with(&result, options)
}

/// `initialize`: the version that the client asks for, or the newest that has this method. No session begins.
#[inline(never)]
pub(super) fn initialize(request: &McpRequest<'_>, context: &RequestContext<'_>) -> Response {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct InitializeResult<'a> {
        protocol_version: &'static str,
        capabilities: ServerCapabilities,
        server_info: Implementation<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        instructions: Option<String>,
    }
    let requested = request.params.get("protocolVersion").and_then(Value::as_str);
    let [newest, ..] = LEGACY;
    let version = LEGACY.into_iter().find(|version| requested == Some(version));
    request.result(&InitializeResult {
        protocol_version: version.unwrap_or(newest),
        capabilities: ServerCapabilities {
            logging: Some(EmptyObject {}),
            ..ServerCapabilities::of(context, request.era)
        },
        server_info: Implementation::of(context),
        instructions: about::instructions(context),
    })
}
