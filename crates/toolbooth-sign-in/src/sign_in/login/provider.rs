//! Sign-in at a provider of `OAUTH_PROVIDERS`, and the provider's description of the account.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::provider_account::{Account, domain};
use super::rules::{IdentityRule, People};
use super::{Identity, Login, Problem};
use crate::oauth::{
    FLOW_LIFE_MS, FlowError, FlowPurpose, FlowState, NewFlow, OAuthClient, OFFLINE_ACCESS,
    PendingFlow, ProviderError, random_text,
};
use crate::purpose;
use toolbooth::host::{Host, HttpRequest};
use toolbooth::http::Response;
use toolbooth::json::{self, Value};
use toolbooth::route::RouteRequest;
use toolbooth::secret::Secret;
use toolbooth::url::query_value;

/// The longest name of an account at an OpenID provider that is kept, in bytes. It is only shown.
const MAX_LOGIN: usize = 100;

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

/// The members of OpenID Connect's userinfo that are used (OpenID Connect Core 1.0, 5.3.2).
#[derive(Deserialize)]
struct UserInfo<'v> {
    sub: &'v str,
    email: Option<&'v str>,
    preferred_username: Option<&'v str>,
    /// The Google Workspace domain.
    hd: Option<&'v str>,
}

#[derive(Deserialize)]
struct GitHubUser<'v> {
    id: u64,
    login: &'v str,
}

#[derive(Deserialize)]
struct GitHubEmail<'v> {
    email: &'v str,
    primary: bool,
    verified: bool,
}

/// Why an account is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AccountError {
    Provider(ProviderError),
    /// The provider leaves out the groups of the account, because there are too many.
    TooManyGroups,
    /// The provider does not say which groups or which address the account has, and rules with a team, limits or budgets depend on it.
    ClaimMissing,
}

impl From<ProviderError> for AccountError {
    fn from(error: ProviderError) -> Self {
        Self::Provider(error)
    }
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
    fn people<'a>(&'a self, client: &'a OAuthClient) -> impl Iterator<Item = &'a People> {
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
    fn needs_email(&self, client: &OAuthClient) -> bool {
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
        Ok(self.flow.begin(client, flow, host).await?)
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
            Err(error) => return Err(error.into()),
        };
        let url = server.userinfo.as_deref().ok_or(Problem::PROVIDER_UNREACHABLE)?;
        let said = (&tokens.access, tokens.id_token.as_ref());
        let account = self.account(client, url, said, host).await;
        let account = account.map_err(|error| match error {
            AccountError::TooManyGroups => Problem::TOO_MANY_GROUPS,
            AccountError::ClaimMissing => Problem::CLAIM_MISSING,
            AccountError::Provider(_) => Problem::PROVIDER_UNREACHABLE,
        })?;
        let identity = Identity::Provider(account.clone());
        if self.permitted(&identity).is_some() {
            self.remember(&account, tokens, host).await;
        }
        Ok(Some(identity))
    }

    /// The account that a token of its provider gives access to, with its ID token.
    pub(super) async fn account(
        &self,
        client: &OAuthClient,
        url: &str,
        (access, id_token): (&Secret, Option<&Secret>),
        host: &dyn Host,
    ) -> Result<Account, AccountError> {
        if client.provider.is_github() {
            let account = self.github_account(client, url, access, host).await?;
            return self.with_address(client, account);
        }
        let description = fetch(url, access, host).await?;
        let description = description.ok_or(ProviderError::Unreachable)?;
        let account = openid_account(client, &description).ok_or(ProviderError::Unreachable)?;
        let account = self.with_address(client, account)?;
        let groups = self.groups(client, (&account.id, &description), id_token, host)?;
        Ok(Account { groups, ..account })
    }

    /// The account, unless what restricts people depends on its address and the provider has named none: someone who asks for
    /// fewer scopes in their own browser must not escape it.
    fn with_address(
        &self,
        client: &OAuthClient,
        account: Account,
    ) -> Result<Account, AccountError> {
        if !account.has_address() && self.address_restricts(&client.provider.id) {
            return Err(AccountError::ClaimMissing);
        }
        Ok(account)
    }

    async fn github_account(
        &self,
        client: &OAuthClient,
        url: &str,
        access: &Secret,
        host: &dyn Host,
    ) -> Result<Account, ProviderError> {
        let user = fetch(url, access, host).await?;
        let user = user.and_then(|user| github_account(client, &user));
        let mut account = user.ok_or(ProviderError::Unreachable)?;
        // Without the scope for it, there is no such list.
        if self.needs_email(client)
            && let Some(emails) = fetch(&format!("{url}/emails"), access, host).await?
        {
            account.email = github_email(&emails).ok_or(ProviderError::Unreachable)?;
            account.domain = account.email.as_deref().and_then(domain);
        }
        for people in self.people(client) {
            let People::Organization(name) = people else { continue };
            // Several rules may name it.
            if account.organizations.contains(name) {
                continue;
            }
            let url = format!("{url}/memberships/orgs/{}", query_value(name));
            if let Some(membership) = fetch(&url, access, host).await? {
                let state = membership.get("state").and_then(Value::as_str);
                if state.ok_or(ProviderError::Unreachable)? == "active" {
                    account.organizations.push(name.clone());
                }
            }
        }
        Ok(account)
    }
}

/// The account that GitHub describes.
fn github_account(client: &OAuthClient, description: &Value<'_>) -> Option<Account> {
    let user: GitHubUser<'_> = json::read_value(description)?;
    Some(Account {
        provider: client.provider.id.clone(),
        id: user.id.to_string(),
        login: Some(user.login.to_ascii_lowercase()),
        ..Account::default()
    })
}

/// The primary address of those that GitHub lists, if it is verified; `None` if it is no such list.
fn github_email(emails: &Value<'_>) -> Option<Option<String>> {
    let emails: Vec<GitHubEmail<'_>> = json::read_value(emails)?;
    let email = emails.iter().find(|email| email.primary && email.verified);
    Some(email.map(|email| email.email.to_ascii_lowercase()))
}

/// The account that an OpenID provider describes.
fn openid_account(client: &OAuthClient, description: &Value<'_>) -> Option<Account> {
    let user: UserInfo<'_> = json::read_value(description)?;
    if user.sub.is_empty() {
        return None;
    }
    // A boolean, or a string at some providers.
    let is_verified = match description.get("email_verified") {
        Some(Value::Bool(verified)) => *verified,
        Some(Value::String(verified)) => verified == "true",
        _ => false,
    };
    let address = user.email.map(str::to_ascii_lowercase);
    let mut email = address.clone().filter(|_| is_verified);
    let mut organization = email.as_deref().and_then(domain);
    if client.provider.endpoints.url().starts_with("https://accounts.google.com") {
        // An address of a domain does not make its owner a member of the organization. And Google has verified the address
        // of an account without an organization when it was created: the mailbox may belong to another person since.
        let hosted = user.hd.map(str::to_ascii_lowercase);
        let is_current = |of: &String| is_gmail(of) || hosted.as_ref() == Some(of);
        email = email.filter(|_| organization.as_ref().is_some_and(is_current));
        organization = hosted;
    }
    Some(Account {
        provider: client.provider.id.clone(),
        id: user.sub.to_owned(),
        login: user
            .preferred_username
            .filter(|name| name.len() <= MAX_LOGIN)
            .map(str::to_ascii_lowercase),
        unverified: address.filter(|address| email.as_ref() != Some(address)),
        email,
        domain: organization,
        ..Account::default()
    })
}

/// Whether Google itself has the mailboxes of a domain.
fn is_gmail(domain: &str) -> bool {
    ["gmail.com", "googlemail.com"].contains(&domain)
}

/// Fetches what an access token gives access to; `None` if it does not exist.
async fn fetch(
    url: &str,
    access: &Secret,
    host: &dyn Host,
) -> Result<Option<Value<'static>>, ProviderError> {
    let request = HttpRequest {
        headers: vec![
            ("accept", "application/json".into()),
            ("authorization", format!("Bearer {}", access.expose()).into()),
            // GitHub rejects requests without it.
            ("user-agent", "toolbooth".into()),
        ],
        max_bytes: 64 * 1024,
        ..HttpRequest::get(url)
    };
    let response = host.send(request).await.map_err(|_| ProviderError::Unreachable)?;
    match response.status {
        200 => {
            let value = json::parse_bytes(&response.body).ok_or(ProviderError::Unreachable)?;
            Ok(Some(value.into_owned()))
        }
        401 => Err(ProviderError::Rejected),
        404 => Ok(None),
        // 403 says that the token must not read it, or that there were too many requests: nothing is known.
        _ => Err(ProviderError::Unreachable),
    }
}
