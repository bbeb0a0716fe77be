//! Dialects: one module a protocol, each turning bytes into calls and outcomes into bytes.
//!
//! A dialect knows its wire form and nothing of the pipeline or of other dialects. Adding one is a
//! module beside [`oxp`], a mount in [`MOUNTS`], an arm in each match of [`Dialect`], and tests.

pub mod oxp;

use crate::call::{Call, Outcome, Refusal};
use crate::catalog::{Catalog, List};
use crate::http::{Headers, Method, Outbound};

/// A protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Open eXecution Protocol 1.0, flat bodies.
    Oxp,
}

/// What an endpoint is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// Whether the server is ready.
    Health,
    /// The list of tools.
    List,
    /// A call.
    Call,
}

impl Endpoint {
    fn allow(self) -> &'static str {
        match self {
            Self::Health | Self::List => "GET, HEAD, OPTIONS",
            Self::Call => "POST, OPTIONS",
        }
    }

    fn takes(self, method: Method) -> bool {
        match method {
            Method::Get | Method::Head => self != Self::Call,
            Method::Post => self == Self::Call,
            Method::Options | Method::Other => false,
        }
    }
}

/// Where each protocol is mounted. The first mount that fits a path wins, so longer prefixes come
/// first and the root, which fits every path, last.
const MOUNTS: &[(&str, Dialect)] = &[("/oxp", Dialect::Oxp), ("", Dialect::Oxp)];

/// Finds the protocol and the endpoint that a path names. Also an unknown path belongs to a
/// protocol, in whose form the refusal is told.
pub fn route(method: Method, path: &str) -> (Dialect, Result<Endpoint, Refusal>) {
    let mount = MOUNTS.iter().find_map(|(prefix, dialect)| {
        let rest = path.strip_prefix(prefix)?;
        (rest.is_empty() || rest.starts_with('/')).then_some((*dialect, rest))
    });
    let (dialect, rest) = mount.unwrap_or((Dialect::Oxp, path));
    let endpoint = match dialect {
        Dialect::Oxp => oxp::endpoint(rest),
    };
    let endpoint = match endpoint {
        None => Err(Refusal::NotFound),
        Some(endpoint) if endpoint.takes(method) => Ok(endpoint),
        Some(endpoint) => Err(Refusal::MethodNotAllowed { allow: endpoint.allow() }),
    };
    (dialect, endpoint)
}

impl Dialect {
    /// Reads a call.
    ///
    /// # Errors
    /// The body is not a request of this protocol, or asks for a version that is not served.
    pub fn decode(self, headers: &dyn Headers, body: &[u8]) -> Result<Call, Refusal> {
        match self {
            Self::Oxp => oxp::decode(headers, body),
        }
    }

    /// Checks what a request without a body says of the protocol's version.
    ///
    /// # Errors
    /// [`Refusal::UnsupportedVersion`].
    pub fn check_version(self, headers: &dyn Headers) -> Result<(), Refusal> {
        match self {
            Self::Oxp => oxp::check_version(headers),
        }
    }

    /// Writes what came of a call.
    pub fn encode(self, outcome: Outcome) -> Outbound {
        match self {
            Self::Oxp => oxp::encode(outcome),
        }
    }

    /// The list of tools in this protocol's form.
    pub fn list(self, catalog: &Catalog) -> List {
        match self {
            Self::Oxp => catalog.lists.oxp,
        }
    }

    /// Adds what every response of this protocol carries.
    pub fn sign(self, response: Outbound) -> Outbound {
        match self {
            Self::Oxp => oxp::sign(response),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes() {
        use Endpoint::{Call, Health, List};
        let wrong = |allow| Err(Refusal::MethodNotAllowed { allow });
        for (method, path, expected) in [
            (Method::Get, "/health", Ok(Health)),
            (Method::Head, "/health", Ok(Health)),
            (Method::Get, "/tools", Ok(List)),
            (Method::Head, "/oxp/tools", Ok(List)),
            (Method::Post, "/tools/call", Ok(Call)),
            (Method::Post, "/call", Ok(Call)),
            (Method::Post, "/oxp/tools/call", Ok(Call)),
            (Method::Post, "/oxp/call", Ok(Call)),
            (Method::Get, "/oxp/health", Ok(Health)),
            (Method::Get, "/call", wrong("POST, OPTIONS")),
            (Method::Options, "/call", wrong("POST, OPTIONS")),
            (Method::Other, "/tools/call", wrong("POST, OPTIONS")),
            (Method::Post, "/tools", wrong("GET, HEAD, OPTIONS")),
            (Method::Post, "/health", wrong("GET, HEAD, OPTIONS")),
            (Method::Get, "/", Err(Refusal::NotFound)),
            (Method::Get, "", Err(Refusal::NotFound)),
            (Method::Get, "/oxp", Err(Refusal::NotFound)),
            (Method::Get, "/oxptools", Err(Refusal::NotFound)),
            (Method::Get, "/oxp/oxp/tools", Err(Refusal::NotFound)),
            (Method::Get, "/tools/", Err(Refusal::NotFound)),
            (Method::Get, "/Tools", Err(Refusal::NotFound)),
            (Method::Get, "/%74ools", Err(Refusal::NotFound)),
            (Method::Post, "//tools/call", Err(Refusal::NotFound)),
        ] {
            assert_eq!(route(method, path), (Dialect::Oxp, expected), "{method:?} {path}");
        }
    }
}
