//! The secret `API_KEYS`: names, scopes and hashes of API keys.

use std::fmt;

use super::allowlist::Allowlist;
use super::key_limits::{KeyLimits, parse_limits};
use super::reader::{VariableDoc, VariableReader};
use crate::address::is_secure;
use crate::auth::has_verification_key;
use crate::budget::Budget;
use crate::json::{self, Object, Value};
use crate::names::is_invisible;
use crate::principal::Scopes;

const API_KEYS: &str = "API_KEYS";

pub(super) static DOCS: &[VariableDoc] = &[VariableDoc::new(
    API_KEYS,
    "a non-empty JSON array of `{\"name\", \"scopes\", \"hash\"}`, of which `hash` may be absent \
     if there are public keys. Others: `previous_hash` ([Rotate a key](OPERATING.md#rotate-a-key)), `tools` (like \
     `TOOL_ALLOWLIST`, as an array: the key may call no others), `gateway` (below; or `tenant_settings`), `budgets` \
     ([Budgets](#budgets)), one of `verify_url` and `host` (see [Who opens the \
     link](SIGN-IN.md#who-opens-the-link-of-a-challenge)), one of `jwks` and `jwks_uri`, the public keys of a \
     [machine](SIGN-IN.md#machines), and `may_act`, the scopes that it may use [for \
     people](SIGN-IN.md#agents-that-act-for-people). `name`: 1 to 64 visible characters, \
     unique. `scopes`: an array of scopes, or `[\"*\"]`. `hash`: the SHA-256 of the key as 64 \
     hexadecimal digits, unique. `make key` prints an entry | required if `AUTH` includes \
     `api-key` | callers with the key of the invalid entry get 401; the others may call",
)];

/// What an entry has besides `name` and `scopes`: the hash of the key, and of the key before it, the tools that it may call, its
/// limits in the chat gateway, its budgets, one of two that say how its users become known (see [`ApplicationUsers`]), and one of
/// two that say where its public keys are (see [`ClientKeys`]), and what it may do for people.
const FURTHER: [&str; 11] = [
    "hash",
    "previous_hash",
    "tools",
    "gateway",
    "tenant_settings",
    "budgets",
    "verify_url",
    "host",
    "jwks",
    "jwks_uri",
    "may_act",
];

/// The longest name of a key, in characters.
const MAX_NAME: usize = 64;

/// An API key. The server knows its hash only, so a person who reads the server's secrets cannot call.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKeySettings {
    /// Who has the key.
    pub name: String,
    /// What it may do.
    pub scopes: Scopes,
    /// The tools that it may call, if not all.
    pub tools: Option<Allowlist>,
    /// The SHA-256 of the key's text. An entry without it is a client that authenticates with its public keys.
    pub hash: Option<[u8; 32]>,
    /// That of the key before it, which is accepted while callers change to the new one.
    pub previous_hash: Option<[u8; 32]>,
    /// Its public keys, if it can authenticate with `private_key_jwt` at the token endpoint.
    pub keys: Option<ClientKeys>,
    /// The scopes that it may use when it acts for a person, if it may.
    pub may_act: Option<Scopes>,
    /// How the users of the application become known here.
    pub users: ApplicationUsers,
    /// Its limits in the chat gateway.
    pub limits: KeyLimits,
    /// How much it may use.
    pub budgets: Vec<Budget>,
    /// Its team, if a rule of `TEAMS` names it: the index in [`Settings::teams`](super::Settings::teams).
    pub team: Option<usize>,
}

impl ApiKeySettings {
    /// The hashes of the texts that are accepted.
    pub fn hashes(&self) -> impl Iterator<Item = &[u8; 32]> {
        [self.hash.as_ref(), self.previous_hash.as_ref()].into_iter().flatten()
    }
}

/// Where the public keys of a client are (RFC 7591, 2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientKeys {
    /// `jwks_uri`: the URL of a JSON Web Key Set.
    Url(String),
    /// `jwks`: a JSON Web Key Set, as JSON.
    Set(String),
}

/// How the users of an application become known to the server, which only gets their ids from it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ApplicationUsers {
    /// Not at all.
    #[default]
    Unknown,
    /// `host`: not at all, but users see where the application is.
    At(String),
    /// `verify_url`: the application redirects them back with a one-time value.
    Verified(String),
}

impl ApplicationUsers {
    /// The application's host.
    pub fn host(&self) -> Option<&str> {
        match self {
            Self::Unknown => None,
            Self::At(host) => Some(host),
            Self::Verified(url) => url.split(['/', '?']).nth(2),
        }
    }
}

/// Shows no hash.
impl fmt::Debug for ApiKeySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiKeySettings").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Reads `API_KEYS`: an array of objects with `name` (who has the key; not secret, see [`is_name`]),
/// `scopes` (`*` means all), `hash` (the SHA-256 of the key's text in hexadecimal digits) and perhaps more of [`FURTHER`].
/// An invalid entry is reported by its index and name, and has no effect. If none is valid, the variable is invalid.
// A function of its own, so that a Worker compiles it only if `AUTH` lists the method.
#[inline(never)]
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
    let (mut keys, mut rejected) = (Vec::new(), Vec::new());
    for (index, entry) in entries.iter().enumerate() {
        match parse_entry(entry, &keys) {
            Ok(key) => {
                reader.has_budgets(&key.budgets, || format!("{API_KEYS} of {:?}", key.name));
                keys.push(key);
            }
            Err(expected) => rejected.push(problem(index, entry, expected)),
        }
    }
    // Without a valid key, the server might serve no one.
    if keys.is_empty() { &mut reader.problems } else { &mut reader.rejected }.extend(rejected);
    keys
}

/// The problem of an entry: `expected` begins with the place in it.
fn problem(index: usize, entry: &Value<'_>, expected: &str) -> String {
    let (place, expected) = expected.split_once(' ').unwrap_or(("", expected));
    let name = entry.get("name").and_then(Value::as_str).filter(|name| is_name(name));
    let of = name.map(|name| format!(" of \"{name}\"")).unwrap_or_default();
    // What is wrong with a member has its place.
    let unknown = unknown_member(entry).filter(|_| place.is_empty());
    let unknown =
        unknown.map(|name| format!("; there is no member \"{name}\"")).unwrap_or_default();
    format!("{API_KEYS}[{index}]{place}{of} {expected}{unknown}")
}

/// A member that entries do not have, such as a misspelled one. Not what could be a secret in a wrong place.
fn unknown_member<'e>(entry: &'e Value<'_>) -> Option<&'e str> {
    let is_known = |name: &str| matches!(name, "name" | "scopes") || FURTHER.contains(&name);
    let is_word = |name: &str| {
        name.len() <= 24 && name.bytes().all(|it| it.is_ascii_lowercase() || it == b'_')
    };
    let mut names = entry.as_object()?.iter().map(|(name, _)| &**name);
    names.find(|name| !is_known(name) && is_word(name))
}

fn parse_entry(
    entry: &Value<'_>,
    others: &[ApiKeySettings],
) -> Result<ApiKeySettings, &'static str> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str);
    let scopes = entry.get("scopes").filter(|scopes| scopes.as_array().is_some());
    let members = entry.as_object().map(Object::len).unwrap_or_default();
    let further = FURTHER.iter().filter(|name| entry.get(name).is_some()).count();
    let members = members.saturating_sub(further);
    let keys = parse_keys((entry.get("jwks"), entry.get("jwks_uri")))?;
    // Without a hash, nothing but its keys proves who it is.
    let is_provable = match entry.get("hash") {
        Some(hash) => hash.as_str().is_some(),
        None => keys.is_some() && entry.get("previous_hash").is_none(),
    };
    let (Some(name), Some(scopes), true, 2) = (text("name"), scopes, is_provable, members) else {
        return Err(
            " must be an object with name, scopes and hash (or jwks, or jwks_uri), and nothing else but \
             previous_hash, tools, gateway, tenant_settings, budgets, verify_url, host and may_act",
        );
    };
    let (limits, budgets) = parse_limits(entry)?;
    let limits = limits.unwrap_or_default();
    let users = parse_users((entry.get("verify_url"), entry.get("host")))?;
    let tools = entry.get("tools").map(parse_tools).transpose()?;
    let hash =
        text("hash").map(|hash| decode_hex(hash).ok_or(".hash must be 64 hexadecimal digits"));
    let hash = hash.transpose()?;
    let previous_hash = entry.get("previous_hash").map(|hash| {
        let expected = ".previous_hash must be 64 hexadecimal digits";
        hash.as_str().and_then(decode_hex).ok_or(expected)
    });
    let previous_hash = previous_hash.transpose()?;
    let scopes = scopes.texts().and_then(Scopes::read);
    let scopes = scopes.ok_or(".scopes must be words without spaces")?;
    let may_act = entry.get("may_act").map(|scopes| {
        let scopes = scopes.texts().and_then(Scopes::read);
        scopes.ok_or(".may_act must be an array of words without spaces")
    });
    let may_act = may_act.transpose()?;
    if !is_name(name) {
        return Err(".name must be 1 to 64 visible characters");
    }
    if others.iter().any(|other| other.name == name) {
        return Err(".name must be unique");
    }
    let mut known = others.iter().flat_map(ApiKeySettings::hashes);
    if known.any(|other| [hash, previous_hash].contains(&Some(*other))) {
        return Err(" must not have a hash of another entry");
    }
    if hash.is_some() && previous_hash == hash {
        return Err(".previous_hash must not be that of hash");
    }
    let name = name.to_owned();
    Ok(ApiKeySettings {
        name,
        scopes,
        tools,
        hash,
        previous_hash,
        keys,
        may_act,
        users,
        limits,
        budgets,
        team: None,
    })
}

fn parse_keys(
    members: (Option<&Value<'_>>, Option<&Value<'_>>),
) -> Result<Option<ClientKeys>, &'static str> {
    match members {
        (None, None) => Ok(None),
        (Some(set), None) => {
            let expected =
                ".jwks must be a JSON Web Key Set with a public key for RS256, ES256 or EdDSA";
            if has_verification_key(set) {
                Ok(Some(ClientKeys::Set(json::to_string(set))))
            } else {
                Err(expected)
            }
        }
        (None, Some(url)) => {
            let url = url.as_str().filter(|url| is_secure(url));
            let expected = ".jwks_uri must be an https URL; http is allowed for localhost only";
            Ok(Some(ClientKeys::Url(url.ok_or(expected)?.to_owned())))
        }
        (Some(_), Some(_)) => Err(" must not have both jwks and jwks_uri"),
    }
}

pub(super) fn parse_tools(value: &Value<'_>) -> Result<Allowlist, &'static str> {
    let expected = ".tools must be an array of ids, names or Toolkit.*, as in TOOL_ALLOWLIST";
    value.texts().map(Allowlist::only).ok_or(expected)
}

fn parse_users(
    members: (Option<&Value<'_>>, Option<&Value<'_>>),
) -> Result<ApplicationUsers, &'static str> {
    let text = |value: &Value<'_>| value.as_str().unwrap_or_default().to_owned();
    match members {
        (None, None) => Ok(ApplicationUsers::Unknown),
        (Some(url), None) => {
            let url = text(url);
            let expected = ".verify_url must be an https URL; http is allowed for localhost only";
            if is_secure(&url) { Ok(ApplicationUsers::Verified(url)) } else { Err(expected) }
        }
        (None, Some(host)) => {
            let host = text(host);
            let is_host = |it: u8| it.is_ascii_alphanumeric() || b".-:[]".contains(&it);
            let is_valid = !host.is_empty() && host.len() <= 255 && host.bytes().all(is_host);
            let expected = ".host must be a host such as calendar.example";
            if is_valid { Ok(ApplicationUsers::At(host)) } else { Err(expected) }
        }
        (Some(_), Some(_)) => Err(" must not have both verify_url and host"),
    }
}

/// Whether a text can be a key's name. Users see it on the consent page, so it must be short and
/// must not hide, reverse or break the text around it. `packages/toolbooth/src/key.js` has the same rule.
pub(super) fn is_name(text: &str) -> bool {
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
