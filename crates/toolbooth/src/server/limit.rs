//! Rate limits: what each caller, or each network, may ask for in a time.

use super::Server;
use crate::call::Rejection;
use crate::host::{Host, Level};
use crate::http::Headers;
use crate::principal::Principal;

/// The longest window that a rate limit of Workers can have, in seconds. The Worker cannot find out which one
/// the operator chose.
const RATE_LIMIT_WINDOW: u32 = 60;

impl Server {
    /// Counts calls against the caller's rate limit. Those who are anonymous are told apart by
    /// their address.
    pub(super) async fn count(
        &self,
        principal: &Principal,
        headers: &dyn Headers,
        calls: usize,
        host: &dyn Host,
    ) -> Result<(), Rejection> {
        let key = match principal {
            Principal::Key { name, .. } => format!("key:{name}"),
            Principal::User { issuer, subject, .. } => {
                format!("user:{issuer}:{}", subject.as_deref().unwrap_or_default())
            }
            Principal::Anonymous { .. } => format!("address:{}", caller_network(headers)),
        };
        self.take(&key, calls, host).await
    }

    /// Counts a request to the addresses of challenges and grants against the limit of its network.
    pub(super) async fn count_visit(
        &self,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<(), Rejection> {
        // A counter that nobody has set up is not asked.
        if !self.limited {
            return Ok(());
        }
        self.take(&format!("auth:{}", caller_network(headers)), 1, host).await
    }

    /// Counts `units` against the limit of `key`.
    ///
    /// A counter that does not answer stops nobody: it guards the server's capacity, not its tools.
    async fn take(&self, key: &str, units: usize, host: &dyn Host) -> Result<(), Rejection> {
        match host.take(key, units).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Rejection::TooManyRequests { retry_after: RATE_LIMIT_WINDOW }),
            Err(problem) => {
                host.log(Level::Error, "rate_limit", &[("problem", &problem)]);
                Ok(())
            }
        }
    }
}

/// The [`network`] that a request comes from.
fn caller_network(headers: &dyn Headers) -> String {
    network(&headers.get("cf-connecting-ip").unwrap_or_default())
}

/// The part of an address that one customer of a network has: all of it, or of IPv6 the first 64
/// bits, for the others can be changed at will.
fn network(address: &str) -> String {
    // The standard library's reader of addresses takes 2 KB of the Worker, and more than this asks.
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
