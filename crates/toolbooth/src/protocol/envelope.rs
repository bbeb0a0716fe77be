//! OTC 1.0 and OXP 1.0 as published, whose bodies are envelopes.
//!
//! A call is in `request`, its result in `result`. `$schema` next to them names the version and with it the
//! protocol. Errors have no envelope. What is inside an envelope is that of [`oxp`]. docs/PROTOCOLS.md
//! explains the clause numbers T1 to T44 and XM1 to XM4.

use serde::Serialize;
use serde_json::Map;

use super::context::{malformed, text};
use super::health::HEALTH;
use super::other_protocol::{self, check_discriminators};
use super::oxp::{self, Format, reject};
use super::sample::{self, CALLS};
use crate::call::{Rejection, ToolRequest};
use crate::catalog::{ListForm, Listed, Rendering};
use crate::json::Value;
use crate::route::{
    CallResponse, Calls, Document, EncodeRejection, Page, Policy, PostRequest, Protocol, Route,
    for_tests,
};

/// OTC, if the request names no version.
pub(super) const OTC_1_0: Format = Format::Otc("otc://1.0");
/// OXP with envelopes, if the request names no version.
pub(super) const OXP_1_0: Format = Format::Oxp("urn:oxp:1.0");

/// Addresses of the OpenAPI document, which both protocols accept as `$schema`.
const PUBLISHED: [&str; 3] = [
    "https://github.com/OpenToolCalling/Specification/tree/main/spec/http/1.0/openapi.json",
    "https://github.com/OpenToolCalling/Specification/tree/main/specification/http/1.0/openapi.json",
    "https://github.com/ArcadeAI/OpenToolCalling/tree/main/specification/http/1.0/openapi.json",
];

/// Open Tool Calling.
pub static OTC: Protocol = Protocol {
    routes: &[
        HEALTH,
        Route::get("/tools", Policy::CALLER, &Document(|it| Ok(Page::of_list(OTC_LIST.name, it)?))),
        Route::post("/tools/call", Policy::CALLS, &Calls(|request| call(request, OTC_1_0))),
        Route::post("/call", Policy::CALLS, &Calls(|request| call(request, OTC_1_0))),
    ],
    samples: for_tests(&[(CALLS, &sample::OTC)]),
    ..Protocol::new(
        "otc",
        "Open Tool Calling 1.0",
        EncodeRejection::Plain(|rejection, _| reject(OTC_1_0, rejection)),
    )
};

/// The Open eXecution Protocol as published.
pub static OXP: Protocol = Protocol {
    routes: &[
        HEALTH,
        Route::get("/tools", Policy::CALLER, &Document(|it| Ok(Page::of_list(OXP_LIST.name, it)?))),
        Route::post("/tools/call", Policy::CALLS, &Calls(|request| call(request, OXP_1_0))),
        Route::post("/call", Policy::CALLS, &Calls(|request| call(request, OXP_1_0))),
    ],
    samples: for_tests(&[(CALLS, &sample::OXP_ENVELOPE)]),
    ..Protocol::new(
        "oxp-envelope",
        "Open eXecution Protocol 1.0 as published, bodies in an envelope",
        EncodeRejection::Plain(|rejection, _| reject(OXP_1_0, rejection)),
    )
};

pub(crate) const OTC_LIST: ListForm = ListForm {
    name: "otc",
    head: r#"{"$schema":"otc://1.0","tools":["#,
    tail: "]}",
    entry: render_otc,
};
pub(crate) const OXP_LIST: ListForm = ListForm {
    name: "oxp-envelope",
    head: r#"{"$schema":"urn:oxp:1.0","items":["#,
    tail: "]}",
    entry: oxp::render,
};

/// `POST /tools/call` with an envelope.
pub(super) fn call(request: PostRequest<'_>, unmarked: Format) -> CallResponse<'_> {
    let PostRequest { body, context } = request;
    let (format, call) = decode(body, unmarked);
    Box::pin(async move { Ok(oxp::encode(format, context.call(call).await?)) })
}

/// Decodes a body (T12, T13, XM4), and chooses the format of its response: that of the version that the
/// request names, or `unmarked` if it names none.
pub(super) fn decode(
    body: Value<'_>,
    unmarked: Format,
) -> (Format, Result<ToolRequest<'_>, Rejection>) {
    let has_user = matches!(unmarked, Format::Otc(_));
    match format(&body, unmarked) {
        Ok(format) => (format, open(body).and_then(|request| decode_request(request, has_user))),
        Err(rejection) => (nearest(&body, unmarked), Err(rejection)),
    }
}

/// Decodes `$schema` (T6 to T9, XM1 to XM3). Anything but a version that is served is rejected (T20).
fn format(body: &Value<'_>, unmarked: Format) -> Result<Format, Rejection> {
    let Some(sent) = body.get("$schema").filter(|sent| !sent.is_null()) else {
        return Ok(unmarked);
    };
    let sent = sent.as_str().ok_or_else(|| malformed("$schema must be a string"))?;
    let published = PUBLISHED.map(|address| match unmarked {
        Format::Otc(_) => Format::Otc(address),
        Format::Oxp(_) | Format::Flat => Format::Oxp(address),
    });
    let known = [OTC_1_0, OXP_1_0].into_iter().chain(published);
    let named = known.into_iter().find(|format| format.schema() == Some(sent));
    let supported = "otc://1.0, urn:oxp:1.0";
    named.ok_or(Rejection::UnsupportedVersion { field: "$schema", supported })
}

/// The format of the error about a version that is not served: that of the protocol it belongs to.
fn nearest(body: &Value<'_>, unmarked: Format) -> Format {
    match body.get("$schema").and_then(Value::as_str) {
        Some(sent) if sent.starts_with("otc:") => OTC_1_0,
        Some(sent) if sent.starts_with("urn:oxp:") => OXP_1_0,
        _ => unmarked,
    }
}

/// Takes `request` out of its envelope. The envelope is open: further members are ignored, except those of a
/// flat call.
fn open(body: Value<'_>) -> Result<Value<'_>, Rejection> {
    let Value::Object(mut body) = body else {
        return Err(malformed("the body must be an object with request"));
    };
    match (body.take("request"), body.contains("tool_id")) {
        (Some(_), true) => {
            Err(malformed("request and tool_id exclude each other; tool_id belongs inside request"))
        }
        (None, true) => Err(malformed(
            "tool_id belongs inside request; /oxp/tools/call accepts a call without envelope",
        )),
        (Some(request @ Value::Object(_)), false) => {
            check_discriminators("request", &body).map_err(Rejection::Malformed)?;
            Ok(request)
        }
        (Some(_), false) => Err(malformed("request must be an object with tool_id and input")),
        (None, false) => {
            let reason = "request is missing; it must be an object with tool_id and input";
            Err(other_protocol::rejection(&body, reason.to_owned()))
        }
    }
}

/// Decodes the call. Its errors say that they are about `request`.
fn decode_request(request: Value<'_>, has_user: bool) -> Result<ToolRequest<'_>, Rejection> {
    let call = if has_user { decode_with_user(request) } else { oxp::decode(request) };
    call.map_err(|mut rejection| {
        if let Rejection::Malformed(detail) | Rejection::OtherProtocol(detail) = &mut rejection {
            detail.insert_str(0, "in request: ");
        }
        rejection
    })
}

/// Decodes a call that may have `user_id` next to `tool_id`, as LangChain's client sends it.
fn decode_with_user(mut request: Value<'_>) -> Result<ToolRequest<'_>, Rejection> {
    let user_id = match &mut request {
        Value::Object(members) => text(members, "user_id", "")?,
        _ => None,
    };
    let mut call = oxp::decode(request)?;
    if let Some(user_id) = user_id {
        let sent = call.credentials.user_id.replace(user_id.into_owned());
        if sent.is_some() && sent != call.credentials.user_id {
            return Err(malformed("user_id and context.user_id must be the same"));
        }
    }
    Ok(call)
}

/// Renders a tool of OTC's list, which has the input schema one level deeper (T32).
fn render_otc(listed: &Listed<'_>) -> Rendering {
    #[derive(Serialize)]
    struct InputSchema<'a> {
        parameters: &'a Map<String, serde_json::Value>,
    }
    let parameters = &listed.definition.input_schema;
    oxp::tool_definition(listed.definition, &InputSchema { parameters })
}

#[cfg(test)]
mod tests;
