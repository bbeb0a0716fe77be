//! Resources: the documentation of each tool, and the documents that tools declare.

use serde::Serialize;
use serde_json::json;

use super::call::{self, Action};
use super::documentation::{self, BASE, MARKDOWN, TEMPLATE};
use super::error::McpError;
use super::message::McpRequest;
use super::outcome::CallTarget;
use super::pagination;
use super::response::{CacheScope, ReadResourceResult, ResourceContents};
use super::skills;
use super::views;
use crate::call::{RequestContext, ToolSelector};
use crate::catalog::{Definition, ListForm, Listed, Rendering, Resource};
use crate::http::Response;
use crate::json::{self, Object, Value};
use crate::protocol::definition::{array, latest};

/// The resources, for `resources/list`.
pub(super) const LIST: ListForm = array("mcp-resources", render);

/// The templates that tools declare, for `resources/templates/list`.
pub(super) const TEMPLATES: ListForm = array("mcp-templates", |it| latest(it, render_templates));

/// The contents of resources, with the ids of their tools, for `resources/read`.
pub(super) const CONTENTS: ListForm = array("mcp-contents", |it| latest(it, render_declared));

/// `resources/templates/list`: the template of the documentation, and those that tools declare.
#[inline(never)]
pub(super) fn templates(
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
) -> Result<Response, McpError> {
    pagination::check_no_cursor(request)?;
    let documentation = json::to_string(&ListedResource {
        uri: None,
        uri_template: Some(TEMPLATE),
        name: "tool",
        title: Some("Documentation of a tool"),
        description: "A tool by its id, with or without version: Toolkit.Tool@1.0.0",
        mime_type: MARKDOWN,
    });
    let list = context.list(TEMPLATES.name)?;
    let declared = list.join(context.allowed_entries(list), ",");
    let comma = if declared.is_empty() { "" } else { "," };
    let templates = format!("[{documentation}{comma}{declared}]");
    Ok(pagination::respond("resourceTemplates", &templates, None, request, context))
}

#[inline(never)]
pub(super) fn read<'t>(
    mut request: McpRequest<'t>,
    context: &RequestContext<'_>,
) -> Result<Action<'t>, McpError> {
    let uri = request.take_string("uri")?.into_owned();
    if let Some(id) = uri.strip_prefix(BASE) {
        return documentation::read(&request, context, &uri, id).map(Action::Respond);
    }
    if let Some((mime_type, text)) = skills::file(&uri, context) {
        let contents = [ResourceContents::Text { uri: &uri, mime_type, text: &text }];
        let result =
            request.cacheable_result(&ReadResourceResult { contents }, CacheScope::of(context));
        return Ok(Action::Respond(result));
    }
    if let Some(view) = views::find(&uri, context) {
        return Ok(Action::Read(request, view));
    }
    let Some((resource, input)) = find(&uri, context)? else {
        return Err(McpError::unknown_resource(&uri, request.era));
    };
    let member = |name: &str| resource.get(name).and_then(Value::as_str);
    let mime_type = member("mimeType").unwrap_or_default();
    let contents = match (member("text"), member("blob")) {
        (Some(text), _) => ResourceContents::Text { uri: &uri, mime_type, text },
        (None, Some(blob)) => ResourceContents::Blob { uri: &uri, mime_type, blob },
        (None, None) => {
            let tool = member("tool").unwrap_or_default().to_owned();
            let target = CallTarget::Resource { uri, mime_type: mime_type.to_owned() };
            let (tool, input) = (ToolSelector::Id(tool.into()), Value::Object(input));
            return call::of_tool(request, context, tool, input, target);
        }
    };
    let result = ReadResourceResult { contents: [contents] };
    Ok(Action::Respond(request.cacheable_result(&result, CacheScope::of(context))))
}

/// The resource of an address, and its tool's input from the address. An exact one wins.
fn find(
    uri: &str,
    context: &RequestContext<'_>,
) -> Result<Option<(Value<'static>, Object<'static>)>, McpError> {
    let mut template = None;
    for resource in pagination::items(context, CONTENTS.name)? {
        let declared = resource.get("uri").and_then(Value::as_str).unwrap_or_default();
        let Some(input) = match_template(declared, uri) else { continue };
        if declared == uri {
            return Ok(Some((resource, input)));
        }
        template = template.or(Some((resource, input)));
    }
    Ok(template)
}

/// The values of the names in a template; `None` if the address does not match. `{+name}` is the rest of the address: the build
/// allows it only at the end.
fn match_template(template: &str, uri: &str) -> Option<Object<'static>> {
    let mut values = Object::default();
    let (mut template, mut uri) = (template, uri);
    while let Some((before, after)) = template.split_once('{') {
        let (name, after) = after.split_once('}')?;
        uri = uri.strip_prefix(before)?;
        let next = after.chars().next();
        let (name, end) = match name.strip_prefix('+') {
            Some(name) => (name, uri.len()),
            None => {
                let end = uri.find(|one| one == '/' || Some(one) == next);
                (name, end.unwrap_or(uri.len()))
            }
        };
        let (value, rest) = uri.split_at_checked(end)?;
        if value.is_empty() {
            return None;
        }
        let value = percent_encoding::percent_decode_str(value).decode_utf8().ok()?;
        let value = Value::String(value.into_owned().into());
        values.insert(name.to_owned().into(), value);
        (template, uri) = (after, rest);
    }
    (template == uri).then_some(values)
}

/// A resource in `resources/list`, or a template in `resources/templates/list`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedResource<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_template: Option<&'a str>,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    description: &'a str,
    mime_type: &'a str,
}

/// The documentation of a tool, and the resources that its latest version declares.
fn render(listed: &Listed<'_>) -> Rendering {
    let Definition { id, title, description, .. } = listed.definition;
    let documentation = json!(ListedResource {
        uri: Some(&documentation::address(listed.definition)),
        uri_template: None,
        name: id,
        title: title.as_deref(),
        description,
        mime_type: MARKDOWN,
    });
    let resources = listed.definition.resources.iter();
    let resources = resources.filter(|resource| listed.latest && !resource.is_template());
    pagination::render_items([documentation].into_iter().chain(resources.map(describe)))
}

fn render_templates(listed: &Listed<'_>) -> Rendering {
    let resources = listed.definition.resources.iter();
    pagination::render_items(resources.filter(|resource| resource.is_template()).map(describe))
}

fn render_declared(listed: &Listed<'_>) -> Rendering {
    let Definition { id, resources, .. } = listed.definition;
    pagination::render_array(resources.iter().map(|resource| {
        let Resource { uri, mime_type, text, blob, .. } = resource;
        json!({"tool": id, "uri": uri, "mimeType": mime_type, "text": text, "blob": blob})
    }))
}

fn describe(resource: &Resource) -> serde_json::Value {
    let Resource { uri, name, title, description, mime_type, .. } = resource;
    let is_template = resource.is_template();
    json!(ListedResource {
        uri: Some(&**uri).filter(|_| !is_template),
        uri_template: Some(&**uri).filter(|_| is_template),
        name,
        title: title.as_deref(),
        description,
        mime_type,
    })
}
