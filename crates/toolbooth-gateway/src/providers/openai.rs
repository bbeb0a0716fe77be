//! OpenAI's tool lists: Chat Completions, and the flat format of Responses.
//!
//! Strict lists follow the rules of Structured Outputs: objects are closed and every property is required. An
//! optional property makes the tool incompatible, because the model would have to send `null`, which the tool's
//! own schema rejects. If it may be `null` anyway, it becomes required.

use serde::Serialize;
use serde_json::Value;

use super::call::{self, CallFormat};
use super::list::{self, MAX_TOOLS, ProviderSearch, form};
use super::schema::rules::{KeywordRule, common};
use super::schema::{Compatibility, Cycles, MAX_DEPTH, Schema, Target, render, require_declared};
use super::strict;
use crate::wire;
use crate::wire::openai::ToolMessage;
use crate::wire::responses::FunctionCallOutput;
use toolbooth::call::RequestContext;
use toolbooth::catalog::{ListForm, Listed, Rendering};
use toolbooth::json;
use toolbooth::protocol::keywords::{properties, types};
use toolbooth::route::{CallResponse, Page, PageError, PostRequest};

pub(super) const CHAT_FORMS: &[ListForm] = &[
    form("openai", |listed| chat(listed, false)),
    form("openai-strict", |listed| chat(listed, true)),
];
pub(super) const RESPONSES_FORMS: &[ListForm] = &[
    form("openai-responses", |listed| responses(listed, false)),
    form("openai-responses-strict", |listed| responses(listed, true)),
];

/// `GET /providers/openai/tools`.
pub(super) fn chat_tools(context: &RequestContext<'_>) -> Result<Page, PageError> {
    let strict = Ok(("openai-strict", MAX_TOOLS));
    list::tools(context, "OpenAI Chat Completions", "openai", strict, None)
}

static SEARCH: ProviderSearch = ProviderSearch {
    tool: r#"{"type":"tool_search"}"#,
    // Toolkits have plain names.
    toolkit: |name, tools| {
        format!(
            r#"{{"type":"namespace","name":"{name}","description":"Tools of {name}","tools":[{tools}]}}"#
        )
    },
};

/// `GET /providers/openai-responses/tools`.
pub(super) fn responses_tools(context: &RequestContext<'_>) -> Result<Page, PageError> {
    let strict = Ok(("openai-responses-strict", MAX_TOOLS));
    list::tools(context, "OpenAI Responses", "openai-responses", strict, Some(&SEARCH))
}

/// `POST /providers/openai/call`.
pub(super) fn chat_calls(request: PostRequest<'_>) -> CallResponse<'_> {
    static FORMAT: CallFormat = CallFormat {
        read: wire::openai::read,
        member: "messages",
        results: |results| {
            let results = results.iter();
            let messages =
                results.map(|it| ToolMessage { tool_call_id: &it.handle.id, content: it.text() });
            json::to_string(&Vec::from_iter(messages))
        },
        pairs_by_id: true,
    };
    call::run(request, &FORMAT)
}

/// `POST /providers/openai-responses/call`.
pub(super) fn responses_calls(request: PostRequest<'_>) -> CallResponse<'_> {
    static FORMAT: CallFormat = CallFormat {
        read: wire::responses::read,
        member: "input",
        results: |results| {
            let results = results.iter();
            let items =
                results.map(|it| FunctionCallOutput { call_id: &it.handle.id, output: it.text() });
            json::to_string(&Vec::from_iter(items))
        },
        pairs_by_id: true,
    };
    call::run(request, &FORMAT)
}

/// Functions whose schema OpenAI does not enforce.
pub(crate) const PLAIN: Target = Target {
    rule: |keyword| match keyword {
        "enum" | "const" | "anyOf" | "oneOf" | "allOf" | "not" => KeywordRule::Below,
        "$comment" => KeywordRule::Drop,
        _ => KeywordRule::Keep,
    },
    property: |_| true,
    has_any_root: false,
    max_depth: MAX_DEPTH,
    limits: &[],
    beside_reference: |_| true,
    cycles: Cycles::Any,
    finish: complete,
};

/// Functions for providers with OpenAI's format, of which any may be behind an address: what all of them take.
pub(crate) const COMPATIBLE: Target = Target {
    rule: |keyword| match keyword {
        "anyOf" => KeywordRule::Below,
        "minimum" | "maximum" | "default" => KeywordRule::Keep,
        "enum" => KeywordRule::If(is_of_one_type),
        "const" => KeywordRule::Enum,
        "format" => KeywordRule::If(strict::is_known_format),
        _ => common(keyword),
    },
    property: |_| true,
    has_any_root: false,
    max_depth: usize::MAX,
    limits: &[],
    beside_reference: |_| false,
    cycles: Cycles::Any,
    finish: simplify,
};

pub(crate) const STRICT: Target = Target {
    rule: |keyword| match keyword {
        "anyOf" => KeywordRule::Below,
        "enum" | "const" | "pattern" | "minimum" | "maximum" | "exclusiveMinimum"
        | "exclusiveMaximum" | "multipleOf" | "minItems" | "maxItems" => KeywordRule::Keep,
        "format" => KeywordRule::If(strict::is_known_format),
        _ => common(keyword),
    },
    property: |_| true,
    has_any_root: false,
    max_depth: MAX_DEPTH,
    limits: &[("properties", 5000), ("enum", 1000)],
    beside_reference: |keyword| matches!(keyword, "description" | "title"),
    cycles: Cycles::Any,
    finish: tighten,
};

/// A tool in both formats.
#[derive(Serialize)]
#[serde(tag = "type")]
enum Tool<'a> {
    #[serde(rename = "function")]
    Chat { function: Function<'a> },
    #[serde(rename = "function")]
    Responses(Function<'a>),
}

/// `strict` is always present, because Responses tries to be strict without it.
#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: Value,
    strict: bool,
}

fn chat(listed: &Listed<'_>, strict: bool) -> Rendering {
    tool(listed, strict, |function| Tool::Chat { function })
}

fn responses(listed: &Listed<'_>, strict: bool) -> Rendering {
    tool(listed, strict, Tool::Responses)
}

fn tool<'a>(listed: &Listed<'a>, strict: bool, form: fn(Function<'a>) -> Tool<'a>) -> Rendering {
    let Listed { name, definition, .. } = listed;
    let description = &definition.description;
    render(listed, if strict { &STRICT } else { &PLAIN }, |parameters| {
        form(Function { name, description, parameters, strict })
    })
}

/// Adds empty `items` and `properties`, which mean the same as none: OpenAI rejects arrays and objects without them.
fn complete(schema: &mut Schema, _: &mut Compatibility) {
    for (name, keyword) in [("array", "items"), ("object", "properties")] {
        if types(schema).contains(&name) {
            schema.entry(keyword).or_insert_with(|| Schema::new().into());
        }
    }
}

/// Whether these are strings only, or numbers only.
fn is_of_one_type(values: &Value) -> bool {
    let values = values.as_array().map_or(&[][..], Vec::as_slice);
    values.iter().all(Value::is_string) || values.iter().all(Value::is_number)
}

/// Moves a type into the branches of a union, and drops names from `required` that no member has.
fn simplify(schema: &mut Schema, found: &mut Compatibility) {
    if let (Some(kind), Some(Value::Array(branches))) =
        (schema.get("type").cloned(), schema.get_mut("anyOf"))
    {
        for branch in branches.iter_mut().filter_map(Value::as_object_mut) {
            if !["$ref", "anyOf", "type"].iter().any(|keyword| branch.contains_key(*keyword)) {
                branch.insert("type".to_owned(), kind.clone());
                declare_members(branch);
            }
        }
        schema.remove("type");
    }
    require_declared(schema, found);
    declare_members(schema);
}

/// An object without `properties` has none.
fn declare_members(schema: &mut Schema) {
    if types(schema).contains(&"object") {
        schema.entry("properties").or_insert_with(|| Schema::new().into());
    }
}

fn tighten(schema: &mut Schema, found: &mut Compatibility) {
    strict::normalize_type(schema, found);
    strict::close(schema, found);
    if types(schema).contains(&"array") && !schema.contains_key("items") {
        found.reject("array_without_items");
    }
    if !schema.contains_key("properties") {
        return;
    }
    if properties(schema).any(|(_, property, is_required)| !is_required && !is_nullable(property)) {
        found.reject("optional_properties");
    }
    let all = properties(schema).map(|(name, ..)| name).collect();
    schema.insert("required".to_owned(), all);
}

/// Whether a schema that is already normalized allows `null`.
fn is_nullable(schema: &Value) -> bool {
    let Value::Object(schema) = schema else { return false };
    let null = strict::literals(schema).is_none_or(|values| values.iter().any(|one| one.is_null()));
    let branches = schema.get("anyOf").and_then(Value::as_array);
    null && types(schema).contains(&"null") || branches.into_iter().flatten().any(is_nullable)
}
