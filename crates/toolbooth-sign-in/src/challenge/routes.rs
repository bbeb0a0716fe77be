//! The routes of challenges and grants, for browsers and clients. Only confirmations and deletions need credentials.

use std::sync::Arc;

use super::settings::SETTINGS;
use super::user_grants::delete_grant;
use super::warnings::warnings;
use super::{ChallengeSettings, Challenges, Verifiers, flow, page};
use crate::callback::{self, FlowOwner};
use crate::oauth::FlowPurpose;
use crate::paths::{AUTH, CALLBACK, CHECK, CONFIRM, GRANT, HELP, START, below, without_provider};
use crate::sign_in::ConnectedAccounts;
use toolbooth::call::Rejection;
use toolbooth::capability::{Capability, Startup};
use toolbooth::host::boxed;
use toolbooth::http::Answer;
use toolbooth::protocol::oxp;
use toolbooth::route::{
    BodyFormat, Cors, Credentials, ErrorForm, Policy, Protocol, Route, RouteRequest, State,
};
use toolbooth::url::query_value;

/// The capability.
pub static CAPABILITY: Capability = Capability {
    protocols: &[(CHECK, &STATUS), (AUTH, &PAGES), (CALLBACK, &callback::PROTOCOL)],
    settings: Some(&SETTINGS),
    start: Some(start),
    warnings: Some(warnings),
    ..Capability::new("challenges")
};

/// Creates the challenges, if the operator has configured them.
fn start(startup: &mut Startup<'_>) {
    startup.authorization_help = Some(without_provider(HELP));
    if let Some(own) = startup.settings.extensions.get::<ChallengeSettings>() {
        start_with(own, startup);
    }
}

// Out of the code that each start compiles.
#[inline(never)]
fn start_with(own: &ChallengeSettings, startup: &mut Startup<'_>) {
    let settings = startup.settings;
    let verifiers = Verifiers {
        issuers: settings.sign_in_issuers.clone(),
        api_keys: settings.auth.api_keys.clone().unwrap_or_default(),
        allows_unverified: own.allows_unverified,
    };
    let challenges = Arc::new(Challenges::new(own, verifiers, startup.events.clone()));
    startup.grants = Some(challenges.clone());
    startup.extensions.insert(FlowOwner {
        purpose: FlowPurpose::Challenge,
        flow: challenges.flow.clone(),
        callback: |request, state| boxed(flow::callback(request, state)),
        error_page: flow::rejection_page,
    });
    startup.extensions.insert(challenges);
    startup.extensions.insert(ConnectedAccounts(|state, person, host| {
        boxed(async move {
            match Challenges::of_state(state) {
                Some(challenges) => {
                    challenges.connected_accounts(person, state.tools(), host).await
                }
                None => Vec::new(),
            }
        })
    }));
}

/// A page for a person.
const PAGE: Policy = Policy { errors: ErrorForm::Page(flow::rejection_page), ..CLIENT };
/// A request of a client that waits for a challenge.
const CLIENT: Policy = Policy { is_enabled, ..Policy::NETWORK };
/// A request of an application about one of its users.
const APPLICATION: Policy =
    Policy { credentials: Credentials::Needed, needs_configuration: true, ..CLIENT };

/// Pages of a challenge, and the routes of applications and developers. The form must be sent from the page itself.
static PAGES: Protocol = Protocol {
    listed: false,
    routes: &[
        Route::get(below(AUTH, START), PAGE, &flow::show),
        Route::post(below(AUTH, START), PAGE, &flow::begin),
        Route::post(below(AUTH, CONFIRM), APPLICATION.with_body(BodyFormat::Json), &flow::confirm),
        Route::delete(below(AUTH, GRANT), APPLICATION, &delete_grant),
        Route::get(below(AUTH, HELP), Policy::PUBLIC, &explain),
    ],
    cors: Cors::SameOrigin,
    ..Protocol::new("challenge", "Authorization challenges", oxp::FLAT_ERRORS)
};

/// The status of a challenge. Web pages of every origin may read it.
static STATUS: Protocol = Protocol {
    listed: false,
    routes: &[Route::get("", CLIENT, &flow::check)],
    cors: Cors::AnyPage,
    ..Protocol::new("challenge-check", "Status of an authorization challenge", oxp::FLAT_ERRORS)
};

fn is_enabled(state: &State) -> bool {
    Challenges::of_state(state).is_some()
}

/// Explains to developers how calls are authorized at a provider that tools require.
async fn explain<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let mut required = request.state.tools().permitted().flat_map(|it| it.authorization);
    let found = required.find(|it| query_value(it.id).to_string() == request.parameter);
    found.map(|it| page::help(it.id).into()).ok_or(Rejection::NOT_FOUND)
}
