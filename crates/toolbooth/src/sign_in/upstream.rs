//! Sign-in at a provider of `OAUTH_PROVIDERS`, and the provider's description of the account.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::destination::Destination;
use super::identity::{Account, Identity};
use super::problem::Problem;
use super::{CONSENT_LIFE_MS, SignIn};
use crate::host::{Host, HttpRequest};
use crate::http::{Headers, Response};
use crate::oauth::cookie::{self, State};
use crate::oauth::page::redirect;
use crate::oauth::{
    AuthorizationRequest, CsrfToken, OAuthClient, PkceVerifier, TokenPurpose, TokenResponse,
    random_text,
};
use crate::secret::Secret;
use crate::settings::{People, ProviderSettings};

/// Where providers redirect users; the id of the provider follows. Challenges use the same address, so operators
/// register one.
const CALLBACK: &str = "/auth/callback/";

/// The client with which people sign in at a provider. It does not use the parameters with which tools get grants.
pub(super) fn client(provider: &ProviderSettings) -> OAuthClient {
    OAuthClient::new(ProviderSettings {
        scopes: Vec::new(),
        // People with several accounts choose one.
        parameters: match provider.parameters {
            [] => &[],
            _ => &[("prompt", "select_account")],
        },
        ..provider.clone()
    })
}

/// A sign-in at a provider, in a cookie of the browser.
#[derive(Serialize, Deserialize)]
struct PendingSignIn {
    #[serde(rename = "i")]
    id: String,
    #[serde(rename = "p")]
    provider: String,
    #[serde(rename = "r")]
    destination: Destination,
}

/// The members of OpenID Connect's userinfo that are used (OpenID Connect Core 1.0, 5.3.2).
#[derive(Deserialize)]
struct UserInfo {
    sub: String,
    email: Option<String>,
    /// A boolean, or a string at some providers.
    email_verified: Option<Value>,
    preferred_username: Option<String>,
    /// The Google Workspace domain.
    hd: Option<String>,
}

/// GitHub's description of a user.
#[derive(Deserialize)]
struct GitHubUser {
    id: u64,
    login: String,
}

/// One of a user's addresses at GitHub.
#[derive(Deserialize)]
struct GitHubEmail {
    email: String,
    primary: bool,
    verified: bool,
}

/// A user's membership of an organization at GitHub.
#[derive(Deserialize)]
struct GitHubMembership {
    state: String,
}

impl SignIn {
    fn provider(&self, id: &str) -> Option<&OAuthClient> {
        self.providers.iter().find(|client| client.provider.id == id)
    }

    fn redirect_uri(&self, client: &OAuthClient) -> String {
        format!("{}{CALLBACK}{}", self.settings.public_url, client.provider.id)
    }

    /// Who may sign in at a provider.
    fn people<'a>(&'a self, client: &'a OAuthClient) -> impl Iterator<Item = &'a People> {
        let own = |provider: &str| provider == client.provider.id;
        self.settings.allowed.iter().filter(move |rule| own(&rule.provider)).map(|it| &it.people)
    }

    /// The scopes that are necessary to apply the rules.
    fn identity_scopes(&self, client: &OAuthClient) -> Vec<String> {
        let needs_email =
            self.people(client).any(|it| matches!(it, People::Email(_) | People::Domain(_)));
        let needs_organizations =
            self.people(client).any(|it| matches!(it, People::Organization(_)));
        let scopes: &[(&str, bool)] = if client.provider.is_github() {
            &[("user:email", needs_email), ("read:org", needs_organizations)]
        } else {
            &[("openid", true), ("email", true)]
        };
        scopes.iter().filter(|(_, needed)| *needed).map(|(scope, _)| (*scope).to_owned()).collect()
    }

    /// Redirects somebody to a provider, where they sign in.
    pub(super) async fn begin(
        &self,
        provider: &str,
        destination: Destination,
        host: &dyn Host,
    ) -> Result<Response, Problem> {
        let client = self.provider(provider).ok_or(Problem::Invalid)?;
        let server = client.server(host).await.map_err(|_| Problem::ProviderUnreachable)?;
        let id = random_text(host).map_err(|_| Problem::Internal)?;
        let csrf_token = CsrfToken::random(host).map_err(|_| Problem::Internal)?;
        let parts = [&*id, csrf_token.expose()];
        let keys = &self.keys;
        let browser = keys.hash(TokenPurpose::Browser, &parts);
        let expires_ms = host.now_ms().saturating_add(CONSENT_LIFE_MS);
        let state = State { challenge: id.clone(), browser };
        let location = client.authorization_url(
            &server,
            &AuthorizationRequest {
                redirect_uri: &self.redirect_uri(client),
                scopes: &self.identity_scopes(client),
                state: &keys.seal(TokenPurpose::SignInState, &state, expires_ms),
                verifier: &PkceVerifier::new(keys.hash(TokenPurpose::Verifier, &parts)),
            },
        );
        let pending = PendingSignIn { id: id.clone(), provider: provider.to_owned(), destination };
        let pending = keys.seal(TokenPurpose::PendingSignIn, &pending, expires_ms);
        // The callback would not open it, after the person has signed in there.
        if pending.len() > TokenPurpose::PendingSignIn.longest() {
            return Err(Problem::TooLong);
        }
        let value = format!("{}.{pending}", csrf_token.expose());
        Ok(redirect(location).with("set-cookie", cookie::set(&id, &value)))
    }

    /// Whether a callback of a provider belongs to a sign-in. The others belong to challenges.
    pub(crate) fn is_sign_in(&self, query: &str) -> bool {
        let state = parameter(query, "state").unwrap_or_default();
        // An expired one does too: its page says so.
        self.keys.open::<State>(TokenPurpose::SignInState, &state, 0).is_ok()
    }

    /// The callback of a sign-in, to which the provider redirects with a code or an error.
    pub(crate) async fn callback(
        &self,
        provider: &str,
        (query, headers): (&str, &dyn Headers),
        host: &dyn Host,
    ) -> Response {
        let response = self.complete(provider, (query, headers), host).await;
        self.finish(response, host)
    }

    async fn complete(
        &self,
        provider: &str,
        (query, headers): (&str, &dyn Headers),
        host: &dyn Host,
    ) -> Result<Response, Problem> {
        let parameter = |name: &str| parameter(query, name);
        let now_ms = host.now_ms();
        let state = parameter("state").unwrap_or_default();
        let State { challenge: id, browser } =
            self.keys.open(TokenPurpose::SignInState, &state, now_ms)?;
        let cookie = cookie::read(headers, &id).ok_or(Problem::OtherBrowser)?;
        let (csrf_token, pending) = cookie.split_once('.').ok_or(Problem::OtherBrowser)?;
        let parts = [&*id, csrf_token];
        let key = self.keys.maker(TokenPurpose::Browser, &parts, &browser);
        let verifier = key.ok_or(Problem::OtherBrowser)?.hash(TokenPurpose::Verifier, &parts);
        let pending: PendingSignIn =
            self.keys.open(TokenPurpose::PendingSignIn, pending, now_ms)?;
        if pending.id != id || pending.provider != provider {
            return Err(Problem::Invalid);
        }
        let client = self.provider(provider).ok_or(Problem::Invalid)?;
        let server = client.server(host).await.map_err(|_| Problem::ProviderUnreachable)?;
        // Another server's response must not be taken for this one's (RFC 9207, 2.4).
        if !server.is_issuer(parameter("iss").as_deref()) {
            return Err(Problem::Invalid);
        }
        // The flow is over, whatever its result: the cookie is not needed any more.
        let clear = |response: Response| response.with("set-cookie", cookie::set_for(&id, "", 0));
        match parameter("error").as_deref() {
            None => {}
            Some("server_error" | "temporarily_unavailable") => {
                return Err(Problem::ProviderUnreachable);
            }
            Some(_) => return Ok(clear(self.decline(&pending.destination))),
        }
        let code = parameter("code").ok_or(Problem::Invalid)?;
        let redirect_uri = self.redirect_uri(client);
        let verifier = PkceVerifier::new(verifier);
        let tokens = client.exchange_code(&server, (&code, &redirect_uri), &verifier, host).await?;
        let TokenResponse { access, .. } = tokens;
        let url = server.userinfo.as_deref().ok_or(Problem::ProviderUnreachable)?;
        let account = match client.provider.is_github() {
            true => self.github_account(client, url, &access, host).await?,
            false => openid_account(client, url, &access, host).await?,
        };
        let identity = Identity::Provider(account);
        let response = self.finish_sign_in(&pending.destination, &identity, host);
        Ok(clear(response.unwrap_or_else(|problem| self.report(problem, host))))
    }

    async fn github_account(
        &self,
        client: &OAuthClient,
        url: &str,
        access: &Secret,
        host: &dyn Host,
    ) -> Result<Account, Problem> {
        let user: GitHubUser =
            fetch(url, access, host).await?.ok_or(Problem::ProviderUnreachable)?;
        let mut account = Account {
            provider: client.provider.id.clone(),
            id: user.id.to_string(),
            login: Some(user.login.to_ascii_lowercase()),
            ..Account::default()
        };
        let mut people = self.people(client);
        if people.any(|it| matches!(it, People::Email(_) | People::Domain(_))) {
            let emails: Option<Vec<GitHubEmail>> =
                fetch(&format!("{url}/emails"), access, host).await?;
            let mut emails = emails.into_iter().flatten();
            let email = emails.find(|email| email.primary && email.verified);
            account.email = email.map(|email| email.email.to_ascii_lowercase());
            account.domain = account.email.as_deref().and_then(domain);
        }
        for people in self.people(client) {
            let People::Organization(name) = people else { continue };
            let name_in_url = crate::url::query_value(name);
            let url = format!("{url}/memberships/orgs/{name_in_url}");
            let membership: Option<GitHubMembership> = fetch(&url, access, host).await?;
            if membership.is_some_and(|membership| membership.state == "active") {
                account.organizations.push(name.clone());
            }
        }
        Ok(account)
    }
}

/// A field of a query.
fn parameter(query: &str, name: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

async fn openid_account(
    client: &OAuthClient,
    url: &str,
    access: &Secret,
    host: &dyn Host,
) -> Result<Account, Problem> {
    let user: UserInfo = fetch(url, access, host).await?.ok_or(Problem::ProviderUnreachable)?;
    if user.sub.is_empty() {
        return Err(Problem::ProviderUnreachable);
    }
    let is_verified = match user.email_verified {
        Some(Value::Bool(verified)) => verified,
        Some(Value::String(verified)) => verified == "true",
        _ => false,
    };
    let email = user.email.filter(|_| is_verified).map(|email| email.to_ascii_lowercase());
    // At Google, an address of a domain does not make its owner a member of the organization.
    let is_google = client.provider.endpoints.url().starts_with("https://accounts.google.com");
    let domain = match is_google {
        true => user.hd.map(|domain| domain.to_ascii_lowercase()),
        false => email.as_deref().and_then(domain),
    };
    Ok(Account {
        provider: client.provider.id.clone(),
        id: user.sub,
        login: user.preferred_username.map(|name| name.to_ascii_lowercase()),
        email,
        domain,
        organizations: Vec::new(),
    })
}

fn domain(email: &str) -> Option<String> {
    email.rsplit_once('@').map(|(_, domain)| domain.to_owned())
}

/// Fetches what an access token gives access to; `None` if it does not exist, or must not be read.
async fn fetch<T: serde::de::DeserializeOwned>(
    url: &str,
    access: &Secret,
    host: &dyn Host,
) -> Result<Option<T>, Problem> {
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
    let response = host.send(request).await.map_err(|_| Problem::ProviderUnreachable)?;
    match response.status {
        200 => response.json().map(Some).ok_or(Problem::ProviderUnreachable),
        403 | 404 => Ok(None),
        _ => Err(Problem::ProviderUnreachable),
    }
}
