//! The steps of a challenge: consent page, provider, callback, status; and the deletion of a grant.

mod callback;
mod consent;
mod deletion;
mod error;
mod shared;
mod status;

pub(crate) use deletion::DeletionError;
