//! Requests whose query is the call of a tool.

use super::Server;
use crate::call::{Rejection, RequestContext};
use crate::host::Host;
use crate::http::{Headers, Response};
use crate::protocol::{Protocol, QueryHandler};

impl Server {
    /// Serves the call in a query.
    pub(super) async fn query(
        &self,
        protocol: &Protocol,
        handler: QueryHandler,
        (query, parameter, headers): (&str, &str, &dyn Headers),
        host: &dyn Host,
    ) -> Result<Response, Rejection> {
        // Another page's GET without CORS, such as that of an image, has no `Origin`.
        let is_foreign = headers
            .get("sec-fetch-site")
            .is_some_and(|site| matches!(&*site, "cross-site" | "same-site"));
        if is_foreign && headers.get("origin").is_none() {
            return Err(Rejection::ForbiddenOrigin);
        }
        let principal = &self.authenticate(protocol, headers, host).await?;
        (protocol.check_version)(headers)?;
        let recorder = self.pipeline.events.recorder(headers, host);
        let (pipeline, calls) = (&self.pipeline, &recorder);
        let context =
            RequestContext { query, parameter, headers, principal, pipeline, host, calls };
        let response = match handler(context).await {
            Ok(response) => response,
            Err(rejection) => {
                recorder.reject_all(rejection.describe().kind.code(), host);
                self.encode_rejection(protocol, &rejection, &[])
            }
        };
        Ok(self.report(recorder, (protocol, principal), query.len(), response, host))
    }
}
