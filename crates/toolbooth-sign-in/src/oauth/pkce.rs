//! Proof Key for Code Exchange (RFC 7636): shows that the client that redeems a code has requested it.

use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};

/// The secret that the token endpoint gets with the code (RFC 7636, 4.1).
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PkceVerifier(String);

impl PkceVerifier {
    /// A verifier of this text: 43 to 128 letters, digits, `-`, `.`, `_` and `~` that cannot be guessed.
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }

    /// The `code_challenge` of the authorization request, by the method `S256` (RFC 7636, 4.2).
    pub(crate) fn challenge(&self) -> String {
        Base64UrlUnpadded::encode_string(&Sha256::digest(&self.0))
    }

    /// The `code_verifier` of the token request.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PkceVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PkceVerifier(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_7636_appendix_b() {
        let verifier = PkceVerifier::new("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned());
        assert_eq!(verifier.challenge(), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        assert_eq!(format!("{verifier:?}"), "PkceVerifier(…)");
    }
}
