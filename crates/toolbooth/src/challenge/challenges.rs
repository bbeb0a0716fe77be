//! Issues challenges, and finds the access tokens of grants.

use super::access_token::AccessTokenError;
use super::claims::ChallengeClaims;
use super::constants::{CHECK, LIFE_MS, START};
use super::grant_request::{GrantError, GrantRequest, GrantedToken};
use super::grant_store::GrantStore;
use super::proof;
use super::types::Challenge;
use super::verification::Verifiers;
use crate::host::{Host, NoRandomness};
use crate::log::{Event, EventLog};
use crate::oauth::{AuthorizationFlow, OAuthClient, StateKeys, TokenPurpose, random_text};
use crate::secret::Secret;
use crate::settings::ConsentSettings;

/// Asks users for authorization, and keeps their grants.
#[derive(Debug, Clone)]
pub struct Challenges {
    pub(super) settings: ConsentSettings,
    clients: Vec<OAuthClient>,
    pub(super) state_keys: StateKeys,
    pub(super) flow: AuthorizationFlow,
    pub(super) grants: GrantStore,
    pub(super) verifiers: Verifiers,
}

impl Challenges {
    /// Challenges for the configured providers.
    pub(crate) fn new(settings: &ConsentSettings, verifiers: Verifiers, events: EventLog) -> Self {
        let state_keys = StateKeys::new(&settings.state_keys);
        Self {
            settings: settings.clone(),
            clients: settings.providers.iter().cloned().map(OAuthClient::new).collect(),
            grants: GrantStore::new(&settings.grant_keys, state_keys.clone(), events),
            flow: AuthorizationFlow::new(state_keys.clone(), settings.public_url.clone()),
            state_keys,
            verifiers,
        }
    }

    /// The way of users to the providers and back.
    pub(crate) fn flow(&self) -> &AuthorizationFlow {
        &self.flow
    }

    /// The client at the provider `id`, if it is configured.
    pub fn provider(&self, id: &str) -> Option<&OAuthClient> {
        self.clients.iter().find(|client| client.provider.id == id)
    }

    /// The clients at all providers.
    #[cfg(feature = "sign-in")]
    pub(super) fn clients(&self) -> &[OAuthClient] {
        &self.clients
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
        let provider = &request.provider.provider;
        let events = &self.grants.events;
        let caller = request.owner.caller(events);
        let issued = Event::ChallengeIssued { tool: request.tool, provider: &provider.id, caller };
        events.write(&issued, host);
        let url = |path: &str| format!("{}{path}?c={token}", self.settings.public_url);
        Ok(Challenge {
            id,
            url: url(START),
            check_url: url(CHECK),
            provider: provider.id.clone(),
            title: provider.title.clone(),
        })
    }
}
