//! The rate limits: of the calls of each caller, or of each network for anonymous callers, and of the requests of each
//! network to the pages and endpoints of sign-in.

use super::pipeline::RequestContext;
use super::rejection::Rejection;
use crate::host::{BoxFuture, Host, Level, RATE_LIMIT, SIGN_IN_LIMITER, boxed};
use crate::http::Headers;
use crate::principal::Principal;

/// The longest period of a rate limit on Workers, in seconds. The Worker cannot read the configured period.
const RATE_LIMIT_WINDOW: u32 = 60;

impl RequestContext<'_> {
    /// Counts calls against the rate limit of [`Self::limiter_key`].
    ///
    /// # Errors
    /// [`Rejection::TooManyRequests`].
    pub async fn count(&self, calls: usize) -> Result<(), Rejection> {
        if !self.pipeline.rate_limited || calls == 0 {
            return Ok(());
        }
        take(RATE_LIMIT, self.limiter_key(), calls, self.host).await
    }

    /// What limiters count by: the caller; its network too if its token names no user, or if it is anonymous.
    pub fn limiter_key(&self) -> String {
        match self.principal {
            Principal::Key { name, .. } => format!("key:{name}"),
            Principal::User { issuer, subject: Some(subject), .. } => {
                format!("user:{issuer}:{subject}")
            }
            Principal::User { issuer, subject: None, .. } => {
                format!("token:{issuer}:{}", caller_network(self.headers))
            }
            Principal::Anonymous { .. } => format!("address:{}", caller_network(self.headers)),
        }
    }
}

/// Counts a request of a user's browser or of an OAuth client against the limit of its network. It needs no
/// credentials, or they are checked later.
pub(crate) async fn count_visit(headers: &dyn Headers, host: &dyn Host) -> Result<(), Rejection> {
    if !host.is_limited(SIGN_IN_LIMITER) {
        return Ok(());
    }
    take(SIGN_IN_LIMITER, format!("address:{}", caller_network(headers)), 1, host).await
}

/// Counts `units` against the limit of `key`.
///
/// If the counter fails, the call is served: the limit protects the server's capacity, not its tools.
fn take<'a>(
    limiter: &'a str,
    key: String,
    units: usize,
    host: &'a dyn Host,
) -> BoxFuture<'a, Result<(), Rejection>> {
    boxed(async move {
        match host.take(limiter, &key, units).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Rejection::TooManyRequests { retry_after: RATE_LIMIT_WINDOW }),
            Err(problem) => {
                host.log(Level::Error, "rate_limit", &[("problem", &problem)]);
                Ok(())
            }
        }
    })
}

/// The [`network`] that a request comes from.
fn caller_network(headers: &dyn Headers) -> String {
    network(&headers.get("cf-connecting-ip").unwrap_or_default())
}

/// The network of an address: the whole address for IPv4; for IPv6 the first 64 bits, because a customer can
/// choose the others freely.
fn network(address: &str) -> String {
    // The standard library's parser would add 2 KB to the Worker.
    let groups = |part: &str| -> Option<Vec<u16>> {
        let groups = part.split(':').filter(|_| !part.is_empty());
        groups.map(|group| u16::from_str_radix(group, 16).ok()).collect()
    };
    let network = || {
        let groups = match address.split_once("::") {
            None => groups(address)?,
            Some((head, tail)) => {
                let (mut head, tail) = (groups(head)?, groups(tail)?);
                let zeros = 8_usize.checked_sub(head.len() + tail.len())?;
                head.resize(head.len() + zeros, 0);
                head.into_iter().chain(tail).collect()
            }
        };
        let first = groups.get(..4).filter(|_| groups.len() == 8)?;
        Some(first.iter().fold(0_u64, |network, group| network << 16 | u64::from(*group)))
    };
    network().map_or_else(|| address.to_owned(), |network| format!("{network:x}"))
}
