//! `GET /llms.txt` and `GET /llms-full.txt`: the tools in Markdown, for models that read about the server.

use serde_json::Value;

use super::MOUNT;
use super::document::{Document, ORIGIN};
use crate::catalog::{ListForm, Listed, Rendering, Skill, SkillForm};
use crate::protocol::definition::{description, latest, output_schema, text};

pub(super) const LIST: ListForm = ListForm {
    name: "llms",
    head: "# {server.title}

> A server for tools. `POST https://toolbooth.invalid/rest/{name}` runs a tool: the body is its input as JSON, the response is its value.

## Documents

- [All about the tools](https://toolbooth.invalid/llms-full.txt): their schemas, each with an example
- [OpenAPI](https://toolbooth.invalid/openapi.json): an operation for each tool
- [TypeScript](https://toolbooth.invalid/client.ts): a typed client
- [Search](https://toolbooth.invalid/llms.txt?query=create+an+issue): the 20 tools that fit a query best; the other documents take `?query=` too
- [Index](https://toolbooth.invalid/): all protocols of the server

## Tools

",
    tail: "",
    entry: |it| latest(it, render),
};

pub(super) const FULL: ListForm = ListForm {
    name: "llms-full",
    head: "# {server.title}

> A server for tools. Send `POST https://toolbooth.invalid/rest/{name}` with the input of a tool as JSON; the response is its value as JSON. Errors are problems (RFC 9457): `detail` is what was wrong, `parameter_errors` what each invalid parameter must be.

",
    tail: "",
    entry: |it| latest(it, render_fully),
};

/// Skills, which only MCP serves.
pub(crate) const SKILL_FORMS: &[SkillForm] = &[
    SkillForm { list: LIST.name, entry: render_skill },
    SkillForm { list: FULL.name, entry: render_skill_fully },
];

pub(super) static DOCUMENT: Document = Document::text(LIST.name);
pub(super) static FULL_DOCUMENT: Document = Document::text(FULL.name);

/// Renders a tool as an item of a list.
fn render(listed: &Listed<'_>) -> Rendering {
    let Listed { definition, name, .. } = listed;
    let description = description(definition);
    let words: Vec<_> = description.split_whitespace().collect();
    text(format!("- [{name}]({ORIGIN}{MOUNT}/{name}): {}\n", words.join(" ")))
}

/// Renders a tool as a section with its schemas and an example.
fn render_fully(listed: &Listed<'_>) -> Rendering {
    let Listed { definition, name, .. } = listed;
    let description = description(definition);
    let scopes = match definition.scopes.as_slice() {
        [] => String::new(),
        scopes => format!("Requires the scopes {}.\n\n", scopes.join(" ")),
    };
    let input = block("Input", &Value::Object(definition.input_schema.clone()));
    let value = block("Value", &output_schema(definition));
    let example = definition.examples.iter().find_map(|it| Some((&it.input, it.value.as_ref()?)));
    let example = example.map_or_else(String::new, |(input, value)| {
        block("Example of an input", input) + &block("Its value", value)
    });
    text(format!(
        "## {name}\n\n{description}\n\n`POST {ORIGIN}{MOUNT}/{name}`\n\n{scopes}{input}{value}{example}"
    ))
}

/// Renders a skill as an item of a list.
fn render_skill(skill: &Skill) -> String {
    let words: Vec<_> = skill.description.split_whitespace().collect();
    format!(
        "- Skill `{}`, `{}SKILL.md` over MCP: {}\n",
        skill.name,
        skill.folder(),
        words.join(" ")
    )
}

/// Renders a skill as a section with its text.
fn render_skill_fully(skill: &Skill) -> String {
    format!("## Skill {}\n\n{}\n\n", skill.name, skill.text())
}

/// JSON as a block of code: it is one line, so that it cannot contain the end of the block.
fn block(title: &str, json: &Value) -> String {
    format!("{title}:\n\n```json\n{json}\n```\n\n")
}
