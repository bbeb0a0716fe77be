//! The keys that seal tokens and grants: `STATE_KEY` and `GRANT_KEYS`.

use std::fmt;

use base64ct::{Base64, Encoding};

use super::Settings;
use super::reader::{Row, VariableDoc, VariableReader};
use crate::secret::Secret;

/// The key of sealed tokens and hashes, and the one before it while it is being replaced.
#[derive(Debug, Clone)]
pub struct StateKeySettings {
    /// `STATE_KEY`: at least 32 bytes.
    pub current: Secret,
    /// `STATE_KEY_PREVIOUS`.
    pub previous: Option<Secret>,
}

static STATE_KEY: Row<Option<Secret>> = Row::new(
    "STATE_KEY",
    "encrypts challenges, the codes and tokens of sign-in, tasks, responses in the background, and \
     the state that tools keep between questions; at least 32 bytes: `openssl rand -base64 32`. [Each deployment \
     has its own](OPERATING.md#secrets) | required with `OAUTH_PROVIDERS` and \
     `sign-in`. Without it, tools that keep state between questions fail | no challenges, no state",
    None,
    parse_state_key,
);
static STATE_KEY_PREVIOUS: Row<Option<Secret>> = Row::new(
    "STATE_KEY_PREVIOUS",
    "the key before the current one, accepted while you replace it; at least 32 bytes, not equal \
     to `STATE_KEY`. [OPERATING.md](OPERATING.md#replace-state_key) has the steps | not set | no \
     challenges, no state",
    None,
    parse_state_key,
);
const GRANT_KEYS: &str = "GRANT_KEYS";

pub(super) static DOCS: &[VariableDoc] = &[STATE_KEY.doc(), STATE_KEY_PREVIOUS.doc()];
/// The documentation of `GRANT_KEYS`.
pub const GRANT_KEYS_DOC: VariableDoc = VariableDoc::new(
    GRANT_KEYS,
    "encrypts grants: `id:key` pairs, separated by commas. Each id consists of letters and digits \
     and is unique, each key is 32 bytes in base64: `openssl rand -base64 32`. The first key \
     encrypts, all decrypt. Each deployment has its own | required with `OAUTH_PROVIDERS`; with `sign-in`, only if tools act \
     for users at the providers too | no challenges",
);

impl StateKeySettings {
    /// Reads both keys; `None` if they are not set.
    pub(super) fn read(reader: &mut VariableReader<'_>) -> Option<Self> {
        let is_set = |row: &Row<_>| reader.non_empty(row.name).is_some();
        let (has_current, has_previous) = (is_set(&STATE_KEY), is_set(&STATE_KEY_PREVIOUS));
        if !has_current {
            if has_previous {
                reader.problem(STATE_KEY.name, NOT_SET);
            }
            return None;
        }
        let current = reader.get(&STATE_KEY)?;
        let previous = if has_previous { Some(reader.get(&STATE_KEY_PREVIOUS)?) } else { None };
        if previous.as_ref() == Some(&current) {
            reader.problem(STATE_KEY_PREVIOUS.name, "must differ from STATE_KEY or not be set");
            return None;
        }
        Some(Self { current, previous })
    }

    /// The keys, for a capability that needs them. If they are not set, that is a problem.
    pub fn required(settings: &Settings, reader: &mut VariableReader<'_>) -> Option<Self> {
        let has_problem =
            [&STATE_KEY, &STATE_KEY_PREVIOUS].iter().any(|it| reader.has_problem(it.name));
        if settings.state_keys.is_none() && !has_problem {
            reader.problem(STATE_KEY.name, NOT_SET);
        }
        settings.state_keys.clone()
    }
}

const NOT_SET: &str = "is not set; `openssl rand -base64 32` prints one";

fn parse_state_key(text: &str) -> Result<Option<Secret>, String> {
    if text.len() < 32 {
        return Err("must have at least 32 bytes; `openssl rand -base64 32` prints some".to_owned());
    }
    Ok(Some(Secret::new(text.to_owned())))
}

/// `GRANT_KEYS`: the keys that encrypt grants in the store.
#[derive(Clone, PartialEq, Eq)]
pub struct GrantKeySettings {
    /// The id and the bytes of the key that encrypts.
    pub first: (String, [u8; 32]),
    /// Older keys, which only decrypt.
    pub others: Vec<(String, [u8; 32])>,
}

impl GrantKeySettings {
    /// Whether `GRANT_KEYS` is set.
    pub fn is_set(reader: &VariableReader<'_>) -> bool {
        reader.non_empty(GRANT_KEYS).is_some()
    }

    /// Reads `GRANT_KEYS`.
    pub fn read(reader: &mut VariableReader<'_>) -> Option<Self> {
        let keys = Self::parse(&reader.text(GRANT_KEYS).unwrap_or_default());
        if keys.is_none() {
            let expected = "must be id:key pairs separated by commas, with unique ids of letters \
                            and digits, and keys of 32 bytes in base64; `openssl rand -base64 32` \
                            prints one";
            reader.problem(GRANT_KEYS, expected);
        }
        keys
    }

    /// Parses `id:key` pairs separated by commas.
    pub fn parse(text: &str) -> Option<Self> {
        let mut keys: Vec<(String, [u8; 32])> = Vec::new();
        for pair in text.split(',').map(str::trim) {
            let (id, key) = pair.split_once(':')?;
            let mut bytes = [0; 32];
            let key = Base64::decode(key, &mut bytes).ok()?;
            let is_plain = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric());
            if key.len() != 32 || !is_plain || keys.iter().any(|(known, _)| known == id) {
                return None;
            }
            keys.push((id.to_owned(), bytes));
        }
        let mut keys = keys.into_iter();
        Some(Self { first: keys.next()?, others: keys.collect() })
    }
}

/// Shows no key.
impl fmt::Debug for GrantKeySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GrantKeySettings(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::CapabilitySettings;
    use crate::testing::FakeHost;

    #[test]
    fn state_keys() {
        const OLD: &str = "0123456789abcdef0123456789abcdef";
        const NEW: &str = "fedcba9876543210fedcba9876543210";
        for (current, previous, required, wrong) in [
            (NEW, "", true, None),
            (NEW, OLD, true, None),
            ("", "", true, Some("STATE_KEY")),
            ("", "", false, None),
            ("", OLD, true, Some("STATE_KEY")),
            ("", OLD, false, Some("STATE_KEY")),
            ("short", OLD, false, Some("STATE_KEY")),
            (NEW, "short", false, Some("STATE_KEY_PREVIOUS")),
            (NEW, NEW, false, Some("STATE_KEY_PREVIOUS")),
        ] {
            let host = FakeHost::with(&[("STATE_KEY", current), ("STATE_KEY_PREVIOUS", previous)]);
            const NEEDED: CapabilitySettings = CapabilitySettings {
                variables: &[],
                auth_methods: &[],
                read: |settings, reader| drop(StateKeySettings::required(settings, reader)),
            };
            let capabilities: &[_] = if required { &[&NEEDED] } else { &[] };
            let Settings { state_keys: keys, problems, .. } =
                Settings::read(&host, capabilities, &[]);
            let names: Vec<_> = problems.iter().filter_map(|it| it.split(' ').next()).collect();
            assert_eq!(names, wrong.into_iter().collect::<Vec<_>>(), "{current} {previous}");
            let good = wrong.is_none() && !current.is_empty();
            assert_eq!(keys.is_some(), good, "{current} {previous}");
            assert!(!format!("{keys:?} {problems:?}").contains("0123"));
        }
    }

    #[test]
    fn grant_keys() {
        const A: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
        const B: &str = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=";
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
            (pair("a", &format!("AAAA{A}")), false),
            (format!("{},{}", pair("a", A), pair("a", B)), false),
            (format!("{},", pair("a", A)), false),
        ] {
            assert_eq!(GrantKeySettings::parse(&text).is_some(), good, "{text}");
        }
    }
}
