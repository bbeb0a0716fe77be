//! Anthropic's tool lists.
//!
//! Strict lists have the schemas that Anthropic's own SDK generates: what the schema cannot contain, the description
//! does.

use serde::Serialize;
use serde_json::Value;

use super::call::{self, CallFormat, CallResult};
use super::list::{self, ProviderSearch, form};
use super::schema::rules::{KeywordRule, common};
use super::schema::{Compatibility, Cycles, MAX_DEPTH, Schema, Target, add_to_description, render};
use super::strict;
use crate::wire;
use crate::wire::anthropic::ToolResult;
use toolbooth::call::RequestContext;
use toolbooth::catalog::{ListForm, Listed, Rendering};
use toolbooth::json;
use toolbooth::protocol::keywords::{describe, types};
use toolbooth::route::{CallResponse, Page, PageError, PostRequest};

pub(super) const FORMS: &[ListForm] = &[
    form("anthropic", |listed| tool(listed, false)),
    form("anthropic-strict", |listed| tool(listed, true)),
];

static SEARCH: ProviderSearch = ProviderSearch {
    tool: r#"{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}"#,
    toolkit: |_, tools| tools,
};

/// `GET /providers/anthropic/tools`.
pub(super) fn tools(context: &RequestContext<'_>) -> Result<Page, PageError> {
    let strict = Ok(("anthropic-strict", 20));
    list::tools(context, "Anthropic Messages", "anthropic", strict, Some(&SEARCH))
}

/// `POST /providers/anthropic/call`.
pub(super) fn calls(request: PostRequest<'_>) -> CallResponse<'_> {
    static FORMAT: CallFormat = CallFormat {
        read: wire::anthropic::read,
        member: "messages",
        results: user_message,
        pairs_by_id: true,
    };
    call::run(request, &FORMAT)
}

/// One message, which must come next, with all results as its first blocks.
fn user_message(results: &[CallResult<'_>]) -> String {
    #[derive(Serialize)]
    struct UserMessage<T> {
        role: &'static str,
        content: Vec<T>,
    }
    if results.is_empty() {
        return "[]".to_owned();
    }
    let results = results.iter().map(|it| ToolResult {
        tool_use_id: &*it.handle.id,
        content: Some(it.text()),
        is_error: Some(it.result.is_err()),
    });
    let content = results.collect();
    json::to_string(&[UserMessage { role: "user", content }])
}

/// Tools whose schema Anthropic does not enforce.
pub(crate) const PLAIN: Target = Target {
    rule: |keyword| match keyword {
        "anyOf" | "oneOf" | "allOf" => KeywordRule::Below,
        "$comment" => KeywordRule::Drop,
        _ => KeywordRule::Keep,
    },
    property: property_name,
    has_any_root: false,
    max_depth: MAX_DEPTH,
    limits: &[],
    beside_reference: |_| true,
    cycles: Cycles::Any,
    finish: |_, _| {},
};

pub(crate) const STRICT: Target = Target {
    rule: |keyword| match keyword {
        "anyOf" => KeywordRule::Below,
        "enum" => KeywordRule::If(|values| {
            values.as_array().is_some_and(|values| values.iter().all(is_scalar))
        }),
        "const" => KeywordRule::If(is_scalar),
        "format" => KeywordRule::If(|format| strict::is_known_format(format) || format == "uri"),
        "minItems" => KeywordRule::If(|count| count.as_u64().is_some_and(|count| count <= 1)),
        _ => common(keyword),
    },
    property: property_name,
    has_any_root: false,
    max_depth: MAX_DEPTH,
    limits: &[("optional_properties", 24), ("unions", 16)],
    beside_reference: |_| false,
    cycles: Cycles::None,
    finish: tighten,
};

fn is_scalar(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

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

fn tighten(schema: &mut Schema, found: &mut Compatibility) {
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
    if schema.get("required").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        schema.remove("required");
    }
}
