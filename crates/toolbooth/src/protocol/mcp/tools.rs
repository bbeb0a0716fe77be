//! `tools/list` and `tools/call`.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::super::{Page, context};
use super::elicitation::Asking;
use super::message::{McpRequest, TOOL_VERSION};
use super::notes::NotificationPreferences;
use super::reply::{Code, Error, Scope};
use super::result::{self, RunPurpose, Told};
use super::{Step, headers};
use crate::call::{Nulls, RequestContext, ToolRequest, ToolSelector};
use crate::catalog::{Definition, Deprecated, Entry, ListForm, Listed, Rendering};
use crate::http::Response;
use crate::json::{self, Object};

/// The tools: the latest version of each under its plain name.
pub(super) const LIST: ListForm =
    ListForm { name: "mcp-tools", head: "[", tail: "]", entry: render };

/// `tools/list`: all tools that the caller may run. They come on one page, for many clients ask for
/// no second one, unless the address says `page_size`.
pub(super) fn list(
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
) -> Result<Response, Error> {
    page(request, context, LIST.name, "tools")
}

/// A page of the list `name`, as the member `member`.
pub(super) fn page(
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
    name: &str,
    member: &str,
) -> Result<Response, Error> {
    let scope = Scope::of(context.pipeline.same_for_all);
    let cursor = match request.params.get("cursor") {
        None => None,
        Some(cursor) => {
            let cursor = cursor.as_str().and_then(|cursor| cursor.parse::<usize>().ok());
            let wrong = || Error::new(Code::InvalidParams, "cursor is not one of this list");
            Some(cursor.ok_or_else(wrong)?)
        }
    };
    let (Some(size), begin) = (page_size(context.query), cursor.unwrap_or_default()) else {
        if cursor.is_some() {
            return Err(Error::new(Code::InvalidParams, "cursor: this list has only one page"));
        }
        let page = Page::of_list(name, context)?;
        return Ok(request.kept(&format!(r#""{member}":{}"#, page.body), scope));
    };
    let list = context.list(name)?;
    if cursor.is_some() && !list.entries.iter().any(|entry| entry.tool == begin) {
        return Err(Error::new(Code::InvalidParams, "cursor is not one of this list"));
    }
    let rest: Vec<_> = context.allowed_entries(list).filter(|entry| entry.tool >= begin).collect();
    let items = list.select(rest.iter().take(size).copied());
    let next = rest.get(size).map(|entry| format!(r#","nextCursor":"{}""#, entry.tool));
    let members = format!(r#""{member}":{items}{}"#, next.unwrap_or_default());
    Ok(request.kept(&members, scope))
}

/// The items that the tools which the caller may run have in the list `name`, parsed one by one.
pub(super) fn each<T: DeserializeOwned>(
    context: &RequestContext<'_>,
    name: &str,
) -> Result<impl Iterator<Item = T>, Error> {
    let list = context.list(name)?;
    // This crate has written it, at build time. An entry holds everything that belongs to one tool.
    let read = |entry: &'static Entry| json::read::<Vec<T>>(list.select([entry]).as_bytes());
    Ok(context.allowed_entries(list).filter_map(read).flatten())
}

/// `page_size` of the address, if it is a number from 1.
fn page_size(query: &str) -> Option<usize> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let size = pairs.find(|(name, _)| name == "page_size")?.1.parse().ok()?;
    (size > 0).then_some(size)
}

/// `tools/call`.
pub(super) fn call<'t>(
    mut request: McpRequest<'t>,
    context: &RequestContext<'_>,
) -> Result<Step<'t>, Error> {
    let name = request.take_text("name")?;
    let selector = selector(name, request.meta.tool_version.as_ref(), context)?;
    let input = json::Value::Object(arguments(&mut request)?);
    run(request, context, selector, input, RunPurpose::Tool)
}

/// Takes `arguments` out of the request, where they may be absent or null.
///
/// # Errors
/// They are no object.
pub(super) fn arguments<'t>(request: &mut McpRequest<'t>) -> Result<Object<'t>, Error> {
    match request.params.take("arguments") {
        None | Some(json::Value::Null) => Ok(Object::default()),
        Some(json::Value::Object(arguments)) => Ok(arguments),
        Some(_) => Err(Error::new(Code::InvalidParams, "arguments must be an object")),
    }
}

/// The call of a tool, unless what the user answered makes it pointless.
pub(super) fn run<'t>(
    mut request: McpRequest<'t>,
    context: &RequestContext<'_>,
    selector: ToolSelector<'t>,
    input: json::Value<'t>,
    purpose: RunPurpose,
) -> Result<Step<'t>, Error> {
    let tool = context.resolve(&selector);
    let credentials = context::credentials(request.meta.context.take())?;
    if let ("tools/call", Ok(tool)) = (&*request.method, &tool) {
        headers::parameters(tool, &input, context.headers, request.era())?;
    }
    let asking = Asking::of(&request, &selector, &input, &credentials, context)?;
    let dialogue = asking.dialogue(&request.params);
    let declined = asking.declined(&request.params);
    let told = Told {
        era: request.era(),
        asking,
        wishes: NotificationPreferences::of(&request, context.headers),
        content: tool.as_ref().is_ok_and(|tool| tool.content),
        purpose,
        id: request.id,
    };
    if let Some(declined) = declined {
        return Ok(Step::Respond(result::failed(&told, &declined)));
    }
    let call = tool.map(|tool| ToolRequest {
        tool: ToolSelector::Resolved(tool),
        call_id: None,
        input,
        nulls: Nulls::Absent,
        credentials,
        dialogue,
    });
    Ok(Step::Call(call, told))
}

/// The tool that is meant: the latest of the name, or the version in the name or in `_meta`.
fn selector<'t>(
    name: Cow<'t, str>,
    version: Option<&json::Value<'_>>,
    context: &RequestContext<'_>,
) -> Result<ToolSelector<'t>, Error> {
    let version = match version {
        None => return Ok(ToolSelector::Name(name)),
        Some(json::Value::String(version)) => version,
        Some(_) => {
            let message = format!("_meta.{TOOL_VERSION} must be a string");
            return Err(Error::new(Code::InvalidParams, message));
        }
    };
    let name = ToolSelector::Name(name);
    Ok(match context.resolve(&name) {
        Ok(tool) => ToolSelector::Id(format!("{}.{}@{version}", tool.toolkit, tool.tool).into()),
        // A tool that does not exist has no version either.
        Err(_) => name,
    })
}

/// A tool, as every revision has it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    description: String,
    input_schema: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<Value>,
    annotations: Hints<'a>,
    #[serde(rename = "_meta")]
    meta: Value,
}

/// `annotations`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Hints<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    read_only_hint: bool,
    destructive_hint: bool,
    idempotent_hint: bool,
    open_world_hint: bool,
}

/// Renders a tool. What MCP has no field for stands in `_meta`; that it is deprecated a model must
/// see too.
fn render(listed: &Listed<'_>) -> Rendering {
    if !listed.latest {
        return Rendering::LeftOut;
    }
    let Definition { id, title, description, version, annotations, deprecated, .. } =
        listed.definition;
    #[derive(Serialize)]
    struct Meta<'a> {
        #[serde(rename = "toolbooth/id")]
        id: &'a str,
        #[serde(rename = "toolbooth/version")]
        version: String,
        #[serde(rename = "toolbooth/deprecated", skip_serializing_if = "Option::is_none")]
        deprecated: Option<&'a Deprecated>,
    }
    let description = match deprecated {
        None => description.clone(),
        Some(deprecated) => format!("{description} Deprecated: {}", deprecated.message),
    };
    let deprecated = deprecated.as_ref();
    // Content blocks are no structured content.
    let output = listed.definition.output_schema.as_ref().filter(|_| !listed.definition.content);
    Rendering::of(&Tool {
        name: listed.name,
        title: title.as_deref(),
        description,
        input_schema: &listed.definition.input_schema,
        output_schema: output.map(structured),
        annotations: Hints {
            title: title.as_deref(),
            read_only_hint: annotations.read_only,
            destructive_hint: annotations.destructive,
            idempotent_hint: annotations.idempotent,
            open_world_hint: annotations.open_world,
        },
        meta: json!(Meta { id, version: version.to_string(), deprecated }),
    })
}

/// The schema of `structuredContent` for values of the schema `output`: before 2026-07-28 both had
/// to be objects, so what is none stands in the member `result` in every revision.
fn structured(output: &Map<String, Value>) -> Value {
    let is_object = |name: &Value| name == "object";
    let may_be_object = match output.get("type") {
        Some(Value::Array(types)) => types.iter().any(is_object),
        Some(one) if is_object(one) => return Value::Object(output.clone()),
        Some(_) => false,
        None => true,
    };
    if may_be_object {
        return json!({
            "type": "object",
            "description": "An object as it is; any other value as the member result.",
        });
    }
    json!({
        "type": "object",
        "properties": { "result": output },
        "required": ["result"],
    })
}
