//! The catalogue as resources: a page of documentation a tool and version, in Markdown, and what the
//! tools' definitions declare.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use super::super::Page;
use super::message::McpRequest;
use super::reply::{Code, Error, Scope, members};
use super::result::RunPurpose;
use super::{Step, tools};
use crate::call::{RequestContext, ToolSelector};
use crate::catalog::{Definition, Entry, ListForm, Listed, Rendering, Resource};
use crate::http::Response;
use crate::json::{self, Object};

/// Where resources are: the rest is a tool's id.
const BASE: &str = "toolbooth://tools/";
/// The address of every one of them.
pub(super) const TEMPLATE: &str = "toolbooth://tools/{id}";
const MARKDOWN: &str = "text/markdown";

/// What `resources/list` says of each.
pub(super) const LIST: ListForm = ListForm { name: "mcp-resources", head: "[", tail: "]", entry };

/// What `resources/templates/list` says of those that the tools have.
pub(super) const TEMPLATES: ListForm =
    ListForm { name: "mcp-templates", head: "[", tail: "]", entry: template };

/// The resources of the tools, whole, for `resources/read`.
pub(super) const CONTENTS: ListForm =
    ListForm { name: "mcp-contents", head: "[", tail: "]", entry: contents };

/// What stands in the documentation of each.
pub(super) const DOCUMENTS: ListForm =
    ListForm { name: "mcp-documents", head: "[", tail: "]", entry: document };

/// `resources/list`.
pub(super) fn list(
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
) -> Result<Response, Error> {
    tools::page(request, context, LIST.name, "resources")
}

/// `resources/templates/list`: the documentation of every tool, and what the tools themselves have.
pub(super) fn templates(
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
) -> Result<Response, Error> {
    if request.params.contains("cursor") {
        return Err(Error::new(Code::InvalidParams, "cursor: this list has one page only"));
    }
    let own = json::text(&json::object([
        ("uriTemplate", TEMPLATE.into()),
        ("name", "tool".into()),
        ("title", "Documentation of a tool".into()),
        ("description", "A tool by its id, with or without version: Toolkit.Tool@1.0.0".into()),
        ("mimeType", MARKDOWN.into()),
    ]));
    let page = Page::of_list(TEMPLATES.name, context)?;
    let further = page.body.trim_start_matches('[');
    let comma = if further == "]" { "" } else { "," };
    let scope = Scope::of(context.pipeline.same_for_all);
    Ok(request.kept(&format!(r#""resourceTemplates":[{own}{comma}{further}"#), scope))
}

/// `resources/read`.
pub(super) fn read<'t>(
    request: McpRequest<'t>,
    context: &RequestContext<'_>,
) -> Result<Step<'t>, Error> {
    let uri = request.text("uri")?.to_owned();
    if let Some(id) = uri.strip_prefix(BASE) {
        return documentation(&request, context, &uri, id).map(Step::Respond);
    }
    let Some((id, resource, input)) = find_resource(&uri, context)? else {
        return Err(Error::no_resource(&uri, request.era()));
    };
    let (name, body) = match (resource.text, resource.blob) {
        (Some(text), _) => ("text", text),
        (_, Some(blob)) => ("blob", blob),
        (None, None) => {
            let purpose = RunPurpose::Resource { uri, mime_type: resource.mime_type };
            let input = json::Value::Object(input);
            return tools::run(request, context, ToolSelector::Id(id.into()), input, purpose);
        }
    };
    let document = json::object([
        ("uri", uri.into()),
        ("mimeType", resource.mime_type.into()),
        (name, body.into()),
    ]);
    let members = members(&json::object([("contents", vec![document].into())]));
    let scope = Scope::of(context.pipeline.same_for_all);
    Ok(Step::Respond(request.kept(&members, scope)))
}

/// The page about a tool.
fn documentation(
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
    uri: &str,
    id: &str,
) -> Result<Response, Error> {
    let absent = || Error::no_resource(uri, request.era());
    // Clients that fill in the template write the @ of a version as %40 (RFC 6570, 3.2.2).
    let id = percent_encoding::percent_decode_str(id).decode_utf8().map_err(|_| absent())?;
    let tool = context.resolve(&ToolSelector::Id(id)).map_err(|_| absent())?;
    if !context.allows(tool) {
        return Err(absent());
    }
    let list = context.list(DOCUMENTS.name)?;
    let of = |entry: &&Entry| {
        context.pipeline.catalog.tools.get(entry.tool).is_some_and(|one| std::ptr::eq(one, tool))
    };
    let entry = list.entries.iter().find(of).ok_or_else(absent)?;
    let contents = list.select([entry]);
    Ok(request.kept(&format!(r#""contents":{contents}"#), Scope::of(context.pipeline.same_for_all)))
}

/// The resource of an address, with the id of its tool and the input that the address says; an
/// address of one alone goes before those of many.
fn find_resource(
    uri: &str,
    context: &RequestContext<'_>,
) -> Result<Option<(String, Resource, Object<'static>)>, Error> {
    let mut template = None;
    for (id, resource) in tools::each::<(String, Resource)>(context, CONTENTS.name)? {
        let Some(input) = matched(&resource.uri, uri) else { continue };
        if !resource.is_template() {
            return Ok(Some((id, resource, input)));
        }
        template = template.or(Some((id, resource, input)));
    }
    Ok(template)
}

/// What the names in a template stand for in an address; nothing if it is not one of its addresses.
fn matched(template: &str, uri: &str) -> Option<Object<'static>> {
    let mut values = Object::default();
    let (mut template, mut uri) = (template, uri);
    while let Some((before, after)) = template.split_once('{') {
        let (name, after) = after.split_once('}')?;
        uri = uri.strip_prefix(before)?;
        let next = after.chars().next();
        let end = uri.find(|one| one == '/' || Some(one) == next).unwrap_or(uri.len());
        let (value, rest) = uri.split_at_checked(end)?;
        if value.is_empty() {
            return None;
        }
        let value = percent_encoding::percent_decode_str(value).decode_utf8().ok()?;
        let value = json::Value::String(value.into_owned().into());
        values.insert(name.to_owned().into(), value);
        (template, uri) = (after, rest);
    }
    (template == uri).then_some(values)
}

fn address(definition: &Definition) -> String {
    format!("{BASE}{}", definition.id)
}

/// A resource, as `resources/list` has it.
fn entry(listed: &Listed<'_>) -> Rendering {
    let Definition { id, title, description, .. } = listed.definition;
    let documentation = Shown {
        uri: Some(&address(listed.definition)),
        uri_template: None,
        name: id,
        title: title.as_deref(),
        description,
        mime_type: MARKDOWN,
    };
    let own = shown(listed, false);
    let all: Vec<_> = [json!(documentation)].into_iter().chain(own).collect();
    joined(&all)
}

/// The kinds of resources that a tool has, as `resources/templates/list` has them.
fn template(listed: &Listed<'_>) -> Rendering {
    joined(&shown(listed, true).collect::<Vec<_>>())
}

/// The resources of a tool, with the tool's id.
fn contents(listed: &Listed<'_>) -> Rendering {
    let resources = listed.definition.resources.iter().filter(|_| listed.latest);
    joined(&resources.map(|one| json!([listed.definition.id, one])).collect::<Vec<_>>())
}

/// What a list says of a resource.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
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

/// What a list says of the resources that the latest version of a tool has.
fn shown(listed: &Listed<'_>, templates: bool) -> impl Iterator<Item = Value> {
    let resources = listed.definition.resources.iter().filter(|_| listed.latest);
    resources.filter(move |one| one.is_template() == templates).map(move |one| {
        let uri = Some(&*one.uri);
        json!(Shown {
            uri: uri.filter(|_| !templates),
            uri_template: uri.filter(|_| templates),
            name: &one.name,
            title: one.title.as_deref(),
            description: &one.description,
            mime_type: &one.mime_type,
        })
    })
}

/// Items of a list, with commas between.
fn joined(items: &[Value]) -> Rendering {
    if items.is_empty() {
        return Rendering::LeftOut;
    }
    let texts: Vec<_> = items.iter().map(Value::to_string).collect();
    Rendering::Fits { json: texts.join(","), warnings: Vec::new() }
}

/// What stands in a resource, as `resources/read` has it.
fn document(listed: &Listed<'_>) -> Rendering {
    Rendering::of(&json!({
        "uri": address(listed.definition),
        "mimeType": MARKDOWN,
        "text": markdown(listed),
    }))
}

/// The documentation of a tool.
fn markdown(listed: &Listed<'_>) -> String {
    let Definition { id, title, description, scopes, requirements, examples, deprecated, .. } =
        listed.definition;
    let mut text = format!("# {}\n\n{description}\n", title.as_ref().unwrap_or(id));
    // Writing to a String does not fail.
    let _ = write!(text, "\n- Name: `{}`\n- Id: `{id}`\n", listed.name);
    if let Some(deprecated) = deprecated {
        let sunset = deprecated.sunset.iter().map(|day| format!(" It may be gone from {day}."));
        let instead = deprecated.replacement.iter().map(|id| format!(" Instead: `{id}`."));
        let rest: String = sunset.chain(instead).collect();
        let _ = writeln!(text, "- Deprecated: {}{rest}", deprecated.message);
    }
    if !scopes.is_empty() {
        let _ = writeln!(text, "- Scopes of the caller's credentials: `{}`", scopes.join("`, `"));
    }
    for one in requirements.iter().flat_map(|it| &it.authorization) {
        let _ = writeln!(text, "- Needs the user's authorization at `{}`", one.id);
    }
    for one in requirements.iter().flat_map(|it| &it.secrets) {
        let _ = writeln!(text, "- Needs the secret `{}`", one.id);
    }
    let mut block = |heading: &str, json: &Value| {
        // A fence of its own length: texts of a schema may hold fences.
        let json = serde_json::to_string_pretty(json).unwrap_or_default();
        let fence = "`".repeat(longest_ticks(&json).max(2) + 1);
        let _ = write!(text, "\n## {heading}\n\n{fence}json\n{json}\n{fence}\n");
    };
    block("Input", &Value::Object(listed.definition.input_schema.clone()));
    if let Some(output) = &listed.definition.output_schema {
        block("Output", &Value::Object(output.clone()));
    }
    for example in examples {
        let told = match (&example.value, &example.error) {
            (Some(value), _) => json!({ "input": example.input, "value": value }),
            (_, error) => {
                let error = error.as_ref().map(|error| &error.message);
                json!({ "input": example.input, "error": error })
            }
        };
        block(example.title.as_deref().unwrap_or("Example"), &told);
    }
    text
}

/// How many backticks stand in a row, at most.
fn longest_ticks(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or_default()
}
