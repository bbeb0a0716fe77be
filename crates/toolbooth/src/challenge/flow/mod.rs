//! The steps of a challenge: consent page, provider, callback, status; and the deletion of a grant.

mod callback;
mod consent;
mod cookie;
mod deletion;
mod error;
mod status;

pub(crate) use deletion::DeletionError;

use form_urlencoded::parse;

use super::claims::ChallengeClaims;
use super::{CALLBACK, Challenges, LAG_MS, START, page};
use crate::host::Host;
use crate::http::Response;
use crate::oauth::{OAuthClient, TokenPurpose};
use error::FlowError;

impl Challenges {
    /// The claims of a challenge that the user still has time for, and its client.
    fn pending(
        &self,
        token: &str,
        host: &dyn Host,
    ) -> Result<(ChallengeClaims, &OAuthClient), FlowError> {
        let now_ms = host.now_ms().saturating_add(LAG_MS);
        let claims: ChallengeClaims =
            self.state_keys.open(TokenPurpose::Challenge, token, now_ms)?;
        let client = self.provider(&claims.provider).ok_or(FlowError::UnknownProvider)?;
        Ok((claims, client))
    }

    /// The `redirect_uri` of a client.
    fn redirect_uri(&self, client: &OAuthClient) -> String {
        format!("{}{CALLBACK}{}", self.settings.public_url, client.provider.id)
    }

    /// The page for a user whose network has sent too many requests.
    pub(crate) fn rate_limited_page(&self) -> Response {
        self.secured(page::notice(FlowError::RateLimited.notice(), None))
    }

    /// Makes browsers use TLS only from now on (RFC 6797). Not on localhost: it would apply to
    /// everything there.
    fn secured(&self, page: Response) -> Response {
        let uses_tls = self.settings.public_url.starts_with("https://");
        if uses_tls && !self.settings.is_local() {
            page.with("strict-transport-security", "max-age=31536000")
        } else {
            page
        }
    }
}

/// Where to try again, after an error that may not happen again.
fn retry_url(error: FlowError, token: &str) -> Option<String> {
    error.is_temporary().then(|| format!("{START}?c={token}"))
}

/// A field of a query.
fn parameter(query: &str, name: &str) -> Option<String> {
    parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}
