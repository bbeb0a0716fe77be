//! The Model Context Protocol over Streamable HTTP, `POST /mcp`: revision 2026-07-28, in which every
//! request stands for itself, and the revisions before it as far as they can be served without
//! sessions. Clause numbers MC1 to MC57 are explained in docs/PROTOCOLS.md.
//!
//! - `message`: JSON-RPC messages and the era they belong to; `headers`: what a request repeats
//!   in headers; `reply`: results and errors;
//! - `discovery`: who the server is; `tools`: the list and the call; `result`: what comes of a call,
//!   with `elicitation`: what the client is asked, and `notes`: what it hears meanwhile; `resources`, `prompts`, `completion`.

mod completion;
mod discovery;
mod elicitation;
mod headers;
mod message;
mod notes;
mod prompts;
mod reply;
mod resources;
mod result;
mod tools;

use message::{Era, McpRequest};
use reply::{Error, reject};

use super::{
    Exchange, Handler, ListRequest, Page, PostRequest, Protocol, Route, no_version, oxp, unsigned,
};
use crate::call::Rejection;
use crate::catalog::ListForm;
use crate::http::Response;

/// The protocol.
pub(super) static MCP: Protocol = Protocol {
    name: "mcp",
    title: "Model Context Protocol 2026-07-28, 2025-11-25, 2025-06-18 and 2025-03-26",
    endpoints: &[Route { path: "", action: Handler::Call(post) }],
    check: no_version,
    reject,
    decorate: unsigned,
    web_clients: true,
};

/// The metadata of the OAuth resource (RFC 9728, 3.1): at the place that belongs to its path, and
/// at the place of the host, where clients look next. They are for the pages that may call.
pub(super) static WELL_KNOWN: Protocol = Protocol {
    name: "well-known",
    title: "OAuth 2.0 Protected Resource Metadata",
    endpoints: &[
        Route { path: "/oauth-protected-resource/mcp", action: Handler::Public(metadata) },
        Route { path: "/oauth-protected-resource", action: Handler::Public(metadata) },
    ],
    check: no_version,
    reject: |rejection| oxp::reject(oxp::Form::Flat, rejection),
    decorate: oxp::decorate,
    web_clients: true,
};

/// All that is rendered at build time.
pub(super) const LISTS: &[ListForm] = &[
    tools::LIST,
    resources::LIST,
    resources::TEMPLATES,
    resources::CONTENTS,
    resources::DOCUMENTS,
    prompts::LIST,
    prompts::TEXTS,
];

/// `GET /.well-known/oauth-protected-resource`; nothing where clients cannot be told whom to ask.
fn metadata(reading: &ListRequest<'_>) -> Result<Page, Response> {
    match &reading.settings.resource {
        Some(resource) => Ok(Page::of(resource.metadata(reading.catalog))),
        None => Err((WELL_KNOWN.reject)(Rejection::NotFound)),
    }
}

/// `POST /mcp`: one message.
fn post(mut posted: PostRequest<'_>) -> Exchange<'_> {
    let request = match McpRequest::read(posted.body.take(), posted.headers) {
        Ok(Some(request)) => request,
        // Nobody waits for an answer, and nothing is kept that one could be about.
        Ok(None) => return Exchange::answered(Response::empty(202)),
        Err((id, error)) => return Exchange::answered(error.told(id.as_ref())),
    };
    if let Err(error) = headers::check(&request, posted.headers) {
        return Exchange::answered(error.told(Some(&request.id)));
    }
    match (&*request.method, request.era()) {
        ("tools/call", _) => tools::call(request, &posted),
        ("prompts/get", _) => prompts::get(request, &posted),
        ("resources/read", _) => resources::read(request, &posted),
        (method, era) => answered(&request, answer(method, era, &request, &posted)),
    }
}

/// An exchange in which no tool runs.
fn answered<'t>(request: &McpRequest<'_>, answer: Result<Response, Error>) -> Exchange<'t> {
    Exchange::answered(answer.unwrap_or_else(|error| error.told(Some(&request.id))))
}

/// Answers every request that runs no tool.
fn answer(
    method: &str,
    era: Era,
    request: &McpRequest<'_>,
    posted: &PostRequest<'_>,
) -> Result<Response, Error> {
    match (method, era) {
        ("server/discover", Era::Modern) => Ok(discovery::discover(request)),
        ("initialize", Era::Legacy) => Ok(discovery::initialize(request)),
        // No level is remembered, for there is no session; and there are no changes to hear of.
        (
            "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe",
            Era::Legacy,
        ) => Ok(request.complete("")),
        ("tools/list", _) => tools::list(request, posted),
        ("resources/list", _) => resources::list(request, posted),
        ("resources/templates/list", _) => resources::templates(request, posted),
        ("prompts/list", _) => prompts::list(request, posted),
        ("completion/complete", _) => completion::complete(request, posted),
        (method, era) => Err(Error::unknown_method(method, era)),
    }
}

#[cfg(test)]
mod tests;
