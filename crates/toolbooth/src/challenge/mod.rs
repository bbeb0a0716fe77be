//! Authorization challenges: ask users to grant the server access at a provider, and keep the grants.
//!
//! A call that requires a user's authorization is answered with a challenge (OXP call-tool, "Tool
//! Authorization Challenges"): a URL where the user can grant it, and one that returns its status. A
//! pending challenge is a sealed token and is stored nowhere; the store holds encrypted grants, and
//! challenges that have failed. docs/STORAGE.md describes what happens if the store is a minute behind.
//!
//! - `challenges`: issues them; `types`, `constants`; `claims`: what a challenge's token contains; `owner`: whose grant it asks for;
//! - `grant`; `grant_store`: grants in the store; `recent_writes`: what the store may not return yet;
//!   `proof`: what replaces it elsewhere; `access_token`: tokens of grants, and their refresh;
//! - `flow`: the steps of a user and the status for the client; `page`: the HTML;
//! - `request_state`: requests that continue when their client has asked the user.

mod access_token;
mod challenges;
mod claims;
mod constants;
mod flow;
mod grant;
mod grant_store;
mod owner;
mod page;
mod proof;
mod recent_writes;
mod request_state;
mod types;

pub use challenges::Challenges;
pub(crate) use flow::DeletionError;
pub(crate) use owner::{Owner, OwnerError};
pub(crate) use request_state::{ContinuationToken, INVALID_STATE, RequestState, RequestStateCodec};
pub use types::Challenge;
pub(crate) use types::{GrantError, GrantRequest, GrantedToken};

#[cfg(test)]
pub(crate) mod tests;
