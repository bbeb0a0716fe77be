//! Where a person goes after sign-in: back to a client, or to a page of the server.

use crate::purpose;
use serde::{Deserialize, Serialize};

use super::authorize::ApprovedRequest;
use super::event::SignInEvent;
use super::identity::Identity;
use super::page::{self, SignInOption};
use super::problem::Problem;
use super::{ACCOUNT, AUTHORIZE, CHALLENGE, SIGN_IN, SignIn};
use crate::oauth::page::{isolated, redirect};
use toolbooth::host::Host;
use toolbooth::http::{Headers, Response};
use toolbooth::url::query_value;

/// Where a person goes after sign-in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum AfterSignIn {
    /// Back to a client, with a code.
    #[serde(rename = "c")]
    Client(ApprovedRequest),
    /// To the page of their account.
    #[serde(rename = "a")]
    Account,
    /// To this challenge.
    #[serde(rename = "h")]
    Challenge(String),
}

impl AfterSignIn {
    /// What follows the sign-in page with this query parameter.
    fn of(challenge: Option<&str>) -> Result<Self, Problem> {
        match challenge {
            None => Ok(Self::Account),
            Some(token) if token.len() <= purpose::CHALLENGE.longest() => {
                Ok(Self::Challenge(token.to_owned()))
            }
            Some(_) => Err(Problem::Invalid),
        }
    }
}

impl SignIn {
    /// `GET /oauth/authorize/sign-in`: people sign in to open a page of the server. It is below the authorization
    /// endpoint, so that Cloudflare Access protects it too.
    pub(crate) async fn sign_in_page(
        &self,
        challenge: Option<&str>,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Response {
        let page = self.try_sign_in_page(challenge, headers, host).await;
        isolated(self.finish(page, host))
    }

    async fn try_sign_in_page(
        &self,
        challenge: Option<&str>,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Response, Problem> {
        let next = AfterSignIn::of(challenge)?;
        let mut options = self.sign_in_options(headers, host).await;
        // People with a session come here to use a different account.
        options.retain(|option| !matches!(option, SignInOption::Session(_)));
        let (token, cookie) = self.consent_form(next, &options, headers, host)?;
        let form =
            page::Form { action: AUTHORIZE, token: &token, purpose: page::FormPurpose::SignIn };
        let page = page::sign_in(&form, &options, self.settings.is_local);
        Ok(page.with("set-cookie", cookie))
    }

    /// Sends a person who has signed in on.
    pub(super) fn finish_sign_in(
        &self,
        next: &AfterSignIn,
        identity: &Identity,
        host: &dyn Host,
    ) -> Result<Response, Problem> {
        let url = match next {
            AfterSignIn::Client(request) => return self.approved(request, identity, host),
            AfterSignIn::Account => ACCOUNT.to_owned(),
            AfterSignIn::Challenge(token) => format!("{CHALLENGE}?c={}", query_value(token)),
        };
        self.permitted(identity).ok_or_else(|| identity.not_allowed())?;
        let caller = self.caller(&identity.subject());
        self.log(SignInEvent::SignedIn { method: identity.method(), caller }, host);
        Ok(redirect(url).with("set-cookie", self.session_cookie(identity, host)?))
    }

    /// Where a person goes who has declined to sign in.
    pub(super) fn cancel(&self, next: &AfterSignIn) -> Response {
        match next {
            AfterSignIn::Client(request) => self.denied(request),
            AfterSignIn::Account => redirect(SIGN_IN.to_owned()),
            AfterSignIn::Challenge(token) => {
                redirect(format!("{SIGN_IN}?c={}", query_value(token)))
            }
        }
    }
}
