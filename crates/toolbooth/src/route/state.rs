//! What requests share: the pipeline, who may call, and what the capabilities have created at the start.

use std::sync::{Arc, OnceLock};

use crate::auth::{AuthError, Authenticated, Authenticator, Target};
use crate::call::VisibleTools;
use crate::call::{Pipeline, Rejection};
use crate::capability::{Capabilities, People};
use crate::extensions::Extensions;
use crate::host::{Host, Level};
use crate::http::Headers;
use crate::log::Event;
use crate::principal::{Person, Principal, Scopes};
use crate::settings::Settings;

use super::warnings::warnings;

/// What requests share. It is created once, and does not change.
#[derive(Debug)]
pub struct State {
    pub(crate) capabilities: Capabilities,
    /// Who may call.
    pub authenticator: Authenticator,
    /// What serves calls.
    pub pipeline: Pipeline,
    /// What is missing or invalid and disables tools, for the operator.
    pub(crate) unusable: Vec<String>,
    /// What else the operator should know, although calls can be served: see [`warnings`](Self::warnings).
    pub(crate) warnings: OnceLock<Vec<String>>,
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
            self.log_unauthenticated(error, protocol, host);
            error.into()
        })
    }

    // Out of the code that each first request compiles.
    #[inline(never)]
    fn log_unauthenticated(&self, error: AuthError, protocol: &'static str, host: &dyn Host) {
        let event = match error {
            AuthError::Missing { .. } => Event::CredentialsMissing { protocol },
            // A client learns the nonce in this way: nothing is wrong.
            AuthError::Proof { error: "use_dpop_nonce", .. } => return,
            AuthError::Invalid { reason } | AuthError::Proof { reason, .. } => {
                Event::CredentialsRejected { protocol, reason }
            }
            // The log has the problem already.
            AuthError::KeysUnavailable | AuthError::LedgerUnavailable => return,
        };
        self.pipeline.events.write(&event, host);
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

    /// What the operator should know about a configuration with which calls can be served. No call needs it, so it is
    /// determined, and logged, when it is first asked for.
    pub fn warnings(&self, host: &dyn Host) -> &[String] {
        self.warnings.get_or_init(|| {
            let found = warnings(self, host);
            for warning in &found {
                host.log(Level::Warn, "configuration", &[("warning", warning)]);
            }
            found
        })
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
