//! API keys: the server knows their hashes, so that whoever reads its secrets cannot call with them.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::{ConditionallySelectable, ConstantTimeEq};

use crate::host::Variables;
use crate::json::{self, Object, Value};
use crate::names::is_invisible;
use crate::principal::Principal;
use crate::principal::Scopes;

const FORM: &str =
    "must be a JSON array of objects with name, scopes and hash; make key prints one";

/// The longest name of a key, in characters.
const MAX_NAME: usize = 64;

/// The keys of `API_KEYS`.
pub(super) struct Keys(Vec<Key>);

struct Key {
    hash: [u8; 32],
    principal: Principal,
}

impl Keys {
    /// Reads the secret `API_KEYS`: an array of objects with `name` (who has the key, and not
    /// secret; see [`is_name`]), `scopes` (`*` is all) and `hash` (the SHA-256 of the key's text, in hexadecimal
    /// digits). A wrong entry is named by its place and lets nobody in.
    pub(super) fn read(source: &dyn Variables, problems: &mut Vec<String>) -> Self {
        let text = source.variable("API_KEYS").unwrap_or_default();
        let entries = match json::parse(&text) {
            Ok(Value::Array(entries)) if !entries.is_empty() => entries,
            _ => {
                problems.push(format!("API_KEYS {FORM}"));
                Vec::new()
            }
        };
        let mut keys = Vec::new();
        for (place, entry) in entries.iter().enumerate() {
            match Key::read(entry, &keys) {
                Ok(key) => keys.push(key),
                Err(wanted) => problems.push(format!("API_KEYS[{place}]{wanted}")),
            }
        }
        Self(keys)
    }

    /// Whose key it is. Every key is compared, whole, whatever fits: the time says nothing about
    /// which one did.
    pub(super) fn principal(&self, key: &str) -> Option<Principal> {
        let hash: [u8; 32] = Sha256::digest(key.as_bytes()).into();
        let mut found = u32::MAX;
        for (place, key) in (0..).zip(&self.0) {
            found.conditional_assign(&place, key.hash.ct_eq(&hash));
        }
        self.0.get(usize::try_from(found).ok()?).map(|key| key.principal.clone())
    }
}

impl Key {
    /// Reads an entry; `others` stand before it.
    fn read(entry: &Value<'_>, others: &[Self]) -> Result<Self, &'static str> {
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        let scopes = entry.get("scopes").and_then(Value::as_array);
        let (Some(name), Some(scopes), Some(hash), Some(3)) =
            (text("name"), scopes, text("hash"), entry.as_object().map(Object::len))
        else {
            return Err(" must be an object with name, scopes and hash, and nothing else");
        };
        let hash = unhex(hash).ok_or(".hash must be 64 hexadecimal digits")?;
        // What is not a text is not a scope either.
        let words = scopes.iter().map(|scope| scope.as_str().unwrap_or_default());
        let scopes = Scopes::read(words).ok_or(".scopes must be words without spaces")?;
        let taken = |key: &Self| matches!(&key.principal, Principal::Key { name: other, .. } if other == name);
        if !is_name(name) {
            return Err(".name must be 1 to 64 characters, all of them visible");
        }
        if others.iter().any(taken) {
            return Err(".name must be a name that no other key has");
        }
        Ok(Self { hash, principal: Principal::Key { name: name.to_owned(), scopes } })
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keys({})", self.0.len())
    }
}

/// Whether a text can be a key's name. Users see it on the page that asks for their consent, so it
/// must be short and must not hide, reverse or break the text around it. `scripts/key.mjs` has the
/// same rule.
fn is_name(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().count() <= MAX_NAME && !text.contains(is_invisible)
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut digits = text.chars().map(|digit| digit.to_digit(16));
    let mut bytes = [0; 32];
    for byte in &mut bytes {
        *byte = u8::try_from(digits.next()?? * 16 + digits.next()??).ok()?;
    }
    digits.next().is_none().then_some(bytes)
}
