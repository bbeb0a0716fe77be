//! What a handler is given besides its input.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use super::ToolError;
use crate::auth::{self, Scopes};
use crate::config::Config;
use crate::host::{BoxFuture, Host, HttpError, HttpRequest, HttpResponse, Level};

/// A text that must not be seen: `Debug` prints no part of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides `text`.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text itself, to be sent where it belongs and nowhere else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Who sent the request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Caller {
    /// Nobody in particular: the server asks for no credentials, and none were sent.
    Anonymous,
    /// Who has an API key.
    Key {
        /// The key's name.
        name: String,
        /// What it may do.
        scopes: Scopes,
    },
    /// A user, by a token.
    User {
        /// Stands for who says so: the kind of signature and `iss`, hashed. The same subject of
        /// another issuer is another user.
        issuer: String,
        /// The token's `sub`, if it has one.
        subject: Option<String>,
        /// What the token lets its bearer do.
        scopes: Scopes,
    },
}

impl Caller {
    /// What the caller may do.
    pub fn scopes(&self) -> &Scopes {
        match self {
            Self::Anonymous => &auth::NONE,
            Self::Key { scopes, .. } | Self::User { scopes, .. } => scopes,
        }
    }
}

/// A request names another user than the token that it came with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnotherUser;

impl Caller {
    /// The user for whom a request is: the one of the token, else the one that the request names.
    ///
    /// # Errors
    /// [`AnotherUser`].
    pub fn user<'a>(&'a self, named: Option<&'a str>) -> Result<Option<&'a str>, AnotherUser> {
        let named = named.filter(|user| !user.is_empty());
        match (self, named) {
            (Self::User { subject: Some(subject), .. }, None) => Ok(Some(subject)),
            (Self::User { subject: Some(subject), .. }, Some(named)) if named != subject => {
                Err(AnotherUser)
            }
            (_, named) => Ok(named),
        }
    }
}

/// What a client sends along with a call (OXP `CallToolRequest.context`).
#[derive(Debug, Default)]
pub struct Credentials {
    /// The user on whose behalf the call is made.
    pub user_id: Option<String>,
    /// Tokens by authorization provider.
    pub tokens: BTreeMap<String, Secret>,
    /// Secrets by name.
    pub secrets: BTreeMap<String, Secret>,
}

/// The surroundings of one run of a tool.
pub struct Context<'a> {
    caller: &'a Caller,
    credentials: &'a Credentials,
    config: &'a Config,
    host: &'a dyn Host,
    refused_token: RefCell<Option<String>>,
}

impl<'a> Context<'a> {
    /// The surroundings made of their parts.
    pub fn new(
        caller: &'a Caller,
        credentials: &'a Credentials,
        config: &'a Config,
        host: &'a dyn Host,
    ) -> Self {
        Self { caller, credentials, config, host, refused_token: RefCell::new(None) }
    }

    /// Who sent the request.
    pub fn caller(&self) -> &Caller {
        self.caller
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
    pub(super) fn refused_token(&self) -> Option<String> {
        self.refused_token.borrow().clone()
    }

    /// The secret `id`. Present if the definition requires it.
    pub fn secret(&self, id: &str) -> Option<&Secret> {
        self.credentials.secrets.get(id)
    }

    /// The value of a [`Variable`](crate::config::Variable) that the catalogue declares.
    pub fn variable(&self, name: &str) -> &str {
        self.config.tool_variable(name)
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

    /// Writes a line for the people who run the server. Never pass it secrets, tokens or input.
    pub fn warn(&self, event: &'static str, details: &[(&'static str, &str)]) {
        self.host.log(Level::Warn, event, details);
    }
}
