//! Views (the extension `io.modelcontextprotocol/ui`, MCP Apps): pages in which hosts show the results of tools. They are
//! resources, and tools name theirs. Hosts without views show the text of the result.

use serde::Serialize;
use serde_json::json;

use super::error::{ErrorCode, McpError};
use super::message::McpRequest;
use super::response::{CacheScope, ReadResourceResult, ResourceContents, ViewMeta};
use crate::call::RequestContext;
use crate::catalog::{Csp, Definition, Ui, View, ViewForm, ViewPermissions, Visibility};
use crate::host::Level;
use crate::http::Response;
use crate::json::Rendered;

/// The extension.
pub(super) const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// The media type of views.
const MIME_TYPE: &str = "text/html;profile=mcp-app";

/// What the build renders of each view.
pub(crate) const FORM: ViewForm = ViewForm {
    list: super::resources::LIST.name,
    entry: |uri, tools, meta| {
        let file = uri.rsplit('/').next().unwrap_or_default();
        json!({
            "uri": uri,
            "name": file,
            "description": format!("The view of {}", tools.join(", ")),
            "mimeType": MIME_TYPE,
            "_meta": {"ui": meta},
        })
    },
    meta: |ui| {
        let Ui { csp, permissions, prefers_border, domain, .. } = ui;
        json!(ResourceUi {
            csp: csp.as_ref().unwrap_or(&Csp::default()),
            permissions: permissions.as_ref(),
            prefers_border: *prefers_border,
            domain: domain.as_deref(),
        })
    },
};

/// `_meta.ui` of a resource.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceUi<'a> {
    /// Also if it is empty: otherwise hosts would have to guess whether it was forgotten.
    csp: &'a Csp,
    #[serde(skip_serializing_if = "Option::is_none")]
    permissions: Option<&'a ViewPermissions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefers_border: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    domain: Option<&'a str>,
}

/// `_meta.ui` of a tool.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolUi<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_uri: Option<String>,
    visibility: &'a [Visibility],
}

impl<'a> ToolUi<'a> {
    pub(super) fn of(definition: &'a Definition) -> Option<Self> {
        let ui = definition.ui.as_ref()?;
        Some(Self { resource_uri: definition.view_uri(), visibility: &ui.visibility })
    }
}

/// Whether the catalogue has views.
pub(super) fn are_served(context: &RequestContext<'_>) -> bool {
    !context.pipeline.catalog.views.all.is_empty()
}

/// The view with this address, if the caller may run a tool that it belongs to.
pub(super) fn find(uri: &str, context: &RequestContext<'_>) -> Option<&'static View> {
    let view = context.pipeline.catalog.views.all.iter().find(|view| view.uri == uri)?;
    let mut tools = view.tools.iter().filter_map(|at| context.pipeline.catalog.tools.get(*at));
    tools.any(|tool| context.allows(tool)).then_some(view)
}

/// `resources/read`: the page, with the origins that it uses.
pub(super) async fn read(
    request: &McpRequest<'_>,
    view: &'static View,
    context: &RequestContext<'_>,
) -> Result<Response, McpError> {
    let read = context.pipeline.catalog.views.read;
    let text = match read {
        Some(read) => read(view.path(), context.host.platform()).await,
        None => Err("the host has no files".to_owned()),
    };
    let text = text.map_err(|problem| {
        let details = [("view", view.uri), ("problem", &problem)];
        context.host.log(Level::Error, "view", &details);
        McpError::new(ErrorCode::INTERNAL_ERROR, "The view cannot be read").status(200)
    })?;
    let contents = [ResourceContents::View {
        uri: view.uri,
        mime_type: MIME_TYPE,
        text: &text,
        meta: ViewMeta { ui: Rendered(view.meta) },
    }];
    Ok(request.cacheable_result(&ReadResourceResult { contents }, CacheScope::of(context)))
}
