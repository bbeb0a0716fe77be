//! Decodes one request object.

use crate::call::{Rejection, ToolRequest, ToolSelector};
use crate::json::{Object, Value};
use crate::protocol::context::{malformed, optional};
use crate::protocol::other_protocol::check_discriminators;

/// A request, as far as it could be decoded.
#[derive(Debug)]
pub(in crate::protocol) struct JsonRpcRequest<'t> {
    /// The id of the response, with its type; `None` for a notification, which has no response.
    pub(in crate::protocol) id: Option<Value<'t>>,
    /// The call, or what is wrong with the request.
    pub(in crate::protocol) call: Result<ToolRequest<'t>, Rejection>,
}

impl<'t> JsonRpcRequest<'t> {
    /// Decodes `body`, whose `jsonrpc` must be one of `versions` (OT6, OT19). Further members are ignored,
    /// except those that identify other protocols.
    ///
    /// `params` that are absent or null are `{}` (OT7). An array becomes an input that no tool accepts: the
    /// error is about the parameters, not the request (OT20), and an unknown tool is reported first. The id of a
    /// malformed request's response is null if the request has none or an invalid one.
    pub(in crate::protocol) fn decode(body: Value<'t>, versions: &[&str]) -> Self {
        let Value::Object(mut body) = body else {
            return Self::malformed("a request must be an object");
        };
        let id = body.take("id");
        if !matches!(id, None | Some(Value::Null | Value::Number(_) | Value::String(_))) {
            return Self::malformed("id must be a string, a number or null");
        }
        let call = call(body, versions).map_err(Rejection::Malformed);
        let id = if call.is_err() { id.or(Some(Value::Null)) } else { id };
        Self { id, call }
    }

    /// A request that cannot be decoded.
    pub(in crate::protocol) fn malformed(reason: impl Into<String>) -> Self {
        Self { id: Some(Value::Null), call: Err(malformed(reason)) }
    }
}

fn call<'t>(mut body: Object<'t>, versions: &[&str]) -> Result<ToolRequest<'t>, String> {
    let version = body.get("jsonrpc").and_then(Value::as_str);
    if !version.is_some_and(|version| versions.contains(&version)) {
        return Err("jsonrpc must be \"2.0\"".to_owned());
    }
    check_discriminators("jsonrpc", &body)?;
    let Some(Value::String(method)) = body.take("method") else {
        return Err("method must be a string".to_owned());
    };
    let input = match optional(&mut body, "params") {
        None => Value::Object(Object::default()),
        Some(params @ (Value::Object(_) | Value::Array(_))) => params,
        Some(_) => return Err("params must be an object".to_owned()),
    };
    Ok(ToolRequest::new(ToolSelector::Name(method), input))
}
