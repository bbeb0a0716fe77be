//! Random values and hashes of the authorization request.

use std::fmt;

use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};

use toolbooth::host::{NoRandomness, Random};

/// Binds an authorization response to the browser that sent the request (RFC 6749, 10.12). The browser
/// keeps it in a cookie; `state` has its hash.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct CsrfToken(String);

impl CsrfToken {
    /// A new random token.
    pub(crate) fn random(random: &(impl Random + ?Sized)) -> Result<Self, NoRandomness> {
        random_text(random).map(Self)
    }

    /// A token that a browser has sent.
    pub(crate) fn from_cookie(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The text, for the cookie and for hashes.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for CsrfToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CsrfToken(…)")
    }
}

/// Sixteen random bytes in 22 characters.
pub(crate) fn random_text(random: &(impl Random + ?Sized)) -> Result<String, NoRandomness> {
    random.random_16().map(|bytes| Base64UrlUnpadded::encode_string(&bytes))
}

/// SHA-256 in base64, as in a content security policy.
pub(crate) fn sha256_base64(text: &str) -> String {
    Base64::encode_string(&Sha256::digest(text))
}
