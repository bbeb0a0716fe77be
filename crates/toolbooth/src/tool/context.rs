//! The context of a tool call: caller, tokens, variables, HTTP, notifications, and requests for user input.

use std::any::Any;
use std::cell::RefCell;
use std::fmt::Display;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::http::GrantedTokens;
use super::input_request::{ClientCapability, Dialogue, InputRequest, InputResponse};
use super::notification::{LoggingLevel, Notifications};
use super::{Credentials, Named, Stage, Suspension, ToolError, ToolStore};
use crate::catalog::{Catalog, Tool};
use crate::host::{BoxFuture, Host, HttpError, HttpRequest, HttpResponse, Level};
use crate::json;
use crate::principal::Principal;
use crate::secret::Secret;
use crate::settings::{Settings, ToolVariables};
use crate::trace::{Span, TRACEPARENT};

/// The context of one run of a tool.
pub struct Context<'a> {
    pub(super) tool: &'a Tool,
    principal: &'a Principal,
    pub(super) credentials: &'a Credentials,
    pub(crate) dialogue: &'a Dialogue,
    variables: &'a ToolVariables,
    pub(crate) host: &'a dyn Host,
    /// The provider whose token a service rejected.
    pub(crate) rejected_token: RefCell<Option<String>>,
    /// What was reported, if nobody listens.
    pub(crate) notifications: Notifications,
    /// Who hears what is reported while the tool runs.
    listener: Option<&'a Notifications>,
    /// The input that the tool requested, and its state.
    pub(crate) requested: RefCell<Option<(Named<InputRequest>, Option<Value>)>>,
    /// Where the run stands.
    pub(super) stage: Stage,
    /// How it ended, if it will be continued.
    pub(crate) suspended: RefCell<Option<Suspension>>,
    /// The `traceparent` of requests to services, if the call belongs to a trace.
    pub(super) traceparent: Option<String>,
    server: Option<ServerView<'a>>,
}

/// The server that a tool belongs to, as a request sees it.
#[derive(Clone, Copy)]
pub(crate) struct ServerView<'a> {
    pub(crate) catalog: &'static Catalog,
    pub(crate) settings: &'a Settings,
    /// For this request, the catalogue has only these tools; `None`: all.
    pub(crate) only: Option<&'a [&'static Tool]>,
    /// As [`RequestContext::shows_protected`](crate::call::RequestContext::shows_protected).
    pub(crate) shows_protected: bool,
}

impl<'a> Context<'a> {
    /// A context of `tool` with these parts.
    pub fn new(
        tool: &'a Tool,
        principal: &'a Principal,
        credentials: &'a Credentials,
        dialogue: &'a Dialogue,
        variables: &'a ToolVariables,
        host: &'a dyn Host,
    ) -> Self {
        Self {
            tool,
            principal,
            credentials,
            dialogue,
            variables,
            host,
            rejected_token: RefCell::default(),
            notifications: Notifications::default(),
            listener: None,
            requested: RefCell::default(),
            stage: Stage::default(),
            suspended: RefCell::default(),
            traceparent: None,
            server: None,
        }
    }

    /// The context of a call at this stage.
    pub(crate) fn at(self, stage: Stage) -> Self {
        Self { stage, ..self }
    }

    /// The context of a call to which a client listens.
    pub(crate) fn heard_by(self, listener: Option<&'a Notifications>) -> Self {
        Self { listener, ..self }
    }

    /// Whether the client hears what the tool reports while it runs, and not only with the result.
    pub fn is_heard(&self) -> bool {
        self.listener.is_some()
    }

    /// The context of a call within a trace.
    pub(crate) fn within(self, span: Option<&Span>) -> Self {
        Self { traceparent: span.map(Span::traceparent), ..self }
    }

    /// The context of a call to a server.
    pub(crate) fn of_server(self, server: ServerView<'a>) -> Self {
        Self { server: Some(server), ..self }
    }

    /// The server, for its own tools.
    pub(crate) fn server(&self) -> Option<ServerView<'a>> {
        self.server
    }

    /// Who sent the request.
    pub fn principal(&self) -> &Principal {
        self.principal
    }

    /// The user on whose behalf the call is made. Present if the definition requires `user_id`.
    pub fn user_id(&self) -> Option<&str> {
        self.credentials.user_id.as_deref()
    }

    /// The token for the provider `id`. Present if the definition requires its authorization.
    pub fn token(&self, id: &str) -> Option<&Secret> {
        self.credentials.tokens.get(id)
    }

    /// Records that a service rejected the token of the provider `id` with 401, and returns the error for the
    /// tool to return. The client then gets the same response as for a call without the token: it sends another
    /// token, or the user must consent again.
    pub fn token_refused(&self, id: &str) -> ToolError {
        *self.rejected_token.borrow_mut() = Some(id.to_owned());
        ToolError::new("The authorization is no longer valid")
    }

    /// The secret `id` that the caller sent. Present if the definition requires it in `requirements.secrets`. A
    /// secret of the operator is a [`server_secret`](Self::server_secret).
    pub fn secret(&self, id: &str) -> Option<&Secret> {
        self.credentials.secrets.get(id)
    }

    /// The value of a [`Variable`](crate::tool::Variable) that the definition lists in `variables`; empty for any
    /// other name.
    pub fn variable(&self, name: &str) -> &str {
        if self.tool.variables.contains(&name) { self.variables.get(name) } else { "" }
    }

    /// The operator's secret `name`: a [`Variable::secret`](crate::tool::Variable::secret) that the definition lists
    /// in `variables`. Then it is always present: a call of a tool whose secret is missing is rejected.
    pub fn server_secret(&self, name: &str) -> Option<&Secret> {
        self.variables.secret(name).filter(|_| self.tool.variables.contains(&name))
    }

    /// Whether the operator has set a variable or a secret that the definition lists.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.tool.variables.contains(&name) && self.variables.is_set(name)
    }

    /// The tokens of the server's own grants.
    pub(crate) fn granted_tokens(&self) -> &GrantedTokens {
        self.variables.granted_tokens()
    }

    /// Milliseconds since the Unix epoch; on Workers they advance only with I/O.
    pub fn now_ms(&self) -> u64 {
        self.host.now_ms()
    }

    /// Sends an HTTP request. If the call belongs to a trace, the request has its `traceparent`.
    ///
    /// # Errors
    /// See [`HttpError`]; `?` turns it into a [`ToolError`], and the operator's log has the reason. A status such as
    /// 500 is a response, not an error.
    pub fn send<'b>(
        &'b self,
        mut request: HttpRequest<'b>,
    ) -> BoxFuture<'b, Result<HttpResponse, HttpError>> {
        let traceparent = self.traceparent.as_deref();
        request.headers.extend(traceparent.map(|parent| (TRACEPARENT, parent.into())));
        Box::pin(async move {
            let result = self.host.send(request).await;
            if let Err(error) = &result {
                self.warn("http", &[("tool", &self.tool.id()), ("problem", &error.to_string())]);
            }
            result
        })
    }

    /// The values that the tools of this toolkit keep in the server's key-value store.
    pub fn store(&self) -> ToolStore<'_> {
        ToolStore::new(self.tool, self.host)
    }

    /// The host's own value for its tools. An extension trait of the host's crate returns it in a type that tools can
    /// use: `ContextExt` of `toolbooth-worker`.
    pub fn platform(&self) -> &dyn Any {
        self.host.platform()
    }

    /// Logs that a service of the platform failed, for the operators of the server, and returns the error for the
    /// tool to return. The `problem` must not contain secrets, tokens or input.
    pub fn platform_error(&self, problem: &dyn Display) -> ToolError {
        let problem = problem.to_string();
        self.warn("platform", &[("tool", &self.tool.id()), ("problem", &problem)]);
        ToolError::new("A service that the tool uses failed")
    }

    /// Reports progress to the client, if its protocol supports that: `done` of `total` in any unit, and a
    /// message for people, which may be empty. Progress that does not increase is ignored, and so is
    /// everything beyond 100 notifications that wait for a slow client, or for the next time that the tool itself waits.
    pub fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        self.listener.unwrap_or(&self.notifications).progress(done, total, message);
    }

    /// Reports an event to the client, like [`progress`](Self::progress). For the operators of the server, use
    /// [`warn`](Self::warn).
    pub fn note(&self, level: LoggingLevel, text: &str) {
        self.listener.unwrap_or(&self.notifications).event(level, text);
    }

    /// Whether the client supports requests of this kind. A tool that can work without user input checks this
    /// before it asks.
    pub fn can(&self, capability: ClientCapability) -> bool {
        self.dialogue.capabilities.has(capability)
    }

    /// Requests input from the user or the model of the client, and returns the error for the tool to return:
    /// the call ends here. The client then repeats the call with the responses, and the tool starts again. It
    /// finds the [`answer`](Self::answer)s to its last requests, but not to earlier ones, and the
    /// [`state`](Self::state) from here; `()` is no state.
    ///
    /// If the client does not support one of the requests, it gets an error instead of all of them. The limits
    /// are 16 requests at once and 2,000 bytes of state. The client can neither read nor change the state.
    ///
    /// ```
    /// # use serde::Deserialize;
    /// # use serde_json::json;
    /// # use toolbooth::tool::{Context, InputRequest, ToolError};
    /// #[derive(Deserialize)]
    /// struct Name {
    ///     name: String,
    /// }
    ///
    /// async fn greet(context: &Context<'_>) -> Result<String, ToolError> {
    ///     let Some(Name { name }) = context.answer("name")? else {
    ///         let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    ///         return Err(context.ask([("name", InputRequest::form("Who is it?", schema))], ()));
    ///     };
    ///     Ok(format!("Hello, {name}!"))
    /// }
    /// ```
    pub fn ask<'k>(
        &self,
        questions: impl IntoIterator<Item = (&'k str, InputRequest)>,
        state: impl Serialize,
    ) -> ToolError {
        let by_key =
            questions.into_iter().map(|(key, request)| (key.to_owned(), request)).collect();
        self.request(by_key, serde_json::to_value(state).ok())
    }

    /// Requests input: see [`ask`](Self::ask).
    pub(super) fn request(
        &self,
        questions: Named<InputRequest>,
        state: Option<Value>,
    ) -> ToolError {
        let state = state.filter(|state| !state.is_null());
        *self.requested.borrow_mut() = Some((questions, state));
        ToolError::new("The tool needs input")
    }

    /// The response to the request `key`. `None` if there is none, or if it is not a `T`: the tool then
    /// requests it again.
    ///
    /// # Errors
    /// The user declined. A tool that can work without the response continues.
    pub fn answer<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, ToolError> {
        match self.dialogue.answers.get(key) {
            None => Ok(None),
            Some(InputResponse::Given(value)) => Ok(json::read_value(&value.into())),
            Some(InputResponse::Declined) => Err(ToolError::new("The user declined to answer")),
            Some(InputResponse::Dismissed) => Err(ToolError::new("The user did not answer")),
        }
    }

    /// The state that the tool passed to [`ask`](Self::ask), if this is the call with the responses.
    pub fn state<T: DeserializeOwned>(&self) -> Option<T> {
        self.dialogue.state.as_ref().and_then(|state| json::read_value(&state.into()))
    }

    /// Logs a warning for the operators of the server. Never pass it secrets, tokens or input.
    pub fn warn(&self, event: &'static str, details: &[(&'static str, &str)]) {
        self.host.log(Level::Warn, event, details);
    }
}
