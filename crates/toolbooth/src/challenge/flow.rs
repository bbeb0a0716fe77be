//! The user's way: page, provider, callback; and how the client hears of it.

mod callback;
mod check;
mod cookie;
mod start;
mod stop;

use form_urlencoded::parse;

use super::provider::Provider;
use super::token::TokenPurpose;
use super::{ChallengeClaims, Challenges, LAG_MS, page};
use crate::host::Host;
use crate::http::Response;
use stop::FlowError;

/// The path of [`Address::Start`].
pub(super) const START: &str = "/auth/start";
/// The path of [`Address::Check`].
pub(super) const CHECK: &str = "/auth/check";
/// What the path of [`Address::Callback`] begins with.
const CALLBACK: &str = "/auth/callback/";

/// The addresses of challenges and grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Address<'a> {
    /// Asks the user (`GET`), and sends those who agree to the provider (`POST`).
    Start,
    /// Where the provider with this id sends them back. Each has an address of its own, so that no
    /// other server's answer is taken for its answer (RFC 9700, 4.4.2.2).
    Callback(&'a str),
    /// Says how a challenge stands.
    Check,
    /// The user's grant of the provider with this id.
    Grant(&'a str),
}

impl<'a> Address<'a> {
    /// The address that a path is.
    pub fn of(path: &'a str) -> Option<Self> {
        if !path.starts_with("/auth/") {
            return None;
        }
        let provider = |prefix: &str| {
            let id = path.strip_prefix(prefix)?;
            (!id.is_empty() && !id.contains('/')).then_some(id)
        };
        match path {
            START => Some(Self::Start),
            CHECK => Some(Self::Check),
            _ => provider(CALLBACK)
                .map(Self::Callback)
                .or_else(|| provider("/auth/grants/").map(Self::Grant)),
        }
    }

    /// The methods it takes, as in an `Allow` header.
    pub fn allow(self) -> &'static str {
        match self {
            Self::Start => "GET, HEAD, POST, OPTIONS",
            // A HEAD would use up the code and show no page.
            Self::Callback(_) => "GET, OPTIONS",
            Self::Check => "GET, HEAD, OPTIONS",
            Self::Grant(_) => "DELETE, OPTIONS",
        }
    }
}

impl Challenges {
    /// The claims of a challenge that the user still has time for, and its provider.
    fn pending(
        &self,
        token: &str,
        host: &dyn Host,
    ) -> Result<(ChallengeClaims, &Provider), FlowError> {
        let now_ms = host.now_ms().saturating_add(LAG_MS);
        let claims: ChallengeClaims =
            self.vault.state.open(TokenPurpose::Challenge, token, now_ms)?;
        let provider = self.provider(&claims.p).ok_or(FlowError::NoProvider)?;
        Ok((claims, provider))
    }

    /// The `redirect_uri` of a provider.
    fn callback(&self, provider: &Provider) -> String {
        format!("{}{CALLBACK}{}", self.origin, provider.id)
    }

    /// What a page's address answers when too many requests came from one network.
    pub(crate) fn too_many(this: Option<&Self>) -> Response {
        Self::secured(this, page::notice(FlowError::TooMany.notice(), None))
    }

    /// Tells browsers to come back over TLS only (RFC 6797). That is for a server which they reach
    /// over TLS, and not for a developer's machine: it would hold for everything on `localhost`.
    fn secured(this: Option<&Self>, page: Response) -> Response {
        match this {
            Some(this) if this.origin.starts_with("https://") && !this.is_local() => {
                page.with("strict-transport-security", "max-age=31536000")
            }
            _ => page,
        }
    }
}

/// Where to try again what may work the next time.
fn again(stop: FlowError, token: &str) -> Option<String> {
    let may = matches!(stop, FlowError::Away | FlowError::Broken);
    may.then(|| format!("{START}?c={token}"))
}

/// A field of a query.
fn parameter(query: &str, name: &str) -> Option<String> {
    parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}
