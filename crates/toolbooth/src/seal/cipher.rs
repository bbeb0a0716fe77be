//! Encryption of what is stored or leaves the server: XChaCha20-Poly1305.

use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use crate::host::{NoRandomness, Random};
use crate::settings::GrantKeySettings;

/// The length of a nonce, in bytes.
pub(super) const NONCE: usize = 24;

/// A key that encrypts and decrypts.
#[derive(Clone)]
pub(super) struct SealKey(XChaCha20Poly1305);

impl SealKey {
    pub(super) fn new(bytes: &[u8; 32]) -> Self {
        Self(XChaCha20Poly1305::new(bytes.into()))
    }

    /// Encrypts `bytes` for `place`: nonce and ciphertext in base64url. They decrypt for the same
    /// place only. The nonce must be unique for each text under this key.
    pub(super) fn seal(&self, nonce: &[u8; NONCE], place: &str, bytes: &[u8]) -> String {
        let payload = Payload { msg: bytes, aad: place.as_bytes() };
        // It fails beyond 256 GiB only. An empty text never decrypts.
        let sealed = self.0.encrypt(XNonce::from_slice(nonce), payload);
        sealed.map_or_else(
            |_| String::new(),
            |sealed| Base64UrlUnpadded::encode_string(&[&nonce[..], &sealed].concat()),
        )
    }

    /// Decrypts what was sealed for `place`; `None` if it was not, or with another key.
    pub(super) fn open(&self, place: &str, text: &str) -> Option<Vec<u8>> {
        let bytes = Base64UrlUnpadded::decode_vec(text).ok()?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE)?;
        let payload = Payload { msg: sealed, aad: place.as_bytes() };
        self.0.decrypt(XNonce::from_slice(nonce), payload).ok()
    }
}

/// `GRANT_KEYS`: the keys that encrypt stored grants, with their ids.
#[derive(Clone)]
pub struct GrantKeys {
    /// The key that encrypts.
    first: (String, SealKey),
    /// Older keys, which only decrypt.
    others: Vec<(String, SealKey)>,
}

impl fmt::Debug for GrantKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GrantKeys(…)")
    }
}

impl GrantKeys {
    /// The keys of the settings.
    pub fn new(settings: &GrantKeySettings) -> Self {
        let key = |(id, bytes): &(String, [u8; 32])| (id.clone(), SealKey::new(bytes));
        Self { first: key(&settings.first), others: settings.others.iter().map(key).collect() }
    }

    /// Encrypts `bytes` for `place`: `v1.<key id>.<nonce and ciphertext>`. They decrypt for the same
    /// place only.
    ///
    /// # Errors
    /// There are no random bytes for the nonce.
    pub fn seal(
        &self,
        place: &str,
        bytes: &[u8],
        random: &(impl Random + ?Sized),
    ) -> Result<String, NoRandomness> {
        let random = [random.random_16()?, random.random_16()?];
        let mut nonce = [0; NONCE];
        for (byte, random) in nonce.iter_mut().zip(random.as_flattened()) {
            *byte = *random;
        }
        let (id, key) = &self.first;
        Ok(format!("v1.{id}.{}", key.seal(&nonce, place, bytes)))
    }

    /// Decrypts what was sealed for `place`; `None` if it was not, or with another key.
    pub fn open(&self, place: &str, sealed: &str) -> Option<Vec<u8>> {
        let (id, text) = sealed.strip_prefix("v1.")?.split_once('.')?;
        let mut keys = std::iter::once(&self.first).chain(&self.others);
        let (_, key) = keys.find(|(known, _)| known == id)?;
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
    fn the_first_key_seals_and_all_open() {
        let host = FakeHost::default();
        let keys = |text: &str| GrantKeys::new(&GrantKeySettings::parse(text).unwrap());
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
        assert_ne!(sealed, old.seal("place", b"text", &host).unwrap(), "no nonce is used twice");
        for bad in ["", "v1.", "v1.a.", "v1.a.AAAA", "v2.a.AAAA", &sealed[..sealed.len() - 4]] {
            assert_eq!(old.open("place", bad), None, "{bad}");
        }
    }
}
