//! The routes of authorization challenges and grants, which users open in a browser and clients poll. Only confirmations
//! and deletions need credentials.

use std::sync::Arc;

use super::settings::{ConsentSettings, SETTINGS};
use super::warnings::warnings;
use super::{Challenges, DeletionError, HELP_PATH, Verifiers, help};
use crate::callback::{self, FlowEnd};
use crate::oauth::{CALLBACK, FlowPurpose, FlowState};
use toolbooth::call::Rejection;
use toolbooth::capability::{Capability, Startup};
use toolbooth::host::boxed;
use toolbooth::http::{Answer, Response};
use toolbooth::protocol::oxp;
use toolbooth::route::{
    BodyFormat, Cors, Credentials, EncodeRejection, ErrorForm, Policy, Protocol, Route,
    RouteRequest, State,
};
use toolbooth::seal::InvalidToken;
use toolbooth::url::query_value;

/// The capability.
pub static CAPABILITY: Capability = Capability {
    protocols: &[("/auth/check", &CHECK), ("/auth", &CONSENT), (CALLBACK, &callback::PROTOCOL)],
    settings: Some(&SETTINGS),
    start: Some(start),
    warnings: Some(warnings),
    ..Capability::new("challenges")
};

/// Creates the challenges, if the operator has configured them.
fn start(startup: &mut Startup<'_>) {
    startup.authorization_help = Some(HELP_PATH);
    let settings = startup.settings;
    let Some(consent) = settings.extensions.get::<ConsentSettings>() else { return };
    let verifiers = Verifiers {
        issuers: settings.sign_in_issuers.clone(),
        api_keys: settings.auth.api_keys.clone().unwrap_or_default(),
        allows_unverified: consent.allows_unverified,
    };
    let challenges = Arc::new(Challenges::new(consent, verifiers, startup.events.clone()));
    startup.grants = Some(challenges.clone());
    startup.extensions.insert(challenges);
    startup.extensions.insert(FlowEnd {
        purpose: FlowPurpose::Challenge,
        flow: |state| challenges_of(state).map(Challenges::flow),
        callback: |request, state| boxed(callback(request, state)),
        error_page,
    });
}

/// A page for a person.
const PAGE: Policy = Policy { errors: ErrorForm::Page(error_page), ..CLIENT };
/// A request of a client that waits for a challenge.
const CLIENT: Policy = Policy { is_enabled, ..Policy::NETWORK };
/// A request of an application about one of its users.
const APPLICATION: Policy =
    Policy { credentials: Credentials::Needed, needs_configuration: true, ..CLIENT };

/// The user's routes. The form must be sent from the page itself.
static CONSENT: Protocol = Protocol {
    listed: false,
    routes: &[
        Route::get("/start", PAGE, &page),
        Route::post("/start", PAGE, &begin),
        Route::post("/confirm", APPLICATION.with_body(BodyFormat::Json), &confirm),
        Route::delete("/grants/{provider}", APPLICATION, &delete_grant),
        Route::get("/help/{provider}", Policy::PUBLIC, &explain),
    ],
    cors: Cors::SameOrigin,
    ..Protocol::new(
        "consent",
        "Authorization challenges",
        EncodeRejection::Plain(oxp::encode_rejection),
    )
};

/// The status of a challenge. Web pages of every origin may read it.
static CHECK: Protocol = Protocol {
    listed: false,
    routes: &[Route::get("", CLIENT, &check)],
    cors: Cors::AnyPage,
    ..Protocol::new(
        "challenge-check",
        "Status of an authorization challenge",
        EncodeRejection::Plain(oxp::encode_rejection),
    )
};

fn is_enabled(state: &State) -> bool {
    challenges_of(state).is_some()
}

/// The challenges, if the operator configured them.
pub(crate) fn challenges_of(state: &State) -> Option<&Challenges> {
    state.extensions.get::<Arc<Challenges>>().map(|it| &**it)
}

/// The challenges of a request's server.
fn challenges<'a>(request: &RouteRequest<'a>) -> Result<&'a Challenges, Rejection> {
    challenges_of(request.state).ok_or(Rejection::NOT_FOUND)
}

/// The page for a person whose network has sent too many requests.
fn error_page(rejection: &Rejection, request: &RouteRequest<'_>) -> Option<Response> {
    if !matches!(rejection, Rejection::TooManyRequests { .. }) {
        return None;
    }
    challenges(request).ok().map(Challenges::rate_limited_page)
}

/// Shows the user what they are asked to allow.
async fn page<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let RouteRequest { query, headers, state, host, .. } = *request;
    let challenges = challenges(request)?;
    let person = state.person(headers, host).await;
    let tools = state.tools();
    Ok(challenges.consent_page((query, headers), person.as_ref(), tools, host).into())
}

/// Redirects the user to the provider after they agreed.
async fn begin<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let RouteRequest { query, headers, state, host, .. } = *request;
    let challenges = challenges(request)?;
    let person = state.person(headers, host).await;
    Ok(challenges.begin((query, headers), person.as_ref(), host).await.into())
}

/// Receives the provider's redirect.
async fn callback<'a>(
    request: &RouteRequest<'a>,
    state: Result<FlowState, InvalidToken>,
) -> Result<Answer<'a>, Rejection> {
    let RouteRequest { query, headers, parameter, host, .. } = *request;
    Ok(challenges(request)?.callback(parameter, state, (query, headers), host).await.into())
}

/// Reports the status of a challenge.
async fn check<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    Ok(challenges(request)?.check(request.query, request.host).await.into())
}

/// Receives an application's confirmation of its user.
async fn confirm<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let challenges = challenges(request)?;
    let confirmed = challenges.confirm(&request.body, &request.principal, request.host);
    let response = confirmed.map_err(|error| Rejection::Malformed(error.message().to_owned()))?;
    Ok(response.into())
}

/// Deletes the user's grant.
async fn delete_grant<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let RouteRequest { query, parameter, ref principal, ref origin, host, .. } = *request;
    // Pages that may not call may not delete grants either.
    let origins = request.state.pipeline.settings.cors.origins(false);
    if origin.as_ref().is_some_and(|origin| !origins.allow(origin)) {
        return Err(Rejection::ForbiddenOrigin);
    }
    let challenges = challenges(request)?;
    let deleted = challenges.delete_grant((parameter, query), principal, host).await;
    let response = deleted.map_err(|error| match error {
        DeletionError::UnknownProvider => Rejection::NOT_FOUND,
        DeletionError::Owner(error) => {
            Rejection::Malformed(format!("in the query: {}", error.message()))
        }
        DeletionError::StoreUnavailable => {
            Rejection::Unavailable("its KV namespace does not answer")
        }
    })?;
    Ok(response.into())
}

/// Explains to developers how calls are authorized at a provider that tools require.
async fn explain<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let mut required = request.state.tools().permitted().flat_map(|it| it.authorization);
    let found = required.find(|it| query_value(it.id).to_string() == request.parameter);
    found.map(|it| help(it.id).into()).ok_or(Rejection::NOT_FOUND)
}
