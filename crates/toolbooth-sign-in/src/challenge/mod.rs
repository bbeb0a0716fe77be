//! Authorization challenges: ask users to grant the server access at a provider, and keep the grants.
//!
//! A call that requires a user's authorization is answered with a challenge (OXP call-tool, "Tool
//! Authorization Challenges"): a URL where the user can grant it, and one that returns its status. A
//! pending challenge is a sealed token and is stored nowhere; the store holds encrypted grants, and
//! challenges that have failed. docs/STORAGE.md describes what happens if the store is a minute behind.
//!
//! - `challenges`: issues them; `constants`; `settings`; `claims`: what a challenge's token contains; `owner`: whose grant it asks for;
//!   `verification`: how that is checked when it is opened;
//! - `grant`; `grant_store`: grants in the store; `proof`: what replaces it elsewhere; `access_token`: tokens of grants, and their refresh;
//!   `summary`: what the page of an account shows;
//! - `flow`: the steps of a user and the status for the client; `page`: the HTML.

mod access_token;
mod challenges;
mod claims;
mod constants;
mod event;
mod flow;
mod grant;
mod grant_store;
mod owner;
mod page;
mod proof;
pub(crate) mod routes;
mod settings;
mod summary;
mod verification;
mod warnings;

pub(crate) use challenges::Challenges;
pub(crate) use {
    constants::HELP_PATH, flow::DeletionError, owner::Owner, page::help, verification::Verifiers,
};

pub(crate) use summary::{GrantSummary, newest};

#[cfg(test)]
pub(crate) mod tests;
