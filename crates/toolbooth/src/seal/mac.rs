//! HMAC-SHA256 (RFC 2104).

use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};

/// A key of HMAC-SHA256, which tokens call HS256 (RFC 7518, 3.2).
#[derive(Debug, Clone)]
pub struct MacKey(Hmac<Sha256>);

impl MacKey {
    /// A key of the secret's bytes, prepared as in RFC 2104, 2. `Hmac::new_from_slice` does the same,
    /// but returns a `Result`.
    pub fn new(secret: &[u8]) -> Self {
        let digest = Sha256::digest(secret);
        let mut block = [0; 64];
        let key = if secret.len() > block.len() { &digest[..] } else { secret };
        for (byte, key) in block.iter_mut().zip(key) {
            *byte = *key;
        }
        Self(Hmac::new(&block.into()))
    }

    /// The MAC of what is added to it.
    pub(super) fn begin(&self) -> Hmac<Sha256> {
        self.0.clone()
    }

    /// The MAC of a message: the signature of a token.
    pub fn sign(&self, message: &[u8]) -> [u8; 32] {
        self.begin().chain_update(message).finalize().into_bytes().into()
    }

    /// Whether `mac` is that of the message, in constant time.
    pub fn verifies(&self, message: &[u8], mac: &[u8]) -> bool {
        self.begin().chain_update(message).verify_slice(mac).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_any_length_become_the_keys_of_rfc_2104() {
        for length in [32, 63, 64, 65, 200] {
            let secret = "s".repeat(length);
            let theirs = MacKey(Hmac::new_from_slice(secret.as_bytes()).unwrap());
            let ours = MacKey::new(secret.as_bytes());
            assert_eq!(ours.sign(b"a"), theirs.sign(b"a"), "{length}");
            assert!(ours.verifies(b"a", &theirs.sign(b"a")), "{length}");
            assert!(!ours.verifies(b"b", &theirs.sign(b"a")), "{length}");
            assert!(!ours.verifies(b"a", &theirs.sign(b"a")[1..]), "{length}");
            assert!(!ours.verifies(b"a", &[&theirs.sign(b"a")[..], b"a"].concat()), "{length}");
            assert!(!ours.verifies(b"a", b""), "{length}");
        }
    }
}
