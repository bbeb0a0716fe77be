//! Who opens a challenge: only its user may continue.

use crate::purpose;
use serde::{Deserialize, Serialize};

use super::error::ChallengeError;
use crate::challenge::challenges::Challenges;
use crate::challenge::claims::ChallengeClaims;
use crate::challenge::constants::{LIFE_MS, SIGN_IN, START};
use crate::challenge::page;
use crate::challenge::verification::{Verification, is_user};
use crate::oauth::page::redirect;
use crate::oauth::{CsrfToken, cookie};
use toolbooth::host::Host;
use toolbooth::http::{Headers, Response};
use toolbooth::principal::Person;
use toolbooth::url::{query_parameter, query_value};

/// How long a browser that the application has confirmed may continue, in seconds.
const VERIFIED_SECONDS: u64 = LIFE_MS / 1000;
/// The value of `v` if the application says that its user is a different one.
pub(super) const OTHER_USER: &str = "other";

/// The user of a challenge, as far as the server knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::challenge) enum Visitor<'a> {
    /// They have signed in with this account.
    Person { label: &'a str },
    /// Their application has confirmed them.
    Application { host: Option<&'a str> },
    /// They have the link.
    Anyone { host: Option<&'a str> },
}

/// What happens to a person who opens a challenge.
pub(super) enum Visit<'a> {
    /// They may continue.
    Admitted(Visitor<'a>),
    /// They get this response instead.
    Respond(Response),
}

/// What an application confirms: that its user, who is the challenge's, uses this browser.
#[derive(Serialize, Deserialize)]
pub(super) struct UserVerification {
    /// The challenge's id.
    #[serde(rename = "i")]
    pub(super) challenge: String,
    /// The hash of the browser's token.
    #[serde(rename = "b")]
    pub(super) browser: String,
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
        (query, headers): (&str, &dyn Headers),
        person: Option<&'a Person>,
        host: &dyn Host,
    ) -> Result<Visit<'a>, ChallengeError> {
        match self.verifiers.verification(&claims.owner) {
            Verification::Link { host } => Ok(Visit::Admitted(Visitor::Anyone { host })),
            Verification::Denied => Err(ChallengeError::Unverified),
            Verification::SignIn => Ok(match person {
                None => Visit::Respond(redirect(format!("{SIGN_IN}?c={}", query_value(token)))),
                Some(person) if is_user(&claims.owner, person) => {
                    Visit::Admitted(Visitor::Person { label: &person.label })
                }
                Some(person) => Visit::Respond(page::other_person(&person.label, token)),
            }),
            Verification::Application { url, host: application } => {
                let cookie = cookie::read(headers, &cookie_name(claims)).unwrap_or_default();
                let verified =
                    self.state_keys.open::<String>(purpose::VERIFIED_USER, &cookie, host.now_ms());
                let is_verified = verified.is_ok_and(|challenge| challenge == claims.id);
                match query_parameter(query, "v") {
                    // The page without the value, which is spent: people reload and copy addresses.
                    Some(_) if is_verified => {
                        Ok(Visit::Respond(redirect(format!("{START}?c={token}"))))
                    }
                    None if is_verified => {
                        Ok(Visit::Admitted(Visitor::Application { host: application }))
                    }
                    Some(value) if value == OTHER_USER => Err(ChallengeError::OtherUser),
                    Some(value) => {
                        self.verified((claims, token), (&value, &cookie), host).map(Visit::Respond)
                    }
                    None => self.to_application((claims, token), url, host).map(Visit::Respond),
                }
            }
        }
    }

    /// Sends a browser to the application, which knows its user. `state` binds the answer to the browser: a link with a
    /// value that was issued for another one is of no use.
    fn to_application(
        &self,
        (claims, token): (&ChallengeClaims, &str),
        url: &str,
        host: &dyn Host,
    ) -> Result<Response, ChallengeError> {
        let csrf_token = CsrfToken::random(host).map_err(|_| ChallengeError::Internal)?;
        let parts = [&*claims.id, csrf_token.expose()];
        let browser = self.state_keys.hash(purpose::USER_BROWSER, &parts);
        let separator = if url.contains('?') { '&' } else { '?' };
        let response = redirect(format!("{url}{separator}state={token}.{browser}"));
        Ok(response.with("set-cookie", cookie::set(&cookie_name(claims), csrf_token.expose())))
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
            return Err(ChallengeError::Forged);
        }
        let parts = [&*claims.id, csrf_token];
        let key = self.state_keys.verify_hash(purpose::USER_BROWSER, &parts, &browser);
        key.ok_or(ChallengeError::OtherBrowser)?;
        let expires_ms = now_ms.saturating_add(VERIFIED_SECONDS * 1000);
        let verified = self.state_keys.seal(purpose::VERIFIED_USER, &claims.id, expires_ms);
        let cookie = cookie::set(&cookie_name(claims), &verified);
        Ok(redirect(format!("{START}?c={token}")).with("set-cookie", cookie))
    }
}
