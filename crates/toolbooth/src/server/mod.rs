//! The server: routes a request, authenticates the caller, and runs the handler.

mod calls;
#[cfg(feature = "challenges")]
mod consent;
#[cfg(feature = "gateway")]
mod gateway;
mod health;
mod page;
#[cfg(feature = "rest")]
mod query;
mod router;
#[cfg(feature = "sign-in")]
mod sign_in;
mod warnings;

use std::borrow::Cow;

use crate::auth::Authenticator;
use crate::call::{Pipeline, Rejection, RequestContext};
use crate::catalog::Catalog;
#[cfg(feature = "challenges")]
use crate::challenge::{Challenges, Verifiers};
use crate::host::{BoxFuture, Host, Level, RATE_LIMIT, boxed};
use crate::http::{
    self, Answer, Body, BodyError, BodyStream, Headers, Method, Origins, Request, Response,
};
use crate::json;
use crate::log::EventLog;
#[cfg(any(feature = "gateway", feature = "mcp"))]
use crate::oauth::RequestStateCodec;
use crate::protocol::{
    CallHandler, Cors, EncodeRejection, Handler, MAX_ID_BYTES, PostRequest, Protocol, request_id,
};
use crate::settings::Settings;
#[cfg(feature = "sign-in")]
use crate::sign_in::SignIn;
use router::Match;

/// The server: a catalogue with its settings.
#[derive(Debug)]
pub struct Server {
    authenticator: Authenticator,
    pipeline: Pipeline,
    /// Where people sign in, if they can.
    #[cfg(feature = "sign-in")]
    sign_in: Option<SignIn>,
    /// What the operator should know, although calls can be served.
    warnings: Vec<String>,
}

/// The body of a request, as far as it has been read.
struct Received<'a> {
    /// All bytes, or none if there is a `rest`.
    bytes: Vec<u8>,
    /// The body, if it has not been read yet.
    rest: Option<&'a dyn BodyStream>,
}

impl Server {
    /// Creates a server for `catalog`, configured by the host's variables. Logs each problem of the configuration, or
    /// each warning if there is no problem.
    pub fn new(catalog: &'static Catalog, host: &dyn Host) -> Self {
        let settings = Settings::read(host, catalog.variables);
        let events = EventLog::new(&settings, host);
        #[cfg(all(feature = "sign-in", feature = "gateway"))]
        let has_models = !settings.gateway.providers.is_empty();
        #[cfg(all(feature = "sign-in", not(feature = "gateway")))]
        let has_models = false;
        #[cfg(feature = "sign-in")]
        let sign_in = settings
            .sign_in
            .as_ref()
            .map(|it| SignIn::new(it, catalog.scopes(), has_models, events.clone()));
        #[cfg(feature = "sign-in")]
        let own_tokens = sign_in.as_ref().map(SignIn::own_tokens);
        #[cfg(not(feature = "sign-in"))]
        let own_tokens = None;
        let authenticator = Authenticator::new(&settings.auth, own_tokens.as_ref());
        let mut disabled = settings.rejected.clone();
        disabled.extend(settings.tools.problems(catalog.tools, host));
        for problem in settings.problems.iter().chain(&disabled) {
            host.log(Level::Error, "configuration", &[("problem", problem)]);
        }
        let mut warnings = match settings.problems.as_slice() {
            [] => warnings::warnings(catalog, &settings, host),
            _ => Vec::new(),
        };
        for warning in &warnings {
            host.log(Level::Warn, "configuration", &[("warning", warning)]);
        }
        warnings.extend(disabled);
        #[cfg(feature = "challenges")]
        let challenges = settings.consent.as_ref().map(|consent| {
            let verifiers = Verifiers {
                #[cfg(feature = "sign-in")]
                issuers: sign_in.as_ref().map(SignIn::issuers).unwrap_or_default(),
                #[cfg(not(feature = "sign-in"))]
                issuers: Vec::new(),
                api_keys: settings.auth.api_keys.clone().unwrap_or_default(),
                allows_unverified: consent.allows_unverified,
            };
            Challenges::new(consent, verifiers, events.clone())
        });
        let pipeline = Pipeline {
            catalog,
            #[cfg(feature = "challenges")]
            challenges,
            events,
            #[cfg(any(feature = "gateway", feature = "mcp"))]
            request_state: settings.state_keys.as_ref().map(RequestStateCodec::new),
            settings,
            rate_limited: host.is_limited(RATE_LIMIT),
            same_for_all: authenticator.is_same_for_all(),
        };
        Self {
            authenticator,
            pipeline,
            #[cfg(feature = "sign-in")]
            sign_in,
            warnings,
        }
    }

    /// Serves one request. Every error becomes a response.
    pub async fn answer<'a>(&'a self, request: Request<'a>, host: &'a dyn Host) -> Answer<'a> {
        let found = router::find(request.path);
        let Match { protocol, .. } = found;
        let Request { method, query, own_origin, headers, body, .. } = request;
        let mut received = match body {
            Body::Read(bytes) => Received { bytes, rest: None },
            Body::Unread(stream) => Received { bytes: Vec::new(), rest: Some(stream) },
        };
        // Only browsers send `Origin`. Without TLS, `Host` and the request's URL cannot be compared with it: after DNS
        // rebinding, both contain the name that the page chose. The server's own pages need no CORS.
        let origin = headers.get("origin").filter(|origin| Some(origin.as_str()) != own_origin);
        let origins = self.origins(protocol.cors);
        let forbidden = match (&origin, origins) {
            (Some(origin), Some(origins)) => !origins.allow(origin),
            _ => false,
        };
        let response = if forbidden {
            Err(Rejection::ForbiddenOrigin)
        } else if method == Method::Options {
            options(found, headers, origin.is_some() && origins.is_some()).map(Answer::from)
        } else {
            let request = (method, origin.as_deref(), query, headers);
            self.handle(found, request, &mut received, host).await
        };
        let Answer { head, rest } = match response {
            Ok(answer) => answer,
            Err(rejection) => self.reject(protocol, &rejection, method, &received).await.into(),
        };
        let mut head = self.finish(protocol, origin, head);
        if method == Method::Head {
            head.body = (&[]).into();
        }
        Answer { head, rest }
    }

    #[cfg(test)]
    pub(crate) fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// The response to a request that panicked. `start` is the beginning of its body, as far as it is known.
    pub fn failed(&self, path: &str, headers: &dyn Headers, start: &[u8]) -> Response {
        let protocol = router::find(path).protocol;
        let response = self.encode_rejection(protocol, &Rejection::Internal, start);
        self.finish(protocol, headers.get("origin"), response)
    }

    /// The response to a rejected request.
    async fn reject(
        &self,
        protocol: &Protocol,
        rejection: &Rejection,
        method: Method,
        received: &Received<'_>,
    ) -> Response {
        match (protocol.encode_rejection, received.rest) {
            (EncodeRejection::WithId(_), Some(body)) if method == Method::Post => {
                let start = boxed(body.start(MAX_ID_BYTES)).await;
                self.encode_rejection(protocol, rejection, &start)
            }
            _ => self.encode_rejection(protocol, rejection, &received.bytes),
        }
    }

    fn encode_rejection(
        &self,
        protocol: &Protocol,
        rejection: &Rejection,
        start: &[u8],
    ) -> Response {
        match protocol.encode_rejection {
            EncodeRejection::Plain(encode) => encode(rejection, &self.pipeline),
            EncodeRejection::WithId(encode) => {
                encode(rejection, request_id(start).as_ref(), &self.pipeline)
            }
        }
    }

    /// Adds the headers that every response of the protocol has.
    fn finish(
        &self,
        protocol: &'static Protocol,
        origin: Option<String>,
        mut response: Response,
    ) -> Response {
        let own = protocol.response_headers.iter();
        response.headers.extend(own.map(|(name, value)| (*name, Cow::Borrowed(*value))));
        match self.origins(protocol.cors) {
            Some(origins) => http::cross_origin(response, origin, origins),
            None if protocol.cors == Cors::AnyPage => http::any_page(response),
            None => response,
        }
    }

    /// The allowed origins; `None` if the protocol allows every page, or pages of the server only.
    fn origins(&self, cors: Cors) -> Option<&Origins> {
        match cors {
            Cors::Configured => Some(self.pipeline.settings.cors.origins(false)),
            Cors::WebClients => Some(self.pipeline.settings.cors.origins(true)),
            Cors::AnyPage | Cors::SameOrigin => None,
        }
    }

    /// Runs the handler of a request other than `OPTIONS`. `origin` is that of the page that sent it, unless the page
    /// is one of the server's own.
    async fn handle<'a>(
        &'a self,
        found: Match<'a>,
        (method, origin, query, headers): (Method, Option<&str>, &'a str, &'a dyn Headers),
        body: &mut Received<'_>,
        host: &'a dyn Host,
    ) -> Result<Answer<'a>, Rejection> {
        #[cfg(not(feature = "challenges"))]
        let _ = origin;
        let Match { protocol, .. } = found;
        let route = found.route.ok_or_else(|| found.not_found())?;
        let not_allowed = || Rejection::MethodNotAllowed { allow: route.allow() };
        let response = match route.handler(method).ok_or_else(not_allowed)? {
            Handler::Call(handler) => {
                let (query, pipeline, parameter) = (query, &self.pipeline, found.parameter);
                // A caller without valid credentials gets 401 before the body is read.
                let principal = &self.authenticate(protocol, headers, host).await?;
                let calls = self.pipeline.events.recorder(headers, host);
                let response = match self.receive(body).await {
                    Err(rejection) => Err(rejection),
                    Ok(()) => {
                        let calls = &calls;
                        let context = RequestContext {
                            query,
                            parameter,
                            headers,
                            principal,
                            pipeline,
                            host,
                            calls,
                        };
                        match self.post(protocol, &body.bytes, context, *handler) {
                            Err(rejection) => Err(rejection),
                            Ok(response) => response.await,
                        }
                    }
                };
                let response = match response {
                    Ok(response) => response,
                    Err(rejection) => {
                        calls.reject_all(rejection.describe().kind.code(), host);
                        self.reject(protocol, &rejection, method, body).await
                    }
                };
                Ok(self.report(calls, (protocol, principal), body.bytes.len(), response, host))
            }
            #[cfg(feature = "rest")]
            Handler::Query(handler) => {
                let request = (query, found.parameter, headers);
                boxed(self.query(protocol, *handler, request, host)).await
            }
            Handler::List(page) => self.list(protocol, *page, (query, headers), host).await,
            Handler::Public(page) => self.public_page(protocol, *page, (query, headers), host),
            Handler::Health => {
                (protocol.check_version)(headers)?;
                Ok(boxed(self.health(headers, host)).await)
            }
            #[cfg(feature = "challenges")]
            Handler::Consent(handler) => {
                let parameter = found.parameter;
                let request = (origin, query, headers);
                boxed(self.consent(protocol, (*handler, parameter), request, body, host)).await
            }
            #[cfg(feature = "gateway")]
            Handler::Gateway(handler) => {
                return boxed(self.gateway(protocol, *handler, headers, body, host)).await;
            }
            #[cfg(feature = "sign-in")]
            Handler::SignIn(handler) => {
                boxed(self.sign_in(*handler, (query, headers), body, host)).await
            }
            #[cfg(feature = "challenges")]
            Handler::AuthorizationHelp => self.authorization_help(found.parameter),
            Handler::NotServed(reason) => Err(Rejection::NotServed(reason)),
            Handler::NotAllowed => {
                self.authenticate(protocol, headers, host).await?;
                Err(not_allowed())
            }
        };
        response.map(Answer::from)
    }

    /// Reads the whole body.
    ///
    /// # Errors
    /// The body is too large or incomplete.
    async fn receive(&self, body: &mut Received<'_>) -> Result<(), Rejection> {
        let limit = self.pipeline.settings.limits.max_body_bytes;
        let read = match body.rest {
            None if body.bytes.len() > limit => Err(BodyError::TooLarge),
            None => return Ok(()),
            Some(stream) => boxed(stream.read(limit)).await,
        };
        let bytes = read.map_err(|error| match error {
            BodyError::TooLarge => Rejection::PayloadTooLarge { limit },
            BodyError::Incomplete => Rejection::InvalidJson("the body is incomplete".to_owned()),
        })?;
        *body = Received { bytes, rest: None };
        Ok(())
    }

    /// Checks the content type, the JSON and the version, as in all protocols, and starts the handler.
    fn post<'a>(
        &self,
        protocol: &Protocol,
        body: &'a [u8],
        context: RequestContext<'a>,
        handler: CallHandler,
    ) -> Result<BoxFuture<'a, Result<Response, Rejection>>, Rejection> {
        if !http::is_json(context.headers) {
            return Err(Rejection::UnsupportedMediaType);
        }
        let text = str::from_utf8(body)
            .map_err(|_| Rejection::InvalidJson("the body is not UTF-8".to_owned()))?;
        let body = json::parse(text).map_err(|error| Rejection::InvalidJson(error.to_string()))?;
        (protocol.check_version)(context.headers)?;
        Ok(handler(PostRequest { body, context }))
    }
}

/// Responds to `OPTIONS`: a preflight, or a request for the allowed methods.
fn options(
    found: Match<'_>,
    headers: &dyn Headers,
    is_cross_origin: bool,
) -> Result<Response, Rejection> {
    if is_cross_origin && let Some(response) = http::preflight(headers) {
        return Ok(response);
    }
    let route = found.route.ok_or_else(|| found.not_found())?;
    let response = Response::empty(204).with("allow", route.allow());
    Ok(if found.protocol.cors == Cors::AnyPage {
        http::any_page_preflight(response)
    } else {
        response
    })
}

#[cfg(test)]
pub(crate) mod tests;
