//! `GET /client.ts`: a client in TypeScript with the types of the tools, in one file without dependencies.

use serde_json::Value;

use super::document::{Document, origin};
use super::typescript::{comment, type_of};
use crate::catalog::{ListForm, Listed, Rendering};
use crate::protocol::definition::{description, latest, output_schema, text};

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
    entry: |it| latest(it, render),
};

pub(super) static DOCUMENT: Document = Document::text(LIST.name);

fn render(listed: &Listed<'_>) -> Rendering {
    let Listed { definition, name, .. } = listed;
    let about = comment(&description(definition), "  ");
    let name = Value::from(*name);
    let input = type_of(&Value::Object(definition.input_schema.clone()), "    ");
    let output = type_of(&output_schema(definition), "    ");
    text(format!("{about}  {name}: {{\n    input: {input};\n    output: {output};\n  }};\n"))
}
