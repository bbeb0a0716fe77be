//! `GET /rest/{name}`: calls of read-only tools with flat input, which is in the query.

use std::borrow::Cow;

use super::{respond, selector};
use crate::call::{Rejection, RequestContext, ToolRequest, ToolSelector};
use crate::catalog::{QueryParameter, QueryValue};
use crate::json::{self, Object, Value};
use crate::names::is_equal;
use crate::protocol::context::malformed;
use crate::route::CallResponse;
use crate::text::excerpt;

const MAX_PARAMETERS: usize = 100;

pub(super) fn call(context: RequestContext<'_>) -> CallResponse<'_> {
    respond(context, decode(&context))
}

/// Whether the tool that the path names may take calls with `GET`. A tool that the caller may not know is like one that does not
/// exist.
pub(super) fn is_called(context: &RequestContext<'_>) -> bool {
    let tool = context.resolve(&selector(context.parameter));
    tool.map_or(true, |tool| tool.query.is_some() || !context.allows(tool))
}

/// Reads the input. A value that does not have the type of its parameter stays a text, so that the schema rejects it.
fn decode<'a>(context: &RequestContext<'a>) -> Result<ToolRequest<'a>, Rejection> {
    let tool = context.resolve(&selector(context.parameter))?;
    let Some(parameters) = tool.query else {
        return Err(Rejection::MethodNotAllowed { allow: "POST, OPTIONS".to_owned() });
    };
    let mut input = Object::default();
    for (name, text) in form_urlencoded::parse(context.query.as_bytes()) {
        if input.contains(&name) {
            return Err(malformed(format!("\"{}\" is in the query twice", excerpt(&name))));
        }
        if input.len() == MAX_PARAMETERS {
            return Err(malformed(format!("the query has more than {MAX_PARAMETERS} parameters")));
        }
        let known = parameters.iter().find(|one| is_equal(one.name, &name));
        input.insert(name, value(known, text));
    }
    Ok(ToolRequest::new(ToolSelector::Resolved(tool), Value::Object(input)))
}

fn value<'t>(parameter: Option<&QueryParameter>, text: Cow<'t, str>) -> Value<'t> {
    match (parameter.map(|it| it.value), &*text) {
        (Some(QueryValue::Boolean), "true") => Value::Bool(true),
        (Some(QueryValue::Boolean), "false") => Value::Bool(false),
        (Some(QueryValue::Number), written) if written.trim() == written => {
            match json::parse(written) {
                Ok(Value::Number(number)) => Value::Number(number),
                _ => Value::String(text),
            }
        }
        _ => Value::String(text),
    }
}
