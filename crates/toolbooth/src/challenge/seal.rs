//! Encryption of what is stored or travels with others: XChaCha20-Poly1305.

use std::fmt;

use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use crate::host::{NoRandomness, Random};

/// The length of a nonce, in bytes.
pub(super) const NONCE: usize = 24;

/// A key that seals and opens.
#[derive(Clone)]
pub(super) struct SealKey(XChaCha20Poly1305);

impl SealKey {
    /// A key of these bytes; `None` if they are not 32.
    pub(super) fn new(bytes: &[u8]) -> Option<Self> {
        XChaCha20Poly1305::new_from_slice(bytes).ok().map(Self)
    }

    /// Seals `bytes` for `place`: nonce and ciphertext in base64url. They open for no other place.
    ///
    /// The nonce must be unique for each text under this key. `None` only beyond 256 GiB.
    pub(super) fn seal(&self, nonce: &[u8; NONCE], place: &str, bytes: &[u8]) -> Option<String> {
        let payload = Payload { msg: bytes, aad: place.as_bytes() };
        let sealed = self.0.encrypt(XNonce::from_slice(nonce), payload).ok()?;
        Some(Base64UrlUnpadded::encode_string(&[&nonce[..], &sealed].concat()))
    }

    /// Opens what was sealed for `place`; `None` if it was not, or with another key.
    pub(super) fn open(&self, place: &str, text: &str) -> Option<Vec<u8>> {
        let bytes = Base64UrlUnpadded::decode_vec(text).ok()?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE)?;
        let payload = Payload { msg: sealed, aad: place.as_bytes() };
        self.0.decrypt(XNonce::from_slice(nonce), payload).ok()
    }
}

/// The keys that seal: `GRANT_KEYS`.
#[derive(Clone)]
pub(super) struct SealKeys {
    /// With their ids. The first seals, all open.
    keys: Vec<(String, SealKey)>,
}

impl fmt::Debug for SealKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKeys(…)")
    }
}

impl SealKeys {
    /// Reads `id:key` pairs, separated by commas; a key is 32 bytes in base64.
    ///
    /// # Errors
    /// What was expected instead.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        const WANTED: &str = "must be id:key pairs separated by commas, each id of letters and digits and only \
             once, each key 32 bytes in base64; `openssl rand -base64 32` makes one";
        let mut keys: Vec<(String, SealKey)> = Vec::new();
        for pair in text.split(',').map(str::trim) {
            let (id, key) = pair.split_once(':').ok_or(WANTED)?;
            let key = Base64::decode_vec(key).map_err(|_| WANTED)?;
            let key = SealKey::new(&key).ok_or(WANTED)?;
            let plain = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric());
            if !plain || keys.iter().any(|(known, _)| known == id) {
                return Err(WANTED);
            }
            keys.push((id.to_owned(), key));
        }
        if keys.is_empty() { Err(WANTED) } else { Ok(Self { keys }) }
    }

    /// Seals `bytes` for `place`: `v1.<key id>.<nonce and ciphertext>`. It opens nowhere else.
    ///
    /// # Errors
    /// There are no random bytes for the nonce.
    pub(super) fn seal(
        &self,
        place: &str,
        bytes: &[u8],
        random: &(impl Random + ?Sized),
    ) -> Result<String, NoRandomness> {
        let random = [random.random_16()?, random.random_16()?].concat();
        let nonce = random.first_chunk().ok_or(NoRandomness)?;
        let (id, key) = self.keys.first().ok_or(NoRandomness)?;
        let text = key.seal(nonce, place, bytes).ok_or(NoRandomness)?;
        Ok(format!("v1.{id}.{text}"))
    }

    /// Opens what was sealed for `place`, or gives `None` when it was not, or not by these keys.
    pub(super) fn open(&self, place: &str, sealed: &str) -> Option<Vec<u8>> {
        let (id, text) = sealed.strip_prefix("v1.")?.split_once('.')?;
        let (_, key) = self.keys.iter().find(|(known, _)| known == id)?;
        key.open(place, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::FakeHost;

    const A: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    const B: &str = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=";

    #[test]
    fn keys_in_text() {
        let pair = |id: &str, key: &str| format!("{id}:{key}");
        for (text, good) in [
            (pair("a", A), true),
            (format!("{}, {}", pair("b2", B), pair("a", A)), true),
            (String::new(), false),
            (A.to_owned(), false),
            (pair("", A), false),
            (pair("a-b", A), false),
            (pair("a", &A[1..]), false),
            (pair("a", "AAAA"), false),
            (format!("{},{}", pair("a", A), pair("a", B)), false),
            (format!("{},", pair("a", A)), false),
        ] {
            assert_eq!(SealKeys::parse(&text).is_ok(), good, "{text}");
        }
    }

    #[test]
    fn the_first_key_seals_and_all_open() {
        let host = FakeHost::default();
        let keys = |text: &str| SealKeys::parse(text).unwrap();
        let old = keys(&format!("a:{A}"));
        let both = keys(&format!("b:{B},a:{A}"));
        let new = keys(&format!("b:{B}"));
        let imposter = keys(&format!("a:{B}"));
        let sealed = old.seal("place", b"text", &host).unwrap();
        assert_eq!(both.open("place", &sealed).as_deref(), Some(&b"text"[..]));
        assert_eq!(new.open("place", &sealed), None, "its key is gone");
        assert_eq!(imposter.open("place", &sealed), None, "another key of that id");
        assert_eq!(old.open("other place", &sealed), None);
        let renewed = both.seal("place", b"text", &host).unwrap();
        assert!(renewed.starts_with("v1.b.") && new.open("place", &renewed).is_some());
        assert_ne!(sealed, old.seal("place", b"text", &host).unwrap(), "no nonce comes twice");
        for bad in ["", "v1.", "v1.a.", "v1.a.AAAA", "v2.a.AAAA", &sealed[..sealed.len() - 4]] {
            assert_eq!(old.open("place", bad), None, "{bad}");
        }
    }
}
