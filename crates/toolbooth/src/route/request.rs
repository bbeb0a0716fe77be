//! The request that a handler serves.

use super::{Protocol, Route, State};
use crate::auth::Target;
use crate::call::{Rejection, RequestContext};
use crate::capability::Capability;
use crate::host::Host;
use crate::http::{BodyStream, Headers};
use crate::log::{CallRecorder, Event};
use crate::principal::Principal;
use crate::secret::Secret;

/// A request that a route serves. It fulfils the route's [`Policy`](super::Policy).
pub struct RouteRequest<'a> {
    /// The query, without `?`.
    pub query: &'a str,
    /// The method and the path, for proofs of possession.
    pub target: Target<'a>,
    /// The path segment that matches the route's `{…}`; empty if it has none.
    pub parameter: &'a str,
    /// The headers.
    pub headers: &'a dyn Headers,
    /// The origin of the page that sent it, unless the page is one of the server's own.
    pub origin: Option<String>,
    /// Who sent it; anonymous if the policy needs no credentials.
    pub principal: Principal,
    /// The body, if the policy says that it is read.
    pub body: Vec<u8>,
    /// The body, as long as it has not been read.
    pub unread: Option<&'a dyn BodyStream>,
    /// What requests share.
    pub state: &'a State,
    /// The host.
    pub host: &'a dyn Host,
    /// Records its calls, for the log.
    pub calls: CallRecorder,
    /// Whether its sender proves possession of a key, or tried to, and needs a nonce for the next proof.
    pub(crate) proves_possession: bool,
    /// The capability of its path.
    pub(crate) capability: &'static Capability,
    /// The protocol of its path.
    pub(crate) protocol: &'static Protocol,
    /// Its route; `None` if the path or its method has none.
    pub(crate) route: Option<&'static Route>,
}

impl<'a> RouteRequest<'a> {
    /// What the pipeline and the protocols need of it.
    pub fn context(&self) -> RequestContext<'_> {
        RequestContext {
            query: self.query,
            parameter: self.parameter,
            headers: self.headers,
            principal: &self.principal,
            pipeline: &self.state.pipeline,
            host: self.host,
            calls: &self.calls,
            only: None,
            shows_protected: false,
            listener: None,
        }
    }

    /// Logs that the sender may not send the request, or has reached a limit. Other rejections say nothing about who may do what, and
    /// credentials that are missing or wrong are logged where they are read.
    pub(crate) fn log_rejection(&self, rejection: &Rejection) {
        let kind = rejection.describe().kind;
        if !matches!(kind.status(), 403 | 429) {
            return;
        }
        let events = &self.state.pipeline.events;
        let event = Event::RequestRejected {
            protocol: self.protocol.name,
            caller: events.caller(&self.principal),
            actor: events.actor(&self.principal),
            client: self.principal.client_ref(),
            team: self.state.settings().team_of(&self.principal).map(|team| &*team.name),
            error: kind.code(),
            status: kind.status(),
        };
        events.write(&event, self.host);
    }

    /// The body as text.
    ///
    /// # Errors
    /// [`Rejection::InvalidJson`]: it is not UTF-8.
    pub fn text(&self) -> Result<&str, Rejection> {
        str::from_utf8(&self.body)
            .map_err(|_| Rejection::InvalidJson("the body is not UTF-8".to_owned()))
    }

    /// The value of a variable that the capability declares; empty if it does not.
    pub fn variable(&self, name: &str) -> &'a str {
        if self.declares(name) { self.state.pipeline.settings.tools.get(name) } else { "" }
    }

    /// A secret that the capability declares. It is present: while it is missing, the server rejects the requests.
    pub fn secret(&self, name: &str) -> Option<&'a Secret> {
        self.state.pipeline.settings.tools.secret(name).filter(|_| self.declares(name))
    }

    fn declares(&self, name: &str) -> bool {
        self.capability.variables.iter().any(|variable| variable.name() == name)
    }

    /// The rejection of a method that the path does not accept.
    pub(crate) fn not_allowed(&self) -> Rejection {
        let path = self.route.map(|route| route.path).unwrap_or_default();
        Rejection::MethodNotAllowed {
            allow: self.protocol.allow(path, &|route| route.handler.is_listed()),
        }
    }
}
