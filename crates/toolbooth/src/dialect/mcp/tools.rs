//! `tools/list` and `tools/call`.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::elicitation::Asking;
use super::headers;
use super::message::{Era, Request};
use super::reply::{Code, Error, Scope};
use super::result::{self, Told};
use crate::call::{Call, Wanted, find};
use crate::catalog::{Definition, Deprecated, ListForm, Listed, Rendering};
use crate::dialect::oxp;
use crate::dialect::{Exchange, Posted};
use crate::http::Outbound;

/// The tools: the latest version of each under its plain name.
pub(super) const LIST: ListForm =
    ListForm { name: "mcp-tools", head: "[", tail: "]", entry: render };

/// The member of `_meta` that says which version of a tool is meant.
const VERSION: &str = "toolbooth/version";
/// The member of `_meta` with what a tool may require: OXP's `context`.
const CONTEXT: &str = "toolbooth/context";

/// `tools/list`: all tools that the caller may run. They come on one page, for many clients ask for
/// no second one, unless the address says `page_size`.
pub(super) fn list(request: &Request, posted: &Posted<'_>) -> Result<Outbound, Error> {
    page(request, posted, LIST.name, "tools")
}

/// A page of the list `name`, as the member `member`.
pub(super) fn page(
    request: &Request,
    posted: &Posted<'_>,
    name: &str,
    member: &str,
) -> Result<Outbound, Error> {
    let scope = Scope::of(posted.same_for_all);
    let reading = posted.reading();
    let cursor = match request.params.get("cursor") {
        None => None,
        Some(cursor) => {
            let cursor = cursor.as_str().and_then(|cursor| cursor.parse::<usize>().ok());
            let wrong = || Error::new(Code::InvalidParams, "cursor is not one of this list");
            Some(cursor.ok_or_else(wrong)?)
        }
    };
    let (Some(size), begin) = (page_size(posted.query), cursor.unwrap_or_default()) else {
        if cursor.is_some() {
            return Err(Error::new(Code::InvalidParams, "cursor: this list has one page only"));
        }
        let page = reading.page(name).map_err(Error::refused)?;
        return Ok(request.kept(&format!(r#""{member}":{}"#, page.body), scope));
    };
    let list = reading.list(name).map_err(Error::refused)?;
    let allowed =
        list.entries_of(posted.catalog.tools, |tool| posted.config.allows(posted.caller, tool));
    let rest: Vec<_> = allowed.iter().filter(|(_, entry)| entry.tool >= begin).collect();
    let items = list.select(rest.iter().take(size).map(|(_, entry)| *entry));
    let next = rest.get(size).map(|(_, entry)| format!(r#","nextCursor":"{}""#, entry.tool));
    let members = format!(r#""{member}":{items}{}"#, next.unwrap_or_default());
    Ok(request.kept(&members, scope))
}

/// `page_size` of the address, if it is a number from 1.
fn page_size(query: &str) -> Option<usize> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let size = pairs.find(|(name, _)| name == "page_size")?.1.parse().ok()?;
    (size > 0).then_some(size)
}

/// `tools/call`.
pub(super) fn call(mut request: Request, posted: &Posted<'_>) -> Exchange {
    let (call, asking) = match read(&mut request, posted) {
        Ok(read) => read,
        Err(error) => return Exchange::answered(error.told(Some(&request.id))),
    };
    let declined = asking.declined(&request.params);
    let told = Told { era: request.era(), id: request.id, asking };
    match declined {
        Some(declined) => Exchange::answered(result::failed(&told, &declined)),
        None => Exchange::single(Ok(call), move |outcome| result::encode(outcome, &told)),
    }
}

/// Reads a call, and how its user can be asked.
fn read(request: &mut Request, posted: &Posted<'_>) -> Result<(Call, Asking), Error> {
    let name = request.text("name")?.to_owned();
    let tool = wanted(name, request.meta.get(VERSION), posted)?;
    let input = match request.params.remove("arguments") {
        None => Value::Object(Map::new()),
        Some(input @ Value::Object(_)) => input,
        Some(_) => return Err(Error::new(Code::InvalidParams, "arguments must be an object")),
    };
    let context = request.meta.remove(CONTEXT).map(|context| ("context".to_owned(), context));
    let credentials =
        oxp::credentials(&mut context.into_iter().collect()).map_err(Error::refused)?;
    if request.era() == Era::Modern
        && let Ok(tool) = find(posted.catalog, &tool)
    {
        headers::parameters(tool, &input, posted.headers)?;
    }
    let asking = Asking::of(request, &tool, &input, &credentials, posted)?;
    Ok((Call { tool, call_id: None, input, credentials }, asking))
}

/// The tool that is meant: the latest of the name, or the version that the name or `_meta` says.
fn wanted(name: String, version: Option<&Value>, posted: &Posted<'_>) -> Result<Wanted, Error> {
    let version = match version {
        None => return Ok(Wanted::Name(name)),
        Some(Value::String(version)) => version,
        Some(_) => {
            let message = format!("_meta.{VERSION} must be a string");
            return Err(Error::new(Code::InvalidParams, message));
        }
    };
    match posted.catalog.named(&name) {
        Some(tool) => Ok(Wanted::Id(format!("{}.{}@{version}", tool.toolkit, tool.tool))),
        None => Ok(Wanted::Name(name)),
    }
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
    Rendering::of(&Tool {
        name: listed.name,
        title: title.as_deref(),
        description,
        input_schema: &listed.definition.input_schema,
        output_schema: listed.definition.output_schema.as_ref().map(structured),
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
