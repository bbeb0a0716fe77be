//! Authorization challenges: ask users to grant the server access at a provider, and keep the grants.
//!
//! A call that requires a user's authorization is answered with a challenge (OXP call-tool, "Tool
//! Authorization Challenges"): a URL where the user can grant it, and one that returns its status. A
//! pending challenge is a sealed token and is stored nowhere; the store holds encrypted grants, and
//! challenges that have failed. docs/STORAGE.md describes what happens if the store is a minute behind.
//!
//! - `challenges`: issues them; `types`, `constants`; `claims`: what a challenge's token contains; `owner`: whose grant it asks for;
//!   `verification`: how that is checked when it is opened;
//! - `grant`; `grant_store`: grants in the store; `proof`: what replaces it elsewhere; `access_token`: tokens of grants, and their refresh;
//!   `summary`: what the page of an account shows;
//! - `flow`: the steps of a user and the status for the client; `page`: the HTML.
//!
//! Without the feature `challenges`, only [`Challenge`] is left: no call leads to one.

#[cfg(feature = "challenges")]
mod access_token;
#[cfg(feature = "challenges")]
mod challenges;
#[cfg(feature = "challenges")]
mod claims;
#[cfg(feature = "challenges")]
mod constants;
#[cfg(feature = "challenges")]
mod flow;
#[cfg(feature = "challenges")]
mod grant;
#[cfg(feature = "challenges")]
mod grant_request;
#[cfg(feature = "challenges")]
mod grant_store;
#[cfg(feature = "challenges")]
mod owner;
#[cfg(feature = "challenges")]
mod page;
#[cfg(feature = "challenges")]
mod proof;
#[cfg(feature = "challenges")]
pub(crate) mod routes;
#[cfg(feature = "challenges")]
mod summary;
mod types;
#[cfg(feature = "challenges")]
mod verification;

#[cfg(feature = "challenges")]
pub use challenges::Challenges;
pub use types::Challenge;
#[cfg(feature = "challenges")]
pub(crate) use {
    constants::HELP_PATH,
    flow::DeletionError,
    grant_request::{GrantError, GrantRequest, GrantedToken},
    owner::{Owner, OwnerError},
    page::help,
    verification::Verifiers,
};

#[cfg(feature = "sign-in")]
pub(crate) use summary::GrantSummary;

#[cfg(test)]
#[cfg(feature = "challenges")]
pub(crate) mod tests;
