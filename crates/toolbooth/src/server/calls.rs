//! Logs and measures the calls of a request, and answers its trace.

use super::Server;
use crate::auth::AuthError;
use crate::call::Rejection;
use crate::host::Host;
use crate::http::{Headers, Response};
use crate::log::{CallRecorder, CallRequest, Event};
use crate::principal::Principal;
use crate::protocol::Protocol;

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

    /// Logs and measures the calls of a request, and tells the client of a trace how long they took.
    pub(super) fn report(
        &self,
        calls: CallRecorder,
        (protocol, principal): (&Protocol, &Principal),
        request_size: usize,
        response: Response,
        host: &dyn Host,
    ) -> Response {
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
        let caller = events.caller(principal);
        let request = CallRequest {
            protocol: protocol.name,
            caller: &caller,
            mcp: calls.mcp(),
            request_size,
            response_size: response.body.len(),
            status: response.status,
        };
        events.write_calls(calls, request, host);
        response
    }
}
