//! `requestState`: a request whose client asks the user and then repeats it with a sealed token. The
//! server itself keeps no state.

use serde::{Deserialize, Serialize};

use serde_json::Value;

use super::sealed_token::{InvalidToken, TokenPurpose};
use super::state_keys::{Hashes, StateKeys};
use crate::json;
use crate::principal::Principal;

/// How long a client may take to ask its user.
const LIFE_MS: u64 = 15 * 60 * 1000;

/// The token of one request: bound to its sender and its parameters.
///
/// It only proves that the request is the same one; whether the user has granted anything is up to the
/// store. So it may be sent more than once.
#[derive(Debug, Clone)]
pub struct ContinuationToken {
    keys: StateKeys,
    /// The hashes of sender and parameters.
    request: Hashes,
    expires_ms: u64,
}

/// The claims of the token. Their names in it are short: it travels back and forth.
#[derive(Serialize, Deserialize)]
struct ContinuationClaims {
    /// The hash of the request, by the key of the token.
    #[serde(rename = "r")]
    request: String,
    #[serde(rename = "p", default, skip_serializing_if = "Vec::is_empty")]
    providers: Vec<String>,
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    state: Option<Value>,
}

/// What the server wants to remember of a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RequestState {
    /// The providers where the user was asked for authorization.
    pub providers: Vec<String>,
    /// The state that the tool returned with its input requests.
    pub state: Option<Value>,
}

/// Why a token that is forged or of another request is rejected; completes a sentence.
pub const INVALID_STATE: &str = "was not issued by this server for this request";
/// Why a token that has expired is rejected.
pub const EXPIRED_STATE: &str = "has expired; send the request again without it";

impl StateKeys {
    /// The token of a request of `principal` for `user`; `parts` are its parameters.
    pub fn token_for(
        &self,
        (principal, user): (&Principal, Option<&str>),
        parts: &[&str],
        now_ms: u64,
    ) -> ContinuationToken {
        let (method, name) = principal.identity();
        let who = json::to_string(&(method, name, user));
        let parts: Vec<&str> = [who.as_str()].into_iter().chain(parts.iter().copied()).collect();
        ContinuationToken {
            request: self.hashes(TokenPurpose::CONTINUATION, &parts),
            keys: self.clone(),
            expires_ms: now_ms.saturating_add(LIFE_MS),
        }
    }
}

impl ContinuationToken {
    /// The same token with a different expiry, for clients that keep it longer.
    pub fn until(self, expires_ms: u64) -> Self {
        Self { expires_ms, ..self }
    }

    /// Seals `state` for the client.
    pub fn seal(&self, state: RequestState) -> String {
        let RequestState { providers, state } = state;
        let claims = ContinuationClaims { request: self.request.current.clone(), providers, state };
        self.keys.seal(TokenPurpose::CONTINUATION, &claims, self.expires_ms)
    }

    /// Opens a token that a client has sent back, at `now_ms`.
    ///
    /// # Errors
    /// [`INVALID_STATE`] or [`EXPIRED_STATE`].
    pub fn open(&self, token: &str, now_ms: u64) -> Result<RequestState, &'static str> {
        match self.keys.open::<ContinuationClaims>(TokenPurpose::CONTINUATION, token, now_ms) {
            Ok(claims) if self.request.iter().any(|hash| hash == claims.request) => {
                Ok(RequestState { providers: claims.providers, state: claims.state })
            }
            Ok(_) | Err(InvalidToken::Forged) => Err(INVALID_STATE),
            Err(InvalidToken::Expired) => Err(EXPIRED_STATE),
        }
    }
}

#[cfg(test)]
mod tests {
    use base64ct::{Base64UrlUnpadded, Encoding};
    use serde_json::json;

    use super::*;
    use crate::secret::Secret;
    use crate::settings::StateKeySettings;

    #[test]
    fn a_token_opens_for_its_request_in_its_time() {
        let secret = |text: &str| Secret::new(text.to_owned());
        let old = secret("0123456789abcdef0123456789abcdef");
        let new = secret("fedcba9876543210fedcba9876543210");
        let codec = StateKeys::new(&StateKeySettings { current: old.clone(), previous: None });
        let rotated = StateKeys::new(&StateKeySettings { current: new, previous: Some(old) });
        let principal = Principal::ANONYMOUS;
        let owner = |user| (&principal, Some(user));
        let rotated = rotated.token_for(owner("u"), &["call", "{}"], 5_000);
        let continuation = codec.token_for(owner("u"), &["call", "{}"], 5_000);
        let waited =
            RequestState { providers: vec!["mail".to_owned()], state: Some(json!({"a": 1})) };
        let token = continuation.seal(waited.clone());
        // A token from before the first release.
        let released = "tKjbbZa4DNphB9fVeGSoGj0AhOj9Xm9Xpp4vUeW2LaN3sROstc3l-wG8q1-rZsGewQY0XV35Ly9vqlYitvIFS_YLT_U117fHWeyiP1mgZIJS-Tll2hhTMFNNEHJt1Etl0B4L8deD9vYo8isbLHktQ8wn4K6q5RhZlny7SoOhsv969Q";
        assert_eq!(continuation.open(released, 6_000).as_ref(), Ok(&waited));
        assert_eq!(continuation.open(&token, 6_000).as_ref(), Ok(&waited));
        assert_eq!(rotated.open(&token, 6_000).as_ref(), Ok(&waited), "the key before");
        assert_eq!(
            continuation.open(&rotated.seal(waited), 6_000),
            Err(INVALID_STATE),
            "the key after"
        );
        let bytes = Base64UrlUnpadded::decode_vec(&token).unwrap();
        let told = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        assert!(!told(b"mail") && !told(b"\"a\""), "the client reads neither");
        assert_eq!(continuation.open(&token, 5_000 + LIFE_MS), Err(EXPIRED_STATE));
        assert_eq!(continuation.open(&format!("{token}a"), 6_000), Err(INVALID_STATE));
        assert_eq!(continuation.open("", 6_000), Err(INVALID_STATE));
        for (what, user, parts) in [
            ("another user", "v", &["call", "{}"][..]),
            ("another input", "u", &["call", "{ }"]),
            ("another method", "u", &["get", "{}"]),
            ("other borders", "u", &["call{", "}"]),
        ] {
            let other = codec.token_for(owner(user), parts, 6_000);
            assert_eq!(other.open(&token, 6_000), Err(INVALID_STATE), "{what}");
        }
        let user = Principal::User {
            issuer: "i".to_owned(),
            subject: Some("u".to_owned()),
            scopes: crate::principal::Scopes::All,
            client: None,
            rule: None,
            budgets: Vec::new(),
            tenant: None,
            client_ref: None,
            team: None,
            actor: None,
            grant: None,
        };
        let other = codec.token_for((&user, Some("u")), &["call", "{}"], 6_000);
        assert_eq!(other.open(&token, 6_000), Err(INVALID_STATE), "another way in");
        let key = |name: &str| Principal::key(name, crate::principal::Scopes::All);
        let of = |key: &Principal| codec.token_for((key, None), &["call", "{}"], 6_000);
        let token = of(&key("a")).seal(RequestState::default());
        assert!(of(&key("a")).open(&token, 6_000).is_ok());
        assert_eq!(of(&key("b")).open(&token, 6_000), Err(INVALID_STATE), "another API key");
    }
}
