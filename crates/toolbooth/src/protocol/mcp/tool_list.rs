//! `tools/list`: the tools as the build renders them, or those of the search with the pinned ones.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::error::McpError;
use super::message::McpRequest;
use super::pagination;
use super::security_schemes;
use super::views::ToolUi;
use crate::call::RequestContext;
use crate::catalog::{Definition, Deprecated, ListForm, Listed, Rendering};
use crate::http::Response;
use crate::protocol::definition::{array, description, latest};
use crate::protocol::keywords::types;

/// The tools: the latest version of each, under its plain name.
pub(crate) const LIST: ListForm = array("mcp-tools", |it| latest(it, render));

/// A tool. All protocol versions share this form.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedTool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    description: String,
    input_schema: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<Value>,
    annotations: ToolAnnotations<'a>,
    #[serde(rename = "_meta")]
    meta: ToolMeta<'a>,
}

/// Hints for clients, which trust them no more than the server.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolAnnotations<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    read_only_hint: bool,
    destructive_hint: bool,
    idempotent_hint: bool,
    open_world_hint: bool,
}

/// What MCP has no field for.
#[derive(Serialize)]
struct ToolMeta<'a> {
    #[serde(rename = "toolbooth/id")]
    id: &'a str,
    #[serde(rename = "toolbooth/version")]
    version: String,
    #[serde(rename = "toolbooth/deprecated", skip_serializing_if = "Option::is_none")]
    deprecated: Option<&'a Deprecated>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ui: Option<ToolUi<'a>>,
    /// The address of the view, as hosts of before 2026-01-26 read it.
    #[serde(rename = "ui/resourceUri", skip_serializing_if = "Option::is_none")]
    view_uri: Option<String>,
}

/// `tools/list`.
#[inline(never)]
pub(super) fn list(
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
) -> Result<Response, McpError> {
    let list = context.list(LIST.name)?;
    let Some(search) = context.search_instead_of(list)? else {
        return match context.shows_protected {
            true => security_schemes::list_tools(list, request, context),
            false => pagination::list("tools", LIST.name, request, context),
        };
    };
    pagination::check_no_cursor(request)?;
    if context.shows_protected {
        let tools = format!("[{}]", security_schemes::short_list(list, search, context));
        return Ok(pagination::respond("tools", &tools, None, request, context));
    }
    let pinned = list.join(context.pinned_entries(list, search), ",");
    let comma = if pinned.is_empty() { "" } else { "," };
    let tools = format!("[{}{comma}{pinned}]", search.listed);
    Ok(pagination::respond("tools", &tools, None, request, context))
}

fn render(listed: &Listed<'_>) -> Rendering {
    let Definition { id, title, version, annotations, deprecated, .. } = listed.definition;
    // Content blocks are not structured content.
    let output = listed.definition.output_schema.as_ref().filter(|_| !listed.definition.content);
    Rendering::of(&ListedTool {
        name: listed.name,
        title: title.as_deref(),
        // Models see nothing else.
        description: description(listed.definition),
        input_schema: &listed.definition.input_schema,
        output_schema: output.map(structured_content_schema),
        annotations: ToolAnnotations {
            title: title.as_deref(),
            read_only_hint: annotations.read_only,
            destructive_hint: annotations.destructive,
            idempotent_hint: annotations.idempotent,
            open_world_hint: annotations.open_world,
        },
        meta: ToolMeta {
            id,
            version: version.to_string(),
            deprecated: deprecated.as_ref(),
            ui: ToolUi::of(listed.definition),
            view_uri: listed.definition.view_uri(),
        },
    })
}

/// The schema of `structuredContent` for values of the schema `output`. Before 2026-07-28 it had to be an
/// object, so all versions wrap other values in one, as the member `result`. FastMCP's client unwraps it if the
/// schema says so.
fn structured_content_schema(output: &Map<String, Value>) -> Value {
    if output.get("type").is_some_and(|kind| kind == "object") {
        return Value::Object(output.clone());
    }
    if types(output).contains(&"object") || !output.contains_key("type") {
        return json!({
            "type": "object",
            "description": "The value itself if it is an object; any other value is in the member result.",
        });
    }
    json!({
        "type": "object",
        "properties": { "result": output },
        "required": ["result"],
        "x-fastmcp-wrap-result": true,
    })
}
