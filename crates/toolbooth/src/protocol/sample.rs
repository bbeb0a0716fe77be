//! Sample calls: how to write a call in each protocol, and how to read the response. For tests only.
//!
//! The tests that compare protocols iterate over them, so they include a new protocol without a change. `site/src/protocols.json` has the same samples for the playground and
//! the tests in Node.
#![allow(
    clippy::indexing_slicing,
    reason = "only tests use it, and a `Value` without the member is null"
)]

use serde_json::{Value, json};

use super::{ROOT, envelope, jsonrpc, langchain, mcp, opentool, oxp, rest, xaibo};
use crate::route::Protocol;

/// The samples of a protocol: its row in the table of protocols.
#[derive(Debug)]
pub struct ProtocolSamples {
    /// The path that the protocol is mounted at.
    pub mount: &'static str,
    /// The protocol.
    pub protocol: &'static Protocol,
    /// The paths below the mount that accept calls, each with what they accept; `{name}` is the name of the tool. A
    /// sample without paths only shows the format of rejections.
    pub samples: &'static [(&'static [&'static str], &'static Sample)],
}

impl ProtocolSamples {
    /// Every path that accepts calls, with a sample.
    pub fn paths(&self) -> impl Iterator<Item = (String, &'static Sample)> {
        self.samples.iter().flat_map(|(paths, sample)| {
            paths.iter().map(|path| (format!("{}{path}", self.mount), *sample))
        })
    }
}

/// How to write a call in a protocol, and how to read the response.
#[derive(Debug)]
pub struct Sample {
    /// The name of the protocol in reports.
    pub title: &'static str,
    /// Writes one call.
    pub call: fn(&SampleCall<'_>) -> Value,
    /// Puts calls into a body.
    pub body: fn(Vec<Value>) -> Value,
    /// Whether a body can have several calls.
    pub batches: bool,
    /// Whether a call can carry a user, tokens and secrets.
    pub carries_context: bool,
    /// Where a response has the value of the first call: a JSON pointer.
    pub value: &'static str,
    /// How the value is written.
    pub value_form: ValueForm,
    /// Whether a response has no value for the first call.
    pub is_error: fn(&Value) -> bool,
    /// Where a response may describe the error of the first call: JSON pointers.
    pub error: &'static [&'static str],
    /// Where the response to a rejected request describes the error: JSON pointers.
    pub rejection: &'static [&'static str],
    /// Further members of the response to a rejected request, as JSON.
    pub rejection_members: &'static str,
    /// The status of a call without the scope that the tool requires.
    pub missing_scope_status: u16,
    /// The status of a call without the token that the tool requires.
    pub missing_requirements_status: u16,
    /// The query of lists that leave out incompatible tools.
    pub list_query: &'static str,
}

/// How a protocol writes the value of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueForm {
    /// As it is.
    Json,
    /// As an object: any other value is its member `result`.
    Object,
    /// As a text for a model: a string as it is, anything else as JSON.
    Text,
}

/// Where most protocols accept calls.
const CALLS: &[&str] = &["/tools/call", "/call"];

/// The samples of the protocols of this crate.
pub static SAMPLES: &[ProtocolSamples] = &[
    samples(
        "",
        &ROOT,
        &[(CALLS, &FLAT), (CALLS, &OXP_ENVELOPE), (CALLS, &OTC), (CALLS, &OPENTOOL)],
    ),
    samples("/otc", &envelope::OTC, &[(CALLS, &OTC)]),
    samples("/oxp/1.0", &envelope::OXP, &[(CALLS, &OXP_ENVELOPE)]),
    samples("/oxp", &oxp::OXP, &[(CALLS, &FLAT)]),
    samples("/langchain", &langchain::LANGCHAIN, &[(&["/tools/call"], &LANGCHAIN)]),
    samples(
        "/opentool",
        &opentool::OPENTOOL,
        &[(&["/call"], &OPENTOOL), (&["/streamCall"], &OPENTOOL_STREAM)],
    ),
    samples("/jsonrpc", &jsonrpc::JSONRPC, &[(&[""], &JSONRPC)]),
    samples("/xaibo", &xaibo::XAIBO, &[(&["/execute"], &XAIBO)]),
    samples("/rest", &rest::REST, &[(&["/{name}"], &REST)]),
    samples("/mcp", &mcp::MCP, &[(&[""], &MCP)]),
];

const fn samples(
    mount: &'static str,
    protocol: &'static Protocol,
    samples: &'static [(&'static [&'static str], &'static Sample)],
) -> ProtocolSamples {
    ProtocolSamples { mount, protocol, samples }
}

/// What a call contains.
#[derive(Debug, Clone, Copy)]
pub struct SampleCall<'a> {
    /// The id of the call.
    pub id: &'a str,
    /// The tool: `Toolkit.Tool`, with or without version.
    pub tool_id: &'a str,
    /// The same tool by its name.
    pub name: &'a str,
    /// The input.
    pub input: &'a Value,
    /// The user, tokens and secrets, if the test has any.
    pub context: Option<&'a Value>,
}

impl Sample {
    /// A body with one call.
    pub fn request(&self, call: &SampleCall<'_>) -> Value {
        (self.body)(vec![(self.call)(call)])
    }

    /// The value of a call.
    ///
    /// # Errors
    /// The description of the error.
    pub fn read(&self, response: &Value) -> Result<Value, String> {
        if !(self.is_error)(response) {
            return Ok(response.pointer(self.value).cloned().unwrap_or_default());
        }
        let texts = self.error.iter().filter_map(|pointer| response.pointer(pointer));
        let texts = texts.filter(|text| !text.is_null()).map(|text| match text {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        Err(texts.collect::<Vec<_>>().join(": "))
    }

    /// Whether `written` is how the protocol writes `value`.
    pub fn is(&self, written: &Value, value: &Value) -> bool {
        match (self.value_form, value) {
            (ValueForm::Json, _) | (ValueForm::Object, Value::Object(_)) => written == value,
            (ValueForm::Object, Value::Null) => {
                *written == json!({}) || *written == json!({"result": null})
            }
            (ValueForm::Object, _) => *written == json!({ "result": value }),
            (ValueForm::Text, Value::String(_)) => written == value,
            // A sentence says that there is no value.
            (ValueForm::Text, Value::Null) => written.as_str().is_some_and(|text| !text.is_empty()),
            (ValueForm::Text, _) => written
                .as_str()
                .is_some_and(|text| serde_json::from_str(text).is_ok_and(|it: Value| it == *value)),
        }
    }
}

/// The JSON of a response: the body, or the data of the second event of a stream. Any other text is a string.
pub fn response_json(body: &[u8]) -> Value {
    let text = str::from_utf8(body).unwrap_or_default();
    let event = text.split("\n\n").nth(1).and_then(|event| event.split_once("\ndata:"));
    let json = event.map_or(text, |(_, data)| data);
    serde_json::from_str(json).unwrap_or_else(|_| json.into())
}

/// The body of a protocol without batches.
fn only(calls: Vec<Value>) -> Value {
    calls.into_iter().next().unwrap_or_default()
}

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
    title: "OXP, flat",
    call: oxp_call,
    body: only,
    batches: false,
    carries_context: true,
    value: "/value",
    value_form: ValueForm::Json,
    is_error: |response| response["success"] != true,
    error: &["/error/message", "/message", "/developer_message", "/parameter_errors"],
    rejection: &["/message", "/developer_message"],
    rejection_members: "{}",
    missing_scope_status: 403,
    missing_requirements_status: 400,
    list_query: "",
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
