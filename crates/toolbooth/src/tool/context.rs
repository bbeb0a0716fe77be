//! What a handler is given besides its input.

use std::cell::RefCell;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::credentials::Credentials;
use super::input_request::{Capability, Dialogue, InputRequest, InputResponse};
use super::notification::{LoggingLevel, Notification, Notifications};
use super::{Named, ToolError};
use crate::host::{BoxFuture, Host, HttpError, HttpRequest, HttpResponse, Level};
use crate::json;
use crate::principal::Principal;
use crate::secret::Secret;
use crate::settings::ToolVariables;

/// The surroundings of one run of a tool.
pub struct Context<'a> {
    principal: &'a Principal,
    credentials: &'a Credentials,
    dialogue: &'a Dialogue,
    variables: &'a ToolVariables,
    host: &'a dyn Host,
    refused_token: RefCell<Option<String>>,
    notes: Notifications,
    asked: RefCell<Option<Asking>>,
}

/// The questions of a run, and the state beside them.
pub(crate) type Asking = (Named<InputRequest>, Option<Value>);

impl<'a> Context<'a> {
    /// The surroundings made of their parts.
    pub fn new(
        principal: &'a Principal,
        credentials: &'a Credentials,
        dialogue: &'a Dialogue,
        variables: &'a ToolVariables,
        host: &'a dyn Host,
    ) -> Self {
        Self {
            principal,
            credentials,
            dialogue,
            variables,
            host,
            refused_token: RefCell::default(),
            notes: Notifications::default(),
            asked: RefCell::default(),
        }
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

    /// Notes that a service refuses the token of the provider `id` (its 401), and gives the error to
    /// return. The call is then answered as one that lacks the token: the client sends another, or
    /// the user is asked again.
    pub fn token_refused(&self, id: &str) -> ToolError {
        *self.refused_token.borrow_mut() = Some(id.to_owned());
        ToolError::new("The authorization is no longer valid")
    }

    /// The provider whose token was refused, if one was.
    pub(crate) fn refused_token(&self) -> Option<String> {
        self.refused_token.borrow().clone()
    }

    /// The secret `id`. Present if the definition requires it.
    pub fn secret(&self, id: &str) -> Option<&Secret> {
        self.credentials.secrets.get(id)
    }

    /// The value of a [`Variable`](crate::tool::Variable) that the catalogue declares.
    pub fn variable(&self, name: &str) -> &str {
        self.variables.get(name)
    }

    /// Milliseconds since the Unix epoch; on Workers they advance only with I/O.
    pub fn now_ms(&self) -> u64 {
        self.host.now_ms()
    }

    /// Sends an HTTP request.
    ///
    /// # Errors
    /// See [`HttpError`]; a status such as 500 is an answer, not an error.
    pub fn send<'b>(
        &'b self,
        request: HttpRequest<'b>,
    ) -> BoxFuture<'b, Result<HttpResponse, HttpError>> {
        self.host.send(request)
    }

    /// Tells the client how far the tool is, if its protocol has a place for that: `done` of `total`,
    /// in whatever unit, and words for people, which may be empty. What is not more than the last
    /// time is not told, nor is anything after the first 100 notes of a run.
    ///
    /// On Workers an answer leaves in one piece: notes arrive with it, and not while the tool runs.
    pub fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        self.notes.progress(done, total, message);
    }

    /// Tells the client what happened, as [`progress`](Self::progress) does. It is not for the people
    /// who run the server; see [`warn`](Self::warn).
    pub fn note(&self, level: LoggingLevel, text: &str) {
        self.notes.event(level, text);
    }

    pub(crate) fn take_notes(&self) -> Vec<Notification> {
        self.notes.take()
    }

    /// Whether the client can do what a question of this kind needs. A tool that can also go on
    /// without an answer looks here before it asks.
    pub fn can(&self, capability: Capability) -> bool {
        self.dialogue.capabilities.has(capability)
    }

    /// Asks the user or the model on the client's side, and gives the error to return: the call ends
    /// here. When it is made again, with the answers, the tool begins anew; then it finds the
    /// [`answer`](Self::answer)s of the last questions, those of earlier ones no more, and the
    /// [`state`](Self::state) that it gives along here; `()` is none.
    ///
    /// A client that cannot do what a question needs is told so, and never gets any of the questions.
    /// At most 16 at once, and 2,000 bytes of state. The client can neither read nor change it.
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
        let by_key = questions.into_iter().map(|(key, one)| (key.to_owned(), one)).collect();
        let state = serde_json::to_value(state).ok().filter(|state| !state.is_null());
        *self.asked.borrow_mut() = Some((by_key, state));
        ToolError::new("The tool needs an answer")
    }

    /// The answer to the question `key`. Nothing if there is none, or it is no `T`: the tool then asks
    /// (again).
    ///
    /// # Errors
    /// The user will not answer. A tool that can do without goes on.
    pub fn answer<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, ToolError> {
        match self.dialogue.answers.get(key) {
            None => Ok(None),
            Some(InputResponse::Given(value)) => Ok(json::read_value(&value.into())),
            Some(InputResponse::Declined) => Err(ToolError::new("The user declined to answer")),
            Some(InputResponse::Dismissed) => Err(ToolError::new("The user did not answer")),
        }
    }

    /// What the tool gave along when it asked, if this is the call with the answers.
    pub fn state<T: DeserializeOwned>(&self) -> Option<T> {
        self.dialogue.state.as_ref().and_then(|state| json::read_value(&state.into()))
    }

    /// What the tool asked, if it did.
    pub(crate) fn take_asked(&self) -> Option<Asking> {
        self.asked.take()
    }

    /// Writes a line for the people who run the server. Never pass it secrets, tokens or input.
    pub fn warn(&self, event: &'static str, details: &[(&'static str, &str)]) {
        self.host.log(Level::Warn, event, details);
    }
}
