//! Sample calls in the formats of model providers.
#![allow(
    clippy::indexing_slicing,
    reason = "only tests use it, and a `Value` without the member is null"
)]

use serde_json::{Value, json};
use toolbooth::route::{Sample, SampleCall, ValueForm};

/// What the formats of model providers have in common; the rest is OpenAI Chat Completions.
pub(super) const CHAT: Sample = Sample {
    body: |calls| json!({"role": "assistant", "content": null, "tool_calls": calls}),
    batches: true,
    value: "/messages/0/content",
    value_form: ValueForm::Text,
    is_error: |response| is_error_text(response, "/messages/0/content"),
    error: &["/error/message", "/messages/0/content"],
    rejection: &["/error/message"],
    missing_scope_status: 200,
    missing_requirements_status: 200,
    list_query: "?skip_incompatible=true",
    ..Sample::new("OpenAI Chat Completions", |SampleCall { id, name, input, .. }| {
        json!({
            "id": id, "type": "function",
            "function": {"name": name, "arguments": input.to_string()}
        })
    })
};

/// OpenAI Responses.
pub(super) const RESPONSES: Sample = Sample {
    title: "OpenAI Responses",
    call: |SampleCall { id, name, input, .. }| {
        json!({
            "type": "function_call", "id": format!("f{id}"), "call_id": id, "name": name,
            "arguments": input.to_string()
        })
    },
    body: |calls| calls.into(),
    value: "/input/0/output",
    is_error: |response| is_error_text(response, "/input/0/output"),
    error: &["/error/message", "/input/0/output"],
    ..CHAT
};

/// Anthropic Messages.
pub(super) const MESSAGES: Sample = Sample {
    title: "Anthropic Messages",
    call: |SampleCall { id, name, input, .. }| json!({"type": "tool_use", "id": id, "name": name, "input": input}),
    body: |calls| json!({"role": "assistant", "content": calls}),
    value: "/messages/0/content/0/content",
    is_error: |response| {
        !response["error"].is_null() || response["messages"][0]["content"][0]["is_error"] == true
    },
    error: &["/error/message", "/messages/0/content/0/content"],
    ..CHAT
};

/// Gemini generateContent.
pub(super) const CONTENT: Sample = Sample {
    title: "Gemini generateContent",
    call: |SampleCall { id, name, input, .. }| json!({"functionCall": {"id": id, "name": name, "args": input}}),
    body: |calls| json!({"role": "model", "parts": calls}),
    value: "/contents/0/parts/0/functionResponse/response/output",
    value_form: ValueForm::Json,
    is_error: |response| {
        let result = &response["contents"][0]["parts"][0]["functionResponse"]["response"];
        !response["error"].is_null() || !result["error"].is_null()
    },
    error: &["/error/message", "/contents/0/parts/0/functionResponse/response/error"],
    ..CHAT
};

/// Whether the request was rejected, or the text for the model is an error.
fn is_error_text(response: &Value, pointer: &str) -> bool {
    let text = response.pointer(pointer).and_then(Value::as_str);
    !response["error"].is_null() || text.is_none_or(|text| text.starts_with("Error: "))
}
