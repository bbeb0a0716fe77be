//! Text that no log or error may show.

use std::fmt;

/// A token, key or password. `Debug` prints no part of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps `text`.
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// The text itself, to send it where it belongs.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether it can be sent as a bearer token: 1 to 16,384 visible ASCII characters. RFC 6750, 2.1,
    /// allows fewer characters, but not all servers follow it. Anything else is not a header value,
    /// and the request would fail as if the service were down.
    pub fn is_bearer_token(&self) -> bool {
        (1..=16 * 1024).contains(&self.0.len()) && self.0.bytes().all(|it| it.is_ascii_graphic())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
