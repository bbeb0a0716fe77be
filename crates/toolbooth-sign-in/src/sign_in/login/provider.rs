//! Sign-in at a provider of `OAUTH_PROVIDERS`.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::rules::{IdentityRule, People};
use super::{Identity, Login, Problem};
use crate::oauth::{
    FLOW_LIFE_MS, FlowError, FlowPurpose, FlowState, NewFlow, OAuthClient, OFFLINE_ACCESS,
    PendingFlow, random_text,
};
use crate::purpose;
use toolbooth::host::Host;
use toolbooth::http::Response;
use toolbooth::route::RouteRequest;

/// A sign-in at a provider, in a cookie of the browser.
#[derive(Serialize, Deserialize)]
struct PendingSignIn<T> {
    #[serde(rename = "i")]
    id: String,
    #[serde(rename = "p")]
    provider: String,
    #[serde(rename = "r")]
    next: T,
}

impl Login {
    pub(super) fn provider(&self, id: &str) -> Result<&OAuthClient, Problem> {
        self.providers.iter().find(|client| client.provider.id == id).ok_or(Problem::INVALID)
    }

    /// The rules about the people of a provider who may sign in.
    pub(super) fn rules_of<'a>(
        &'a self,
        client: &'a OAuthClient,
    ) -> impl Iterator<Item = &'a IdentityRule> {
        self.settings.allowed.iter().filter(|rule| rule.provider == client.provider.id)
    }

    /// Whom the rules about a provider name.
    pub(super) fn people<'a>(
        &'a self,
        client: &'a OAuthClient,
    ) -> impl Iterator<Item = &'a People> {
        self.rules_of(client).map(|it| &it.people)
    }

    /// Whether what restricts people at a place depends on their address: a rule with limits, budgets or a team, or one of
    /// `SIGN_IN_DENIED`.
    pub(super) fn address_restricts(&self, place: &str) -> bool {
        let is_of_place = |rule: &&IdentityRule| rule.provider == place;
        let allowed = self.settings.allowed.iter().filter(is_of_place);
        let mut restricting = allowed.filter(|rule| rule.restricts());
        let mut denied = self.settings.denied.iter().filter(is_of_place);
        restricting.any(|rule| rule.people.are_of_address() || !rule.domains.is_empty())
            || denied.any(|rule| rule.people.are_of_address())
    }

    /// Whether a rule names an address or a domain.
    pub(super) fn needs_email(&self, client: &OAuthClient) -> bool {
        self.people(client).any(People::are_of_address)
    }

    /// The scopes that are necessary to apply the rules.
    fn identity_scopes(&self, client: &OAuthClient) -> Vec<String> {
        let needs_organizations =
            self.people(client).any(|it| matches!(it, People::Organization(_)));
        let scopes = if client.provider.is_github() {
            [("user:email", self.needs_email(client)), ("read:org", needs_organizations)]
        } else {
            [("openid", true), ("email", true)]
        };
        // To ask the provider again later, and for the claim with the groups, if that is what these scopes are for there.
        let configured = |name: &&str| client.provider.scopes.iter().any(|scope| scope == name);
        let further = [OFFLINE_ACCESS, "groups", "profile", "roles"].into_iter().filter(configured);
        let scopes = scopes.into_iter().chain(further.map(|scope| (scope, true)));
        scopes.filter(|(_, needed)| *needed).map(|(scope, _)| scope.to_owned()).collect()
    }

    /// Redirects a person to a provider, where they sign in. `next` is what [`Self::resume`] returns.
    pub(crate) async fn begin(
        &self,
        provider: &str,
        next: impl Serialize,
        host: &dyn Host,
    ) -> Result<Response, Problem> {
        let client = self.provider(provider)?;
        let id = random_text(host)?;
        let pending = PendingSignIn { id: id.clone(), provider: provider.to_owned(), next };
        let expires_ms = host.now_ms().saturating_add(FLOW_LIFE_MS);
        let pending = self.keys.seal(purpose::PENDING_SIGN_IN, &pending, expires_ms);
        // The callback would not open it, after the person has signed in there.
        if pending.len() > purpose::PENDING_SIGN_IN.longest() {
            return Err(Problem::TOO_LONG);
        }
        let scopes = self.identity_scopes(client);
        let flow = NewFlow {
            purpose: FlowPurpose::SignIn,
            id: &id,
            token: &pending,
            scopes: &scopes,
            parameters: client.provider.sign_in_parameters,
        };
        let leaves = self.flow.begin(client, flow, host).await;
        leaves.map_err(|error| Problem::of_flow(error, provider))
    }

    /// The sign-in of a browser that comes back from a provider, and what follows it.
    pub(crate) fn resume<T: DeserializeOwned>(
        &self,
        state: FlowState,
        request: &RouteRequest<'_>,
    ) -> Result<(PendingFlow, T), Problem> {
        let flow = self.flow.resume(state, FlowPurpose::SignIn, request.headers)?;
        let flow = flow.ok_or(Problem::OTHER_BROWSER)?;
        let now_ms = request.host.now_ms();
        let pending: PendingSignIn<T> =
            self.keys.open(purpose::PENDING_SIGN_IN, &flow.token, now_ms)?;
        if pending.id != flow.id || pending.provider != request.parameter {
            return Err(Problem::INVALID);
        }
        Ok((flow, pending.next))
    }

    /// Who has signed in at a provider; `None` if they declined. The flow is over, unless there is a problem.
    pub(crate) async fn identify(
        &self,
        flow: &PendingFlow,
        request: &RouteRequest<'_>,
    ) -> Result<Option<Identity>, Problem> {
        let RouteRequest { query, parameter, host, .. } = *request;
        let client = self.provider(parameter)?;
        let (server, tokens) = match self.flow.exchange(client, flow, query, host).await {
            Ok(granted) => granted,
            Err(FlowError::Denied | FlowError::Rejected) => return Ok(None),
            Err(error) => return Err(Problem::of_flow(error, parameter)),
        };
        let Some(url) = server.userinfo.as_deref() else {
            let problem = "it has no endpoint that describes the account";
            return Err(Problem::PROVIDER_UNUSABLE.at(parameter, problem));
        };
        let said = (&tokens.access, tokens.id_token.as_ref());
        let account = self.account(client, url, said, host).await;
        let account = account.map_err(|error| error.problem(parameter))?;
        let identity = Identity::Provider(account.clone());
        if self.permitted(&identity).is_some() {
            self.remember(&account, tokens, host).await;
        }
        Ok(Some(identity))
    }
}
