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
mod resource_metadata;
mod resources;
mod result;
mod tools;

use message::{Era, McpRequest};
use reply::Error;
use result::Told;

use super::{
    CallResponse, Cors, Handler, Page, PageError, PostRequest, Protocol, Route, get, oxp, post,
    version_free,
};
use crate::call::{Rejection, RequestContext, ToolRequest};
use crate::catalog::ListForm;
use crate::http::Response;

/// The protocol.
pub(super) static MCP: Protocol = Protocol {
    name: "mcp",
    title: "Model Context Protocol 2026-07-28, 2025-11-25, 2025-06-18 and 2025-03-26",
    listed: true,
    routes: &[Route { path: "", methods: &[post(Handler::Call(call))] }],
    check_version: version_free,
    encode_rejection: reply::encode_rejection,
    response_headers: &[],
    cors: Cors::WebClients,
};

/// The metadata of the OAuth resource (RFC 9728, 3.1): at the path that belongs to the resource's, and
/// at the path of the host, where clients look next. The pages that may call may read it.
pub(super) static RESOURCE_METADATA: Protocol = Protocol {
    name: "well-known",
    title: "OAuth 2.0 Protected Resource Metadata",
    listed: false,
    routes: &[
        Route { path: "/oauth-protected-resource/mcp", methods: &[get(Handler::Public(metadata))] },
        Route { path: "/oauth-protected-resource", methods: &[get(Handler::Public(metadata))] },
    ],
    check_version: version_free,
    encode_rejection: oxp::encode_rejection,
    response_headers: &[],
    cors: Cors::WebClients,
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

/// `GET /.well-known/oauth-protected-resource`; 404 if there is no issuer to name.
fn metadata(context: &RequestContext<'_>) -> Result<Page, PageError> {
    match &context.pipeline.settings.mcp_resource {
        Some(resource) => {
            Ok(Page::new(resource_metadata::document(resource, context.pipeline.catalog)))
        }
        None => Err(Rejection::NotFound.into()),
    }
}

/// What a message leads to.
enum Step<'t> {
    /// A response, without running a tool.
    Respond(Response),
    /// A call, and what its response needs to know.
    Call(Result<ToolRequest<'t>, Rejection>, Told),
}

/// `POST /mcp`: one message.
fn call(request: PostRequest<'_>) -> CallResponse<'_> {
    Box::pin(async move {
        let PostRequest { body, context } = request;
        let message = match McpRequest::read(body, context.headers) {
            Ok(Some(message)) => message,
            // Nobody waits for an answer, and nothing is kept that one could be about.
            Ok(None) => return Ok(Response::empty(202)),
            Err((id, error)) => return Ok(error.told(id.as_ref())),
        };
        let id = message.id.clone();
        match step(message, &context) {
            Ok(Step::Respond(response)) => Ok(response),
            Ok(Step::Call(call, told)) => {
                Ok(result::encode(context.call(call).await?, &told, &context))
            }
            Err(error) => Ok(error.told(Some(&id))),
        }
    })
}

fn step<'t>(message: McpRequest<'t>, context: &RequestContext<'_>) -> Result<Step<'t>, Error> {
    headers::check(&message, context.headers)?;
    match (&*message.method, message.era()) {
        ("tools/call", _) => tools::call(message, context),
        ("prompts/get", _) => prompts::get(message, context),
        ("resources/read", _) => resources::read(message, context),
        (method, era) => answer(method, era, &message, context).map(Step::Respond),
    }
}

/// Answers every request that runs no tool.
fn answer(
    method: &str,
    era: Era,
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
) -> Result<Response, Error> {
    match (method, era) {
        ("server/discover", Era::Modern) => Ok(discovery::discover(request)),
        ("initialize", Era::Legacy) => Ok(discovery::initialize(request)),
        // No level is remembered, for there is no session; and there are no changes to hear of.
        (
            "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe",
            Era::Legacy,
        ) => Ok(request.complete("")),
        ("tools/list", _) => tools::list(request, context),
        ("resources/list", _) => resources::list(request, context),
        ("resources/templates/list", _) => resources::templates(request, context),
        ("prompts/list", _) => prompts::list(request, context),
        ("completion/complete", _) => completion::complete(request, context),
        (method, era) => Err(Error::unknown_method(method, era)),
    }
}

#[cfg(test)]
mod tests;
