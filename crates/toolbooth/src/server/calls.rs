//! The log of the calls of a request, and its trace.

use super::Server;
use crate::http::Response;
use crate::log::CallRequest;
use crate::route::RouteRequest;

impl Server {
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
        let events = &self.state.pipeline.events;
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
