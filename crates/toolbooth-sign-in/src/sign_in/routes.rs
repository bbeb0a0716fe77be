//! The routes of sign-in: the authorization endpoint, which people open in a browser, and the endpoints for clients.
//! Every request except those for metadata counts against the limit of the network, before its body is read: what it
//! costs does not depend on a valid credential.

use std::sync::Arc;

use super::consent;
use super::login::{Login, Problem, rules};
use super::server::error::{INVALID_REQUEST, SERVER_ERROR, TEMPORARILY_UNAVAILABLE};
use super::server::{self, AuthorizationServer};
use super::settings::{SETTINGS, SignInSettings};
use crate::callback::{self, FlowOwner};
use crate::oauth::FlowPurpose;
use crate::oauth::page::with_tls;
use crate::paths::{AUTHORIZE, CALLBACK, METADATA, OAUTH, REGISTER, REVOKE, SIGN_IN, TOKEN, below};
use toolbooth::call::{Pipeline, Rejection, RejectionKind};
use toolbooth::capability::{Capability, Startup};
use toolbooth::host::{Host, boxed};
use toolbooth::http::Response;
use toolbooth::protocol::oxp;
use toolbooth::route::{
    BodyFormat, Cors, EncodeRejection, ErrorForm, Policy, Protocol, Route, RouteRequest, State,
};

/// The capability.
pub static CAPABILITY: Capability = Capability {
    protocols: &[
        (AUTHORIZE, &AUTHORIZATION),
        (OAUTH, &CLIENTS),
        (METADATA, &METADATA_DOCUMENT),
        (CALLBACK, &callback::PROTOCOL),
    ],
    settings: Some(&SETTINGS),
    start: Some(start),
    warnings: Some(warnings),
    ..Capability::new("sign-in")
};

/// Creates the authorization server, if people can sign in.
fn start(startup: &mut Startup<'_>) {
    if let Some(settings) = startup.settings.extensions.get::<SignInSettings>() {
        start_with(settings.clone(), startup);
    }
}

// Out of the code that each start compiles.
#[inline(never)]
fn start_with(settings: SignInSettings, startup: &mut Startup<'_>) {
    let SignInSettings { login, server } = settings;
    let mut scopes = startup.catalog.scopes();
    let is_new = |scope: &&str| login.gives(scope) && !scopes.contains(scope);
    let added: Vec<_> = startup.settings.scopes.iter().copied().filter(is_new).collect();
    scopes.extend(added);
    let login = Arc::new(Login::new(login, scopes, startup.events.clone()));
    startup.extensions.insert(FlowOwner {
        purpose: FlowPurpose::SignIn,
        flow: login.flow.clone(),
        callback: |request, state| boxed(consent::callback(request, state)),
        error_page,
    });
    startup.people = Some(login.clone());
    let server = Arc::new(AuthorizationServer::new(server, login));
    startup.own_tokens = Some(server.own_tokens());
    startup.extensions.insert(server);
}

/// Scopes in rules that nothing requires.
fn warnings(state: &State, _: &dyn Host) -> Vec<String> {
    let Some(server) = AuthorizationServer::of_state(state) else { return Vec::new() };
    let mut warnings = Vec::new();
    for rule in &server.login.settings.allowed {
        for scope in state.unknown_scopes(&rule.scopes) {
            let matches_a_scope =
                server.login.scopes.iter().any(|known| rules::matches(scope, known));
            if !matches_a_scope {
                warnings.push(format!(
                    "{} gives people at {} the scope {scope:?}, which no tool requires",
                    rule.variable(),
                    rule.provider
                ));
            }
        }
    }
    warnings
}

/// A page for a person.
pub(crate) const PAGE: Policy = Policy { errors: ErrorForm::Page(error_page), ..CLIENT };
pub(crate) const FORM: Policy = PAGE.with_body(BodyFormat::Form);
/// A request of a client.
const CLIENT: Policy = Policy { is_enabled, needs_configuration: true, ..Policy::NETWORK };
const METADATA_POLICY: Policy = Policy { is_enabled, needs_configuration: true, ..Policy::PUBLIC };

/// Errors of OAuth.
const ERRORS: EncodeRejection = EncodeRejection::Plain(encode_rejection);

/// The authorization endpoint. The form must be sent from its page.
static AUTHORIZATION: Protocol = Protocol {
    listed: false,
    routes: &[
        Route::get("", PAGE, &consent::ask),
        Route::post("", FORM, &consent::answer),
        Route::get(below(AUTHORIZE, SIGN_IN), PAGE, &consent::sign_in),
    ],
    cors: Cors::SameOrigin,
    ..Protocol::new("authorize", "OAuth 2.1 authorization endpoint", ERRORS)
};

/// The endpoints for clients. The pages that may call at `/mcp` may use them.
static CLIENTS: Protocol = Protocol {
    listed: false,
    routes: &[
        Route::post(below(OAUTH, TOKEN), CLIENT.with_body(BodyFormat::Form), &server::token),
        Route::post(below(OAUTH, REGISTER), CLIENT.with_body(BodyFormat::Json), &server::register),
        Route::post(below(OAUTH, REVOKE), CLIENT.with_body(BodyFormat::Form), &server::revoke),
    ],
    cors: Cors::WebClients,
    ..Protocol::new("oauth", "OAuth 2.1 token endpoint", ERRORS)
};

/// The metadata of the authorization server (RFC 8414). The pages that may call may read it.
static METADATA_DOCUMENT: Protocol = Protocol {
    listed: false,
    routes: &[Route::get("", METADATA_POLICY, &server::metadata)],
    cors: Cors::WebClients,
    ..Protocol::new(
        "authorization-server",
        "OAuth 2.0 authorization server metadata",
        oxp::FLAT_ERRORS,
    )
};

fn is_enabled(state: &State) -> bool {
    AuthorizationServer::of_state(state).is_some()
}

/// The page for a person whose request is rejected.
fn error_page(rejection: &Rejection, request: &RouteRequest<'_>) -> Option<Response> {
    let problem = match rejection {
        Rejection::TooManyRequests { .. } => Problem::RATE_LIMITED,
        Rejection::Unavailable(_) => Problem::NOT_CONFIGURED,
        _ => Problem::INVALID,
    };
    let login = &AuthorizationServer::of(request).ok()?.login;
    Some(match rejection.describe().kind.status() {
        // The log has them already.
        403 | 429 => with_tls(login.page(problem), &login.settings.public_url),
        _ => login.finish(Err(problem), request.host),
    })
}

/// Encodes a rejection as an error of OAuth.
fn encode_rejection(rejection: &Rejection, _: &Pipeline) -> Response {
    let description = rejection.describe();
    let code = match description.kind {
        RejectionKind::TooManyRequests | RejectionKind::Unavailable => TEMPORARILY_UNAVAILABLE,
        RejectionKind::Internal => SERVER_ERROR,
        _ => INVALID_REQUEST,
    };
    let status = description.kind.status();
    let mut response = code.error(description.to_string()).with_status(status);
    if let Some((name, value)) = rejection.header() {
        response.headers.retain(|(known, _)| *known != name);
        response.headers.push((name, value.into()));
    }
    response
}
