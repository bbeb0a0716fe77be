//! The documentation of each tool and version, as resources in Markdown.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::error::McpError;
use super::message::McpRequest;
use super::response::{CacheScope, ReadResourceResult};
use crate::call::{RequestContext, ToolSelector};
use crate::catalog::{Definition, Entry, ListForm, Listed, Rendering};
use crate::http::Response;
use crate::json::Rendered;
use crate::protocol::definition::array;

/// The address of a tool's documentation, without the tool's id.
pub(super) const BASE: &str = "toolbooth://tools/";
/// The address for any tool (RFC 6570).
pub(super) const TEMPLATE: &str = "toolbooth://tools/{id}";
pub(super) const MARKDOWN: &str = "text/markdown";

/// The documentation, for `resources/read`.
pub(super) const DOCUMENTS: ListForm = array("mcp-documents", render);

/// `resources/read` of the documentation of the tool `id`.
pub(super) fn read(
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
    uri: &str,
    id: &str,
) -> Result<Response, McpError> {
    let not_found = || McpError::unknown_resource(uri, request.era);
    // Clients that expand the template encode the @ before a version as %40 (RFC 6570, 3.2.2).
    let id = percent_encoding::percent_decode_str(id).decode_utf8().map_err(|_| not_found())?;
    let tool = context.resolve(&ToolSelector::Id(id)).map_err(|_| not_found())?;
    if !context.allows(tool) {
        return Err(not_found());
    }
    let (list, tools) = (context.list(DOCUMENTS.name)?, context.pipeline.catalog.tools);
    let is_of_tool = |it: &&Entry| tools.get(it.tool).is_some_and(|it| std::ptr::eq(it, tool));
    let entry = list.entries.iter().find(is_of_tool).ok_or_else(not_found)?;
    let result = ReadResourceResult { contents: Rendered(&list.select([entry])) };
    Ok(request.cacheable_result(&result, CacheScope::of(context)))
}

pub(super) fn address(definition: &Definition) -> String {
    format!("{BASE}{}", definition.id)
}

fn render(listed: &Listed<'_>) -> Rendering {
    Rendering::of(&json!({
        "uri": address(listed.definition),
        "mimeType": MARKDOWN,
        "text": markdown(listed),
    }))
}

fn markdown(listed: &Listed<'_>) -> String {
    let Definition { id, title, description, scopes, requirements, examples, deprecated, .. } =
        listed.definition;
    let mut text = format!("# {}\n\n{description}\n", title.as_ref().unwrap_or(id));
    // Writing to a String cannot fail.
    let _ = write!(text, "\n- Name: `{}`\n- Id: `{id}`\n", listed.name);
    if let Some(deprecated) = deprecated {
        let sunset = deprecated.sunset.iter().map(|day| format!(" It may be removed from {day}."));
        let instead = deprecated.replacement.iter().map(|id| format!(" Use `{id}` instead."));
        let rest: String = sunset.chain(instead).collect();
        let _ = writeln!(text, "- Deprecated: {}{rest}", deprecated.message);
    }
    if !scopes.is_empty() {
        let _ = writeln!(text, "- Required scopes: `{}`", scopes.join("`, `"));
    }
    for one in requirements.iter().flat_map(|it| &it.authorization) {
        let _ = writeln!(text, "- Requires the user's authorization for `{}`", one.id);
    }
    for one in requirements.iter().flat_map(|it| &it.secrets) {
        let _ = writeln!(text, "- Requires the secret `{}`", one.id);
    }
    let mut block = |heading: &str, json: &Value| {
        // Longer than any fence in the texts of a schema.
        let json = serde_json::to_string_pretty(json).unwrap_or_default();
        let fence = "`".repeat(longest_backticks(&json).max(2) + 1);
        let _ = write!(text, "\n## {heading}\n\n{fence}json\n{json}\n{fence}\n");
    };
    block("Input", &Value::Object(listed.definition.input_schema.clone()));
    if let Some(output) = &listed.definition.output_schema {
        block("Output", &Value::Object(output.clone()));
    }
    for example in examples {
        let json = match (&example.value, &example.error) {
            (Some(value), _) => json!({ "input": example.input, "value": value }),
            (_, error) => {
                let error = error.as_ref().map(|error| &error.message);
                json!({ "input": example.input, "error": error })
            }
        };
        block(example.title.as_deref().unwrap_or("Example"), &json);
    }
    text
}

fn longest_backticks(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or_default()
}
