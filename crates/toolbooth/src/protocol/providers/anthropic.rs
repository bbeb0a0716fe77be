//! Anthropic's tool lists.
//!
//! Strict lists have the schemas that Anthropic's own SDK makes, so that what is left out of the
//! schema stands in the description.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::list::{self, Lists};
use super::schema::{Faults, Limits, Target, render, say};
use super::strict;
use crate::call::RequestContext;
use crate::catalog::{ListForm, Listed, Rendering};
use crate::protocol::keywords::{in_words, types};
use crate::protocol::{Page, PageError};

pub(super) const FORMS: &[ListForm] = &[
    ListForm { name: "anthropic", head: "[", tail: "]", entry: |listed| tool(listed, false) },
    ListForm { name: "anthropic-strict", head: "[", tail: "]", entry: |listed| tool(listed, true) },
];

/// `GET /providers/anthropic/tools`.
pub(super) fn tools(context: &RequestContext<'_>) -> Result<Page, PageError> {
    list::tools(
        context,
        &Lists {
            provider: "Anthropic Messages",
            plain: "anthropic",
            strict: Ok("anthropic-strict"),
            most_strict: 20,
        },
    )
}

/// Tools that the model may call with other input than the schema says.
pub(super) const PLAIN: Target = Target {
    column: 2,
    keeps_unknown: true,
    property: property_name,
    limits: Limits::NONE,
    finish: |_, _| {},
};

/// Tools whose input is held to the schema.
pub(super) const STRICT: Target = Target {
    column: 3,
    keeps_unknown: false,
    property: property_name,
    limits: Limits { optional: 24, unions: 16, ..Limits::NONE },
    finish: tighten,
};

/// `^[a-zA-Z0-9_.-]{1,64}$`; one other name and the whole request fails.
fn property_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(plain)
}

fn tool(listed: &Listed<'_>, strict: bool) -> Rendering {
    #[derive(Serialize)]
    struct Tool<'a> {
        name: &'a str,
        description: &'a str,
        input_schema: Value,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        strict: bool,
    }
    let description = &listed.definition.description;
    let target = if strict { &STRICT } else { &PLAIN };
    render(listed, target, |input_schema| Tool {
        name: listed.name,
        description,
        input_schema,
        strict,
    })
}

fn tighten(schema: &mut Map<String, Value>, faults: &mut Faults) {
    strict::describe(schema, faults);
    if strict::literals(schema).is_some() {
        // The values say all: the SDK writes them without a type.
        const WITH_VALUES: [&str; 4] = ["const", "description", "enum", "title"];
        if let Some(Value::Array(values)) = schema.get("enum") {
            let fitting = strict::of_types(values, &types(schema));
            schema.insert("enum".to_owned(), fitting);
        }
        schema.retain(|keyword, _| WITH_VALUES.contains(&keyword.as_str()));
        return;
    }
    strict::close(schema, faults);
    if schema.get("type").is_some_and(Value::is_array) {
        if types(schema).iter().any(|name| ["array", "object"].contains(name)) {
            faults.unfit("type");
        }
        let format = schema.remove("format").and_then(|format| in_words("format", &format));
        say(schema, &Vec::from_iter(format));
    }
    if schema.get("required") == Some(&json!([])) {
        schema.remove("required");
    }
}
