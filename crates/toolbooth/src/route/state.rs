//! What requests share: the pipeline, who may call, and what the capabilities have created at the start.

use std::any::Any;
use std::fmt;

use crate::auth::{AuthError, Authenticator};
#[cfg(feature = "challenges")]
use crate::call::VisibleTools;
use crate::call::{Pipeline, Rejection};
use crate::capability::Capabilities;
use crate::host::Host;
use crate::http::Headers;
use crate::log::Event;
use crate::principal::Principal;

/// What requests share. It is created once, and does not change.
#[derive(Debug)]
pub struct State {
    /// What the server serves.
    pub(crate) capabilities: Capabilities,
    /// The capabilities of which a variable is missing or invalid.
    pub(crate) disabled: Vec<&'static str>,
    pub(crate) authenticator: Authenticator,
    pub(crate) pipeline: Pipeline,
    /// What the operator should know, although calls can be served.
    pub(crate) warnings: Vec<String>,
    /// What capabilities keep.
    pub(crate) extensions: Extensions,
}

/// Values by their types, as in the crate `http`: at most one of each type.
#[derive(Default)]
pub(crate) struct Extensions(Vec<Box<dyn Any + Send + Sync>>);

impl Extensions {
    pub(crate) fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.0.push(Box::new(value));
    }

    pub(crate) fn get<T: 'static>(&self) -> Option<&T> {
        self.0.iter().find_map(|value| value.downcast_ref())
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Extensions({})", self.0.len())
    }
}

impl State {
    /// Authenticates the caller. Logs credentials that are rejected for the protocol of this name.
    pub(crate) async fn authenticate(
        &self,
        protocol: &'static str,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Principal, Rejection> {
        let principal = self.authenticator.authenticate(headers, host).await;
        principal.map_err(|error| {
            let events = &self.pipeline.events;
            match error {
                AuthError::Missing { .. } => {
                    events.write(&Event::CredentialsMissing { protocol }, host);
                }
                AuthError::Invalid { reason } => {
                    events.write(&Event::CredentialsRejected { protocol, reason }, host);
                }
                // The log has the problem already.
                AuthError::KeysUnavailable => {}
            }
            error.into()
        })
    }

    /// The sender of a request, if it may send one. Rejected credentials are not logged.
    pub(crate) async fn caller(&self, headers: &dyn Headers, host: &dyn Host) -> Option<Principal> {
        self.authenticator.authenticate(headers, host).await.ok()
    }

    /// The tools, as callers see them.
    #[cfg(feature = "challenges")]
    pub(crate) fn tools(&self) -> VisibleTools<'_> {
        let Pipeline { catalog, settings, .. } = &self.pipeline;
        VisibleTools { catalog, settings }
    }
}
