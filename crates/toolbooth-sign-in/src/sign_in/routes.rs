//! The routes of sign-in: the authorization endpoint, which people open in a browser, and the endpoints for clients. Every request except those for metadata counts against the limit of the network, before its body is
//! read: what it costs does not depend on a valid credential.

use std::sync::Arc;

use super::settings::{SETTINGS, SignInSettings};
use super::{OAuthError, OAuthErrorCode, Problem, SignIn};
use crate::callback::{self, FlowEnd};
use crate::oauth::{CALLBACK, FlowPurpose, FlowState};
use toolbooth::call::{Pipeline, Rejection, RejectionKind};
use toolbooth::capability::{Capability, Startup};
use toolbooth::host::{Host, boxed};
use toolbooth::http::{Answer, Response};
use toolbooth::protocol::oxp;
use toolbooth::route::{
    BodyFormat, Cors, EncodeRejection, ErrorForm, Policy, Protocol, Route, RouteRequest, State,
};
use toolbooth::seal::InvalidToken;
use toolbooth::url::query_parameter;

/// The capability.
pub static CAPABILITY: Capability = Capability {
    protocols: &[
        ("/oauth/authorize", &AUTHORIZATION),
        ("/oauth", &CLIENTS),
        ("/.well-known/oauth-authorization-server", &METADATA),
        (CALLBACK, &callback::PROTOCOL),
    ],
    settings: Some(&SETTINGS),
    start: Some(start),
    warnings: Some(warnings),
    ..Capability::new("sign-in")
};

/// Creates the authorization server, if people can sign in.
fn start(startup: &mut Startup<'_>) {
    let Some(settings) = startup.settings.extensions.get::<SignInSettings>() else { return };
    let mut scopes = startup.catalog.scopes();
    let is_new = |scope: &&str| settings.gives(scope) && !scopes.contains(scope);
    let added: Vec<_> = startup.settings.scopes.iter().copied().filter(is_new).collect();
    scopes.extend(added);
    let sign_in = Arc::new(SignIn::new(settings, scopes, startup.events.clone()));
    startup.own_tokens = Some(sign_in.own_tokens());
    startup.people = Some(sign_in.clone());
    startup.extensions.insert(sign_in);
    startup.extensions.insert(FlowEnd {
        purpose: FlowPurpose::SignIn,
        flow: |state| sign_in_of(state).map(SignIn::flow),
        callback: |request, state| boxed(callback(request, state)),
        error_page,
    });
}

/// Scopes in rules that nothing requires.
fn warnings(state: &State, _: &dyn Host) -> Vec<String> {
    let settings = state.settings().extensions.get::<SignInSettings>();
    let rules = settings.iter().flat_map(|it| &it.allowed);
    let given = rules.filter_map(|rule| Some((&rule.provider, rule.scopes.as_ref()?)));
    let unknown = given
        .flat_map(|(provider, scopes)| state.unknown_scopes(scopes).map(move |it| (provider, it)));
    let warn = |(provider, scope): (&String, &String)| {
        format!(
            "SIGN_IN_ALLOWED gives people at {provider} the scope {scope:?}, which no tool requires"
        )
    };
    unknown.map(warn).collect()
}

/// The authorization server of a server, if people can sign in.
fn sign_in_of(state: &State) -> Option<&SignIn> {
    state.extensions.get::<Arc<SignIn>>().map(|it| &**it)
}

/// A page for a person.
pub(crate) const PAGE: Policy = Policy { errors: ErrorForm::Page(error_page), ..CLIENT };
/// A form of such a page.
pub(crate) const FORM: Policy = PAGE.with_body(BodyFormat::Form);
/// A request of a client.
const CLIENT: Policy = Policy { is_enabled, needs_configuration: true, ..Policy::NETWORK };
/// A request for metadata.
const METADATA_POLICY: Policy = Policy { is_enabled, needs_configuration: true, ..Policy::PUBLIC };

/// The authorization endpoint. The form must be sent from its page.
static AUTHORIZATION: Protocol = Protocol {
    listed: false,
    routes: &[
        Route::get("", PAGE, &authorize),
        Route::post("", FORM, &consent),
        Route::get("/sign-in", PAGE, &sign_in_page),
    ],
    cors: Cors::SameOrigin,
    ..Protocol::new(
        "authorize",
        "OAuth 2.1 authorization endpoint",
        EncodeRejection::Plain(encode_rejection),
    )
};

/// The endpoints for clients. The pages that may call at `/mcp` may use them.
static CLIENTS: Protocol = Protocol {
    listed: false,
    routes: &[
        Route::post("/token", CLIENT.with_body(BodyFormat::Form), &token),
        Route::post("/register", CLIENT.with_body(BodyFormat::Json), &register),
        Route::post("/revoke", CLIENT.with_body(BodyFormat::Form), &revoke),
    ],
    cors: Cors::WebClients,
    ..Protocol::new("oauth", "OAuth 2.1 token endpoint", EncodeRejection::Plain(encode_rejection))
};

/// The metadata of the authorization server (RFC 8414). The pages that may call may read it.
static METADATA: Protocol = Protocol {
    listed: false,
    routes: &[Route::get("", METADATA_POLICY, &metadata)],
    cors: Cors::WebClients,
    ..Protocol::new(
        "authorization-server",
        "OAuth 2.0 authorization server metadata",
        EncodeRejection::Plain(oxp::encode_rejection),
    )
};

fn is_enabled(state: &State) -> bool {
    sign_in_of(state).is_some()
}

/// The authorization server, if people can sign in.
pub(crate) fn sign_in<'a>(request: &RouteRequest<'a>) -> Result<&'a SignIn, Rejection> {
    sign_in_of(request.state).ok_or(Rejection::NOT_FOUND)
}

/// The page for a person whose request is rejected.
fn error_page(rejection: &Rejection, request: &RouteRequest<'_>) -> Option<Response> {
    let sign_in = sign_in(request).ok()?;
    let problem = match rejection {
        Rejection::TooManyRequests { .. } => Problem::RateLimited,
        Rejection::Unavailable(_) => Problem::Internal,
        _ => Problem::Invalid,
    };
    Some(sign_in.problem_page(problem, request.host))
}

/// Asks for consent.
async fn authorize<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let RouteRequest { query, headers, state, host, .. } = *request;
    let tools = state.tools();
    Ok(sign_in(request)?.authorize((query, headers), tools, host).await.into())
}

/// Receives the form of the consent page, or of the page for signing in.
async fn consent<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let RouteRequest { ref body, headers, host, .. } = *request;
    Ok(sign_in(request)?.consent(body, headers, host).await.into())
}

/// People sign in to open a page of the server.
async fn sign_in_page<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let RouteRequest { query, headers, host, .. } = *request;
    let challenge = query_parameter(query, "c");
    Ok(sign_in(request)?.sign_in_page(challenge.as_deref(), headers, host).await.into())
}

/// Receives the provider's redirect.
async fn callback<'a>(
    request: &RouteRequest<'a>,
    state: Result<FlowState, InvalidToken>,
) -> Result<Answer<'a>, Rejection> {
    let RouteRequest { query, headers, parameter, host, .. } = *request;
    let sign_in = sign_in(request)?;
    Ok(match state {
        Ok(_) if !request.state.settings().problems.is_empty() => {
            sign_in.problem_page(Problem::Internal, host).into()
        }
        Ok(state) => sign_in.callback(parameter, state, (query, headers), host).await.into(),
        Err(_) => sign_in.problem_page(Problem::Invalid, host).into(),
    })
}

/// Issues tokens.
async fn token<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let RouteRequest { ref body, headers, host, .. } = *request;
    Ok(sign_in(request)?.token(body, headers, host).await.into())
}

/// Registers a client.
async fn register<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    Ok(sign_in(request)?.register(&request.body, request.host).into())
}

/// Revokes a grant.
async fn revoke<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let RouteRequest { ref body, headers, host, .. } = *request;
    Ok(sign_in(request)?.revoke(body, headers, host).await.into())
}

/// Returns the metadata of the authorization server.
async fn metadata<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let metadata = sign_in(request)?.metadata().into_bytes();
    Ok(Response::json(200, metadata).with("cache-control", "no-cache").into())
}

/// Encodes a rejection as an error of OAuth.
fn encode_rejection(rejection: &Rejection, _: &Pipeline) -> Response {
    let description = rejection.describe();
    let code = match description.kind {
        RejectionKind::TooManyRequests | RejectionKind::Unavailable => {
            OAuthErrorCode::TemporarilyUnavailable
        }
        RejectionKind::Internal => OAuthErrorCode::ServerError,
        RejectionKind::NotFound
        | RejectionKind::NotServed
        | RejectionKind::MethodNotAllowed
        | RejectionKind::ForbiddenOrigin
        | RejectionKind::PayloadTooLarge
        | RejectionKind::UnsupportedMediaType
        | RejectionKind::InvalidJson
        | RejectionKind::Malformed
        | RejectionKind::UnsupportedVersion
        | RejectionKind::InvalidToolId
        | RejectionKind::UnknownTool
        | RejectionKind::UnknownVersion
        | RejectionKind::ToolNotAllowed
        | RejectionKind::Unauthenticated
        | RejectionKind::MissingScope
        | RejectionKind::MissingRequirements
        | RejectionKind::CannotAsk => OAuthErrorCode::InvalidRequest,
    };
    let status = description.kind.status();
    let mut response = OAuthError::new(code, description.to_string()).with_status(status);
    if let Some((name, value)) = rejection.header() {
        response.headers.retain(|(known, _)| *known != name);
        response.headers.push((name, value.into()));
    }
    response
}
