//! What a provider says about an account: in GitHub's API, or at the userinfo endpoint of an OpenID provider and in its ID token.

use serde::Deserialize;

use super::Login;
use super::answer::{AccountError, Answer, DESCRIPTION, fetch};
use super::provider_account::{Account, domain};
use super::rules::People;
use crate::oauth::OAuthClient;
use toolbooth::auth::{AuthError, received_claims};
use toolbooth::host::Host;
use toolbooth::json::{self, Object, Value};
use toolbooth::secret::Secret;
use toolbooth::url::query_value;

/// The longest name of an account at an OpenID provider that is kept, in bytes. It is only shown.
const MAX_LOGIN: usize = 100;

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

impl Login {
    /// The account that a token of its provider gives access to, with its ID token. What is missing, or wrong, is logged.
    pub(super) async fn account(
        &self,
        client: &OAuthClient,
        url: &str,
        said: (&Secret, Option<&Secret>),
        host: &dyn Host,
    ) -> Result<Account, AccountError> {
        let account = match client.provider.is_github() {
            true => self.github_account(client, url, said.0, host).await,
            false => self.openid_account(client, url, said, host).await,
        };
        let account = account.and_then(|account| self.with_address(client, account));
        match &account {
            Ok(account) => account.unsaid().iter().for_each(|problem| client.log(problem, host)),
            Err(
                AccountError::Unreachable(problem)
                | AccountError::Unusable(problem)
                | AccountError::ClaimMissing(problem),
            ) => client.log(problem, host),
            Err(AccountError::Rejected(_) | AccountError::TooManyGroups) => {}
        }
        account
    }

    /// The account, unless what restricts people depends on its address and the provider has named none: someone who asks for
    /// fewer scopes in their own browser must not escape it.
    fn with_address(
        &self,
        client: &OAuthClient,
        account: Account,
    ) -> Result<Account, AccountError> {
        if !account.has_address() && self.address_restricts(&client.provider.id) {
            let problem = "it does not name the address of the account";
            return Err(AccountError::ClaimMissing(problem.to_owned()));
        }
        Ok(account)
    }

    async fn github_account(
        &self,
        client: &OAuthClient,
        url: &str,
        access: &Secret,
        host: &dyn Host,
    ) -> Result<Account, AccountError> {
        let user = fetch(client, (url, DESCRIPTION), access, host).await?.described()?;
        let mut account = github_account(client, &user).ok_or_else(|| no_account("`id`"))?;
        if self.needs_email(client) {
            let addresses = "the addresses of the account";
            let answer = fetch(client, (&format!("{url}/emails"), addresses), access, host).await?;
            match answer.json().map(|emails| emails.as_ref().map(github_email)) {
                // Without the scope for it, there is no such list.
                Ok(None) => {}
                Ok(Some(Some(email))) => {
                    account.domain = email.as_deref().and_then(domain);
                    account.email = email;
                }
                Ok(Some(None)) => account.add_unsaid(unsaid(addresses, 200)),
                Err(status) => account.add_unsaid(unsaid(addresses, status)),
            }
        }
        for people in self.people(client) {
            let People::Organization(name) = people else { continue };
            // Several rules may name it.
            if account.organizations.contains(name) {
                continue;
            }
            let organization = format!("whether it is a member of the organization {name}");
            let url = format!("{url}/memberships/orgs/{}", query_value(name));
            let answer = fetch(client, (&url, &organization), access, host).await?;
            let membership = answer.json().and_then(|membership| {
                let state =
                    |it: &Value<'_>| it.get("state").and_then(Value::as_str).map(str::to_owned);
                membership.map(|it| state(&it).ok_or(200)).transpose()
            });
            match membership {
                Ok(Some(state)) if state == "active" => account.organizations.push(name.clone()),
                Ok(_) => {}
                // Someone who keeps this application from asking must not escape what restricts the members.
                Err(status) if self.restricts(client, people) => {
                    return Err(AccountError::ClaimMissing(unsaid(&organization, status)));
                }
                // GitHub answers 403 to members, too, until an owner has approved the application, or they have signed in at the
                // organization: it gives nothing, and the other rules decide.
                Err(status) => account.add_unsaid(unsaid(&organization, status)),
            }
        }
        Ok(account)
    }

    /// Whether a rule about these people at a provider has a team, limits or budgets.
    fn restricts(&self, client: &OAuthClient, people: &People) -> bool {
        self.rules_of(client).any(|rule| rule.restricts() && rule.people == *people)
    }

    async fn openid_account(
        &self,
        client: &OAuthClient,
        url: &str,
        (access, id_token): (&Secret, Option<&Secret>),
        host: &dyn Host,
    ) -> Result<Account, AccountError> {
        let description = match fetch(client, (url, DESCRIPTION), access, host).await? {
            Answer::Token(token) => {
                let claims = client.signed_description(&token, host).await;
                claims.map_err(|error| AccountError::of(error, DESCRIPTION))?
            }
            answer => match answer.described()? {
                Value::Object(claims) => claims,
                _ => return Err(no_account("members")),
            },
        };
        let subject = text(&description, "sub").filter(|sub| !sub.is_empty());
        let subject = subject.ok_or_else(|| no_account("`sub`"))?;
        let said = id_token_claims(client, id_token, host);
        // Otherwise one of them is about a different person (OpenID Connect Core 1.0, 5.3.2).
        if let Ok(Some(claims)) = &said
            && text(claims, "sub") != Some(subject)
        {
            let problem = "its ID token cannot be used: its `sub` is not that of the description";
            return Err(AccountError::Unusable(problem.to_owned()));
        }
        let sources: Vec<&Object<'_>> =
            [&description].into_iter().chain(said.as_ref().ok().and_then(Option::as_ref)).collect();
        let account = openid_account(client, subject, &sources);
        let groups = self.groups(client, &description, &said)?;
        Ok(Account { groups, ..account })
    }
}

/// The claims of an ID token of a provider whose issuer is known; the error is what is wrong with it.
pub(super) type IdTokenClaims = Result<Option<Object<'static>>, &'static str>;

fn id_token_claims(
    client: &OAuthClient,
    id_token: Option<&Secret>,
    host: &dyn Host,
) -> IdTokenClaims {
    let provider = &client.provider;
    let (Some(token), Some(issuer)) = (id_token, provider.issuer()) else { return Ok(None) };
    let claims = received_claims(token.expose(), (issuer, &*provider.client_id), host.now_ms());
    claims.map(Some).map_err(|error| match error {
        AuthError::Invalid { reason } => reason,
        _ => "it is not valid",
    })
}

fn no_account(lacking: &str) -> AccountError {
    AccountError::Unusable(format!("{DESCRIPTION} has no {lacking}"))
}

fn unsaid(what: &str, status: u16) -> String {
    format!("it does not say {what} (status {status})")
}

fn text<'c>(claims: &'c Object<'_>, name: &str) -> Option<&'c str> {
    claims.get(name).and_then(Value::as_str)
}

/// Whether a claim is true. A provider may write it as a text; what is no known spelling of true is not true. `None` if it is absent.
pub(super) fn is_true(claim: Option<&Value<'_>>) -> Option<bool> {
    claim.map(|claim| match claim {
        Value::Bool(is_true) => *is_true,
        claim => claim.as_str() == Some("true"),
    })
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

/// The account of a subject, as the userinfo endpoint and the ID token of an OpenID provider describe it: a claim may be in either (OpenID
/// Connect Core 1.0, 5.4).
fn openid_account(client: &OAuthClient, subject: &str, sources: &[&Object<'_>]) -> Account {
    let any = |name: &str| sources.iter().find_map(|claims| text(claims, name));
    let (mut email, mut unverified) = addresses(sources);
    let mut organization = email.as_deref().and_then(domain);
    if client.provider.endpoints.url().starts_with("https://accounts.google.com") {
        // An address of a domain does not make its owner a member of the organization. And Google has verified the address
        // of an account without an organization when it was created: the mailbox may belong to another person since.
        let hosted = any("hd").map(str::to_ascii_lowercase);
        let is_current = |of: &String| is_gmail(of) || hosted.as_ref() == Some(of);
        if !organization.as_ref().is_some_and(is_current) {
            unverified = email.take().or(unverified);
        }
        organization = hosted;
    }
    Account {
        provider: client.provider.id.clone(),
        id: subject.to_owned(),
        login: any("preferred_username")
            .filter(|name| name.len() <= MAX_LOGIN)
            .map(str::to_ascii_lowercase),
        unverified,
        email,
        domain: organization,
        ..Account::default()
    }
}

/// The address that a provider says it has verified, and another one, in lower case. An address is verified if something says so of it, or
/// beside no address, and nothing says otherwise.
fn addresses(sources: &[&Object<'_>]) -> (Option<String>, Option<String>) {
    let said: Vec<(Option<String>, Option<bool>)> = sources
        .iter()
        .map(|claims| {
            let email = text(claims, "email").map(str::to_ascii_lowercase);
            (email, is_true(claims.get("email_verified")))
        })
        .collect();
    let is_verified = |email: &&String| {
        let about = said.iter().filter(|(of, _)| of.as_ref().is_none_or(|of| of == *email));
        let mut verified = about.filter_map(|(_, verified)| *verified).peekable();
        verified.peek().is_some() && verified.all(|it| it)
    };
    let emails = || said.iter().filter_map(|(email, _)| email.as_ref());
    let verified = emails().find(is_verified);
    let other = emails().find(|email| verified != Some(*email));
    (verified.cloned(), other.cloned())
}

/// Whether Google itself has the mailboxes of a domain.
fn is_gmail(domain: &str) -> bool {
    ["gmail.com", "googlemail.com"].contains(&domain)
}
