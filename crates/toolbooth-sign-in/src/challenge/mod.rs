//! Authorization challenges: ask users to grant the server access at a provider, and keep the grants.
//!
//! A call that requires a user's authorization is answered with a challenge (OXP call-tool, "Tool
//! Authorization Challenges"): a URL where the user can grant it, and one that returns its status. A
//! pending challenge is a sealed token and is stored nowhere; the store holds encrypted grants, and
//! challenges that have failed. docs/STORAGE.md describes what happens if the store is a minute behind.
//!
//! - `challenges`: issues them; `settings`; `claims`: what a challenge's token contains; `owner`: whose grant it asks
//!   for; `verification`: how that is checked when it is opened;
//! - `grant`; `grant_store`: grants in the store; `user_grants`: those of a user;
//! - `flow`: the steps of a user and the status for the client; `page`: the HTML;
//! - `routes`; `warnings`: about the configuration; `event`: what is logged.

mod challenges;
mod claims;
mod event;
mod flow;
mod grant;
mod grant_store;
mod owner;
mod page;
pub(crate) mod routes;
mod settings;
mod user_grants;
mod verification;
mod warnings;

use claims::ChallengeClaims;
use event::{Event, GrantEvent};
use grant::Grant;
use settings::ChallengeSettings;
use verification::{Verification, Verifiers};

pub(crate) use challenges::Challenges;
pub(crate) use owner::Owner;
pub(crate) use user_grants::{GrantSummary, newest};

/// How long a client may ask for the status of a challenge.
const LIFE_MS: u64 = 15 * 60 * 1000;
/// How long before that end the user must be done, so that the client still gets the result from a
/// store that is a minute behind.
const LAG_MS: u64 = 2 * 60 * 1000;

#[cfg(test)]
pub(crate) mod tests;
