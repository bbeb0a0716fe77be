//! Who calls and which tools may be called; the log of the calls of a request, and its trace.

use super::Server;
use crate::auth::AuthError;
#[cfg(feature = "challenges")]
use crate::call::Pipeline;
use crate::call::Rejection;
#[cfg(feature = "challenges")]
use crate::call::VisibleTools;
use crate::host::Host;
use crate::http::{Headers, Response};
use crate::log::{CallRequest, Event};
#[cfg(feature = "challenges")]
use crate::principal::Person;
use crate::principal::Principal;
use crate::route::{Protocol, RouteRequest};

impl Server {
    /// Authenticates the caller. Logs credentials that are rejected.
    pub(super) async fn authenticate(
        &self,
        protocol: &Protocol,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Principal, Rejection> {
        let principal = self.authenticator.authenticate(headers, host).await;
        principal.map_err(|error| {
            let protocol = protocol.name;
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

    /// Who has signed in with a browser.
    #[cfg(feature = "challenges")]
    pub(crate) async fn person(&self, headers: &dyn Headers, host: &dyn Host) -> Option<Person> {
        #[cfg(feature = "sign-in")]
        return match &self.sign_in {
            Some(sign_in) => sign_in.person(headers, host).await,
            None => None,
        };
        #[cfg(not(feature = "sign-in"))]
        {
            let _ = (headers, host);
            None
        }
    }

    /// Logs and measures the calls of a request, and tells the client of a trace how long they took.
    pub(super) fn report(&self, request: RouteRequest<'_>, response: Response) -> Response {
        let RouteRequest { calls, host, .. } = request;
        let response = if calls.is_traced() {
            // In milliseconds (Server Timing, 3).
            response.with("server-timing", format!("total;dur={}", calls.elapsed_ms(host)))
        } else {
            response
        };
        if calls.is_empty() {
            return response;
        }
        let events = &self.pipeline.events;
        let caller = events.caller(&request.principal);
        let request_size =
            if request.body.is_empty() { request.query.len() } else { request.body.len() };
        let report = CallRequest {
            protocol: request.protocol.name,
            caller: &caller,
            mcp: calls.mcp(),
            request_size,
            response_size: response.body.len(),
            status: response.status,
        };
        events.write_calls(calls, report, host);
        response
    }
}
