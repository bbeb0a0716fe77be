//! OAuth 2 as a client, sealed tokens, and pages: what sign-in and challenges are built from.
//!
//! - `provider`: the settings of providers;
//! - `types`, `pkce`: values of the authorization request;
//! - `flow`: a browser's way to an authorization server and back, for every purpose;
//! - `client`: the requests to an authorization server; `discovery`: its endpoints; `token`: its
//!   responses; `revocation`; `error`;
//! - `page`: the frame of HTML pages; `cookie`: binds a browser to a flow; `recent_writes`: what the store may
//!   not return yet;

mod client;
pub(crate) mod cookie;
mod discovery;
mod error;
mod flow;
pub(crate) mod page;
mod pkce;
mod provider;
mod recent_writes;
mod revocation;
pub(crate) mod store;
mod token;
mod types;

pub(crate) use client::OAuthClient;
#[cfg(test)]
pub(crate) use pkce::PkceVerifier;
pub(crate) use provider::{EndpointSettings, OAuthProviders, ProviderSettings};
pub(crate) use {
    error::TokenError,
    flow::{
        AuthorizationFlow, FLOW_LIFE_MS, FlowError, FlowPurpose, FlowState, NewFlow, PendingFlow,
        ReturningBrowser,
    },
    provider::{DOCS as PROVIDER_DOCS, prefix_of},
    recent_writes::{RecentWrites, STALE_MS},
    revocation::revoke,
    token::TokenResponse,
    types::random_text,
};
