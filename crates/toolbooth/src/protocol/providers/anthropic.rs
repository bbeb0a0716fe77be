//! Anthropic's tool lists.
//!
//! Strict lists have the schemas that Anthropic's own SDK generates: what the schema cannot contain, the description
//! does.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::list::{self, ProviderLists};
use super::schema::{Compatibility, SchemaLimits, Target, add_to_description, render};
use super::strict;
use crate::call::RequestContext;
use crate::catalog::{ListForm, Listed, Rendering};
use crate::protocol::keywords::{describe, types};
use crate::route::{Page, PageError};

pub(super) const FORMS: &[ListForm] = &[
    ListForm { name: "anthropic", head: "[", tail: "]", entry: |listed| tool(listed, false) },
    ListForm { name: "anthropic-strict", head: "[", tail: "]", entry: |listed| tool(listed, true) },
];

/// `GET /providers/anthropic/tools`.
pub(super) fn tools(context: &RequestContext<'_>) -> Result<Page, PageError> {
    list::tools(
        context,
        &ProviderLists {
            provider: "Anthropic Messages",
            plain: "anthropic",
            strict: Ok("anthropic-strict"),
            max_strict: 20,
        },
    )
}

/// Tools whose schema Anthropic does not enforce.
pub(crate) const PLAIN: Target = Target {
    column: 2,
    keeps_unknown: true,
    property: property_name,
    limits: SchemaLimits::NONE,
    finish: |_, _| {},
};

/// Tools whose schema Anthropic enforces.
pub(crate) const STRICT: Target = Target {
    column: 3,
    keeps_unknown: false,
    property: property_name,
    limits: SchemaLimits { optional: 24, unions: 16, ..SchemaLimits::NONE },
    finish: tighten,
};

/// `^[a-zA-Z0-9_.-]{1,64}$`. Any other name makes the whole request fail.
fn property_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(plain)
}

fn tool(listed: &Listed<'_>, strict: bool) -> Rendering {
    #[derive(Serialize)]
    struct AnthropicTool<'a> {
        name: &'a str,
        description: &'a str,
        input_schema: Value,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        strict: bool,
    }
    let description = &listed.definition.description;
    let target = if strict { &STRICT } else { &PLAIN };
    render(listed, target, |input_schema| AnthropicTool {
        name: listed.name,
        description,
        input_schema,
        strict,
    })
}

fn tighten(schema: &mut Map<String, Value>, found: &mut Compatibility) {
    strict::normalize_type(schema, found);
    if strict::literals(schema).is_some() {
        // The values imply the type: the SDK omits it.
        const WITH_VALUES: [&str; 4] = ["const", "description", "enum", "title"];
        if let Some(Value::Array(values)) = schema.get("enum") {
            let values = strict::of_types(values, &types(schema));
            schema.insert("enum".to_owned(), values);
        }
        schema.retain(|keyword, _| WITH_VALUES.contains(&keyword.as_str()));
        return;
    }
    strict::close(schema, found);
    if schema.get("type").is_some_and(Value::is_array) {
        if types(schema).iter().any(|name| ["array", "object"].contains(name)) {
            found.reject("type");
        }
        let format = schema.remove("format").and_then(|format| describe("format", &format));
        add_to_description(schema, &Vec::from_iter(format));
    }
    if schema.get("required") == Some(&json!([])) {
        schema.remove("required");
    }
}
