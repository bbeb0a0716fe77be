//! OAuth 2 as a client, and sealed tokens: what challenges are built from.
//!
//! - `types`, `pkce`: values of the authorization request;
//! - `client`: the requests to an authorization server; `discovery`: its endpoints; `token`: its
//!   responses; `revocation`; `error`;
//! - `sealed_token`: encrypted tokens that expire, and keyed hashes; `state_keys`: the keys for them,
//!   current and previous; `seal`: the encryption.

mod client;
mod discovery;
mod error;
mod pkce;
mod revocation;
mod seal;
mod sealed_token;
mod state_keys;
mod token;
mod types;

pub(crate) use client::AuthorizationRequest;
pub use client::OAuthClient;
pub(crate) use error::TokenError;
pub(crate) use pkce::PkceVerifier;
pub(crate) use revocation::revoke;
pub(crate) use seal::GrantKeys;
pub(crate) use sealed_token::{InvalidToken, TokenPurpose};
pub(crate) use state_keys::{Hashes, StateKeys};
pub(crate) use token::TokenResponse;
pub(crate) use types::{CsrfToken, random_text, sha256_base64};
