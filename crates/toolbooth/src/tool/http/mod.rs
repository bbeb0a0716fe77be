//! Tools without a function: their definition describes the request, and [`run`] sends it.
//!
//! The build compiles the member `http` of a definition into an [`HttpCall`], so a further tool adds data and no code.
//! Everything else is as for other tools: the pipeline authorizes the call and validates its input before, and
//! validates the value after.

mod address;
mod auth;
mod body;
mod call;
mod email;
mod fields;
mod grant;
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
    OAuthGrant, Pagination, PathPart, QueryField, SecretPlace, Segment, Select, Selector, Style,
    Template, TokenFn,
};
pub use grant::{GrantedTokens, token};

use auth::Auth;

/// How long to wait before the second attempt if the service does not say.
const PAUSE_MS: u64 = 1_000;

/// Sends the request of a tool and returns its value.
pub fn run<'a>(
    call: &'static HttpCall,
    input: &'a Value<'a>,
    context: &'a Context<'a>,
) -> ToolFuture<'a> {
    Box::pin(async move {
        let mut auth = Auth::of(call, context);
        if let Some((grant, token)) = auth.grant() {
            auth.token = token(grant, None, context).await.map_err(RunError::Tool)?;
        }
        let first = request(call, input, &auth, context).map_err(RunError::Tool)?;
        let mut response = send(call, first, context).await.map_err(RunError::Tool)?;
        if response.status == 401
            && let Some((grant, token)) = auth.grant()
            && let Some(newer) =
                token(grant, auth.token.as_ref(), context).await.map_err(RunError::Tool)?
        {
            auth.token = Some(newer);
            let second = request(call, input, &auth, context).map_err(RunError::Tool)?;
            response = send(call, second, context).await.map_err(RunError::Tool)?;
        }
        response::value(call, &response, &auth, context).map_err(RunError::Tool)
    })
}

/// Makes the request of a call.
fn request<'a>(
    call: &'static HttpCall,
    input: &'a Value<'a>,
    auth: &Auth,
    context: &'a Context<'a>,
) -> Result<HttpRequest<'a>, ToolError> {
    let (content_type, body) = body::write(call, input, context)?.unzip();
    Ok(HttpRequest {
        method: call.method,
        headers: headers::write(call, input, content_type, auth, context)?,
        body,
        timeout: Duration::from_millis(call.timeout_ms.into()),
        max_bytes: usize::try_from(call.max_bytes).unwrap_or(usize::MAX),
        cut: true,
        text: true,
        ..HttpRequest::get(address::write(call, input, auth, context)?)
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
