//! OAuth 2 as a client, sealed tokens, and pages: what sign-in and challenges are built from.
//!
//! - `provider`: the settings of providers; `presets`: those that are preconfigured;
//! - `flow`: a browser's way to an authorization server and back, for every purpose; `cookie`: what binds it;
//! - `client`: the requests to an authorization server; `discovery`: its endpoints; `token`: its responses;
//! - `page`: the frame of HTML pages; `store`; `recent_writes`: what it may not return yet.

mod client;
pub(crate) mod cookie;
mod discovery;
mod flow;
pub(crate) mod page;
mod presets;
mod provider;
mod recent_writes;
pub(crate) mod store;
mod token;

/// The scope with which clients ask for a refresh token (OpenID Connect Core 1.0, 11).
pub(crate) const OFFLINE_ACCESS: &str = "offline_access";

pub(crate) use client::OAuthClient;
pub(crate) use provider::{EndpointSettings, OAuthProviders, ProviderSettings};
pub(crate) use {
    flow::{
        AuthorizationFlow, FLOW_LIFE_MS, FlowError, FlowPurpose, FlowState, NewFlow, PendingFlow,
        code_challenge, random_text,
    },
    provider::{DOCS as PROVIDER_DOCS, prefix_of},
    recent_writes::RecentWrites,
    store::STALE_MS,
    token::{ProviderError, TokenResponse, is_temporary},
};
