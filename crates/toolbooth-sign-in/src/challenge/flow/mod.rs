//! The steps of a challenge: visitor, page, provider, callback, status.

mod callback;
mod error;
mod start;
mod status;
mod visitor;

pub(super) use callback::callback;
pub(super) use start::{DENY, begin, show};
pub(super) use status::check;
pub(super) use visitor::{Visitor, confirm};

use super::event::Event;
use super::{ChallengeClaims, Challenges, LAG_MS};
use crate::oauth::OAuthClient;
use crate::oauth::page::{TRY_AGAIN, isolated, notice, with_tls};
use crate::{paths::START, purpose};
use error::ChallengeError;
use toolbooth::call::Rejection;
use toolbooth::host::Host;
use toolbooth::http::Response;
use toolbooth::route::RouteRequest;

impl Challenges {
    /// The claims of a challenge that the user still has time for, and its client.
    fn pending(
        &self,
        token: &str,
        host: &dyn Host,
    ) -> Result<(ChallengeClaims, &OAuthClient), ChallengeError> {
        let now_ms = host.now_ms().saturating_add(LAG_MS);
        let claims: ChallengeClaims = self.state_keys.open(purpose::CHALLENGE, token, now_ms)?;
        let client = self.provider(&claims.provider).ok_or(ChallengeError::UnknownProvider)?;
        Ok((claims, client))
    }

    /// Logs why a step of a challenge has failed.
    fn log_rejected(&self, error: ChallengeError, token: &str, host: &dyn Host) {
        let events = &self.grants.events;
        let pending = self.pending(token, host).ok();
        let event = Event::AuthorizationRejected {
            provider: pending.as_ref().map(|(_, client)| &*client.provider.id),
            caller: pending.as_ref().map(|(claims, _)| claims.owner.caller(events)),
            user: pending.as_ref().and_then(|(claims, _)| claims.owner.user_ref(events)),
            reason: error.reason(),
        };
        events.write(&event, host);
    }

    fn page(&self, page: Result<Response, ChallengeError>) -> Response {
        let page = page.unwrap_or_else(|error| notice(error.notice(), None));
        isolated(with_tls(page, &self.public_url))
    }
}

/// The page for a person whose network has sent too many requests.
pub(super) fn rejection_page(
    rejection: &Rejection,
    request: &RouteRequest<'_>,
) -> Option<Response> {
    if !matches!(rejection, Rejection::TooManyRequests { .. }) {
        return None;
    }
    let challenges = Challenges::of(request).ok()?;
    Some(challenges.page(Err(ChallengeError::RateLimited)))
}

/// The page of an error after the page of a challenge. It leads back there if the error may not happen again.
fn error_page(error: ChallengeError, token: &str) -> Response {
    let url = format!("{START}?c={token}");
    let link = error.is_temporary().then_some((TRY_AGAIN, &*url));
    notice(error.notice(), link)
}
