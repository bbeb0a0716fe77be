//! A request that waits for its user with its client: the server keeps nothing, the client brings
//! the request again with a token that says what it was.

use serde::{Deserialize, Serialize};

use super::token::{BadToken, Purpose, StateKey};
use super::{Challenges, LIFE_MS, Owner};

/// The place of one request among all: who makes it, and what it asks for.
///
/// The token proves nothing but that the request is the one that was answered; whether the user has
/// granted anything, the store says. So it may come back more than once.
#[derive(Debug, Clone)]
pub(crate) struct Pause {
    key: StateKey,
    /// A hash of the request.
    request: String,
    expires_ms: u64,
}

/// What a token says.
#[derive(Serialize, Deserialize)]
struct Claims {
    /// [`Pause::request`].
    r: String,
    /// The providers that the user was asked for.
    p: Vec<String>,
}

/// Why a token is not taken, in words.
pub(crate) const FORGED: &str = "is not one that this server gave for this request";
/// Why another one is not.
const EXPIRED: &str = "has expired; make the request again without it";

impl Challenges {
    /// The place of a request of `owner`; `parts` are all that it asks for.
    pub(crate) fn pause(&self, owner: &Owner, parts: &[&str], now_ms: u64) -> Pause {
        let key = &self.vault.state;
        let owner = serde_json::to_string(owner).unwrap_or_default();
        let parts: Vec<&str> = [owner.as_str()].into_iter().chain(parts.iter().copied()).collect();
        Pause {
            request: key.hash(Purpose::Pause, &parts),
            key: key.clone(),
            expires_ms: now_ms.saturating_add(LIFE_MS),
        }
    }
}

impl Pause {
    /// A token for the client, after its user has been asked for these providers.
    pub(crate) fn token(&self, providers: impl IntoIterator<Item = String>) -> String {
        let claims = Claims { r: self.request.clone(), p: providers.into_iter().collect() };
        self.key.sign(Purpose::Pause, &claims, self.expires_ms)
    }

    /// The providers that the user was asked for, by the token that came back at `now_ms`.
    ///
    /// # Errors
    /// [`FORGED`] or [`EXPIRED`].
    pub(crate) fn open(&self, token: &str, now_ms: u64) -> Result<Vec<String>, &'static str> {
        match self.key.open::<Claims>(Purpose::Pause, token, now_ms) {
            Ok(claims) if claims.r == self.request => Ok(claims.p),
            Ok(_) | Err(BadToken::Forged) => Err(FORGED),
            Err(BadToken::Expired) => Err(EXPIRED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Caller;
    use crate::challenge::tests::world::VARIABLES;
    use crate::testing::FakeHost;

    #[test]
    fn a_token_opens_for_its_request_in_its_time() {
        let read = Challenges::read(&FakeHost::with(VARIABLES), &mut |name, _| panic!("{name}"));
        let challenges = read.unwrap();
        let owner = |user| Owner::of(&Caller::Anonymous, Some(user)).unwrap();
        let pause = challenges.pause(&owner("u"), &["call", "{}"], 5_000);
        let token = pause.token(["mail".to_owned()]);
        assert_eq!(pause.open(&token, 6_000), Ok(vec!["mail".to_owned()]));
        assert_eq!(pause.open(&token, 5_000 + LIFE_MS), Err(EXPIRED));
        assert_eq!(pause.open(&format!("{token}a"), 6_000), Err(FORGED));
        assert_eq!(pause.open("", 6_000), Err(FORGED));
        for (what, user, parts) in [
            ("another user", "v", &["call", "{}"][..]),
            ("another input", "u", &["call", "{ }"]),
            ("other borders", "u", &["call{", "}"]),
        ] {
            let other = challenges.pause(&owner(user), parts, 6_000);
            assert_eq!(other.open(&token, 6_000), Err(FORGED), "{what}");
        }
    }
}
