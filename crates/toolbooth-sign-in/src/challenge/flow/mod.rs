//! The steps of a challenge: visitor, consent page, provider, callback, status; and the deletion of a grant.

mod callback;
mod confirmation;
mod consent;
mod deletion;
mod error;
mod shared;
mod status;
mod visitor;

pub(super) use consent::DENY;
pub(crate) use deletion::DeletionError;
pub(super) use visitor::Visitor;
