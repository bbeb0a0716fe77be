//! The user's way: page, provider, callback; and how the client hears of it.

mod callback;
mod check;
mod cookie;
mod start;
mod stop;

use form_urlencoded::parse;

use super::provider::Provider;
use super::token::Purpose;
use super::{Challenges, Claims, LAG_MS};
use crate::host::Host;
use stop::Stop;

/// The addresses of challenges and grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Address<'a> {
    /// Asks the user (`GET`), and sends those who agree to the provider (`POST`).
    Start,
    /// Where the provider sends them back.
    Callback,
    /// Says how a challenge stands.
    Check,
    /// The user's grant of the provider with this id.
    Grant(&'a str),
}

impl<'a> Address<'a> {
    /// The address that a path is.
    pub fn of(path: &'a str) -> Option<Self> {
        match path.strip_prefix("/auth/")? {
            "start" => Some(Self::Start),
            "callback" => Some(Self::Callback),
            "check" => Some(Self::Check),
            rest => {
                let provider = rest.strip_prefix("grants/")?;
                (!provider.is_empty() && !provider.contains('/')).then_some(Self::Grant(provider))
            }
        }
    }

    /// Its path, for those that stand in addresses.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Start => "/auth/start",
            Self::Callback => "/auth/callback",
            Self::Check => "/auth/check",
            Self::Grant(_) => "/auth/grants",
        }
    }

    /// The methods it takes, as in an `Allow` header.
    pub fn allow(self) -> &'static str {
        match self {
            Self::Start => "GET, HEAD, POST, OPTIONS",
            // A HEAD would use up the code and show no page.
            Self::Callback => "GET, OPTIONS",
            Self::Check => "GET, HEAD, OPTIONS",
            Self::Grant(_) => "DELETE, OPTIONS",
        }
    }
}

impl Challenges {
    /// The claims of a challenge that the user still has time for, and its provider.
    fn pending(&self, token: &str, host: &dyn Host) -> Result<(Claims, &Provider), Stop> {
        let now_ms = host.now_ms().saturating_add(LAG_MS);
        let claims: Claims = self.vault.state.open(Purpose::Challenge, token, now_ms)?;
        let provider = self.provider(&claims.p).ok_or(Stop::NoProvider)?;
        Ok((claims, provider))
    }

    fn callback(&self) -> String {
        format!("{}{}", self.origin, Address::Callback.path())
    }
}

/// Where to try again what may work the next time.
fn again(stop: Stop, token: &str) -> Option<String> {
    let may = matches!(stop, Stop::Away | Stop::Broken);
    may.then(|| format!("{}?c={token}", Address::Start.path()))
}

/// A field of a query.
fn parameter(query: &str, name: &str) -> Option<String> {
    parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}
