//! Sealed tokens, which keep state with clients and browsers until they expire, and keyed hashes.

use base64ct::{Base64UrlUnpadded, Encoding};
use hmac::{Hmac, Mac};
use serde::Serialize;
use sha2::Sha256;

use super::cipher::SealKey;
use super::mac::MacKey;
use crate::json::{self, Rendered, Value};
use crate::secret::Secret;

/// The longest token that is opened, in bytes. With another one and a name it fits into a cookie: browsers drop those
/// of more than 4,096 bytes.
const LONGEST: usize = 3_500;
/// The longest token that is opened if clients send it in a body, or the store has it.
const LONGEST_IN_BODY: usize = 256 * 1024;

/// What a token or a hash is for. It is invalid for every other purpose. Each purpose has a name of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenPurpose {
    name: &'static str,
    longest: usize,
}

impl TokenPurpose {
    /// The name of a caller in the log.
    pub(crate) const CALLER: Self = Self::new("caller");
    /// A request whose client keeps its state while the user is asked.
    pub(super) const CONTINUATION: Self = Self::in_body("pause");

    /// A hash, or a token that fits into a cookie and a URL.
    pub const fn new(name: &'static str) -> Self {
        Self { name, longest: LONGEST }
    }

    /// A token that clients send in a body, or that the store has.
    pub const fn in_body(name: &'static str) -> Self {
        Self { name, longest: LONGEST_IN_BODY }
    }

    /// A token of at most so many bytes that a host keeps.
    pub const fn stored(name: &'static str, longest: usize) -> Self {
        Self { name, longest }
    }

    /// The longest token that is opened, in bytes.
    pub const fn longest(self) -> usize {
        self.longest
    }
}

/// Why a token is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidToken {
    /// It was not issued by this server, was changed, or is for another purpose.
    Forged,
    /// It was valid before.
    Expired,
}

/// The key of tokens and hashes: `STATE_KEY`.
#[derive(Debug, Clone)]
pub struct StateKey(MacKey);

/// The plaintext of a token. Not generic, because there are many types of claims, and code for each would be linked.
#[derive(Serialize)]
struct SealedToken<'a> {
    /// The second since the Unix epoch at which it expires.
    #[serde(rename = "e")]
    expires: u64,
    #[serde(rename = "c")]
    claims: Rendered<'a>,
}

/// The claims in the plaintext of a token, and when it expires, in milliseconds since the Unix epoch.
pub(super) fn claims(text: &[u8]) -> Option<(Value<'_>, u64)> {
    let Value::Object(mut content) = json::parse_bytes(text)? else { return None };
    let expires: u64 = json::read_value(content.get("e")?)?;
    Some((content.take("c")?, expires.saturating_mul(1000)))
}

impl StateKey {
    pub(super) fn new(secret: &Secret) -> Self {
        Self(MacKey::new(secret.expose().as_bytes()))
    }

    /// HMAC-SHA256 of the parts, each with its length, so that no two lists of parts collide.
    fn mac(&self, name: &str, parts: &[&str]) -> Hmac<Sha256> {
        let mut mac = self.0.begin();
        for part in [name].iter().chain(parts) {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part.as_bytes());
        }
        mac
    }

    /// A hash that cannot be computed or reversed without the key: 43 characters.
    pub fn hash(&self, purpose: TokenPurpose, parts: &[&str]) -> String {
        Base64UrlUnpadded::encode_string(&self.mac(purpose.name, parts).finalize().into_bytes())
    }

    /// Whether `hash` is that of the parts, in constant time.
    pub(super) fn is_hash(&self, purpose: TokenPurpose, parts: &[&str], hash: &str) -> bool {
        Base64UrlUnpadded::decode_vec(hash)
            .is_ok_and(|hash| self.mac(purpose.name, parts).verify_slice(&hash).is_ok())
    }

    /// The key that seals tokens for `purpose`, derived from this one. No purpose is called "seal".
    fn seal_key(&self, purpose: TokenPurpose) -> SealKey {
        SealKey::new(&self.mac("seal", &[purpose.name]).finalize().into_bytes().into())
    }

    /// Seals claims until `expires_ms`: others can neither read nor change them.
    ///
    /// The nonce is a MAC of the text, as in RFC 5297, and so needs no random bytes: two tokens have
    /// the same nonce only if they have the same text, and then they are equal.
    pub(super) fn seal(
        &self,
        purpose: TokenPurpose,
        claims: &impl Serialize,
        expires_ms: u64,
    ) -> String {
        self.seal_text(purpose, &json::to_string(claims), expires_ms)
    }

    fn seal_text(&self, purpose: TokenPurpose, claims: &str, expires_ms: u64) -> String {
        let claims = Rendered(claims);
        let text = json::to_string(&SealedToken { expires: expires_ms / 1000, claims });
        let mac: [u8; 32] =
            self.mac("nonce", &[purpose.name, &text]).finalize().into_bytes().into();
        let [nonce @ .., _, _, _, _, _, _, _, _] = mac;
        self.seal_key(purpose).seal(&nonce, purpose.name, text.as_bytes())
    }

    /// The plaintext of a token that this key has made.
    pub(super) fn open(&self, purpose: TokenPurpose, token: &str) -> Option<Vec<u8>> {
        let token = Some(token).filter(|token| token.len() <= purpose.longest)?;
        self.seal_key(purpose).open(purpose.name, token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::cipher::NONCE;

    const CHALLENGE: TokenPurpose = TokenPurpose::new("challenge");
    const FAILURE: TokenPurpose = TokenPurpose::new("failure");
    const GRANT: TokenPurpose = TokenPurpose::new("grant");
    const STATE: TokenPurpose = TokenPurpose::new("state");
    const KEY: &str = "0123456789abcdef0123456789abcdef";

    fn key_of(secret: &str) -> StateKey {
        StateKey::new(&Secret::new(secret.to_owned()))
    }

    fn open(key: &StateKey, purpose: TokenPurpose, token: &str) -> Option<(String, u64)> {
        let text = key.open(purpose, token)?;
        let (claims, expires_ms) = claims(&text)?;
        Some((json::read_value(&claims)?, expires_ms))
    }

    #[test]
    fn a_token_opens_unchanged_for_its_purpose_with_its_key() {
        let key = key_of(KEY);
        let token = key.seal(STATE, &"claim", 10_000);
        assert_eq!(open(&key, STATE, &token), Some(("claim".to_owned(), 10_000)));
        assert_eq!(open(&key, CHALLENGE, &token), None);
        let other = key_of(&KEY.replace('0', "1"));
        assert_eq!(open(&other, STATE, &token), None);
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] ^= 1;
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(open(&key, STATE, &changed), None, "{changed}");
        }
        for bad in [
            "",
            ".",
            "a",
            "a.b",
            &token[1..],
            &format!("{token}a"),
            &format!("{token}="),
            &format!("{token}{token}"),
            &"a".repeat(5_000),
        ] {
            assert_eq!(open(&key, STATE, bad), None, "{bad}");
        }
        let number = key.seal(STATE, &1, 10_000);
        assert_eq!(open(&key, STATE, &number), None, "other claims");
    }

    #[test]
    fn nobody_reads_a_token_and_no_nonce_serves_two_texts() {
        let key = key_of(KEY);
        let seal = |purpose, claims: &str, end| {
            let token = key.seal(purpose, &claims, end);
            Base64UrlUnpadded::decode_vec(&token).unwrap()
        };
        let bytes = seal(CHALLENGE, "ada", 10_000);
        assert!(!bytes.windows(3).any(|window| window == b"ada"));
        for other in [
            seal(CHALLENGE, "adb", 10_000),
            seal(CHALLENGE, "ada", 11_000),
            seal(STATE, "ada", 10_000),
        ] {
            assert_ne!(other[..NONCE], bytes[..NONCE]);
        }
    }

    #[test]
    fn a_token_has_a_longest_length() {
        let key = key_of(KEY);
        for (length, opens) in [(2_570, true), (2_571, false)] {
            let token = key.seal(STATE, &"a".repeat(length), 10_000);
            let opened = open(&key, STATE, &token);
            assert_eq!((token.len() <= LONGEST, opened.is_some()), (opens, opens), "{length}");
        }
    }

    #[test]
    fn hashes_keep_parts_apart() {
        let key = key_of(KEY);
        let hash = |parts: &[&str]| key.hash(GRANT, parts);
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_ne!(hash(&["a", ""]), hash(&["a"]));
        assert_ne!(hash(&["a"]), key.hash(FAILURE, &["a"]));
        assert!(key.is_hash(GRANT, &["a"], &hash(&["a"])));
        assert!(!key.is_hash(GRANT, &["a"], ""));
    }
}
