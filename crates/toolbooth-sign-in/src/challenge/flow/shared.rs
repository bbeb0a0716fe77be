//! What the steps of a challenge share.

use super::error::ChallengeError;
use crate::challenge::challenges::Challenges;
use crate::challenge::claims::ChallengeClaims;
use crate::challenge::constants::{LAG_MS, START};
use crate::oauth::OAuthClient;
use crate::oauth::page::{Link, TRY_AGAIN, isolated, notice, with_tls};
use crate::purpose;
use toolbooth::host::Host;
use toolbooth::http::Response;

impl Challenges {
    /// The claims of a challenge that the user still has time for, and its client.
    pub(super) fn pending(
        &self,
        token: &str,
        host: &dyn Host,
    ) -> Result<(ChallengeClaims, &OAuthClient), ChallengeError> {
        let now_ms = host.now_ms().saturating_add(LAG_MS);
        let claims: ChallengeClaims = self.state_keys.open(purpose::CHALLENGE, token, now_ms)?;
        let client = self.provider(&claims.provider).ok_or(ChallengeError::UnknownProvider)?;
        Ok((claims, client))
    }

    /// The page for a user whose network has sent too many requests.
    pub(crate) fn rate_limited_page(&self) -> Response {
        self.secured(notice(ChallengeError::RateLimited.notice(), None))
    }

    pub(super) fn secured(&self, page: Response) -> Response {
        isolated(with_tls(page, &self.settings.public_url))
    }
}

/// The page of an error that happened after the consent page of a challenge. It leads back there if the error may not
/// happen again.
pub(super) fn error_page(error: ChallengeError, token: &str) -> Response {
    let url = format!("{START}?c={token}");
    let link = error.is_temporary().then_some(Link { label: TRY_AGAIN, url: &url });
    notice(error.notice(), link)
}
