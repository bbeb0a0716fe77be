//! API keys: the server knows their hashes, so that whoever reads its secrets cannot call with them.

use std::fmt;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use subtle::{ConditionallySelectable, ConstantTimeEq};

use super::scopes::{Scopes, is_scope};
use crate::call::Caller;
use crate::host::Variables;

const FORM: &str =
    "must be a JSON array of objects with name, scopes and hash; make key prints one";

/// The keys of `API_KEYS`.
pub(super) struct Keys(Vec<Key>);

struct Key {
    hash: [u8; 32],
    caller: Caller,
}

/// A key as the operator writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// Who has it: it stands in no answer, and must not be secret.
    name: String,
    /// What it may do; `*` is everything.
    scopes: Vec<String>,
    /// The SHA-256 of the key's text, in hexadecimal digits.
    hash: String,
}

impl Keys {
    /// Reads the secret `API_KEYS`. A wrong entry is named by its place and lets nobody in.
    pub(super) fn read(source: &dyn Variables, problems: &mut Vec<String>) -> Self {
        let text = source.variable("API_KEYS").unwrap_or_default();
        let entries: Vec<Entry> = serde_json::from_str(&text).unwrap_or_default();
        if entries.is_empty() {
            problems.push(format!("API_KEYS {FORM}"));
        }
        let mut keys: Vec<Key> = Vec::new();
        for (place, Entry { name, scopes, hash }) in entries.into_iter().enumerate() {
            let mut problem = |wanted: &str| problems.push(format!("API_KEYS[{place}]{wanted}"));
            let Some(hash) = unhex(&hash) else {
                problem(".hash must be 64 hexadecimal digits");
                continue;
            };
            if !scopes.iter().all(|scope| is_scope(scope)) {
                problem(".scopes must be words without spaces");
                continue;
            }
            let taken = |key: &Key| matches!(&key.caller, Caller::Key { name: other, .. } if *other == name);
            if name.trim().is_empty() || keys.iter().any(taken) {
                problem(".name must be a name that no other key has");
                continue;
            }
            let all = scopes.iter().any(|scope| scope == "*");
            let scopes = if all { Scopes::All } else { Scopes::Listed(scopes) };
            keys.push(Key { hash, caller: Caller::Key { name, scopes } });
        }
        Self(keys)
    }

    /// Whose key it is. Every key is compared, whole, whatever fits: the time says nothing about
    /// which one did.
    pub(super) fn caller(&self, key: &str) -> Option<Caller> {
        let hash: [u8; 32] = Sha256::digest(key.as_bytes()).into();
        let mut found = u32::MAX;
        for (place, key) in (0..).zip(&self.0) {
            found.conditional_assign(&place, key.hash.ct_eq(&hash));
        }
        self.0.get(usize::try_from(found).ok()?).map(|key| key.caller.clone())
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keys({})", self.0.len())
    }
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut digits = text.chars().map(|digit| digit.to_digit(16));
    let mut bytes = [0; 32];
    for byte in &mut bytes {
        *byte = u8::try_from(digits.next()?? * 16 + digits.next()??).ok()?;
    }
    digits.next().is_none().then_some(bytes)
}
