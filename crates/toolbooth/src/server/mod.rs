//! The server: routes a request, authenticates the caller, and runs the handler.

mod policy;
#[doc(hidden)]
pub mod router;

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::OnceLock;

use crate::auth::{Authenticator, Target};
use crate::call::{Pipeline, Rejection, misconfigured};
use crate::capability::{Capabilities, Capability, Startup};
use crate::catalog::Catalog;
use crate::extensions::Extensions;
use crate::host::{Host, LEDGER, Level, RATE_LIMIT, StepReport, async_trait, boxed};
use crate::http::{
    self, Answer, Body, BodySink, BodyWriter, ClientGone, Headers, Method, Origins, Request,
    Response,
};
use crate::json;
use crate::log::{CallRecorder, CallRequest, EventLog};
use crate::principal::Principal;
use crate::route::{
    Cors, EncodeRejection, ErrorForm, MAX_ID_BYTES, Protocol, Route, RouteRequest, State,
};
use crate::seal::StateKeys;
use crate::settings::Settings;
use router::Match;

/// The server: a catalogue with its settings.
#[derive(Debug)]
pub struct Server {
    state: State,
}

impl Server {
    /// Creates a server for `catalog` with these capabilities, configured by the host's variables. Logs each problem of
    /// the configuration; [`log_warnings`](Self::log_warnings) has the rest.
    pub fn new(
        catalog: &'static Catalog,
        capabilities: &'static [&'static Capability],
        host: &dyn Host,
    ) -> Self {
        let capabilities = Capabilities(capabilities);
        let declared = capabilities.iter().flat_map(|it| it.variables).chain(catalog.variables);
        let mut settings = Settings::read(host, &capabilities.settings(), declared);
        if !settings.budgeted.is_empty() && !host.is_bound(LEDGER) {
            reject_budgets(&mut settings);
        }
        let events = EventLog::new(&settings, host);
        let mut startup = Startup {
            catalog,
            settings: &settings,
            events: &events,
            extensions: Extensions::default(),
            own_tokens: None,
            grants: None,
            authorization_help: None,
            people: None,
            search: None,
            tasks: None,
        };
        for start in capabilities.iter().filter_map(|it| it.start) {
            start(&mut startup);
        }
        let Startup {
            extensions,
            own_tokens,
            grants,
            authorization_help,
            people,
            search,
            tasks,
            ..
        } = startup;
        let authenticator = Authenticator::new(&settings, own_tokens.as_ref());
        let unusable = settings.tools.problems(catalog.tools, &capabilities.variables(), host);
        // What each problem stops.
        for (affected, problems) in
            [("calls", &settings.problems), ("entry", &settings.rejected), ("tools", &unusable)]
        {
            for problem in problems {
                log_problem(problem, affected, host);
            }
        }
        let pipeline = Pipeline {
            catalog,
            grants,
            holders: own_tokens.map(|own| own.holders),
            authorization_help,
            search,
            tasks,
            background: capabilities.all(|it| it.background),
            call_forms: capabilities.all(|it| it.call_forms),
            events,
            request_state: settings.state_keys.as_ref().map(StateKeys::new),
            settings,
            rate_limited: host.is_limited(RATE_LIMIT),
            same_for_all: authenticator.is_same_for_all(),
        };
        let warnings = OnceLock::new();
        let state =
            State { capabilities, authenticator, pipeline, unusable, warnings, people, extensions };
        Self { state }
    }

    /// Logs what the operator should know about a configuration with which calls can be served, unless it has been logged. Call
    /// it after the first response, which need not wait for it.
    pub fn log_warnings(&self, host: &dyn Host) {
        self.state.warnings(host);
    }

    /// Serves one request. Every error becomes a response.
    pub async fn answer<'a>(&'a self, request: Request<'a>, host: &'a dyn Host) -> Answer<'a> {
        let Request { method, path, query, own_origin, headers, body } = request;
        let found = router::find(self.state.capabilities, path);
        let protocol = found.protocol;
        let (body, unread) = match body {
            Body::Read(bytes) => (bytes, None),
            Body::Unread(stream) => (Vec::new(), Some(stream)),
        };
        let mut request = RouteRequest {
            query,
            target: Target { method: method.name(), path },
            parameter: found.parameter,
            headers,
            // Only browsers send `Origin`. Without TLS, `Host` and the request's URL cannot be compared with it: after
            // DNS rebinding, both contain the name that the page chose. The server's own pages need no CORS.
            origin: headers.get("origin").filter(|origin| Some(origin.as_str()) != own_origin),
            principal: Principal::ANONYMOUS,
            body,
            unread,
            state: &self.state,
            host,
            calls: CallRecorder::default(),
            proves_possession: false,
            capability: found.capability,
            protocol,
            route: None,
        };
        let origins = self.origins(protocol.cors);
        let forbidden = match (&request.origin, origins) {
            (Some(origin), Some(origins)) => !origins.allow(origin),
            _ => false,
        };
        let admitted = if forbidden {
            request.log_rejection(&Rejection::ForbiddenOrigin);
            Err(Rejection::ForbiddenOrigin)
        } else if method == Method::Options {
            let is_cross_origin = request.origin.is_some() && origins.is_some();
            let response = boxed(self.options(found, is_cross_origin, &mut request)).await;
            response.map(Admitted::Answered)
        } else {
            match found.route(method) {
                Ok(_) if self.state.settings().tools.disables(found.capability.variables) => {
                    Err(misconfigured())
                }
                Ok(route) => {
                    request.route = Some(route);
                    self.enforce(route, &mut request).await.map(|()| Admitted::To(route))
                }
                Err(rejection) => Err(rejection),
            }
        };
        // What answers it in a stream keeps it until the stream ends.
        let request = Rc::new(request);
        let answer = match admitted {
            Ok(Admitted::To(route)) => policy::serve(route, &request).await,
            Ok(Admitted::Answered(response)) => Ok(response.into()),
            Err(rejection) => Err(rejection),
        };
        let Answer { head, rest } = match answer {
            Ok(answer) => answer,
            Err(rejection) => boxed(self.reject(&rejection, method, &request)).await.into(),
        };
        let origin = request.origin.clone();
        let proofs = self.state.authenticator.proofs().filter(|_| request.proves_possession);
        let head = match proofs {
            Some(proofs) => head.with("dpop-nonce", proofs.nonce(host)),
            None => head,
        };
        let (head, rest) = match rest {
            None => (self.report(&request, head), None),
            Some(write) => {
                let written = self.report_stream(request, (head.status, head.body.len()), write);
                (head, Some(written))
            }
        };
        let mut head = self.finish(protocol, origin, head);
        if method == Method::Head {
            head.body = (&[]).into();
        }
        Answer { head, rest }
    }

    /// Runs a step of a task ([`TaskStep`](crate::host::TaskStep) as JSON), and returns what follows
    /// ([`StepReport`](crate::host::StepReport) as JSON).
    pub async fn run_step(&self, step: &str, host: &dyn Host) -> String {
        let pipeline = &self.state.pipeline;
        let report = match (&pipeline.tasks, json::read(step.as_bytes())) {
            (Some(tasks), Some(step)) => (tasks.run_step)(pipeline, step, host).await,
            _ => StepReport::End { outcome: None, failed: true, message: None },
        };
        json::to_string(&report)
    }

    /// What its requests share.
    #[cfg(any(test, feature = "testing"))]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Responds to a preflight, or to a request for the allowed methods. Some depend on who asks.
    async fn options(
        &self,
        found: Match<'_>,
        is_cross_origin: bool,
        request: &mut RouteRequest<'_>,
    ) -> Result<Response, Rejection> {
        if is_cross_origin
            && let Some(response) =
                http::preflight(request.headers, &self.state.settings().cors.headers)
        {
            return Ok(response);
        }
        let caller = self.state.caller(request.target, request.headers, request.host).await;
        let is_known = caller.is_some();
        request.principal = caller.unwrap_or(Principal::ANONYMOUS);
        let known: Option<&RouteRequest<'_>> = is_known.then_some(request);
        let response = Response::empty(204).with("allow", found.allow(known)?);
        Ok(if found.protocol.cors == Cors::AnyPage {
            http::any_page_preflight(response)
        } else {
            response
        })
    }

    /// The response to a request that panicked. `start` is the beginning of its body, as far as it is known.
    pub fn failed(&self, path: &str, headers: &dyn Headers, start: &[u8]) -> Response {
        let protocol = router::find(self.state.capabilities, path).protocol;
        let response = self.encode_rejection(protocol, &Rejection::Internal, start);
        self.finish(protocol, headers.get("origin"), response)
    }

    async fn reject(
        &self,
        rejection: &Rejection,
        method: Method,
        request: &RouteRequest<'_>,
    ) -> Response {
        if let Some(ErrorForm::Page(page)) = request.route.map(|route| route.policy.errors)
            && let Some(mut page) = page(rejection, request)
        {
            page.headers.extend(rejection.header().map(|(name, value)| (name, value.into())));
            return page;
        }
        let protocol = request.protocol;
        match (protocol.encode_rejection, request.unread) {
            (EncodeRejection::WithId(_), Some(body)) if method == Method::Post => {
                let start = boxed(body.start(MAX_ID_BYTES)).await;
                self.encode_rejection(protocol, rejection, &start)
            }
            _ => self.encode_rejection(protocol, rejection, &request.body),
        }
    }

    fn encode_rejection(
        &self,
        protocol: &Protocol,
        rejection: &Rejection,
        start: &[u8],
    ) -> Response {
        match protocol.encode_rejection {
            EncodeRejection::Plain(encode) => encode(rejection, &self.state.pipeline),
            EncodeRejection::WithId(encode) => encode(rejection, start, &self.state.pipeline),
        }
    }

    /// Logs and measures the calls of a request, and tells the client of a trace how long they took.
    fn report(&self, request: &RouteRequest<'_>, response: Response) -> Response {
        let RouteRequest { calls, host, .. } = request;
        let response = if calls.is_traced() {
            // In milliseconds (Server Timing, 3).
            response.with("server-timing", format!("total;dur={}", calls.elapsed_ms(*host)))
        } else {
            response
        };
        self.log_calls(request, response.status, response.body.len());
        response
    }

    /// Writes the body of a stream, and then logs and measures the calls that have run meanwhile. A stream without recorded
    /// calls, such as a chat, logs them itself.
    fn report_stream<'a>(
        &'a self,
        request: Rc<RouteRequest<'a>>,
        (status, begun): (u16, usize),
        write: BodyWriter<'a>,
    ) -> BodyWriter<'a> {
        if !request.calls.is_recording() {
            return write;
        }
        Box::new(move |sink| {
            Box::pin(async move {
                let size = Rc::new(Cell::new(begun));
                write(Box::new(MeasuredSink { sink, size: Rc::clone(&size) })).await;
                // Otherwise there is a call in the log.
                request.calls.reject_all("client_closed_request", request.host);
                self.log_calls(&request, status, size.get());
            })
        })
    }

    fn log_calls(&self, request: &RouteRequest<'_>, status: u16, response_size: usize) {
        let RouteRequest { calls, host, .. } = request;
        if calls.is_empty() {
            return;
        }
        let events = &self.state.pipeline.events;
        let caller = events.caller(&request.principal);
        let actor = events.actor(&request.principal);
        let request_size =
            if request.body.is_empty() { request.query.len() } else { request.body.len() };
        let report = CallRequest {
            protocol: request.protocol.name,
            caller: &caller,
            actor: actor.as_deref(),
            client: request.principal.client_ref(),
            team: self.state.settings().team_of(&request.principal).map(|team| &*team.name),
            mcp: calls.mcp.get(),
            request_size,
            response_size,
            status,
        };
        events.write_calls(calls, report, *host);
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
            Cors::Configured => Some(self.state.pipeline.settings.cors.origins(false)),
            Cors::WebClients => Some(self.state.pipeline.settings.cors.origins(true)),
            Cors::AnyPage | Cors::SameOrigin => None,
        }
    }
}

/// What follows from the checks of a request that is not rejected.
enum Admitted {
    /// Its route serves it.
    To(&'static Route),
    Answered(Response),
}

/// A sink that counts the bytes that it has sent.
struct MeasuredSink {
    sink: Box<dyn BodySink>,
    size: Rc<Cell<usize>>,
}

#[async_trait(?Send)]
impl BodySink for MeasuredSink {
    async fn write(&self, bytes: &[u8]) -> Result<(), ClientGone> {
        self.size.set(self.size.get() + bytes.len());
        self.sink.write(bytes).await
    }
}

/// Reports the entries that have budgets, if there is no ledger.
// The first request waits for the code that it runs to be compiled, so what is rare stays out of it.
#[inline(never)]
fn reject_budgets(settings: &mut Settings) {
    let unbound = settings.budgeted.iter().map(|place| {
        format!("{place} has budgets, which need the Durable Object LEDGER: bind it as docs/STORAGE.md#the-ledger says. Until then, these callers get 503")
    });
    settings.rejected.extend(unbound);
}

#[inline(never)]
fn log_problem(problem: &str, affected: &str, host: &dyn Host) {
    let attributes = [("problem", problem), ("affects", affected)];
    host.log(Level::Error, "configuration", &attributes);
}
