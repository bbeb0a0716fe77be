//! Issues challenges, and finds the access tokens of grants.

use std::sync::Arc;

use super::grant_store::{GrantStore, Insufficient, StoredGrant};
use super::{ChallengeClaims, ChallengeSettings, Event, LIFE_MS, Owner, Verifiers};
use crate::oauth::{AuthorizationFlow, OAuthClient, ProviderSettings, random_text};
use crate::paths::{CHECK, START};
use crate::purpose;
use toolbooth::call::{Challenge, GrantRequest, Granted, Grants, Rejection, UsedGrant};
use toolbooth::host::{Host, async_trait};
use toolbooth::log::EventLog;
use toolbooth::route::{RouteRequest, State};
use toolbooth::seal::StateKeys;
use toolbooth::secret::Secret;

/// Asks users for authorization, and keeps their grants.
#[derive(Debug)]
pub(crate) struct Challenges {
    pub(super) public_url: String,
    pub(super) clients: Vec<OAuthClient>,
    pub(super) state_keys: StateKeys,
    pub(super) flow: AuthorizationFlow,
    pub(super) grants: GrantStore,
    pub(super) verifiers: Verifiers,
}

impl Challenges {
    pub(crate) fn new(
        settings: &ChallengeSettings,
        verifiers: Verifiers,
        events: EventLog,
    ) -> Self {
        let state_keys = StateKeys::new(&settings.state_keys);
        Self {
            public_url: settings.public_url.clone(),
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

    pub(super) fn of<'a>(request: &RouteRequest<'a>) -> Result<&'a Self, Rejection> {
        Self::of_state(request.state).ok_or(Rejection::NOT_FOUND)
    }

    /// The client at the provider `id`, if it is configured.
    pub(crate) fn provider(&self, id: &str) -> Option<&OAuthClient> {
        self.clients.iter().find(|client| client.provider.id == id)
    }

    /// Where the grant of an owner at a provider is stored.
    pub(super) fn grant<'a>(
        &'a self,
        owner: &'a Owner,
        provider: &'a str,
        host: &'a dyn Host,
    ) -> StoredGrant<'a> {
        StoredGrant { store: &self.grants, owner, provider, host }
    }

    /// A new challenge of this owner at this provider.
    fn challenge(
        &self,
        GrantRequest { required, tool, context, .. }: GrantRequest<'_>,
        (owner, provider): (Owner, &ProviderSettings),
        Insufficient { seen_ms, scopes: granted }: Insufficient,
    ) -> Result<Challenge, Rejection> {
        let host = context.host;
        let no_randomness = |_| Rejection::Unavailable("it has no random bytes");
        let id = random_text(host).map_err(no_randomness)?;
        let events = &self.grants.events;
        let (caller, user) = (owner.caller(events), owner.user_ref(events));
        let required_scopes: Vec<String> =
            required.scopes.iter().map(|&scope| scope.to_owned()).collect();
        let claims = ChallengeClaims {
            id: id.clone(),
            owner,
            client: context.principal.client().map(str::to_owned),
            provider: provider.id.clone(),
            further_scopes: ChallengeClaims::further_scopes(provider, &granted, &required_scopes),
            required_scopes,
            tool: tool.id(),
            seen_ms,
        };
        let expires_ms = host.now_ms().saturating_add(LIFE_MS);
        let token = self.state_keys.seal(purpose::CHALLENGE, &claims, expires_ms);
        let issued =
            Event::ChallengeIssued { tool: &claims.tool, provider: &provider.id, caller, user };
        events.write(&issued, host);
        let url = |path: &str| format!("{}{path}?c={token}", self.public_url);
        Ok(Challenge {
            id,
            url: url(START),
            check_url: url(CHECK),
            provider: provider.id.clone(),
            title: provider.title.clone(),
        })
    }
}

#[async_trait(?Send)]
impl Grants for Challenges {
    async fn token(&self, request: GrantRequest<'_>) -> Result<Granted, Rejection> {
        let GrantRequest { required, sent, context, .. } = request;
        let Some(client) = self.provider(required.id) else { return Ok(Granted::NotConfigured) };
        let owner = match Owner::of(context.principal, sent.user_id.as_deref()) {
            Ok(owner) => owner,
            Err(Owner::MISSING_USER) => return Ok(Granted::UserMissing),
            Err(error) => return Err(Rejection::Malformed(format!("context: {error}"))),
        };
        let proof = sent.tokens.get(required.id).map(Secret::expose);
        let wanted = (required.scopes, proof);
        let stored = self.grant(&owner, required.id, context.host);
        match stored.token(client, wanted).await? {
            Ok(grant) => {
                let used = UsedGrant { updated_ms: grant.updated_ms, scopes: grant.scopes };
                Ok(Granted::Token(Secret::new(grant.access), used))
            }
            Err(insufficient) => {
                let challenge = self.challenge(request, (owner, &client.provider), insufficient);
                challenge.map(Granted::Challenged)
            }
        }
    }

    fn has_provider(&self, id: &str) -> bool {
        self.provider(id).is_some()
    }

    fn renew(&self, request: GrantRequest<'_>, used: &UsedGrant) -> Result<Challenge, Rejection> {
        let GrantRequest { required, sent, context, .. } = request;
        let owner = Owner::of(context.principal, sent.user_id.as_deref());
        let (Ok(owner), Some(client)) = (owner, self.provider(required.id)) else {
            return Err(Rejection::Internal);
        };
        let used = Insufficient { seen_ms: Some(used.updated_ms), scopes: used.scopes.clone() };
        self.challenge(request, (owner, &client.provider), used)
    }
}
