//! What a caller sends along with a call: tokens and secrets, which no log or error may show.

use std::fmt;

use super::Named;

/// A text that must not be seen: `Debug` prints no part of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides `text`.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text itself, to be sent where it belongs and nowhere else.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether it can be sent as a bearer token: 1 to 16,384 visible ASCII characters. RFC 6750, 2.1,
    /// allows fewer characters, but not all servers keep to that. Anything else is no header value,
    /// and the request would fail as if the service were away.
    pub fn is_bearer_token(&self) -> bool {
        (1..=16 * 1024).contains(&self.0.len()) && self.0.bytes().all(|it| it.is_ascii_graphic())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What a client sends along with a call (OXP `CallToolRequest.context`).
#[derive(Debug, Default)]
pub struct Credentials {
    /// The user on whose behalf the call is made.
    pub user_id: Option<String>,
    /// Tokens by authorization provider.
    pub tokens: Named<Secret>,
    /// Secrets by name.
    pub secrets: Named<Secret>,
}
