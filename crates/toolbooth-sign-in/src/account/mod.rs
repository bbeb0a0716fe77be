//! The account page: what a person has allowed, and how they take it back.
//!
//! - `page`: the HTML; `visit`: where its visitors come from.

mod page;
mod visit;

use crate::challenge::{Challenges, Owner};
use crate::oauth::page::{Notice, TRY_AGAIN, isolated, notice, redirect, with_tls};
use crate::paths::{ACCOUNT, SIGN_IN};
use crate::purpose;
use crate::sign_in::SESSION_SECONDS;
use crate::sign_in::routes::{FORM, PAGE};
use crate::sign_in::server::AuthorizationServer;
use toolbooth::call::Rejection;
use toolbooth::capability::Capability;
use toolbooth::host::StoreError;
use toolbooth::http::{Answer, Response};
use toolbooth::principal::Person;
use toolbooth::protocol::oxp;
use toolbooth::route::{Cors, Protocol, Route, RouteRequest};
use visit::{Change, Visit};

/// The capability.
pub static CAPABILITY: Capability =
    Capability { protocols: &[(ACCOUNT, &PROTOCOL)], ..Capability::new("account") };

/// The page of an account. Its forms must be sent from it.
static PROTOCOL: Protocol = Protocol {
    listed: false,
    routes: &[Route::get("", PAGE, &show), Route::post("", FORM, &change)],
    cors: Cors::SameOrigin,
    ..Protocol::new("account", "Account page", oxp::FLAT_ERRORS)
};

/// Another site sent the form, or it is not that of this browser and this person.
const CROSS_SITE: Notice = Notice::new(
    403,
    "This did not start here",
    "Nothing was changed. Another site sent you here, or you have signed in with a different \
     account since you opened the page.",
);
const INVALID: Notice = Notice::new(400, "This form is not valid", "Nothing was changed.");
/// It has been taken back already, or never existed.
const NOT_FOUND: Notice =
    Notice::new(410, "There is no such permission", "It may have been revoked already.");
const UNAVAILABLE: Notice = Notice::new(
    503,
    "Your account cannot be read or changed now",
    "The server's storage does not respond. Try again in a moment.",
);

impl From<StoreError> for Notice {
    fn from(_: StoreError) -> Self {
        UNAVAILABLE
    }
}

/// `GET /account`: shows a person what they have allowed.
async fn show<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let server = AuthorizationServer::of(request)?;
    let page = match server.login.signed_in(request.headers, request.host).await {
        None => Ok(redirect(SIGN_IN.to_owned())),
        Some(person) => permissions_page(server, &person, request).await,
    };
    Ok(respond(server, page))
}

/// Adds the headers of the server's own pages.
fn respond<'a>(server: &AuthorizationServer, page: Result<Response, Notice>) -> Answer<'a> {
    let page = page.unwrap_or_else(|error| {
        let label = if error == UNAVAILABLE { TRY_AGAIN } else { "Back to your account" };
        notice(error, Some((label, ACCOUNT)))
    });
    isolated(with_tls(page, &server.login.settings.public_url)).into()
}

async fn permissions_page(
    server: &AuthorizationServer,
    person: &Person,
    request: &RouteRequest<'_>,
) -> Result<Response, Notice> {
    let RouteRequest { query, state, host, .. } = *request;
    let tools = state.tools();
    let mut grants = Vec::new();
    if let Some(challenges) = Challenges::of_state(state) {
        for owner in owners(person) {
            let caller = [owner.caller_with(Some(person), tools.settings)];
            grants.extend(challenges.grants_of(&owner, tools.to(&caller), host).await?);
        }
    }
    let connections = server.connections(own_subject(person), host).await?;
    let purpose = (purpose::ACCOUNT_FORM, SESSION_SECONDS * 1000);
    let form = server.login.bound_form(purpose, own_subject(person), request);
    let (token, cookie) = form.map_err(|_| UNAVAILABLE)?;
    let visit = Visit::read(query.as_bytes());
    Ok(page::account(&person.label, &token, (&grants, &connections), &visit)
        .with("set-cookie", cookie))
}

/// `POST /account`: takes something back, or ends the session.
async fn change<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let server = AuthorizationServer::of(request)?;
    Ok(respond(server, try_change(server, request).await))
}

async fn try_change(
    server: &AuthorizationServer,
    request: &RouteRequest<'_>,
) -> Result<Response, Notice> {
    let RouteRequest { ref body, headers, state, host, .. } = *request;
    let login = &server.login;
    let field = |name: &str| {
        let mut fields = form_urlencoded::parse(body);
        fields.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    };
    let form = field("form").ok_or(INVALID)?;
    let form = login.open_form::<String>(purpose::ACCOUNT_FORM, &form, request);
    let subject = form.map_err(|_| CROSS_SITE)?;
    // The person may have signed out in another tab, or their session may be over.
    let Some(person) = login.signed_in(headers, host).await else {
        return Ok(redirect(SIGN_IN.to_owned()));
    };
    if subject != own_subject(&person) {
        return Err(CROSS_SITE);
    }
    let visit = Visit::read(body);
    let done = match field("do").as_deref() {
        Some("sign-out") => {
            let cookie = login.sign_out(headers, host).await?;
            return Ok(page::signed_out(visit.from.as_ref()).with("set-cookie", cookie));
        }
        Some("disconnect") => {
            let id = field("client").unwrap_or_default();
            if !server.disconnect(&subject, &id, host).await? {
                return Err(NOT_FOUND);
            }
            Change::Disconnected
        }
        Some("revoke") => {
            let provider = field("provider").unwrap_or_default();
            let challenges = Challenges::of_state(state).ok_or(NOT_FOUND)?;
            let client = challenges.provider(&provider).ok_or(NOT_FOUND)?;
            for owner in owners(&person) {
                challenges.delete_grant_of(&owner, client, host).await?;
            }
            Change::Revoked
        }
        _ => return Err(INVALID),
    };
    Ok(redirect(Visit { done: Some(done), ..visit }.address()))
}

/// The `sub` of a person's tokens of this server.
fn own_subject(person: &Person) -> &str {
    person.subjects.first().map(|(_, subject)| subject.as_str()).unwrap_or_default()
}

/// The owners of a person's grants.
fn owners(person: &Person) -> impl Iterator<Item = Owner> {
    person.subjects.iter().map(|(issuer, subject)| Owner::user_of(issuer, subject))
}
