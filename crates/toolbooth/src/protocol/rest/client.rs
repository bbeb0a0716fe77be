//! `GET /client.ts`: a client in TypeScript with the types of the tools, in one file without dependencies.

use serde_json::Value;

use super::document::{Document, described, origin, output};
use super::typescript::{comment, type_of};
use crate::call::RequestContext;
use crate::catalog::{ListForm, Listed, Rendering};
use crate::route::{Page, PageError};

/// The list of the file: the members of the interface `Tools`.
pub(super) const LIST: ListForm = ListForm {
    name: "client",
    head: concat!(
        "/** The address of the server. */\nexport const SERVER = \"",
        origin!(),
        "\";\n",
        include_str!("client.ts"),
        "\n/** The tools, by name. */\nexport interface Tools {\n"
    ),
    tail: "}\n",
    entry: render,
};

static DOCUMENT: Document = Document {
    list: LIST.name,
    content_type: "text/plain; charset=utf-8",
    separator: "",
    credentials: None,
};

/// `GET /client.ts`.
pub(super) fn page(context: &RequestContext<'_>) -> Result<Page, PageError> {
    DOCUMENT.page(context)
}

/// Renders the types of a tool.
fn render(listed: &Listed<'_>) -> Rendering {
    let Listed { definition, name, latest } = listed;
    if !latest {
        return Rendering::Omitted;
    }
    let about = comment(&described(definition), "  ");
    let name = Value::from(*name);
    let input = type_of(&Value::Object(definition.input_schema.clone()), "    ");
    let output = type_of(&output(definition), "    ");
    let json = format!("{about}  {name}: {{\n    input: {input};\n    output: {output};\n  }};\n");
    Rendering::Supported { json, warnings: Vec::new() }
}
