//! What requests share: the pipeline, who may call, and what the capabilities have created at the start.

use std::sync::Arc;

use crate::auth::{AuthError, Authenticated, Authenticator, Target};
use crate::call::VisibleTools;
use crate::call::{Pipeline, Rejection};
use crate::capability::{Capabilities, People};
use crate::extensions::Extensions;
use crate::host::Host;
use crate::http::Headers;
use crate::log::Event;
use crate::principal::{Person, Principal, Scopes};
use crate::settings::Settings;

/// What requests share. It is created once, and does not change.
#[derive(Debug)]
pub struct State {
    pub(crate) capabilities: Capabilities,
    /// The capabilities of which a variable is missing or invalid.
    pub(crate) disabled: Vec<&'static str>,
    /// Who may call.
    pub authenticator: Authenticator,
    /// What serves calls.
    pub pipeline: Pipeline,
    /// What the operator should know, although calls can be served.
    pub warnings: Vec<String>,
    /// The people who sign in with a browser, if they can.
    pub people: Option<Arc<dyn People>>,
    /// What capabilities keep for their requests.
    pub extensions: Extensions,
}

impl State {
    /// Authenticates the caller. Logs credentials that are rejected for the protocol of this name.
    pub(crate) async fn authenticate(
        &self,
        protocol: &'static str,
        target: Target<'_>,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Authenticated, Rejection> {
        let authenticated = self.authenticator.authenticate(target, headers, host).await;
        authenticated.map_err(|error| {
            let events = &self.pipeline.events;
            match error {
                AuthError::Missing { .. } => {
                    events.write(&Event::CredentialsMissing { protocol }, host);
                }
                // A client learns the nonce in this way: nothing is wrong.
                AuthError::Proof { error: "use_dpop_nonce", .. } => {}
                AuthError::Invalid { reason } | AuthError::Proof { reason, .. } => {
                    events.write(&Event::CredentialsRejected { protocol, reason }, host);
                }
                // The log has the problem already.
                AuthError::KeysUnavailable | AuthError::LedgerUnavailable => {}
            }
            error.into()
        })
    }

    /// The sender of a request, if it may send one. Rejected credentials are not logged.
    pub(crate) async fn caller(
        &self,
        target: Target<'_>,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Option<Principal> {
        let authenticated = self.authenticator.authenticate(target, headers, host).await;
        authenticated.ok().map(|it| it.principal)
    }

    /// The person who has signed in with the browser that sent a request.
    pub async fn person(&self, headers: &dyn Headers, host: &dyn Host) -> Option<Person> {
        self.people.as_ref()?.person(headers, host).await
    }

    /// The scopes in `scopes` that neither a tool nor a capability requires: probably misspelled.
    pub fn unknown_scopes<'s>(&self, scopes: &'s Scopes) -> impl Iterator<Item = &'s String> {
        let listed = match scopes {
            Scopes::All => &[][..],
            Scopes::Listed(listed) => listed,
        };
        let known: Vec<_> =
            self.pipeline.catalog.scopes().into_iter().chain(self.capabilities.scopes()).collect();
        listed.iter().filter(move |scope| !known.contains(&scope.as_str()))
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.pipeline.settings
    }

    /// The tools, as callers see them.
    pub fn tools(&self) -> VisibleTools<'_> {
        let Pipeline { catalog, settings, .. } = &self.pipeline;
        VisibleTools { catalog, settings }
    }
}
