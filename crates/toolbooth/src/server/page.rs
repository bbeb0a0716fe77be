//! Pages: lists of tools, documents, and what else `GET` returns without running a tool.

use std::borrow::Cow;

use super::Server;
use crate::auth;
use crate::call::{Rejection, RequestContext};
use crate::host::Host;
use crate::http::{self, Headers, Response};
use crate::log::CallRecorder;
use crate::principal::Principal;
use crate::protocol::{Page, PageError, Protocol};

/// Makes a page for the caller.
type PageHandler = fn(&RequestContext<'_>) -> Result<Page, PageError>;
/// The caching headers of a page.
type Caching = &'static [(&'static str, &'static str)];

/// Caching of a page that is the same for every caller. Caches may keep it but must revalidate it, so
/// that a new deployment takes effect at once.
const SHARED_CACHING: Caching = &[("cache-control", "no-cache")];
/// Caching of a page that depends on the caller.
const PRIVATE_CACHING: Caching = &[("cache-control", "private, no-cache"), ("vary", auth::VARY)];

impl Server {
    /// Serves a page to callers with valid credentials.
    pub(super) async fn list(
        &self,
        protocol: &Protocol,
        handler: PageHandler,
        request: (&str, &dyn Headers),
        host: &dyn Host,
    ) -> Result<Response, Rejection> {
        let principal = self.authenticate(protocol, request.1, host).await?;
        let caching = if self.pipeline.same_for_all { SHARED_CACHING } else { PRIVATE_CACHING };
        self.page(protocol, handler, request, &principal, caching, host)
    }

    /// Serves a page to everyone.
    pub(super) fn public_page(
        &self,
        protocol: &Protocol,
        handler: PageHandler,
        request: (&str, &dyn Headers),
        host: &dyn Host,
    ) -> Result<Response, Rejection> {
        self.page(protocol, handler, request, &Principal::ANONYMOUS, SHARED_CACHING, host)
    }

    /// Responds with a page, or with 304 if the client has the current one.
    fn page(
        &self,
        protocol: &Protocol,
        handler: PageHandler,
        (query, headers): (&str, &dyn Headers),
        principal: &Principal,
        caching: Caching,
        host: &dyn Host,
    ) -> Result<Response, Rejection> {
        (protocol.check_version)(headers)?;
        let pipeline = &self.pipeline;
        let calls = &CallRecorder::default();
        let parameter = "";
        let context =
            RequestContext { query, parameter, headers, principal, pipeline, host, calls };
        let page = match handler(&context) {
            Ok(page) => page,
            Err(PageError::Rejected(rejection)) => return Err(rejection),
            Err(PageError::Response(response)) => return Ok(response),
        };
        let mut response = if http::matches_etag(headers, &page.etag) {
            Response::empty(304)
        } else {
            let body = match page.body {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            };
            let content_type = Cow::Borrowed(page.content_type);
            Response { status: 200, headers: vec![("content-type", content_type)], body }
        };
        response.headers.extend(page.headers);
        response.headers.push(("etag", page.etag));
        response.headers.extend(caching.iter().map(|(name, value)| (*name, Cow::Borrowed(*value))));
        Ok(response)
    }
}
