//! Replaces `grants` without the feature `challenges`: no call uses a grant, clients send every token.

use std::marker::PhantomData;

use crate::catalog::{Authorization, Tool};
use crate::challenge::Challenge;
use crate::host::Host;
use crate::secret::Secret;
use crate::tool::Credentials;

use super::pipeline::RequestContext;
use super::rejection::Rejection;

/// The result of a lookup of the user's grant.
pub(super) enum Granted {
    /// No provider is configured.
    NotConfigured,
}

/// The grants that a call uses.
#[derive(Default)]
pub(super) struct UsedGrants<'a>(PhantomData<&'a ()>);

pub(super) fn is_proof(_: &Secret) -> bool {
    false
}

impl<'a> UsedGrants<'a> {
    pub(super) async fn token(
        &mut self,
        _: &'static Authorization,
        _: &Tool,
        _: &mut Credentials,
        _: RequestContext<'a>,
    ) -> Result<Granted, Rejection> {
        Ok(Granted::NotConfigured)
    }

    pub(super) fn renew(
        &self,
        _: &str,
        _: &Tool,
        _: &dyn Host,
    ) -> Result<Option<Challenge>, Rejection> {
        Ok(None)
    }
}
