//! The origins of web pages that may call the server.

use super::Headers;
use crate::address::is_localhost;

/// Which web pages may call the server from a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origins {
    /// Every page (`*`).
    Any,
    /// Pages of these origins; none if empty.
    Listed(Vec<String>),
    /// Pages of these origins, of well-known web clients, and of the local machine.
    Clients(Vec<String>),
}

/// The suffix of a local origin that matches any port, or no port.
const ANY_PORT: &str = ":*";

/// The origins of well-known web clients.
const WEB_CLIENTS: [&str; 5] = [
    "https://claude.ai",
    "https://claude.com",
    "https://chatgpt.com",
    "https://vscode.dev",
    "https://github.dev",
];

impl Origins {
    /// Parses `*`, or origins separated by commas, or nothing. The port of a local origin may be `*`, as in
    /// `http://localhost:*`, because development servers change ports.
    ///
    /// # Errors
    /// The expected format.
    pub fn parse(value: &str) -> Result<Self, &'static str> {
        if value.trim() == "*" {
            return Ok(Self::Any);
        }
        let listed = value.split(',').map(str::trim).filter(|origin| !origin.is_empty());
        let listed: Vec<String> = listed.map(str::to_owned).collect();
        let origin = |text: &String| match text.strip_suffix(ANY_PORT) {
            // Appending a port must give a valid origin, so the entry cannot already have one.
            Some(portless) => is_local(&format!("{portless}:0")),
            None => text.split_once("://").is_some_and(|(scheme, host)| {
                let is_host = !host.contains(['/', '*', '?', '#', '@', ' ']);
                is_host && !host.is_empty() && !scheme.is_empty()
            }),
        };
        if listed.iter().all(origin) {
            Ok(Self::Listed(listed))
        } else {
            Err("must be * or a list of origins such as https://app.example, without path")
        }
    }

    /// Whether pages of `origin` may call the server.
    pub fn allow(&self, origin: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Listed(listed) => listed.iter().any(|allowed| matches(allowed, origin)),
            Self::Clients(listed) => {
                listed.iter().any(|allowed| matches(allowed, origin))
                    || WEB_CLIENTS.contains(&origin)
                    || is_local(origin)
            }
        }
    }

    /// These and `own`, the server's own origin.
    pub(crate) fn with(mut self, own: Option<&str>) -> Self {
        if let (Self::Listed(listed), Some(own)) = (&mut self, own) {
            listed.push(own.to_owned());
        }
        self
    }

    /// These, the well-known web clients, and the local machine.
    pub(crate) fn with_clients(&self) -> Self {
        match self {
            Self::Listed(listed) => Self::Clients(listed.clone()),
            other => other.clone(),
        }
    }

    pub(crate) fn any(&self) -> bool {
        *self == Self::Any
    }

    pub(crate) fn none(&self) -> bool {
        matches!(self, Self::Listed(listed) if listed.is_empty())
    }
}

/// Whether a request was sent by a page of the server itself, at `own`. Browsers that do not send `Sec-Fetch-Site` send
/// `Origin` with a form.
pub fn is_same_origin(headers: &dyn Headers, own: &str) -> bool {
    match headers.get("sec-fetch-site") {
        Some(site) => site == "same-origin",
        None => headers.get("origin").is_some_and(|origin| origin == own),
    }
}

/// Whether `origin` matches the entry `allowed`, which may allow any port.
fn matches(allowed: &str, origin: &str) -> bool {
    match allowed.strip_suffix(ANY_PORT) {
        Some(portless) => origin.starts_with(portless) && is_local(origin),
        None => allowed == origin,
    }
}

/// Whether an origin is on the local machine, at any port.
fn is_local(origin: &str) -> bool {
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    authority.is_some_and(is_localhost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Pairs;

    #[test]
    fn requests_of_the_servers_own_pages() {
        let site = |value| ("sec-fetch-site", value);
        let origin = |value| ("origin", value);
        let own = "https://tools.example";
        for (headers, expected) in [
            (&[site("same-origin")][..], true),
            (&[site("same-site")], false),
            (&[site("cross-site")], false),
            (&[site("none")], false),
            (&[site("cross-site"), origin(own)], false),
            (&[site("same-origin"), origin("https://other.example")], true),
            (&[origin(own)], true),
            (&[origin("https://other.example")], false),
            (&[origin("null")], false),
            (&[], false),
        ] {
            assert_eq!(is_same_origin(&Pairs(headers), own), expected, "{headers:?}");
        }
    }
}
