//! Sign-in: an OAuth 2.1 authorization server for MCP clients, and the people who sign in to it.
//!
//! Codes, refresh tokens, registrations and sessions are sealed tokens: their content is in them. The store only
//! marks what is spent or revoked, so a store that is a minute behind delays the detection of reuse and nothing else.
//! docs/STORAGE.md lists the entries. Access tokens are signed, and calls verify them without the store.
//!
//! - `metadata`: what clients discover (RFC 8414);
//! - `client`: who asks, with `registration` (RFC 7591), `client_document` (client ID metadata documents) and
//!   `client_auth`; `crate::redirect_uri` is shared with the settings;
//! - `authorize`: the consent page (`page`), and what follows from its form; `after_sign_in`: where that leads, such as
//!   to pages of the server that need a sign-in; `identity` is who signed in, at a provider
//!   (`upstream`) or otherwise; `session`: the browser's cookies; `page_form`: forms of the server's own pages;
//!   `problem`: what goes wrong, for people;
//! - `grant`: codes and refresh tokens; `token_status`: what is spent or revoked; `connection`: the clients of a person;
//!   `token`, `access_token`, `revoke`: the endpoints for clients; `form`: their parameters; `error`: their errors.

mod access_token;
mod after_sign_in;
mod authorize;
mod client;
mod client_auth;
mod client_document;
mod connection;
mod error;
mod event;
mod form;
mod grant;
mod identity;
mod metadata;
mod page;
mod page_form;
mod problem;
mod registration;
mod revoke;
pub(crate) mod routes;
mod session;
mod settings;
mod token;
mod token_status;
mod upstream;

pub(crate) use connection::Connection;
pub(crate) use error::{OAuthError, OAuthErrorCode};
pub(crate) use problem::Problem;

use crate::oauth::{AuthorizationFlow, OAuthClient};
use crate::purpose;
use event::SignInEvent;
use settings::SignInSettings;
use token_status::TokenStatusStore;
use toolbooth::auth::{ApiKeys, AssertionVerifier};
use toolbooth::capability::People;
use toolbooth::host::{BoxFuture, Host, boxed};
use toolbooth::http::Headers;
use toolbooth::log::EventLog;
use toolbooth::principal::Person;
use toolbooth::seal::StateKeys;
use toolbooth::secret::Secret;
use toolbooth::settings::JwtSettings;

/// Where the endpoints are.
pub(crate) const AUTHORIZE: &str = "/oauth/authorize";
pub(crate) const SIGN_IN: &str = "/oauth/authorize/sign-in";
const TOKEN: &str = "/oauth/token";
const REGISTER: &str = "/oauth/register";
const REVOKE: &str = "/oauth/revoke";
/// The page of the account.
pub(crate) const ACCOUNT: &str = "/account";
/// The page of a challenge.
const CHALLENGE: &str = "/auth/start";
/// Where MCP is served; part of the resource's identifier.
const RESOURCE: &str = "/mcp";
/// The scope with which clients ask for a refresh token (OpenID Connect Core 1.0, 11).
const OFFLINE: &str = "offline_access";
/// The page of the site that receives the codes of its own sign-in.
const OWN_PAGE: &str = "/signed-in";

/// How long an authorization code is valid, in milliseconds.
const CODE_LIFE_MS: u64 = 2 * 60 * 1000;
/// How long a refresh token is valid after it was issued, in milliseconds: 90 days.
const REFRESH_LIFE_MS: u64 = 90 * 86_400 * 1000;
/// How long a consent page can be answered, and a sign-in at a provider may take, in milliseconds.
const CONSENT_LIFE_MS: u64 = 15 * 60 * 1000;

/// The authorization server.
#[derive(Debug)]
pub(crate) struct SignIn {
    settings: SignInSettings,
    keys: StateKeys,
    flow: AuthorizationFlow,
    /// This server's clients at the providers where people sign in.
    providers: Vec<OAuthClient>,
    api_keys: ApiKeys,
    access: Option<AssertionVerifier>,
    token_status: TokenStatusStore,
    events: EventLog,
    /// The identifier of the resource that tokens are for (RFC 8707).
    resource: String,
    /// The scopes that tools require, and those of capabilities that a rule or a key gives.
    scopes: Vec<&'static str>,
}

impl SignIn {
    /// The server of these settings; `scopes` are those that clients can ask for.
    fn new(settings: &SignInSettings, scopes: Vec<&'static str>, events: EventLog) -> Self {
        let access = settings.access.as_ref().map(|access| {
            let keys = format!("{}/cdn-cgi/access/certs", access.team);
            AssertionVerifier::new(keys, access.team.clone(), access.audiences.clone())
        });
        let keys = StateKeys::new(&settings.state_keys);
        Self {
            providers: settings.providers.iter().map(upstream::client).collect(),
            api_keys: ApiKeys::new(&settings.api_keys),
            access,
            token_status: TokenStatusStore::new(keys.clone()),
            flow: AuthorizationFlow::new(keys.clone(), settings.public_url.clone()),
            keys,
            events,
            resource: format!("{}{RESOURCE}", settings.public_url),
            scopes,
            settings: settings.clone(),
        }
    }

    /// The way of people to the providers and back.
    pub(crate) fn flow(&self) -> &AuthorizationFlow {
        &self.flow
    }

    /// Which access tokens are its own.
    pub(crate) fn own_tokens(&self) -> JwtSettings {
        let keys = self.keys.hashes(purpose::ACCESS_TOKEN, &[]);
        JwtSettings {
            secrets: keys.iter().map(|key| Secret::new(key.to_owned())).collect(),
            jwks_url: None,
            audiences: vec![self.resource.clone()],
            issuer: Some(self.settings.public_url.clone()),
            leeway: 30,
        }
    }

    /// Logs an event.
    fn log(&self, event: SignInEvent<'_>, host: &dyn Host) {
        self.events.write(&event, host);
    }

    /// The name in the log of the person whose tokens have this `sub`, as in the lines of their calls.
    fn caller(&self, subject: &str) -> String {
        self.events.user(&self.settings.issuer, subject)
    }

    /// Whether a `resource` parameter names this server: the resource, or the origin that it belongs to.
    fn is_resource(&self, resource: &str) -> bool {
        let named = resource.strip_suffix('/').unwrap_or(resource);
        named == self.resource || named == self.settings.public_url
    }
}

impl People for SignIn {
    fn person<'a>(
        &'a self,
        headers: &'a dyn Headers,
        host: &'a dyn Host,
    ) -> BoxFuture<'a, Option<Person>> {
        boxed(self.signed_in(headers, host))
    }
}

#[cfg(test)]
mod tests;
