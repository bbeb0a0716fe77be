//! Plain REST: `POST /rest/{name}` runs a tool. The body is the input and the response is the value.
//!
//! Errors are problems (RFC 9457). Read-only tools with flat input also accept `GET`, with the input as query
//! parameters. The documents that describe the tools are at the root: OpenAPI, UTCP, `llms.txt`, and a client in
//! TypeScript.

mod document;
mod llms;
mod openapi;
mod prefer;
pub(super) mod problem;
mod query;
pub(super) mod typescript;
mod utcp;

use percent_encoding::percent_decode_str;

use super::{oxp, sample, tasks};
use crate::call::{
    Answered, Outcome, Rejection, RequestContext, TakesTask, ToolRequest, ToolSelector,
};
use crate::capability::Capability;
use crate::catalog::ListForm;
use crate::http::Response;
use crate::route::{
    CallResponse, Calls, Document, EncodeRejection, Policy, PostRequest, Protocol, QueryCalls,
    Route, for_tests,
};

/// The capability.
pub static CAPABILITY: Capability = Capability {
    protocols: &[("/rest", &REST), ("", &DOCUMENTS)],
    call_forms: &["the input alone at /rest/{name}"],
    ..Capability::new("rest")
};

pub(super) const MOUNT: &str = "/rest";

pub(crate) static REST: Protocol = Protocol {
    routes: &[
        Route::get("/{name}", Policy::QUERY_CALL, &QueryCalls(query::call, query::is_called)),
        Route::post("/{name}", Policy::CALLS, &Calls(call)),
    ],
    samples: for_tests(&[(&["/{name}"], &sample::REST)]),
    ..Protocol::new(
        "rest",
        "REST: the body is the input, the response is the value",
        EncodeRejection::Plain(|rejection, _| problem::reject(rejection)),
    )
};

pub(crate) use llms::SKILL_FORMS;

pub(crate) const LISTS: &[ListForm] =
    &[openapi::LIST, utcp::LIST, llms::LIST, llms::FULL, typescript::LIST];

/// The documents that describe the tools, at the root.
static DOCUMENTS: Protocol = Protocol {
    routes: &[
        Route::get("/openapi.json", Policy::CALLER, &Document(|it| openapi::DOCUMENT.page(it))),
        Route::get("/utcp", Policy::CALLER, &Document(|it| utcp::DOCUMENT.page(it))),
        Route::get("/llms.txt", Policy::CALLER, &Document(|it| llms::DOCUMENT.page(it))),
        Route::get("/llms-full.txt", Policy::CALLER, &Document(|it| llms::FULL_DOCUMENT.page(it))),
        Route::get("/client.ts", Policy::CALLER, &Document(|it| typescript::DOCUMENT.page(it))),
    ],
    check_version: oxp::check_version,
    response_headers: oxp::VERSION_HEADER,
    ..Protocol::new(
        "documents",
        "OpenAPI, UTCP, llms.txt and a client in TypeScript",
        oxp::FLAT_ERRORS,
    )
};

/// `POST /rest/{name}`.
fn call(request: PostRequest<'_>) -> CallResponse<'_> {
    let PostRequest { body, context } = request;
    Box::pin(async move {
        let is_preferred = prefer::respond_async(context.headers);
        let takes_task = if is_preferred { TakesTask::Always } else { TakesTask::IfRequired };
        let call =
            ToolRequest { takes_task, ..ToolRequest::new(selector(context.parameter), body) };
        Ok(match context.call_or_begin(Ok(call)).await? {
            Answered::Outcome(outcome) => encode(outcome),
            Answered::Task(task) => tasks::accepted(&task, is_preferred),
        })
    })
}

/// The tool that the path names: a name, a versioned name or an id.
fn selector(segment: &str) -> ToolSelector<'_> {
    // Names need no escapes, but clients may escape the `@` of an id.
    ToolSelector::Name(percent_decode_str(segment).decode_utf8_lossy())
}

/// Serves a call and encodes its outcome.
fn respond<'a>(
    context: RequestContext<'a>,
    call: Result<ToolRequest<'a>, Rejection>,
) -> CallResponse<'a> {
    Box::pin(async move { Ok(encode(context.call(call).await?)) })
}

fn encode(outcome: Outcome) -> Response {
    match outcome {
        Outcome::Done { value, .. } => Response::json_of(200, &value),
        Outcome::Failed { error, .. } => problem::failed(&error),
        Outcome::InvalidInput(input) => problem::invalid(&input),
        Outcome::InputRequired { required, .. } => problem::reject(&required.into()),
        Outcome::Rejected(rejection) => problem::reject(&rejection),
    }
}

#[cfg(test)]
mod tests;
