//! The address to which providers redirect people, after a challenge or to sign in. Operators register one address for
//! both: the sealed state says which of them it is.

use crate::call::Rejection;
use crate::capability::Capability;
use crate::challenge::routes::{self as challenge, challenges};
use crate::http::{Answer, Response};
#[cfg(feature = "sign-in")]
use crate::oauth::FlowPurpose;
use crate::oauth::{AuthorizationFlow, CALLBACK};
use crate::protocol::oxp;
use crate::route::{
    Cors, EncodeRejection, ErrorForm, Policy, Protocol, Route, RouteRequest, State, any_version,
};
#[cfg(feature = "sign-in")]
use crate::sign_in::{Problem, SignIn, routes as sign_in};

/// The capability.
pub(crate) static CAPABILITY: Capability =
    Capability { name: "callback", protocols: &[(CALLBACK, &PROTOCOL)], variables: &[] };

/// The provider's redirect. `HEAD` would use up the code and show no page.
const POLICY: Policy = Policy {
    is_enabled,
    answers_head: false,
    errors: ErrorForm::Page(error_page),
    ..Policy::NETWORK
};

static PROTOCOL: Protocol = Protocol {
    name: "callback",
    title: "OAuth 2.1 redirection endpoint",
    listed: false,
    routes: &[Route::get("/{provider}", POLICY, &callback)],
    not_served: &[],
    check_version: any_version,
    encode_rejection: EncodeRejection::Plain(oxp::encode_rejection),
    response_headers: &[],
    cors: Cors::SameOrigin,
};

/// Whether providers redirect people to this server, of challenges or of a sign-in.
fn is_enabled(state: &State) -> bool {
    #[cfg(feature = "sign-in")]
    if state.extensions.get::<SignIn>().is_some() {
        return true;
    }
    challenge::is_enabled(state)
}

/// The page for a person whose request is rejected.
fn error_page(rejection: &Rejection, request: &RouteRequest<'_>) -> Option<Response> {
    #[cfg(feature = "sign-in")]
    if let Ok(state) = flow(request).ok()?.state(request.query, request.host)
        && state.purpose() == FlowPurpose::SignIn
    {
        return sign_in::error_page(rejection, request);
    }
    challenge::error_page(rejection, request)
}

/// Receives the provider's redirect, of a challenge or of a sign-in.
async fn callback<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let RouteRequest { query, headers, parameter, host, .. } = *request;
    let state = flow(request)?.state(query, host);
    #[cfg(feature = "sign-in")]
    let state = match (request.state.extensions.get::<SignIn>(), state) {
        (Some(sign_in), Ok(state)) if state.purpose() == FlowPurpose::SignIn => {
            if !request.state.pipeline.settings.problems.is_empty() {
                return Ok(sign_in.problem_page(Problem::Internal, host).into());
            }
            return Ok(sign_in.callback(parameter, state, (query, headers), host).await.into());
        }
        (_, state) => state,
    };
    let challenges = challenges(request)?;
    Ok(challenges.callback(parameter, state, (query, headers), host).await.into())
}

/// The flows that end at the callback, of challenges and sign-ins alike.
fn flow<'a>(request: &RouteRequest<'a>) -> Result<&'a AuthorizationFlow, Rejection> {
    #[cfg(feature = "sign-in")]
    if let Some(sign_in) = request.state.extensions.get::<SignIn>() {
        return Ok(sign_in.flow());
    }
    Ok(challenges(request)?.flow())
}
