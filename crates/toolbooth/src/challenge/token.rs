//! Sealed, expiring tokens: state that others keep for the server. And keyed hashes.

use std::fmt;

use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use hmac::{Hmac, Mac};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::seal::SealKey;
use crate::host::{NoRandomness, Random};
use crate::json;

/// The longest token that is read, in bytes. A cookie of 4,096 bytes has room for it.
const LONGEST: usize = 3_500;

/// What a token or a hash is for. One made for one purpose is worthless for every other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenPurpose {
    /// A pending challenge, in `url` and `check_url`.
    Challenge,
    /// `state`, on its way to the provider and back.
    State,
    /// The mark of the browser that went to the provider.
    Browser,
    /// The PKCE verifier (RFC 7636).
    Verifier,
    /// The keys of a grant and of its deletion in the store.
    Grant,
    /// The key of a failure in the store.
    Failure,
    /// A proof, as the client has it.
    Proof,
    /// The key of a proof's record in the store.
    ProofKey,
    /// A request that waits for its user, with its client.
    ContinuationToken,
}

impl TokenPurpose {
    fn name(self) -> &'static str {
        match self {
            Self::Challenge => "challenge",
            Self::State => "state",
            Self::Browser => "browser",
            Self::Verifier => "verifier",
            Self::Grant => "grant",
            Self::Failure => "failure",
            Self::Proof => "proof",
            Self::ProofKey => "proof key",
            Self::ContinuationToken => "pause",
        }
    }
}

/// Why a token is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InvalidToken {
    /// It is none of ours, or was changed, or is for something else.
    Forged,
    /// It was ours.
    Expired,
}

/// The key of tokens and hashes: `STATE_KEY`.
#[derive(Clone)]
pub(super) struct StateKey(Hmac<Sha256>);

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateKey(…)")
    }
}

#[derive(Serialize, Deserialize)]
struct Sealed<T> {
    /// The second since the epoch from which it counts no more.
    e: u64,
    c: T,
}

impl StateKey {
    /// A key of the secret's bytes.
    ///
    /// # Errors
    /// It has fewer than 32.
    pub(super) fn parse(secret: &str) -> Result<Self, &'static str> {
        const TOO_SHORT: &str = "must have at least 32 bytes; `openssl rand -base64 32` makes some";
        if secret.len() < 32 {
            return Err(TOO_SHORT);
        }
        Hmac::new_from_slice(secret.as_bytes()).map(Self).map_err(|_| TOO_SHORT)
    }

    /// HMAC-SHA256 of the parts, each with its length, so that no two lists of parts are the same.
    fn mac(&self, name: &str, parts: &[&str]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        for part in [name].iter().chain(parts) {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part.as_bytes());
        }
        mac
    }

    /// A hash that nobody without the key can make or guess from: 43 letters.
    pub(super) fn hash(&self, purpose: TokenPurpose, parts: &[&str]) -> String {
        Base64UrlUnpadded::encode_string(&self.mac(purpose.name(), parts).finalize().into_bytes())
    }

    /// Whether `hash` is that of the parts, in constant time.
    pub(super) fn is_hash(&self, purpose: TokenPurpose, parts: &[&str], hash: &str) -> bool {
        Base64UrlUnpadded::decode_vec(hash)
            .is_ok_and(|hash| self.mac(purpose.name(), parts).verify_slice(&hash).is_ok())
    }

    /// The key that seals tokens for `purpose`, derived from this one. No purpose is called "seal".
    fn seal_key(&self, purpose: TokenPurpose) -> Option<SealKey> {
        SealKey::new(&self.mac("seal", &[purpose.name()]).finalize().into_bytes())
    }

    /// Seals claims that are valid until `expires_ms`: nobody else can read or change them.
    ///
    /// The nonce is a MAC of the text, as in RFC 5297, and so needs no random bytes: two tokens have
    /// the same nonce only if they say the same, and then they are the same.
    pub(super) fn seal(
        &self,
        purpose: TokenPurpose,
        claims: &impl Serialize,
        expires_ms: u64,
    ) -> String {
        let text = json::to_string(&Sealed { e: expires_ms / 1000, c: claims });
        let mac = self.mac("nonce", &[purpose.name(), &text]).finalize().into_bytes();
        let sealed = mac
            .first_chunk()
            .zip(self.seal_key(purpose))
            .and_then(|(nonce, key)| key.seal(nonce, purpose.name(), text.as_bytes()));
        // No text is so long that there is none. An empty token never opens.
        sealed.unwrap_or_default()
    }

    /// The claims of a token, if they still count at `now_ms`.
    ///
    /// # Errors
    /// See [`InvalidToken`].
    pub(super) fn open<T: DeserializeOwned>(
        &self,
        purpose: TokenPurpose,
        token: &str,
        now_ms: u64,
    ) -> Result<T, InvalidToken> {
        if token.len() > LONGEST {
            return Err(InvalidToken::Forged);
        }
        let text = self.seal_key(purpose).and_then(|key| key.open(purpose.name(), token));
        let sealed: Sealed<T> =
            text.and_then(|text| json::read(&text)).ok_or(InvalidToken::Forged)?;
        if now_ms / 1000 < sealed.e { Ok(sealed.c) } else { Err(InvalidToken::Expired) }
    }
}

/// Sixteen random bytes in 22 letters.
pub(super) fn random_text(random: &(impl Random + ?Sized)) -> Result<String, NoRandomness> {
    random.random_16().map(|bytes| Base64UrlUnpadded::encode_string(&bytes))
}

/// SHA-256 in base64url, as PKCE wants it (RFC 7636, 4.2).
pub(super) fn sha256_base64url(text: &str) -> String {
    Base64UrlUnpadded::encode_string(&Sha256::digest(text))
}

/// SHA-256 in base64, as a content security policy wants it.
pub(super) fn sha256_base64(text: &str) -> String {
    Base64::encode_string(&Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::challenge::seal::NONCE;

    const KEY: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn keys_have_32_bytes() {
        assert!(StateKey::parse(&KEY[1..]).is_err());
        assert!(!format!("{:?}", StateKey::parse(KEY)).contains("0123"));
    }

    #[test]
    fn a_token_opens_unchanged_for_its_purpose_in_its_time_with_its_key() {
        let key = StateKey::parse(KEY).unwrap();
        let token = key.seal(TokenPurpose::State, &"claim", 10_000);
        let open =
            |key: &StateKey, purpose, token: &str, now| key.open::<String>(purpose, token, now);
        assert_eq!(open(&key, TokenPurpose::State, &token, 9_999), Ok("claim".to_owned()));
        assert_eq!(open(&key, TokenPurpose::State, &token, 10_000), Err(InvalidToken::Expired));
        assert_eq!(open(&key, TokenPurpose::Challenge, &token, 0), Err(InvalidToken::Forged));
        let other = StateKey::parse(&KEY.replace('0', "1")).unwrap();
        assert_eq!(open(&other, TokenPurpose::State, &token, 0), Err(InvalidToken::Forged));
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] ^= 1;
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(
                open(&key, TokenPurpose::State, &changed, 0),
                Err(InvalidToken::Forged),
                "{changed}"
            );
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
            assert_eq!(open(&key, TokenPurpose::State, bad, 0), Err(InvalidToken::Forged), "{bad}");
        }
        let number = key.seal(TokenPurpose::State, &1, 10_000);
        assert_eq!(
            open(&key, TokenPurpose::State, &number, 0),
            Err(InvalidToken::Forged),
            "other claims"
        );
    }

    #[test]
    fn nobody_reads_a_token_and_no_nonce_serves_two_texts() {
        let key = StateKey::parse(KEY).unwrap();
        let seal = |purpose, claims: &str, end| {
            let token = key.seal(purpose, &claims, end);
            Base64UrlUnpadded::decode_vec(&token).unwrap()
        };
        let bytes = seal(TokenPurpose::Challenge, "ada", 10_000);
        assert!(!bytes.windows(3).any(|window| window == b"ada"));
        for other in [
            seal(TokenPurpose::Challenge, "adb", 10_000),
            seal(TokenPurpose::Challenge, "ada", 11_000),
            seal(TokenPurpose::State, "ada", 10_000),
        ] {
            assert_ne!(other[..NONCE], bytes[..NONCE]);
        }
    }

    #[test]
    fn a_token_has_a_longest_length() {
        let key = StateKey::parse(KEY).unwrap();
        for (length, opens) in [(2_570, true), (2_571, false)] {
            let token = key.seal(TokenPurpose::State, &"a".repeat(length), 10_000);
            let opened = key.open::<String>(TokenPurpose::State, &token, 0);
            assert_eq!((token.len() <= LONGEST, opened.is_ok()), (opens, opens), "{length}");
        }
    }

    #[test]
    fn hashes_keep_parts_apart() {
        let key = StateKey::parse(KEY).unwrap();
        let hash = |parts: &[&str]| key.hash(TokenPurpose::Grant, parts);
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_ne!(hash(&["a", ""]), hash(&["a"]));
        assert_ne!(hash(&["a"]), key.hash(TokenPurpose::Failure, &["a"]));
        assert!(key.is_hash(TokenPurpose::Grant, &["a"], &hash(&["a"])));
        assert!(!key.is_hash(TokenPurpose::Grant, &["a"], ""));
    }
}
