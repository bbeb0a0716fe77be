//! Authorization challenges: ask users to grant the server access at a provider, and keep the grants.
//!
//! A call that requires a user's authorization is answered with a challenge (OXP call-tool, "Tool
//! Authorization Challenges"): a URL where the user can grant it, and one that returns its status. A
//! pending challenge is a sealed token and is stored nowhere; the store holds encrypted grants, and
//! challenges that have failed. docs/STORAGE.md describes what happens if the store is a minute behind.
//!
//! - `claims`: what a challenge's token contains; `owner`: whose grant it asks for;
//! - `grant`; `grant_store`: grants in the store; `recent_writes`: what the store may not return yet;
//!   `proof`: what replaces it elsewhere; `access_token`: tokens of grants, and their refresh;
//! - `flow`: the steps of a user and the status for the client; `page`: the HTML;
//! - `request_state`: requests that continue when their client has asked the user.

mod access_token;
mod claims;
mod flow;
mod grant;
mod grant_store;
mod owner;
mod page;
mod proof;
mod recent_writes;
mod request_state;

pub(crate) use flow::DeletionError;
pub(crate) use owner::{Owner, OwnerError};
pub(crate) use request_state::{ContinuationToken, INVALID_STATE, RequestState, RequestStateCodec};

use crate::host::{Host, NoRandomness};
use crate::oauth::{OAuthClient, StateKeys, TokenPurpose, random_text};
use crate::secret::Secret;
use crate::settings::ConsentSettings;
use access_token::AccessTokenError;
use claims::ChallengeClaims;
use grant_store::GrantStore;

// The paths that protocol/consent.rs mounts, for the URLs that clients and providers get.
/// The consent page.
const START: &str = "/auth/start";
/// The status of a challenge.
const CHECK: &str = "/auth/check";
/// Where providers redirect users; the id of the provider follows.
const CALLBACK: &str = "/auth/callback/";

/// How long a client may ask for the status of a challenge.
const LIFE_MS: u64 = 15 * 60 * 1000;
/// How long before that end the user must be done, so that the client still gets the result from a
/// store that is a minute behind.
const LAG_MS: u64 = 2 * 60 * 1000;

/// How far the store may be behind.
const STALE_MS: u64 = 60_000;

/// A challenge for a user (OXP `ToolAuthorizationChallenge`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    /// A random id.
    pub id: String,
    /// The page where the user grants the authorization.
    pub url: String,
    /// Returns `{"status": "pending" | "completed" | "failed"}`.
    pub check_url: String,
    /// The id of the provider.
    pub provider: String,
    /// The provider's name for people.
    pub title: String,
}

impl Challenge {
    /// The members that clients get, by OXP's names.
    pub(crate) fn members(&self) -> [(&'static str, &str); 3] {
        [("id", &self.id), ("url", &self.url), ("check_url", &self.check_url)]
    }
}

/// The authorization that a tool requires of a user.
pub(crate) struct GrantRequest<'a> {
    pub(crate) owner: &'a Owner,
    pub(crate) provider: &'a OAuthClient,
    pub(crate) scopes: &'a [&'static str],
    /// The id of the tool.
    pub(crate) tool: &'a str,
    /// The proof of a grant that the client has sent as its token.
    pub(crate) proof: Option<&'a Secret>,
}

/// An access token of a grant.
pub(crate) struct GrantedToken {
    pub(crate) token: Secret,
    /// When it was issued.
    pub(crate) updated_ms: u64,
    /// The scopes of the grant.
    pub(crate) scopes: Vec<String>,
}

/// Why there is no access token.
pub(crate) enum GrantError {
    /// The user must be asked.
    ConsentRequired(Challenge),
    /// It cannot be determined now. Holds the reason.
    Unavailable(&'static str),
}

impl From<NoRandomness> for GrantError {
    fn from(_: NoRandomness) -> Self {
        Self::Unavailable("it has no random bytes")
    }
}

/// Asks users for authorization, and keeps their grants.
#[derive(Debug, Clone)]
pub struct Challenges {
    settings: ConsentSettings,
    clients: Vec<OAuthClient>,
    state_keys: StateKeys,
    grants: GrantStore,
}

impl Challenges {
    /// Challenges for the configured providers.
    pub fn new(settings: &ConsentSettings) -> Self {
        let state_keys = StateKeys::new(&settings.state_keys);
        Self {
            settings: settings.clone(),
            clients: settings.providers.iter().cloned().map(OAuthClient::new).collect(),
            grants: GrantStore::new(&settings.grant_keys, state_keys.clone()),
            state_keys,
        }
    }

    /// The client at the provider `id`, if it is configured.
    pub fn provider(&self, id: &str) -> Option<&OAuthClient> {
        self.clients.iter().find(|client| client.provider.id == id)
    }

    /// An access token of the user's grant, or the challenge to ask for one.
    pub(crate) async fn token(
        &self,
        request: &GrantRequest<'_>,
        host: &dyn Host,
    ) -> Result<GrantedToken, GrantError> {
        let proof = request.proof.map(Secret::expose);
        let required = (request.scopes, proof);
        let token = self.grants.token((request.owner, request.provider), required, host).await;
        token.map_err(|error| match error {
            AccessTokenError::ConsentRequired { seen_ms, scopes } => {
                match self.challenge(request, seen_ms, &scopes, host) {
                    Ok(challenge) => GrantError::ConsentRequired(challenge),
                    Err(error) => error.into(),
                }
            }
            AccessTokenError::StoreUnavailable => {
                GrantError::Unavailable("its KV namespace does not answer")
            }
            AccessTokenError::ProviderUnreachable => {
                GrantError::Unavailable("the authorization server does not answer")
            }
        })
    }

    /// Whether a token that a client sends is a proof, valid or not.
    pub(crate) fn is_proof(token: &Secret) -> bool {
        proof::is_proof(token.expose())
    }

    /// A new challenge. `seen_ms` is when the grant that does not suffice was issued or deleted, if
    /// there was one; `granted` are scopes that the new grant should keep.
    ///
    /// # Errors
    /// There are no random bytes.
    pub(crate) fn challenge(
        &self,
        request: &GrantRequest<'_>,
        seen_ms: Option<u64>,
        granted: &[String],
        host: &dyn Host,
    ) -> Result<Challenge, NoRandomness> {
        let id = random_text(host)?;
        let claims = ChallengeClaims::new(id.clone(), request, seen_ms, granted);
        let expires_ms = host.now_ms().saturating_add(LIFE_MS);
        let token = self.state_keys.seal(TokenPurpose::Challenge, &claims, expires_ms);
        let url = |path: &str| format!("{}{path}?c={token}", self.settings.public_url);
        Ok(Challenge {
            id,
            url: url(START),
            check_url: url(CHECK),
            provider: request.provider.provider.id.clone(),
            title: request.provider.provider.title.clone(),
        })
    }
}

#[cfg(test)]
pub(crate) mod tests;
