//! Tools without a function: their definition describes the request, and [`run`] sends it.
//!
//! The build compiles the member `http` of a definition into an [`HttpCall`], so a further tool adds data and no code.
//! Everything else is as for other tools: the pipeline authorizes the call and validates its input before, and
//! validates the value after.

mod address;
mod body;
mod call;
mod email;
mod fields;
mod headers;
mod multipart;
mod page;
mod response;
mod select;
mod template;

#[cfg(test)]
mod tests;

use std::time::Duration;

use super::{Context, ToolError};
use crate::catalog::{RunError, ToolFuture};
use crate::host::{HttpRequest, HttpResponse};
use crate::json::Value;

pub use call::{
    BodyFormat, Content, Failure, FormStyle, HeaderField, HttpAuth, HttpBody, HttpCall, Kept,
    Pagination, PathPart, QueryField, SecretPlace, Segment, Select, Selector, Style, Template,
};

/// How long to wait before the second attempt if the service does not say.
const PAUSE_MS: u64 = 1_000;

/// Sends the request of a tool and returns its value.
pub fn run<'a>(
    call: &'static HttpCall,
    input: &'a Value<'a>,
    context: &'a Context<'a>,
) -> ToolFuture<'a> {
    Box::pin(async move {
        let request = request(call, input, context).map_err(RunError::Tool)?;
        let response = send(call, request, context).await.map_err(RunError::Tool)?;
        response::value(call, &response, context).map_err(RunError::Tool)
    })
}

/// Makes the request of a call.
fn request<'a>(
    call: &'static HttpCall,
    input: &'a Value<'a>,
    context: &'a Context<'a>,
) -> Result<HttpRequest<'a>, ToolError> {
    let (content_type, body) = body::write(call, input, context)?.unzip();
    Ok(HttpRequest {
        method: call.method,
        headers: headers::write(call, input, content_type, context)?,
        body,
        timeout: Duration::from_millis(call.timeout_ms.into()),
        max_bytes: usize::try_from(call.max_bytes).unwrap_or(usize::MAX),
        cut: true,
        ..HttpRequest::get(address::write(call, input, context)?)
    })
}

/// Sends a request, and once more if the service asks for a pause that is short enough.
async fn send(
    call: &HttpCall,
    request: HttpRequest<'_>,
    context: &Context<'_>,
) -> Result<HttpResponse, ToolError> {
    let failed = |error| {
        let error = ToolError::from(error);
        if is_read(call) { error.retryable() } else { error }
    };
    let second = call.retry.then(|| request.clone());
    let response = context.send(request).await.map_err(failed)?;
    let pause = response.retry_after_ms.unwrap_or(PAUSE_MS);
    match second {
        Some(request)
            if matches!(response.status, 429 | 503) && pause <= call.timeout_ms.into() =>
        {
            context.host.sleep(Duration::from_millis(pause)).await;
            context.send(request).await.map_err(failed)
        }
        _ => Ok(response),
    }
}

/// Whether a request changes nothing, so that it can be repeated.
fn is_read(call: &HttpCall) -> bool {
    matches!(call.method, "GET" | "HEAD")
}

/// The value of a property. A property that is absent or `null` is not sent; only a body of JSON can say `null`.
fn given<'v, 't>(input: &'v Value<'t>, property: &str) -> Option<&'v Value<'t>> {
    input.get(property).filter(|value| !value.is_null())
}
