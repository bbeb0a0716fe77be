//! The authorization server (OAuth 2.1) for MCP clients. It asks [`Login`] who people are and what they may give.
//!
//! Codes, refresh tokens and registrations are sealed tokens: their content is in them. The store only marks what is
//! spent or revoked, so a store that is a minute behind delays the detection of reuse, and the end of tokens. Calls verify
//! access tokens without it, but for one read a minute.
//!
//! - `settings`; `metadata`: what clients discover (RFC 8414);
//! - `client`: who asks, with `registration` (RFC 7591), `client_document` (client ID metadata documents) and
//!   `client_auth`;
//! - `authorization`: what clients ask people for, and how they get the answer;
//! - `client_grant`: codes and refresh tokens, and which of them are spent or revoked; `connection`: the clients of a person;
//! - `assertion_grant`: tokens for the people of companies, without a code; `client_credentials`: for machines; `token_exchange`: for
//!   machines that act for a person;
//! - `token`, `access_token`: the endpoints for clients, with `proof`, for tokens that are bound to a key; `parameters`: their forms; `error`: their errors.

mod access_token;
mod assertion_grant;
mod authorization;
mod client;
mod client_auth;
mod client_credentials;
mod client_document;
mod client_grant;
mod connection;
pub(crate) mod error;
mod metadata;
mod parameters;
mod proof;
mod registration;
mod settings;
mod token;
mod token_exchange;

pub(crate) use authorization::ApprovedRequest;
pub(crate) use client::{Client, ClientOrigin};
pub(crate) use connection::Connection;
pub(crate) use error::OAuthError;
pub(crate) use metadata::metadata;
pub(crate) use parameters::Parameters;
pub(crate) use registration::register;
pub(crate) use settings::{DOCS, ServerSettings};
pub(crate) use token::{revoke, token};

use assertion_grant::Company;
use client::{DocumentAuth, hash};
use client_auth::{Credentials, verifier};
use client_document::DocumentCache;
use client_grant::ClientGrant;
use settings::RegistrationMode;
use std::sync::Arc;

use super::login::{Login, LoginSettings};
use super::marks::Marks;
use crate::{paths, purpose};
use toolbooth::address::is_same_url;
use toolbooth::auth::{AssertionVerifier, OwnTokens};
use toolbooth::call::Rejection;
use toolbooth::principal::{GATEWAY_SCOPE, TEAM_USAGE_SCOPE, USAGE_SCOPE};
use toolbooth::route::{RouteRequest, State};
use toolbooth::secret::Secret;
use toolbooth::settings::{ApiKeySettings, JwtSettings};
use toolbooth::tool::Named;

/// For how many seconds an access token that has expired is still accepted.
const LEEWAY_SECONDS: u64 = 30;

/// The scopes that a client must name, because they cost money or show what others do.
const NAMED_SCOPES: [&str; 3] = [GATEWAY_SCOPE, USAGE_SCOPE, TEAM_USAGE_SCOPE];

#[derive(Debug)]
pub(crate) struct AuthorizationServer {
    /// The people who sign in.
    pub(crate) login: Arc<Login>,
    settings: Arc<ServerSettings>,
    marks: Marks,
    documents: DocumentCache,
    /// The companies whose assertions it accepts.
    companies: Vec<Company>,
    /// Those of the entries of `API_KEYS` with public keys, by name. They keep the keys: anyone can send made-up assertions.
    verifiers: Named<AssertionVerifier>,
    /// The identifier of the resource that tokens are for (RFC 8707).
    resource: String,
}

impl AuthorizationServer {
    pub(crate) fn new(settings: Arc<ServerSettings>, login: Arc<Login>) -> Self {
        let LoginSettings { enterprise, public_url, api_keys, .. } = &*login.settings;
        let companies = enterprise
            .iter()
            .filter(|it| !it.clients.is_empty())
            .map(|it| Company::new(it.clone(), public_url))
            .collect();
        let verifiers = api_keys
            .iter()
            .filter_map(|ApiKeySettings { name, keys, .. }| {
                Some((name.clone(), verifier(keys.clone()?, name, public_url)))
            })
            .collect();
        Self {
            companies,
            verifiers,
            marks: Marks::new(login.keys.clone()),
            documents: DocumentCache::new(),
            resource: format!("{}{}", login.settings.public_url, paths::MCP),
            login,
            settings,
        }
    }

    /// That of a server, if people can sign in.
    pub(crate) fn of_state(state: &State) -> Option<&Self> {
        state.extensions.get::<Arc<Self>>().map(|it| &**it)
    }

    /// That of a request's server, if people can sign in.
    pub(crate) fn of<'a>(request: &RouteRequest<'a>) -> Result<&'a Self, Rejection> {
        Self::of_state(request.state).ok_or(Rejection::NOT_FOUND)
    }

    /// The access tokens of the server, and who holds them.
    pub(crate) fn own_tokens(self: &Arc<Self>) -> OwnTokens {
        let keys = self.login.keys.hashes(purpose::ACCESS_TOKEN, &[]);
        let jwt = JwtSettings {
            secrets: keys.iter().map(|key| Secret::new(key.to_owned())).collect(),
            jwks_url: None,
            audiences: vec![self.resource.clone()],
            issuer: Some(self.login.settings.public_url.clone()),
            leeway: LEEWAY_SECONDS,
            tenant_claim: None,
            tenants: Vec::new(),
        };
        OwnTokens { jwt, holders: self.clone() }
    }

    /// How the log names the client whose id has this hash: by the id if the operator has registered it, otherwise by the hash.
    pub(crate) fn client_ref(&self, hashed: &str) -> String {
        let registered = self.settings.clients.iter().map(|client| &client.id);
        let machines = self.login.settings.api_keys.iter().map(|key| &key.name);
        let known = registered.chain(machines).find(|id| hash(id) == hashed);
        known.map_or_else(|| format!("client:{hashed:.16}"), Clone::clone)
    }

    /// Whether every `resource` parameter names this server: the resource, or the origin that it belongs to.
    fn check_resource(&self, form: &Parameters) -> Result<(), OAuthError> {
        match form.all("resource").all(|resource| self.is_own_resource(resource)) {
            true => Ok(()),
            false => Err(error::INVALID_TARGET.error("`resource` is not this server")),
        }
    }

    fn is_own_resource(&self, resource: &str) -> bool {
        let own = [&*self.resource, &*self.login.settings.public_url];
        own.into_iter().any(|own| is_same_url(own, resource.strip_suffix('/').unwrap_or(resource)))
    }
}
