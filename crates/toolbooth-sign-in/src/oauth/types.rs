//! Random values and hashes of the authorization request.

use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};

use toolbooth::host::{NoRandomness, Random};

/// Sixteen random bytes in 22 characters.
pub(crate) fn random_text(random: &(impl Random + ?Sized)) -> Result<String, NoRandomness> {
    random.random_16().map(|bytes| Base64UrlUnpadded::encode_string(&bytes))
}

/// SHA-256 in base64, as in a content security policy.
pub(crate) fn sha256_base64(text: &str) -> String {
    Base64::encode_string(&Sha256::digest(text))
}
