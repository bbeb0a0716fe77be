//! OpenAI's tool lists: Chat Completions, and the flat form of Responses.
//!
//! Strict lists follow the rules of Structured Outputs: closed objects, every property required.
//! A property that need not be there is unfit, for a model would have to send `null` for it, which
//! the tool's own schema refuses. One that may be `null` anyway becomes required.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::list::{self, Lists};
use super::schema::{Faults, Limits, Target, render};
use super::strict;
use crate::call::RequestContext;
use crate::catalog::{ListForm, Listed, Rendering};
use crate::protocol::keywords::types;
use crate::protocol::{Page, PageError};

pub(super) const CHAT_FORMS: &[ListForm] = &[
    ListForm { name: "openai", head: "[", tail: "]", entry: |listed| chat(listed, false) },
    ListForm { name: "openai-strict", head: "[", tail: "]", entry: |listed| chat(listed, true) },
];
pub(super) const RESPONSES_FORMS: &[ListForm] = &[
    ListForm {
        name: "openai-responses",
        head: "[",
        tail: "]",
        entry: |listed| responses(listed, false),
    },
    ListForm {
        name: "openai-responses-strict",
        head: "[",
        tail: "]",
        entry: |listed| responses(listed, true),
    },
];

/// `GET /providers/openai/tools`.
pub(super) fn chat_tools(context: &RequestContext<'_>) -> Result<Page, PageError> {
    list::tools(
        context,
        &Lists {
            provider: "OpenAI Chat Completions",
            plain: "openai",
            strict: Ok("openai-strict"),
            most_strict: list::MOST,
        },
    )
}

/// `GET /providers/openai-responses/tools`.
pub(super) fn responses_tools(context: &RequestContext<'_>) -> Result<Page, PageError> {
    list::tools(
        context,
        &Lists {
            provider: "OpenAI Responses",
            plain: "openai-responses",
            strict: Ok("openai-responses-strict"),
            most_strict: list::MOST,
        },
    )
}

/// Functions that the model may call with other arguments than the schema says.
pub(super) const PLAIN: Target = Target {
    column: 0,
    keeps_unknown: true,
    property: |_| true,
    limits: Limits::NONE,
    finish: complete,
};

/// Functions whose arguments are held to the schema.
pub(super) const STRICT: Target = Target {
    column: 1,
    keeps_unknown: false,
    property: |_| true,
    limits: Limits { properties: 5000, values: 1000, ..Limits::NONE },
    finish: tighten,
};

fn chat(listed: &Listed<'_>, strict: bool) -> Rendering {
    #[derive(Serialize)]
    struct Tool<'a> {
        r#type: &'static str,
        function: Function<'a>,
    }
    render(listed, target(strict), |schema| Tool {
        r#type: "function",
        function: Function::of(listed, schema, strict),
    })
}

fn responses(listed: &Listed<'_>, strict: bool) -> Rendering {
    #[derive(Serialize)]
    struct Tool<'a> {
        r#type: &'static str,
        #[serde(flatten)]
        function: Function<'a>,
    }
    render(listed, target(strict), |schema| Tool {
        r#type: "function",
        function: Function::of(listed, schema, strict),
    })
}

fn target(strict: bool) -> &'static Target {
    if strict { &STRICT } else { &PLAIN }
}

/// What both forms say of a function. `strict` is always written: where it is absent, Responses
/// tries to be strict.
#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: Value,
    strict: bool,
}

impl<'a> Function<'a> {
    fn of(listed: &Listed<'a>, parameters: Value, strict: bool) -> Self {
        let Listed { name, definition, .. } = listed;
        Self { name, description: &definition.description, parameters, strict }
    }
}

/// OpenAI refuses an array without `items` and an object without `properties`; empty ones say the
/// same as none.
fn complete(schema: &mut Map<String, Value>, _: &mut Faults) {
    for (name, keyword) in [("array", "items"), ("object", "properties")] {
        if types(schema).contains(&name) {
            schema.entry(keyword).or_insert_with(|| json!({}));
        }
    }
}

fn tighten(schema: &mut Map<String, Value>, faults: &mut Faults) {
    strict::describe(schema, faults);
    strict::close(schema, faults);
    if types(schema).contains(&"array") && !schema.contains_key("items") {
        faults.unfit("array_without_items");
    }
    let Some(Value::Object(properties)) = schema.get("properties") else { return };
    let required = schema.get("required").and_then(Value::as_array);
    let sent = |name: &String| required.is_some_and(|names| names.iter().any(|one| one == name));
    if properties.iter().any(|(name, property)| !sent(name) && !nullable(property)) {
        faults.unfit("optional_properties");
    }
    let all: Vec<Value> = properties.keys().map(|name| json!(name)).collect();
    schema.insert("required".to_owned(), all.into());
}

/// Whether a schema that is already in strict form allows `null`.
fn nullable(schema: &Value) -> bool {
    let Value::Object(schema) = schema else { return false };
    let null = strict::literals(schema).is_none_or(|values| values.iter().any(|one| one.is_null()));
    let branches = schema.get("anyOf").and_then(Value::as_array);
    null && types(schema).contains(&"null") || branches.into_iter().flatten().any(nullable)
}
