//! `GET /utcp`: a manual of the Universal Tool Calling Protocol, which tells its clients how to call the tools over REST.

use serde_json::json;

use super::MOUNT;
use super::document::{Credentials, Document, ORIGIN};
use crate::catalog::{ListForm, Listed, Rendering};
use crate::protocol::definition::{description, latest, output_schema};

/// The list of the manual: its tools.
pub(super) const LIST: ListForm = ListForm {
    name: "utcp",
    head: r#"{"utcp_version":"1.0.1","manual_version":"{server.version}","tools":["#,
    tail: "]}",
    entry: |it| latest(it, render),
};

pub(super) static DOCUMENT: Document = Document::json(
    LIST.name,
    Credentials {
        // More than the name of the member, which a tool's parameter may have too.
        start: r#""auth":{"api_key":"Bearer ${TOOLBOOTH_KEY}""#,
        end: "},",
        instead: "",
    },
);

fn render(listed: &Listed<'_>) -> Rendering {
    let Listed { definition, name, .. } = listed;
    Rendering::of(&json!({
        "name": name,
        "description": description(definition),
        // A client sends one of its inputs as the body, and all others in the query.
        "inputs": {
            "type": "object",
            "properties": { "body": definition.input_schema },
            "required": ["body"],
        },
        "outputs": output_schema(definition),
        "tags": [definition.toolkit()],
        "tool_call_template": {
            // As `Credentials` expects: the members are sorted, so that another one follows.
            "auth": {
                // The value of `Authorization`; clients replace the variable.
                "api_key": "Bearer ${TOOLBOOTH_KEY}",
                "auth_type": "api_key",
                "var_name": "Authorization",
                "location": "header",
            },
            "body_field": "body",
            "call_template_type": "http",
            "content_type": "application/json",
            "http_method": "POST",
            "name": name,
            "url": format!("{ORIGIN}{MOUNT}/{name}"),
        },
    }))
}
