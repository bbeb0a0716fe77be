//! The Model Context Protocol over Streamable HTTP, `POST /mcp`: version 2026-07-28, in which every request
//! is self-contained, and the versions before it as far as they work without sessions. docs/PROTOCOLS.md
//! explains the clauses MC1 to MC67.
//!
//! - In: `message` reads JSON-RPC messages, `headers` compares them with the request's headers. `request_id`
//!   finds the id in a body that is not decoded.
//! - Methods: `discovery` (`server/discover`, `initialize`), `tool_list` (`tools/list`), `call` (`tools/call`),
//!   `prompts`, `resources` with `documentation` and `views`, `completion`, `skills`, `tasks`. `pagination` returns the lists. `prompts/get` and
//!   `resources/read` use `call` for what a tool makes.
//! - `security_schemes` and `challenge` are for servers with tools for everyone and tools that need a sign-in.
//! - `about` is what the operator tells clients about the server, and `server_card` what it tells directories. `doctor` reports what clients still need. `registry` proves the domain to MCP's registry.
//! - Out: `outcome` encodes what came of a call, with `elicitation` and `client_request` for what the client
//!   is asked, and `notifications`. `response` and `error` have the shapes of results and errors.
//!
//! The methods, and what few calls need, are not inlined: a first call does not wait until all of them are
//! compiled (docs/SIZE.md).

mod about;
mod call;
mod challenge;
mod client_request;
mod completion;
mod discovery;
mod doctor;
mod documentation;
mod elicitation;
mod error;
mod headers;
mod message;
mod notifications;
mod outcome;
mod pagination;
mod prompts;
mod registry;
mod request_id;
mod resource_metadata;
mod resources;
mod response;
mod security_schemes;
mod server_card;
mod skills;
mod tasks;
mod tool_list;
mod views;

pub(crate) use tool_list::LIST as TOOLS;

use std::rc::Rc;

use serde::Serialize;

use call::Action;
use error::McpError;
use message::{Era, McpRequest};
use notifications::Listener;
use request_id::request_id;
use response::EmptyObject;

use super::{oxp, sample};
use crate::call::{Answered, Rejection, RequestContext};
use crate::capability::Capability;
use crate::catalog::ListForm;
use crate::host::{async_trait, boxed};
use crate::http::{Answer, Response};
use crate::json::{self, Value};
use crate::principal::Principal;
use crate::route::{
    CallResponse, Cors, Document, EncodeRejection, Handler, MethodNotAllowed, Page, PageError,
    Policy, Protocol, Route, RouteRequest, for_tests,
};
use crate::settings::CapabilitySettings;

/// The capability.
pub static CAPABILITY: Capability = Capability {
    protocols: &[
        ("/mcp", &MCP),
        ("/mcp/server-card", &server_card::CARD),
        ("/.well-known", &RESOURCE_METADATA),
        ("/.well-known/mcp", &server_card::WELL_KNOWN_CARD),
        ("/register", &REGISTRATION),
        ("/doctor", &DOCTOR),
    ],
    call_forms: &[
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Toolkit_Tool","arguments":{}}} at /mcp"#,
    ],
    settings: Some(&CapabilitySettings {
        variables: &[registry::DOCS, about::DOCS, challenge::DOCS],
        auth_methods: &[],
        read: |settings, reader| {
            registry::read(settings, reader);
            about::read(settings, reader);
            challenge::read(settings, reader);
        },
    }),
    ..Capability::new("mcp")
};

pub(crate) static MCP: Protocol = Protocol {
    routes: &[
        Route::post("", Policy::CALLS, &Messages),
        Route::get("", Policy::CALLER, &MethodNotAllowed),
    ],
    cors: Cors::WebClients,
    samples: for_tests(&[(&[""], &sample::MCP)]),
    ..Protocol::new(
        "mcp",
        "Model Context Protocol 2026-07-28, 2025-11-25, 2025-06-18 and 2025-03-26",
        EncodeRejection::WithId(|rejection, start, pipeline| {
            error::encode_rejection(rejection, request_id(start).as_ref(), pipeline)
        }),
    )
};

/// The metadata of the OAuth resource (RFC 9728, 3.1): at the path that belongs to the resource's, and at the path of the
/// host, where clients look next. The pages that may call may read them. Beside them, the proof for MCP's registry.
pub(crate) static RESOURCE_METADATA: Protocol = Protocol {
    listed: false,
    routes: &[
        Route::get("/oauth-protected-resource/mcp", Policy::PUBLIC, &Document(metadata)),
        Route::get("/oauth-protected-resource", Policy::PUBLIC, &Document(metadata)),
        Route::get("/mcp-registry-auth", Policy::PUBLIC, &Document(registry::proof)),
    ],
    cors: Cors::WebClients,
    ..Protocol::new(
        "well-known",
        "OAuth 2.0 metadata, and the proof of the domain",
        oxp::FLAT_ERRORS,
    )
};

/// Where clients register that find no metadata. They show people the description of the error.
static REGISTRATION: Protocol = Protocol {
    listed: false,
    routes: &[Route::post("", Policy::NETWORK, &registration)],
    cors: Cors::WebClients,
    ..Protocol::new("registration", "Where OAuth clients do not register", oxp::FLAT_ERRORS)
};

pub(crate) static DOCTOR: Protocol = Protocol {
    listed: false,
    routes: &[Route::get("", Policy::PUBLIC, &Document(doctor::page))],
    ..Protocol::new("doctor", "What MCP clients still need", oxp::FLAT_ERRORS)
};

/// The lists that are rendered at build time.
pub(crate) const LISTS: &[ListForm] = &[
    tool_list::LIST,
    resources::LIST,
    resources::TEMPLATES,
    resources::CONTENTS,
    documentation::DOCUMENTS,
    prompts::LIST,
    prompts::TEXTS,
    completion::LIST,
    skills::LIST,
    skills::FILES,
];

pub(crate) use skills::FORMS as SKILL_FORMS;
pub(crate) use views::FORM as VIEW_FORM;

/// `GET /.well-known/oauth-protected-resource`; 404 if there is no issuer to name.
fn metadata(context: &RequestContext<'_>) -> Result<Page, PageError> {
    let resource = context.pipeline.settings.mcp_resource.as_ref().ok_or(Rejection::NOT_FOUND)?;
    let has_keys = context.pipeline.settings.state_keys.is_some();
    Ok(Page::new(resource_metadata::document(resource, has_keys, context.pipeline.catalog)))
}

/// `POST /register`: no client can register here (RFC 7591, 3.2.2).
async fn registration<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    #[derive(Serialize)]
    struct OAuthError {
        error: &'static str,
        error_description: &'static str,
    }
    let settings = request.state.settings();
    let error_description = match (settings.auth.sign_in, &settings.mcp_resource) {
        (true, _) => "Clients register at /oauth/register, as the metadata of this server says",
        (false, Some(_)) => {
            "Clients register with the issuer that /.well-known/oauth-protected-resource/mcp names"
        }
        (false, None) => {
            "This server has no sign-in, and clients need not register: send an API key, in the header Authorization: Bearer <key>"
        }
    };
    let error = OAuthError { error: "access_denied", error_description };
    Ok(Response::json_of(400, &error).into())
}

/// `POST /mcp`: one message.
struct Messages;

#[async_trait(?Send)]
impl Handler for Messages {
    async fn serve<'a>(&self, request: &Rc<RouteRequest<'a>>) -> Result<Answer<'a>, Rejection> {
        let listener = Rc::<Listener>::default();
        let response = respond(Rc::clone(request), Rc::clone(&listener));
        notifications::answer(response, listener, request.headers, request.host).await
    }
}

/// The response to a message. While its tool runs, `listener` hears what that reports.
fn respond<'a>(request: Rc<RouteRequest<'a>>, listener: Rc<Listener>) -> CallResponse<'a> {
    Box::pin(async move {
        let context = request.context();
        let shows_protected = context.pipeline.settings.per_tool_authorization;
        if shows_protected
            && matches!(context.principal, Principal::Anonymous { .. })
            && challenge::demands_sign_in(context.query)
        {
            return Err(challenge::UNAUTHENTICATED);
        }
        let body = json::parse(request.text()?)
            .map_err(|error| Rejection::InvalidJson(error.to_string()))?;
        let server = &context.pipeline.catalog.server;
        let message = match McpRequest::read(body, context.headers, server) {
            Ok(message) => message,
            Err(response) => return Ok(response),
        };
        let operation = message.operation();
        if let Some(operation) = operation {
            context.calls.describe_mcp(operation);
        }
        if let Some(traceparent) = message.meta.traceparent.as_ref().and_then(Value::as_str) {
            context.calls.continue_trace(traceparent);
        }
        let context =
            RequestContext { listener: listener.listen(&message), shows_protected, ..context };
        let id = message.id.clone();
        let failed = |error: McpError| {
            if operation.is_some() {
                context.calls.reject(error.code.name, context.host);
            }
            error.encode(Some(&id))
        };
        match dispatch(message, &context) {
            Ok(Action::Respond(response)) => Ok(response),
            Ok(Action::Read(request, view)) => {
                let read = boxed(views::read(&request, view, &context)).await;
                Ok(read.unwrap_or_else(failed))
            }
            Ok(Action::Call(call, result)) => Ok(match context.call_or_begin(call).await {
                Ok(Answered::Outcome(outcome)) => outcome::encode(outcome, &result, &context),
                Ok(Answered::Task(task)) => tasks::created(&task, &result.request),
                Err(rejection) => {
                    context.calls.reject_all(rejection.describe().kind.code(), context.host);
                    error::encode_rejection(&rejection, Some(&id), context.pipeline)
                }
            }),
            Ok(Action::Task(task, request)) => {
                let responded = tasks::respond(task, *request, &context).await;
                Ok(responded.unwrap_or_else(|error| error.encode(Some(&id))))
            }
            Err(error) => Ok(failed(error)),
        }
    })
}

/// Checks the headers of a request, and finds its method.
fn dispatch<'t>(
    mut request: McpRequest<'t>,
    context: &RequestContext<'_>,
) -> Result<Action<'t>, McpError> {
    headers::check(&request, context.headers)?;
    let response = match (&*request.method, request.era) {
        ("tools/call", _) => return call::tools_call(request, context),
        ("prompts/get", _) => return prompts::get(request, context),
        ("resources/read", _) => return resources::read(request, context),
        ("completion/complete", _) => return completion::complete(request, context),
        ("server/discover", Era::Modern) => discovery::discover(&request, context),
        ("initialize", Era::Legacy) => discovery::initialize(&request, context),
        // Accepted without effect: there is no session to remember a level, and resources do not change.
        (
            "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe",
            Era::Legacy,
        ) => request.result(&EmptyObject {}),
        ("tools/list", _) => tool_list::list(&request, context)?,
        ("resources/list", _) => {
            pagination::list("resources", resources::LIST.name, &request, context)?
        }
        ("prompts/list", _) => pagination::list("prompts", prompts::LIST.name, &request, context)?,
        ("resources/templates/list", _) => resources::templates(&request, context)?,
        (_, era) => {
            if era == Era::Modern
                && let Some(task) = tasks::read(&mut request, context)
            {
                return Ok(Action::Task(task?, Box::new(request)));
            }
            let method = &*request.method;
            let of_skills = skills::are_served(context).then(|| skills::respond(&request, context));
            of_skills.flatten().ok_or_else(|| McpError::unknown_method(method, era))??
        }
    };
    Ok(Action::Respond(response))
}

#[cfg(test)]
mod tests;
