//! The ways to sign in.

use base64ct::{Base64UrlUnpadded, Encoding};

use super::{Identity, Login};
use toolbooth::address::is_localhost;
use toolbooth::auth::key_hash;
use toolbooth::http::Headers;
use toolbooth::json::Value;
use toolbooth::principal::{KEY_SUBJECT, Principal, Scopes};
use toolbooth::route::RouteRequest;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SignInOption {
    /// Cloudflare Access has authenticated this person.
    Access(Identity),
    /// This person has signed in with the browser before.
    Session(Identity),
    /// They go to a provider.
    Provider {
        id: String,
        title: String,
    },
    Development,
    ApiKey,
}

impl SignInOption {
    /// The person, if they are known already.
    pub(crate) fn known(&self) -> Option<&Identity> {
        match self {
            Self::Access(user) | Self::Session(user) => Some(user),
            Self::Provider { .. } | Self::Development | Self::ApiKey => None,
        }
    }
}

impl Login {
    /// The ways in which a person can continue, the most convenient first.
    pub(crate) async fn options(&self, request: &RouteRequest<'_>) -> Vec<SignInOption> {
        let RouteRequest { headers, host, .. } = *request;
        let mut options = Vec::new();
        options.extend(self.access_user(request).await.map(SignInOption::Access));
        options.extend(self.session(headers, host).await.map(SignInOption::Session));
        options.extend(self.providers.iter().map(|client| SignInOption::Provider {
            id: client.provider.id.clone(),
            title: client.provider.title.clone(),
        }));
        options.extend(self.developer(headers).map(|_| SignInOption::Development));
        if !self.settings.api_keys.is_empty() {
            options.push(SignInOption::ApiKey);
        }
        options
    }

    /// The people who can continue in one of these ways, as callers with every scope that they can give to a client.
    pub(crate) fn candidates<'a>(
        &self,
        options: impl IntoIterator<Item = &'a SignInOption>,
    ) -> Vec<Principal> {
        let person =
            |subject: &str, scopes| Principal::user_of(&self.settings.issuer, subject, scopes);
        let mut people = Vec::new();
        for option in options {
            match option {
                SignInOption::Access(user) | SignInOption::Session(user) => {
                    people.extend(self.permitted(user).map(|it| person(&user.subject(), it)));
                }
                SignInOption::Provider { id, .. } => {
                    let rules = self.settings.allowed.iter().filter(|rule| rule.provider == *id);
                    let rules: Vec<_> = rules.collect();
                    people.push(person(&format!("{id}:"), self.given(&rules)));
                }
                SignInOption::Development => {
                    people.push(person(&Identity::Development.subject(), Scopes::All));
                }
                SignInOption::ApiKey => {
                    people.extend(self.settings.api_keys.iter().map(|key| {
                        person(&format!("{KEY_SUBJECT}{}", key.name), key.scopes.clone())
                    }))
                }
            }
        }
        people
    }

    /// The owner of a key that was typed.
    pub(crate) fn key_holder(&self, key: &str) -> Option<Identity> {
        let Principal::Key { name, .. } = self.api_keys.principal(key)? else { return None };
        Some(Identity::ApiKey { name, hash: Base64UrlUnpadded::encode_string(&key_hash(key)) })
    }

    /// The user that Cloudflare Access has authenticated, if it is in front of the server.
    pub(crate) async fn access_user(&self, request: &RouteRequest<'_>) -> Option<Identity> {
        let access = self.access.as_ref()?;
        let token = request.headers.get("cf-access-jwt-assertion")?;
        let claims = access.verify(&token, request.host).await.ok()?;
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        // Tokens of services have no `sub`.
        let id = text("sub").filter(|sub| !sub.is_empty())?.to_owned();
        Some(Identity::Access { id, email: text("email").map(str::to_owned) })
    }

    /// The development user, if the request was sent to this machine.
    pub(crate) fn developer(&self, headers: &dyn Headers) -> Option<Identity> {
        let is_here = headers.get("host").is_some_and(|host| is_localhost(&host));
        (self.settings.development && is_here).then_some(Identity::Development)
    }
}
