//! The address to which providers redirect people, after a challenge or to sign in. Operators register one address for
//! both: the sealed state says which of them it is.

use crate::oauth::{AuthorizationFlow, FlowPurpose, FlowState};
use crate::paths::PROVIDER;
use toolbooth::call::Rejection;
use toolbooth::host::BoxFuture;
use toolbooth::http::{Answer, Response};
use toolbooth::protocol::oxp;
use toolbooth::route::{Cors, ErrorForm, Policy, Protocol, Route, RouteRequest, State};
use toolbooth::seal::InvalidToken;

/// A capability that sends browsers to providers, and how it continues these flows. It adds one to the extensions when
/// the server starts.
pub(crate) struct FlowOwner {
    pub(crate) purpose: FlowPurpose,
    /// The way to the providers and back.
    pub(crate) flow: AuthorizationFlow,
    pub(crate) callback: Callback,
    pub(crate) error_page: fn(&Rejection, &RouteRequest<'_>) -> Option<Response>,
}

type Callback = for<'a, 'r> fn(
    &'r RouteRequest<'a>,
    Result<FlowState, InvalidToken>,
) -> BoxFuture<'r, Result<Answer<'a>, Rejection>>;

/// The provider's redirect. `HEAD` would use up the code and show no page.
const POLICY: Policy = Policy {
    is_enabled: |state| owners(state).next().is_some(),
    answers_head: false,
    errors: ErrorForm::Page(error_page),
    ..Policy::NETWORK
};

pub(crate) static PROTOCOL: Protocol = Protocol {
    listed: false,
    routes: &[Route::get(PROVIDER, POLICY, &callback)],
    cors: Cors::SameOrigin,
    ..Protocol::new("callback", "OAuth 2.1 redirection endpoint", oxp::FLAT_ERRORS)
};

fn owners(state: &State) -> impl Iterator<Item = &FlowOwner> {
    state.extensions.all::<FlowOwner>()
}

/// The state of a request, and the owner of its flow: that of challenges if the state is not valid and there are any.
fn flow<'a>(
    request: &RouteRequest<'a>,
) -> Option<(Result<FlowState, InvalidToken>, &'a FlowOwner)> {
    let first = owners(request.state).next()?;
    let state = first.flow.state(request.query, request.host);
    let purpose = state.as_ref().map_or(FlowPurpose::Challenge, |state| state.purpose);
    let owner = owners(request.state).find(|owner| owner.purpose == purpose);
    Some((state, owner.unwrap_or(first)))
}

fn error_page(rejection: &Rejection, request: &RouteRequest<'_>) -> Option<Response> {
    let (_, owner) = flow(request)?;
    (owner.error_page)(rejection, request)
}

/// Receives the provider's redirect, of a challenge or of a sign-in.
async fn callback<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let (state, owner) = flow(request).ok_or(Rejection::NOT_FOUND)?;
    (owner.callback)(request, state).await
}
