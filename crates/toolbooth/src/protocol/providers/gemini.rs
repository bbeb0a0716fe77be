//! Gemini's tool list: function declarations with `parametersJsonSchema`.
//!
//! There is no strict list: `functionCallingConfig.mode` of the request decides whether Gemini enforces the schema.

use serde::Serialize;
use serde_json::Value;

use super::list::{self, ProviderLists};
use super::schema::{SchemaLimits, Target, render};
use crate::call::RequestContext;
use crate::catalog::{ListForm, Listed, Rendering};
use crate::route::{Page, PageError};

pub(super) const FORMS: &[ListForm] = &[ListForm {
    name: "gemini",
    head: r#"[{"functionDeclarations":["#,
    tail: "]}]",
    entry: declaration,
}];

/// `GET /providers/gemini/tools`.
pub(super) fn tools(context: &RequestContext<'_>) -> Result<Page, PageError> {
    list::tools(
        context,
        &ProviderLists {
            provider: "Gemini",
            plain: "gemini",
            strict: Err(
                "Gemini has no strict tools; omit strict, and set functionCallingConfig.mode to \
                 VALIDATED to have Gemini enforce the schema",
            ),
            max_strict: 0,
        },
    )
}

/// Function declarations.
pub(crate) const PLAIN: Target = Target {
    column: 4,
    keeps_unknown: false,
    property: property_name,
    limits: SchemaLimits::NONE,
    finish: |_, _| {},
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
