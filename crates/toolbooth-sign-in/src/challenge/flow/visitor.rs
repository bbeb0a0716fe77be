//! Who opens a challenge: only its user may continue.

use serde::{Deserialize, Serialize};

use super::error::ChallengeError;
use crate::challenge::verification::is_user;
use crate::challenge::{ChallengeClaims, Challenges, LIFE_MS, Owner, Verification, page};
use crate::oauth::page::redirect;
use crate::oauth::{FlowError, cookie, random_text};
use crate::paths::{SIGN_IN, START};
use crate::purpose;
use toolbooth::call::Rejection;
use toolbooth::host::Host;
use toolbooth::http::{Answer, Response};
use toolbooth::json;
use toolbooth::principal::Person;
use toolbooth::route::RouteRequest;
use toolbooth::url::{query_parameter, query_value};

/// The value of `v` if the application says that its user is a different one.
const OTHER_USER: &str = "other";

/// The user of a challenge, as far as the server knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visitor<'a> {
    /// They have signed in with this account.
    Person { label: &'a str },
    /// Their application has confirmed them.
    Application { host: Option<&'a str> },
    /// They have the link.
    Anyone { host: Option<&'a str> },
}

/// What happens to a person who opens a challenge.
pub(super) enum Visit<'a> {
    Admitted(Visitor<'a>),
    Respond(Response),
}

/// What an application confirms: that its user, who is the challenge's, uses this browser.
#[derive(Serialize, Deserialize)]
struct UserVerification {
    #[serde(rename = "i")]
    challenge: String,
    /// The hash of the browser's token.
    #[serde(rename = "b")]
    browser: String,
}

/// How long the browser has to come back with the value, in milliseconds.
const VALUE_LIFE_MS: u64 = 2 * 60 * 1000;

#[derive(Deserialize)]
struct ConfirmationRequest {
    /// The parameter with which the browser came.
    state: String,
    /// The user who is signed in to the application with that browser.
    user_id: String,
}

/// Where the application redirects the browser.
#[derive(Serialize)]
struct ConfirmationResponse<'a> {
    status: &'a str,
    url: String,
}

/// The name of the cookie of a browser in which an application confirms the user.
fn cookie_name(claims: &ChallengeClaims) -> String {
    format!("user-{}", claims.id)
}

impl Challenges {
    /// Finds out whether the person who opens a challenge is its user. `person` is the one who has signed in.
    pub(super) fn visit<'a>(
        &'a self,
        (claims, token): (&ChallengeClaims, &str),
        query: &str,
        request: &RouteRequest<'_>,
        person: Option<&'a Person>,
    ) -> Result<Visit<'a>, ChallengeError> {
        let RouteRequest { headers, host, .. } = *request;
        let (url, application) = match self.verifiers.verification(&claims.owner) {
            Verification::Application { url, host } => (url, host),
            Verification::Link { host } => return Ok(Visit::Admitted(Visitor::Anyone { host })),
            Verification::Denied => return Err(ChallengeError::Unverified),
            Verification::SignIn => {
                return Ok(match person {
                    None => Visit::Respond(redirect(format!("{SIGN_IN}?c={}", query_value(token)))),
                    Some(person) if is_user(&claims.owner, person) => {
                        Visit::Admitted(Visitor::Person { label: &person.label })
                    }
                    Some(person) => Visit::Respond(page::other_person(&person.label, token)),
                });
            }
        };
        let cookie = cookie::read(headers, &cookie_name(claims)).unwrap_or_default();
        let verified =
            self.state_keys.open::<String>(purpose::VERIFIED_USER, &cookie, host.now_ms());
        let is_verified = verified.is_ok_and(|challenge| challenge == claims.id);
        let response = match query_parameter(query, "v") {
            None if is_verified => {
                return Ok(Visit::Admitted(Visitor::Application { host: application }));
            }
            // The page without the value, which is spent: people reload and copy addresses.
            Some(_) if is_verified => redirect(format!("{START}?c={token}")),
            Some(value) if value == OTHER_USER => return Err(ChallengeError::OtherUser),
            Some(value) => self.verified((claims, token), (&value, &cookie), host)?,
            None => self.to_application((claims, token), url, host)?,
        };
        Ok(Visit::Respond(response))
    }

    /// Sends a browser to the application, which knows its user. `state` binds the answer to the browser: a link with a
    /// value that was issued for another one is of no use.
    fn to_application(
        &self,
        (claims, token): (&ChallengeClaims, &str),
        url: &str,
        host: &dyn Host,
    ) -> Result<Response, ChallengeError> {
        let csrf_token = random_text(host)?;
        let parts = [&*claims.id, &csrf_token];
        let browser = self.state_keys.hash(purpose::USER_BROWSER, &parts);
        let separator = if url.contains('?') { '&' } else { '?' };
        let response = redirect(format!("{url}{separator}state={token}.{browser}"));
        Ok(response.with("set-cookie", cookie::set(&cookie_name(claims), &csrf_token)))
    }

    /// Marks a browser as that of the challenge's user, if the application has confirmed it. From then on the value is
    /// spent, because the browser's token is gone.
    fn verified(
        &self,
        (claims, token): (&ChallengeClaims, &str),
        (value, csrf_token): (&str, &str),
        host: &dyn Host,
    ) -> Result<Response, ChallengeError> {
        let now_ms = host.now_ms();
        let UserVerification { challenge, browser } =
            self.state_keys.open(purpose::USER_VERIFICATION, value, now_ms)?;
        if challenge != claims.id {
            return Err(FlowError::Forged.into());
        }
        let parts = [&*claims.id, csrf_token];
        let key = self.state_keys.verify_hash(purpose::USER_BROWSER, &parts, &browser);
        key.ok_or(FlowError::OtherBrowser)?;
        let expires_ms = now_ms.saturating_add(LIFE_MS);
        let verified = self.state_keys.seal(purpose::VERIFIED_USER, &claims.id, expires_ms);
        let cookie = cookie::set(&cookie_name(claims), &verified);
        Ok(redirect(format!("{START}?c={token}")).with("set-cookie", cookie))
    }

    /// Where to redirect a browser whose user the application knows; the error is a message for the application.
    fn confirmed(&self, request: &RouteRequest<'_>) -> Result<Response, &'static str> {
        const INVALID: &str = "state was not issued for this application, or has expired";
        let RouteRequest { ref body, ref principal, host, .. } = *request;
        let ConfirmationRequest { state, user_id } =
            json::read(body).ok_or("the body must be an object with state and user_id")?;
        let (token, browser) = state.split_once('.').ok_or(INVALID)?;
        let (claims, _) = self.pending(token, host).map_err(|_| INVALID)?;
        let owner = Owner::of(principal, Some(&claims.owner.user));
        if !owner.is_ok_and(|owner| owner == claims.owner) {
            return Err(INVALID);
        }
        let (status, value) = match user_id == claims.owner.user {
            false => ("other_user", OTHER_USER.to_owned()),
            true => {
                let (challenge, browser) = (claims.id, browser.to_owned());
                let verification = UserVerification { challenge, browser };
                let expires_ms = host.now_ms().saturating_add(VALUE_LIFE_MS);
                let purpose = purpose::USER_VERIFICATION;
                ("verified", self.state_keys.seal(purpose, &verification, expires_ms))
            }
        };
        let url = format!("{}{START}?c={token}&v={value}", self.public_url);
        Ok(Response::json_of(200, &ConfirmationResponse { status, url }))
    }
}

/// `POST /auth/confirm`: an application confirms that its user, who is the challenge's, uses the browser that opened it.
pub(crate) async fn confirm<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let confirmed = Challenges::of(request)?.confirmed(request);
    Ok(confirmed.map_err(|message| Rejection::Malformed(message.to_owned()))?.into())
}
