//! The secret `API_KEYS`: names, scopes and hashes of API keys.

use std::fmt;

#[cfg(feature = "gateway")]
use super::gateway::KeyLimits;
use super::reader::{VariableDoc, VariableReader, documented};
use crate::json::{self, Object, Value};
use crate::names::is_invisible;
use crate::principal::Scopes;

const API_KEYS: &str = "API_KEYS";

pub(super) static DOCS: &[VariableDoc] = &[VariableDoc {
    name: API_KEYS,
    doc: documented(
        "Secret. The API keys that are accepted: a JSON array of objects with name, scopes and hash.",
    ),
}];

/// The longest name of a key, in characters.
const MAX_NAME: usize = 64;

/// An API key. The server knows its hash only, so whoever reads the server's secrets cannot call.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKeySettings {
    /// Who has the key.
    pub name: String,
    /// What it may do.
    pub scopes: Scopes,
    /// The SHA-256 of the key's text.
    pub hash: [u8; 32],
    /// Its limits in the chat gateway.
    #[cfg(feature = "gateway")]
    pub limits: KeyLimits,
}

/// Shows no hash.
impl fmt::Debug for ApiKeySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiKeySettings").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Reads `API_KEYS`: an array of objects with `name` (who has the key; not secret, see [`is_name`]),
/// `scopes` (`*` means all), `hash` (the SHA-256 of the key's text in hexadecimal digits) and perhaps `gateway`
/// (its limits in the chat gateway). An invalid entry is reported by its index and ignored.
pub(super) fn read_api_keys(reader: &mut VariableReader<'_>) -> Vec<ApiKeySettings> {
    let text = reader.text(API_KEYS).unwrap_or_default();
    let entries = match json::parse(&text) {
        Ok(Value::Array(entries)) if !entries.is_empty() => entries,
        _ => {
            let expected = "must be a JSON array of objects with name, scopes and hash; \
                            `make key` prints one";
            reader.problem(API_KEYS, expected);
            return Vec::new();
        }
    };
    let mut keys = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        match parse_entry(entry, &keys) {
            Ok(key) => keys.push(key),
            Err(expected) => reader.sentence(format!("{API_KEYS}[{index}]{expected}")),
        }
    }
    keys
}

fn parse_entry(
    entry: &Value<'_>,
    others: &[ApiKeySettings],
) -> Result<ApiKeySettings, &'static str> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str);
    let scopes = entry.get("scopes").and_then(Value::as_array);
    let members = entry.as_object().map(Object::len).unwrap_or_default();
    let limits = entry.get("gateway");
    let members = members - usize::from(limits.is_some());
    let (Some(name), Some(scopes), Some(hash), 3) = (text("name"), scopes, text("hash"), members)
    else {
        return Err(" must be an object with name, scopes and hash, and nothing else but gateway");
    };
    #[cfg(not(feature = "gateway"))]
    if limits.is_some() {
        return Err(".gateway needs a Worker with the feature `gateway`");
    }
    #[cfg(feature = "gateway")]
    let limits = limits.map(KeyLimits::parse).transpose()?.unwrap_or_default();
    let hash = decode_hex(hash).ok_or(".hash must be 64 hexadecimal digits")?;
    // An entry that is not a string is not a scope either.
    let words = scopes.iter().map(|scope| scope.as_str().unwrap_or_default());
    let scopes = Scopes::read(words).ok_or(".scopes must be words without spaces")?;
    if !is_name(name) {
        return Err(".name must be 1 to 64 visible characters");
    }
    if others.iter().any(|other| other.name == name) {
        return Err(".name must be unique");
    }
    Ok(ApiKeySettings {
        name: name.to_owned(),
        scopes,
        hash,
        #[cfg(feature = "gateway")]
        limits,
    })
}

/// Whether a text can be a key's name. Users see it on the consent page, so it must be short and
/// must not hide, reverse or break the text around it. `packages/toolbooth/src/key.js` has the same rule.
fn is_name(text: &str) -> bool {
    !text.trim().is_empty() && text.chars().count() <= MAX_NAME && !text.contains(is_invisible)
}

fn decode_hex(text: &str) -> Option<[u8; 32]> {
    let mut digits = text.chars().map(|digit| digit.to_digit(16));
    let mut bytes = [0; 32];
    for byte in &mut bytes {
        *byte = u8::try_from(digits.next()?? * 16 + digits.next()??).ok()?;
    }
    digits.next().is_none().then_some(bytes)
}
