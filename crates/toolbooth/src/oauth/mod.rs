//! OAuth 2 as a client, sealed tokens, and pages: what sign-in and challenges are built from.
//!
//! - `provider`: the settings of providers;
//! - `types`, `pkce`: values of the authorization request;
//! - `flow`: a browser's way to an authorization server and back, for every purpose;
//! - `client`: the requests to an authorization server; `discovery`: its endpoints; `token`: its
//!   responses; `revocation`; `error`;
//! - `sealed_token`: encrypted tokens that expire, and keyed hashes; `state_keys`: the keys for them,
//!   current and previous; `seal`: the encryption;
//! - `page`: the frame of HTML pages; `cookie`: binds a browser to a flow; `recent_writes`: what the store may
//!   not return yet;
//! - `request_state`: requests that continue when their client has asked the user.

mod client;
pub(crate) mod cookie;
mod discovery;
mod error;
mod flow;
pub(crate) mod page;
mod pkce;
mod provider;
mod recent_writes;
mod request_state;
mod revocation;
mod seal;
mod sealed_token;
mod state_keys;
mod token;
mod types;

pub use client::OAuthClient;
#[cfg(test)]
pub(crate) use pkce::PkceVerifier;
pub use provider::{
    ClientAuth, EndpointSettings, OAuthProviders, ProviderSettings, RevocationEndpoint,
};
pub(crate) use request_state::{
    ContinuationToken, EXPIRED_STATE, INVALID_STATE, RequestState, RequestStateCodec,
};
pub(crate) use sealed_token::{InvalidToken, TokenPurpose};
pub(crate) use state_keys::{Hashes, StateKeys};
pub(crate) use {
    error::TokenError,
    flow::{
        AuthorizationFlow, CALLBACK, FLOW_LIFE_MS, FlowError, FlowPurpose, FlowState, NewFlow,
        PendingFlow, ReturningBrowser,
    },
    provider::DOCS as PROVIDER_DOCS,
    recent_writes::{RecentWrites, STALE_MS},
    revocation::revoke,
    seal::GrantKeys,
    token::TokenResponse,
    types::{CsrfToken, random_text},
};
