//! The catalogue as resources: a page of documentation a tool and version, in Markdown.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use super::message::{Era, Request};
use super::reply::{Code, Error, Scope};
use super::tools;
use crate::call::{Wanted, excerpt, find};
use crate::catalog::{Definition, Entry, ListForm, Listed, Rendering};
use crate::dialect::Posted;
use crate::http::Outbound;

/// Where resources are: the rest is a tool's id.
const BASE: &str = "toolbooth://tools/";
/// The address of every one of them.
pub(super) const TEMPLATE: &str = "toolbooth://tools/{id}";
const MARKDOWN: &str = "text/markdown";

/// What `resources/list` says of each.
pub(super) const LIST: ListForm = ListForm { name: "mcp-resources", head: "[", tail: "]", entry };

/// What stands in each.
pub(super) const DOCUMENTS: ListForm =
    ListForm { name: "mcp-documents", head: "[", tail: "]", entry: document };

/// `resources/list`.
pub(super) fn list(request: &Request, posted: &Posted<'_>) -> Result<Outbound, Error> {
    tools::page(request, posted, LIST.name, "resources")
}

/// `resources/templates/list`.
pub(super) fn templates(request: &Request, _: &Posted<'_>) -> Result<Outbound, Error> {
    if request.params.contains_key("cursor") {
        return Err(Error::new(Code::InvalidParams, "cursor: this list has one page only"));
    }
    let templates = json!([{
        "uriTemplate": TEMPLATE,
        "name": "tool",
        "title": "Documentation of a tool",
        "description": "A tool by its id, with or without version: Toolkit.Tool@1.0.0",
        "mimeType": MARKDOWN,
    }]);
    Ok(request.kept(&format!(r#""resourceTemplates":{templates}"#), Scope::Public))
}

/// `resources/read`.
pub(super) fn read(request: &Request, posted: &Posted<'_>) -> Result<Outbound, Error> {
    let uri = request.text("uri")?;
    let absent = || {
        let code = match request.era() {
            Era::Modern => Code::InvalidParams,
            Era::Legacy => Code::NoResource,
        };
        let error = Error::new(code, "There is no such resource; resources/list has all");
        error.data(json!({ "uri": excerpt(uri) }))
    };
    let id = uri.strip_prefix(BASE).ok_or_else(absent)?;
    let tool = find(posted.catalog, &Wanted::Id(id.to_owned())).map_err(|_| absent())?;
    if !posted.config.allows(posted.caller, tool) {
        return Err(absent());
    }
    let list = posted.reading().list(DOCUMENTS.name).map_err(Error::refused)?;
    let of = |entry: &&Entry| {
        posted.catalog.tools.get(entry.tool).is_some_and(|one| std::ptr::eq(one, tool))
    };
    let entry = list.entries.iter().find(of).ok_or_else(absent)?;
    let contents = list.select([entry]);
    Ok(request.kept(&format!(r#""contents":{contents}"#), Scope::of(posted.same_for_all)))
}

fn address(definition: &Definition) -> String {
    format!("{BASE}{}", definition.id)
}

/// A resource, as `resources/list` has it.
fn entry(listed: &Listed<'_>) -> Rendering {
    let Definition { id, title, description, .. } = listed.definition;
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Resource<'a> {
        uri: String,
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
        description: &'a str,
        mime_type: &'static str,
    }
    Rendering::of(&Resource {
        uri: address(listed.definition),
        name: id,
        title: title.as_deref(),
        description,
        mime_type: MARKDOWN,
    })
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
