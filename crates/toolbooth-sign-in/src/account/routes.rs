//! The routes of the page of an account.

use super::Account;
use crate::challenge::routes::challenges_of;
use crate::sign_in::routes::{FORM, PAGE, sign_in};
use toolbooth::call::Rejection;
use toolbooth::capability::Capability;
use toolbooth::http::Answer;
use toolbooth::protocol::oxp;
use toolbooth::route::{Cors, EncodeRejection, Protocol, Route, RouteRequest};

/// The capability.
pub static CAPABILITY: Capability =
    Capability { protocols: &[("/account", &ACCOUNT)], ..Capability::new("account") };

/// The page of an account. Its forms must be sent from it.
static ACCOUNT: Protocol = Protocol {
    listed: false,
    routes: &[Route::get("", PAGE, &account), Route::post("", FORM, &change_account)],
    cors: Cors::SameOrigin,
    ..Protocol::new("account", "Account page", EncodeRejection::Plain(oxp::encode_rejection))
};

/// Shows a person what they have allowed.
async fn account<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let RouteRequest { query, headers, state, host, .. } = *request;
    let account = Account::new(sign_in(request)?, challenges_of(state));
    Ok(account.page((query, headers), state.tools(), host).await.into())
}

/// Receives a form of that page.
async fn change_account<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let RouteRequest { ref body, headers, state, host, .. } = *request;
    let account = Account::new(sign_in(request)?, challenges_of(state));
    Ok(account.change(body, headers, host).await.into())
}
