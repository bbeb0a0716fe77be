//! Sample calls of the protocols of this crate.
#![allow(
    clippy::indexing_slicing,
    reason = "only tests use it, and a `Value` without the member is null"
)]

use serde_json::{Value, json};

use crate::route::{Sample, SampleCall, ValueForm, only};

/// Where most protocols accept calls.
pub(super) const CALLS: &[&str] = &["/tools/call", "/call"];

/// `call` with a member, unless there is no value for it.
fn with(mut call: Value, member: &str, value: Option<&Value>) -> Value {
    if let (Some(call), Some(value)) = (call.as_object_mut(), value) {
        call.insert(member.to_owned(), value.clone());
    }
    call
}

fn oxp_call(call: &SampleCall<'_>) -> Value {
    let SampleCall { id, tool_id, input, context, .. } = call;
    with(json!({"call_id": id, "tool_id": tool_id, "input": input}), "context", *context)
}

pub(crate) const FLAT: Sample = Sample {
    carries_context: true,
    value: "/value",
    is_error: |response| response["success"] != true,
    error: &["/error/message", "/message", "/developer_message", "/parameter_errors"],
    rejection: &["/message", "/developer_message"],
    ..Sample::new("OXP, flat", oxp_call)
};

pub(crate) const OXP_ENVELOPE: Sample = Sample {
    title: "OXP, envelope",
    body: |calls| json!({"$schema": "urn:oxp:1.0", "request": only(calls)}),
    value: "/result/value",
    is_error: |response| response["result"]["success"] != true,
    error: &["/result/error/message", "/message", "/developer_message", "/parameter_errors"],
    rejection_members: r#"{"$schema": "urn:oxp:1.0"}"#,
    ..FLAT
};

pub(crate) const OTC: Sample = Sample {
    title: "OTC",
    body: |calls| json!({"$schema": "otc://1.0", "request": only(calls)}),
    rejection_members: r#"{"$schema": "otc://1.0"}"#,
    ..OXP_ENVELOPE
};

/// LangChain's clients, which call a tool by its name.
pub(crate) const LANGCHAIN: Sample = Sample {
    title: "LangChain",
    call: |call| with(oxp_call(call), "tool_id", Some(&call.name.into())),
    body: OTC.body,
    ..FLAT
};

pub(crate) const JSONRPC: Sample = Sample {
    title: "JSON-RPC",
    call: |SampleCall { id, name, input, .. }| json!({"jsonrpc": "2.0", "method": name, "params": input, "id": id}),
    body: |calls| if calls.len() == 1 { only(calls) } else { calls.into() },
    batches: true,
    carries_context: false,
    value: "/result",
    is_error: |response| !response["error"].is_null(),
    error: &["/error/message"],
    rejection: &["/error/message"],
    rejection_members: r#"{"jsonrpc": "2.0", "id": null}"#,
    missing_scope_status: 200,
    missing_requirements_status: 200,
    ..FLAT
};

pub(crate) const OPENTOOL: Sample =
    Sample { title: "OpenTool", value_form: ValueForm::Object, ..JSONRPC };

pub(crate) const OPENTOOL_STREAM: Sample = Sample { body: only, batches: false, ..OPENTOOL };

pub(crate) const MCP: Sample = Sample {
    title: "MCP 2026-07-28",
    call: |SampleCall { id, name, input, context, .. }| {
        let mut params = json!({"name": name, "arguments": input});
        if let Some(context) = context {
            params["_meta"] = json!({"toolbooth/context": context});
        }
        json!({"jsonrpc": "2.0", "method": "tools/call", "params": params, "id": id})
    },
    value: "/result/structuredContent",
    value_form: ValueForm::Object,
    is_error: |response| !response["error"].is_null() || response["result"]["isError"] == true,
    error: &["/error/message", "/result/content/0/text"],
    rejection: &["/error/message"],
    rejection_members: r#"{"jsonrpc": "2.0"}"#,
    // A result, because a model can have its user do something about it.
    missing_requirements_status: 200,
    ..FLAT
};

pub(crate) const XAIBO: Sample = Sample {
    title: "Xaibo",
    call: |SampleCall { name, input, context, .. }| {
        with(json!({"tool_name": name, "parameters": input}), "context", *context)
    },
    value: "/result",
    is_error: |response| response["success"] != true,
    error: &["/error"],
    rejection: &["/error"],
    rejection_members: r#"{"success": false, "result": null}"#,
    missing_scope_status: 200,
    missing_requirements_status: 200,
    ..FLAT
};

/// REST. The path names the tool.
pub(crate) const REST: Sample = Sample {
    title: "REST",
    call: |call| call.input.clone(),
    carries_context: false,
    value: "",
    is_error: |response| {
        response["type"].as_str().is_some_and(|code| code.starts_with("urn:toolbooth:"))
    },
    error: &["/title", "/detail"],
    rejection: &["/title", "/detail"],
    missing_requirements_status: 403,
    ..FLAT
};
