//! Issues challenges, and finds the access tokens of grants.

use std::sync::Arc;

use super::LIFE_MS;
use super::claims::{ChallengeClaims, ChallengeRequest};
use super::event::Event;
use super::grant_store::{AccessTokenError, GrantStore};
use super::owner::{Owner, OwnerError};
use super::settings::ChallengeSettings;
use super::verification::Verifiers;
use crate::oauth::{AuthorizationFlow, OAuthClient, random_text};
use crate::paths::{CHECK, START};
use crate::purpose;
use toolbooth::call::{
    Challenge, GrantRequest, Granted, Grants, Rejection, RequestContext, UsedGrant,
};
use toolbooth::host::{BoxFuture, Host, boxed};
use toolbooth::log::EventLog;
use toolbooth::route::{RouteRequest, State};
use toolbooth::seal::StateKeys;
use toolbooth::secret::Secret;

/// Asks users for authorization, and keeps their grants.
#[derive(Debug, Clone)]
pub(crate) struct Challenges {
    pub(super) settings: ChallengeSettings,
    pub(super) clients: Vec<OAuthClient>,
    pub(super) state_keys: StateKeys,
    pub(super) flow: AuthorizationFlow,
    pub(super) grants: GrantStore,
    pub(super) verifiers: Verifiers,
}

impl Challenges {
    /// Challenges for the configured providers.
    pub(crate) fn new(
        settings: &ChallengeSettings,
        verifiers: Verifiers,
        events: EventLog,
    ) -> Self {
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

    /// Those of a server, if the operator has configured them.
    pub(crate) fn of_state(state: &State) -> Option<&Self> {
        state.extensions.get::<Arc<Self>>().map(|it| &**it)
    }

    /// Those of a request's server.
    pub(super) fn of<'a>(request: &RouteRequest<'a>) -> Result<&'a Self, Rejection> {
        Self::of_state(request.state).ok_or(Rejection::NOT_FOUND)
    }

    /// The client at the provider `id`, if it is configured.
    pub(crate) fn provider(&self, id: &str) -> Option<&OAuthClient> {
        self.clients.iter().find(|client| client.provider.id == id)
    }

    /// A new challenge. `seen_ms` is when the grant that does not suffice was issued or deleted, if
    /// there was one; `granted` are scopes that the new grant should keep.
    fn challenge(
        &self,
        request: &ChallengeRequest<'_>,
        seen_ms: Option<u64>,
        granted: &[String],
        host: &dyn Host,
    ) -> Result<Challenge, Rejection> {
        let no_randomness = |_| Rejection::Unavailable("it has no random bytes");
        let id = random_text(host).map_err(no_randomness)?;
        let claims = ChallengeClaims::new(id.clone(), request, seen_ms, granted);
        let expires_ms = host.now_ms().saturating_add(LIFE_MS);
        let token = self.state_keys.seal(purpose::CHALLENGE, &claims, expires_ms);
        let provider = &request.provider.provider;
        let events = &self.grants.events;
        let caller = request.owner.caller(events);
        let issued =
            Event::ChallengeIssued { tool: &request.tool.id(), provider: &provider.id, caller };
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

pub(super) const STORE_UNAVAILABLE: Rejection =
    Rejection::Unavailable("its KV namespace does not answer");

impl Grants for Challenges {
    fn token<'a>(&'a self, request: GrantRequest<'a>) -> BoxFuture<'a, Result<Granted, Rejection>> {
        boxed(async move {
            let GrantRequest { required, tool, sent, context } = request;
            let Some(provider) = self.provider(required.id) else {
                return Ok(Granted::NotConfigured);
            };
            let RequestContext { principal, host, .. } = context;
            let owner = match Owner::of(principal, sent.user_id.as_deref()) {
                Ok(owner) => owner,
                Err(OwnerError::MissingUser) => return Ok(Granted::UserMissing),
                Err(error) => {
                    return Err(Rejection::Malformed(format!("context: {}", error.message())));
                }
            };
            let proof = sent.tokens.get(required.id).map(Secret::expose);
            let grant = self.grants.token((&owner, provider), (required.scopes, proof), host).await;
            match grant {
                Ok(grant) => {
                    let used = UsedGrant { updated_ms: grant.updated_ms, scopes: grant.scopes };
                    Ok(Granted::Token(Secret::new(grant.access), used))
                }
                Err(AccessTokenError::ChallengeRequired { seen_ms, scopes }) => {
                    let (client, required) = (principal.client(), required.scopes);
                    let request =
                        ChallengeRequest { owner: &owner, client, provider, required, tool };
                    let challenge = self.challenge(&request, seen_ms, &scopes, host);
                    challenge.map(Granted::ConsentRequired)
                }
                Err(AccessTokenError::StoreUnavailable) => Err(STORE_UNAVAILABLE),
                Err(AccessTokenError::ProviderUnreachable) => {
                    Err(Rejection::Unavailable("the authorization server does not answer"))
                }
            }
        })
    }

    fn renew(&self, request: GrantRequest<'_>, used: &UsedGrant) -> Result<Challenge, Rejection> {
        let GrantRequest { required, tool, sent, context } = request;
        let owner = Owner::of(context.principal, sent.user_id.as_deref());
        let (Ok(owner), Some(provider)) = (owner, self.provider(required.id)) else {
            return Err(Rejection::Internal);
        };
        let (client, required) = (context.principal.client(), required.scopes);
        let request = ChallengeRequest { owner: &owner, client, provider, required, tool };
        self.challenge(&request, Some(used.updated_ms), &used.scopes, context.host)
    }
}
