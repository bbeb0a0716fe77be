//! A request that waits for its user with its client: the server keeps nothing, the client brings
//! the request again with a token that says what it was.

use serde::{Deserialize, Serialize};

use serde_json::Value;

use super::LIFE_MS;
use super::state::{Hashes, StateKeys};
use super::token::{InvalidToken, TokenPurpose};
use crate::host::Variables;
use crate::json;
use crate::principal::Principal;

/// Makes requests wait: the key that seals what they wait with.
#[derive(Debug, Clone)]
pub(crate) struct RequestStateCodec(StateKeys);

/// The place of one request among all: who makes it, and what it asks for.
///
/// The token proves nothing but that the request is the one that was answered; whether the user has
/// granted anything, the store says. So it may come back more than once.
#[derive(Debug, Clone)]
pub(crate) struct ContinuationToken {
    keys: StateKeys,
    /// The hashes of the request.
    request: Hashes,
    expires_ms: u64,
}

/// What a token says.
#[derive(Serialize, Deserialize)]
struct ContinuationClaims {
    /// The hash of the request by the key of the token.
    r: String,
    /// The providers that the user was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    p: Vec<String>,
    /// What the tool gave along with its questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    s: Option<Value>,
}

/// What a request waited for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Waited {
    /// The providers that the user was asked for.
    pub(crate) providers: Vec<String>,
    /// What the tool gave along with its questions.
    pub(crate) state: Option<Value>,
}

/// Why a token is not taken, in words.
pub(crate) const FORGED: &str = "is not one that this server gave for this request";
/// Why another one is not.
const EXPIRED: &str = "has expired; make the request again without it";

impl RequestStateCodec {
    /// Reads `STATE_KEY` and `STATE_KEY_PREVIOUS`; there need be none. What is wrong goes to `problem`.
    pub(crate) fn read(
        source: &dyn Variables,
        problem: &mut dyn FnMut(&str, &str),
    ) -> Option<Self> {
        let set = |name| source.variable(name).is_some_and(|secret| !secret.is_empty());
        if !set("STATE_KEY") && !set("STATE_KEY_PREVIOUS") {
            return None;
        }
        StateKeys::read(source, problem).map(Self)
    }

    /// The place of a request of `caller` for `user`; `parts` are all that it asks for.
    pub(crate) fn pause(
        &self,
        (principal, user): (&Principal, Option<&str>),
        parts: &[&str],
        now_ms: u64,
    ) -> ContinuationToken {
        let Self(keys) = self;
        let (way, name) = match principal {
            Principal::Anonymous { .. } => ("none", [None, None]),
            Principal::Key { name, .. } => ("key", [Some(name), None]),
            Principal::User { issuer, subject, .. } => ("user", [Some(issuer), subject.as_ref()]),
        };
        let who = json::to_string(&(way, name, user));
        let parts: Vec<&str> = [who.as_str()].into_iter().chain(parts.iter().copied()).collect();
        ContinuationToken {
            request: keys.hashes(TokenPurpose::ContinuationToken, &parts),
            keys: keys.clone(),
            expires_ms: now_ms.saturating_add(LIFE_MS),
        }
    }
}

impl ContinuationToken {
    /// A token for the client, which says what the request waits for.
    pub(crate) fn token(&self, waits: Waited) -> String {
        let claims = ContinuationClaims {
            r: self.request.current.clone(),
            p: waits.providers,
            s: waits.state,
        };
        self.keys.seal(TokenPurpose::ContinuationToken, &claims, self.expires_ms)
    }

    /// What the request waited for, by the token that came back at `now_ms`.
    ///
    /// # Errors
    /// [`FORGED`] or [`EXPIRED`].
    pub(crate) fn open(&self, token: &str, now_ms: u64) -> Result<Waited, &'static str> {
        match self.keys.open::<ContinuationClaims>(TokenPurpose::ContinuationToken, token, now_ms) {
            Ok(claims) if self.request.iter().any(|hash| hash == claims.r) => {
                Ok(Waited { providers: claims.p, state: claims.s })
            }
            Ok(_) | Err(InvalidToken::Forged) => Err(FORGED),
            Err(InvalidToken::Expired) => Err(EXPIRED),
        }
    }
}

#[cfg(test)]
mod tests {
    use base64ct::{Base64UrlUnpadded, Encoding};
    use serde_json::json;

    use super::*;
    use crate::challenge::tests::world::VARIABLES;
    use crate::testing::FakeHost;

    #[test]
    fn a_token_opens_for_its_request_in_its_time() {
        let read =
            RequestStateCodec::read(&FakeHost::with(VARIABLES), &mut |name, _| panic!("{name}"));
        let pauses = read.unwrap();
        let principal = Principal::ANONYMOUS;
        let owner = |user| (&principal, Some(user));
        let old = ("STATE_KEY_PREVIOUS", "0123456789abcdef0123456789abcdef");
        let new = ("STATE_KEY", "fedcba9876543210fedcba9876543210");
        let rotated =
            RequestStateCodec::read(&FakeHost::with(&[new, old]), &mut |name, _| panic!("{name}"));
        let rotated = rotated.unwrap().pause(owner("u"), &["call", "{}"], 5_000);
        let pause = pauses.pause(owner("u"), &["call", "{}"], 5_000);
        let waited = Waited { providers: vec!["mail".to_owned()], state: Some(json!({"a": 1})) };
        let token = pause.token(waited.clone());
        assert_eq!(pause.open(&token, 6_000).as_ref(), Ok(&waited));
        assert_eq!(rotated.open(&token, 6_000).as_ref(), Ok(&waited), "the key before");
        assert_eq!(pause.open(&rotated.token(waited), 6_000), Err(FORGED), "the key after");
        let bytes = Base64UrlUnpadded::decode_vec(&token).unwrap();
        let told = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        assert!(!told(b"mail") && !told(b"\"a\""), "the client reads neither");
        assert_eq!(pause.open(&token, 5_000 + LIFE_MS), Err(EXPIRED));
        assert_eq!(pause.open(&format!("{token}a"), 6_000), Err(FORGED));
        assert_eq!(pause.open("", 6_000), Err(FORGED));
        for (what, user, parts) in [
            ("another user", "v", &["call", "{}"][..]),
            ("another input", "u", &["call", "{ }"]),
            ("another method", "u", &["get", "{}"]),
            ("other borders", "u", &["call{", "}"]),
        ] {
            let other = pauses.pause(owner(user), parts, 6_000);
            assert_eq!(other.open(&token, 6_000), Err(FORGED), "{what}");
        }
        let user = Principal::User {
            issuer: "i".to_owned(),
            subject: Some("u".to_owned()),
            scopes: crate::principal::Scopes::All,
        };
        let other = pauses.pause((&user, Some("u")), &["call", "{}"], 6_000);
        assert_eq!(other.open(&token, 6_000), Err(FORGED), "another way in");
        let key = |name: &str| Principal::Key {
            name: name.to_owned(),
            scopes: crate::principal::Scopes::All,
        };
        let of = |key: &Principal| pauses.pause((key, None), &["call", "{}"], 6_000);
        let token = of(&key("a")).token(Waited { providers: Vec::new(), state: None });
        assert!(of(&key("a")).open(&token, 6_000).is_ok());
        assert_eq!(of(&key("b")).open(&token, 6_000), Err(FORGED), "another API key");
    }
}
