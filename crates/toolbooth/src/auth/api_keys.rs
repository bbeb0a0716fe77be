//! Finds the holder of an API key by the key's hash.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::{ConditionallySelectable, ConstantTimeEq};

use crate::principal::{KeyHash, Principal};
use crate::settings::ApiKeySettings;

/// The keys of `API_KEYS`: their hashes and holders.
pub struct ApiKeys(Vec<([u8; 32], Principal)>);

impl ApiKeys {
    /// The keys of these entries.
    pub fn new(settings: &[ApiKeySettings]) -> Self {
        let hashes = |key: &ApiKeySettings| {
            let holder = |hash: &[u8; 32]| {
                let (name, scopes) = (key.name.clone(), key.scopes.clone());
                (*hash, Principal::Key { name, scopes, hash: Some(KeyHash(*hash)), grant: None })
            };
            key.hashes().map(holder).collect::<Vec<_>>()
        };
        Self(settings.iter().flat_map(hashes).collect())
    }

    /// The holder of a key. Compares the whole hash with every key, so that the time does not show
    /// which one matched.
    pub fn principal(&self, key: &str) -> Option<Principal> {
        let hash = key_hash(key);
        let mut found = u32::MAX;
        for (index, (known, _)) in (0..).zip(&self.0) {
            found.conditional_assign(&index, known.ct_eq(&hash));
        }
        self.0.get(usize::try_from(found).ok()?).map(|(_, principal)| principal.clone())
    }
}

/// The hash of a key's text.
pub fn key_hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// Shows no hash.
impl fmt::Debug for ApiKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKeys({})", self.0.len())
    }
}
