//! Gemini's tool list: function declarations with `parametersJsonSchema`.
//!
//! There is no strict list: `functionCallingConfig.mode` of the request decides whether Gemini enforces the schema.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::call::{self, CallFormat, CallResult};
use super::list;
use super::schema::rules::{KeywordRule, common, string_or_number};
use super::schema::{Cycles, MAX_DEPTH, Target, render, require_declared};
use crate::wire;
use crate::wire::gemini::ResultPart;
use toolbooth::call::RequestContext;
use toolbooth::catalog::{ListForm, Listed, Rendering};
use toolbooth::json;
use toolbooth::route::{CallResponse, Page, PageError, PostRequest};

pub(super) const FORMS: &[ListForm] = &[ListForm {
    name: "gemini",
    head: r#"[{"functionDeclarations":["#,
    tail: "]}]",
    entry: declaration,
}];

/// `GET /providers/gemini/tools`.
pub(super) fn tools(context: &RequestContext<'_>) -> Result<Page, PageError> {
    let no_strict = "Gemini has no strict tools; omit strict, and set functionCallingConfig.mode to \
                     VALIDATED to have Gemini enforce the schema";
    list::tools(context, "Gemini", "gemini", Err(no_strict), None)
}

/// `POST /providers/gemini/call`.
pub(super) fn calls(request: PostRequest<'_>) -> CallResponse<'_> {
    static FORMAT: CallFormat = CallFormat {
        read: wire::gemini::read,
        member: "contents",
        results: user_content,
        pairs_by_id: false,
    };
    call::run(request, &FORMAT)
}

fn user_content(results: &[CallResult<'_>]) -> String {
    #[derive(Serialize)]
    struct UserContent<T> {
        role: &'static str,
        parts: Vec<T>,
    }
    if results.is_empty() {
        return "[]".to_owned();
    }
    let mut parts = Vec::new();
    for CallResult { handle, result } in results {
        let id = handle.id_sent.then_some(&*handle.id);
        let result = result.as_ref().map(Cow::Borrowed);
        let result = result.map_err(|message| Cow::Owned(Value::from(message.as_str())));
        parts.push(ResultPart::new(id, &*handle.name, result));
    }
    json::to_string(&[UserContent { role: "user", parts }])
}

pub(crate) const PLAIN: Target = Target {
    rule: |keyword| match keyword {
        "anyOf" | "prefixItems" | "format" | "minimum" | "maximum" | "minItems" | "maxItems" => {
            KeywordRule::Keep
        }
        "enum" => KeywordRule::If(|values| {
            values.as_array().is_some_and(|values| values.iter().all(string_or_number))
        }),
        "const" => KeywordRule::Enum,
        _ => common(keyword),
    },
    property: property_name,
    has_any_root: true,
    max_depth: MAX_DEPTH,
    limits: &[],
    beside_reference: |_| false,
    cycles: Cycles::Optional,
    finish: require_declared,
};

/// A letter or `_`, then letters, digits and `_`, 64 at most.
fn property_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.len() <= 64
        && name.bytes().all(plain)
}

fn declaration(listed: &Listed<'_>) -> Rendering {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct FunctionDeclaration<'a> {
        name: &'a str,
        description: &'a str,
        parameters_json_schema: Value,
    }
    render(listed, &PLAIN, |parameters_json_schema| FunctionDeclaration {
        name: listed.name,
        description: &listed.definition.description,
        parameters_json_schema,
    })
}
