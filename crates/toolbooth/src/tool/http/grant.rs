//! Tokens of the server's own grants (RFC 6749, 4.3 and 4.4): requested when a call needs one, and shared by all callers until
//! they expire.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;

use super::OAuthGrant;
use super::auth::{pair_of, variable};
use super::fields::{Fields, encoded};
use crate::host::{BoxFuture, HttpRequest, HttpResponse, boxed};
use crate::json::{self, Value};
use crate::secret::Secret;
use crate::time::lifetime_ms;
use crate::tool::{Context, ToolError};

/// How long before its end a token is used no more: a request takes time.
const MARGIN_MS: u64 = 30_000;
/// How long a token is used if the server does not say how long it lives.
const USUAL_LIFE_MS: u64 = 5 * 60_000;
/// A token that a service refuses is replaced, unless it is younger than this: then another one would not help.
const RECENT_MS: u64 = 60_000;
/// How long a token endpoint that failed is not asked again.
const FAILED_MS: u64 = 5_000;
/// How long to wait for the response of a token endpoint, also if another request waits for it.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How often a request looks whether another one has the token.
const PAUSE: Duration = Duration::from_millis(50);
/// The reasons of RFC 6749, 5.2. Any other text could contain a secret.
const REASONS: [&str; 6] = [
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
];

/// The tokens of a server's own grants.
///
/// Locked only to read and to write: a request that waited for another one's response would wait forever if that one is
/// cancelled. It looks again after a pause instead.
#[derive(Default)]
pub struct GrantedTokens(Mutex<Vec<Entry>>);

/// What is known of a grant.
struct Entry {
    grant: &'static OAuthGrant,
    token: Option<GrantedToken>,
    /// When the request began that is under way.
    requested_ms: Option<u64>,
    failure: Option<(Failure, u64)>,
    /// Whether the server has taken the client's credentials in the body, and not in the header.
    in_body: bool,
}

struct GrantedToken {
    secret: Secret,
    since_ms: u64,
    until_ms: u64,
}

/// Why there is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failure {
    /// The server rejects the credentials or the scopes.
    Rejected,
    /// It does not respond, or not as specified.
    Unavailable,
}

/// What a call that needs a token does next.
enum Next {
    /// It uses this token; `None` is that a newer one would not help.
    Done(Result<Option<Secret>, Failure>),
    /// It waits for the request of another call.
    Wait,
    /// It requests a token, with the credentials of the client in the body or in the header.
    Request { in_body: bool },
}

/// Gets a token of a grant: the one that all callers share, or a new one. With the token that the service has refused, it
/// gets a newer one: `None` if that would not help.
pub fn token<'a>(
    grant: &'static OAuthGrant,
    refused: Option<&'a Secret>,
    context: &'a Context<'a>,
) -> BoxFuture<'a, Result<Option<Secret>, ToolError>> {
    boxed(async move {
        let tokens = context.granted_tokens();
        loop {
            match tokens.next(grant, refused, context.now_ms()) {
                Next::Done(result) => return result.map_err(Failure::error),
                Next::Wait => context.host.sleep(PAUSE).await,
                Next::Request { in_body } => {
                    let pending = Pending { tokens, grant };
                    let result = request(grant, in_body, context).await;
                    return pending.end(result, context.now_ms()).map(Some).map_err(Failure::error);
                }
            }
        }
    })
}

impl GrantedTokens {
    fn entry<T>(&self, grant: &'static OAuthGrant, use_it: impl FnOnce(&mut Entry) -> T) -> T {
        let mut entries: MutexGuard<'_, Vec<Entry>> =
            self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = entries.iter_mut().find(|known| known.grant == grant) {
            return use_it(known);
        }
        let mut new =
            Entry { grant, token: None, requested_ms: None, failure: None, in_body: false };
        let result = use_it(&mut new);
        entries.push(new);
        result
    }

    fn next(&self, grant: &'static OAuthGrant, refused: Option<&Secret>, now_ms: u64) -> Next {
        let is_within = |since_ms: u64, ms: u64| now_ms.saturating_sub(since_ms) < ms;
        let timeout_ms = u64::try_from(TIMEOUT.as_millis()).unwrap_or(u64::MAX);
        self.entry(grant, |entry| {
            if let Some(token) = &entry.token {
                let is_refused = refused == Some(&token.secret);
                if is_refused && is_within(token.since_ms, RECENT_MS) {
                    return Next::Done(Ok(None));
                }
                if !is_refused && now_ms < token.until_ms {
                    return Next::Done(Ok(Some(token.secret.clone())));
                }
            }
            if entry.requested_ms.is_some_and(|since_ms| is_within(since_ms, timeout_ms)) {
                return Next::Wait;
            }
            if let Some((failure, since_ms)) = entry.failure
                && is_within(since_ms, FAILED_MS)
            {
                return Next::Done(Err(failure));
            }
            entry.requested_ms = Some(now_ms);
            Next::Request { in_body: entry.in_body }
        })
    }
}

/// Shows no token.
impl fmt::Debug for GrantedTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GrantedTokens(…)")
    }
}

/// A request for a token that is under way. If the call is cancelled, the next one requests it.
struct Pending<'a> {
    tokens: &'a GrantedTokens,
    grant: &'static OAuthGrant,
}

impl Pending<'_> {
    /// Keeps the result.
    fn end(self, result: Result<Response, Failure>, now_ms: u64) -> Result<Secret, Failure> {
        self.tokens.entry(self.grant, |entry| match result {
            Ok(Response { secret, life_ms, in_body }) => {
                let life_ms = life_ms.unwrap_or(USUAL_LIFE_MS);
                let until_ms = now_ms.saturating_add(life_ms - MARGIN_MS.min(life_ms / 2));
                entry.token =
                    Some(GrantedToken { secret: secret.clone(), since_ms: now_ms, until_ms });
                entry.failure = None;
                entry.in_body = in_body;
                Ok(secret)
            }
            Err(failure) => {
                entry.token = None;
                entry.failure = Some((failure, now_ms));
                Err(failure)
            }
        })
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.tokens.entry(self.grant, |entry| entry.requested_ms = None);
    }
}

/// A token, and how the server takes the credentials of the client.
struct Response {
    secret: Secret,
    life_ms: Option<u64>,
    in_body: bool,
}

/// Requests a token. Servers must take the credentials of a client in the header `Authorization` (RFC 6749, 2.3.1), but some
/// take them in the body only: then it is asked again.
async fn request(
    grant: &OAuthGrant,
    in_body: bool,
    context: &Context<'_>,
) -> Result<Response, Failure> {
    // A client without a secret is only named (RFC 6749, 3.2.1).
    let has_secret = grant.client.is_some_and(|(_, secret)| !variable(secret, context).is_empty());
    let in_body = in_body || !has_secret;
    match ask(grant, in_body, context).await {
        Err(Failure::Rejected) if !in_body => ask(grant, true, context).await,
        first => first,
    }
}

async fn ask(
    grant: &OAuthGrant,
    in_body: bool,
    context: &Context<'_>,
) -> Result<Response, Failure> {
    let mut form = Fields::default();
    match grant.user {
        None => form.field("grant_type", "client_credentials"),
        Some((name, password)) => {
            form.field("grant_type", "password");
            form.field("username", variable(name, context));
            form.field("password", variable(password, context));
        }
    }
    if !grant.scopes.is_empty() {
        form.field("scope", &grant.scopes.join(" "));
    }
    let mut headers = vec![
        ("user-agent", "toolbooth".into()),
        ("content-type", "application/x-www-form-urlencoded".into()),
        ("accept", "application/json".into()),
    ];
    if let Some((id, secret)) = grant.client {
        let (id, secret) = (variable(id, context), variable(secret, context));
        let pair = [("client_id", id), ("client_secret", secret)];
        if in_body {
            for (name, value) in pair.into_iter().filter(|(_, value)| !value.is_empty()) {
                form.field(name, value);
            }
        } else {
            let pair = pair_of(&encoded(id), &encoded(secret));
            headers.push(("authorization", ["Basic ", &pair].concat().into()));
        }
    }
    let request = HttpRequest {
        method: "POST",
        headers,
        body: Some(form.0.into_bytes()),
        timeout: TIMEOUT,
        ..HttpRequest::get(context.variable(grant.token_url))
    };
    let response = context.send(request).await.map_err(|_| Failure::Unavailable)?;
    match read(&response) {
        Ok((secret, life_ms)) => Ok(Response { secret, life_ms, in_body }),
        Err((failure, problem)) => {
            let status = response.status.to_string();
            let details =
                [("tool", &*context.tool.id()), ("status", &*status), ("problem", problem)];
            context.warn("authorization_server", &details);
            Err(failure)
        }
    }
}

/// The token of a response (RFC 6749, 5), with how many milliseconds it lives; or what is wrong, for the log.
fn read(response: &HttpResponse) -> Result<(Secret, Option<u64>), (Failure, &'static str)> {
    #[derive(Deserialize)]
    struct Body<'v> {
        access_token: Option<&'v str>,
        token_type: Option<&'v str>,
        error: Option<&'v str>,
    }
    let value = json::parse_bytes(response.unmarked()).unwrap_or(Value::Null);
    let body: Option<Body<'_>> = json::read_value(&value);
    let is_rejected = (400..500).contains(&response.status) && response.status != 429;
    match body {
        Some(Body { error: Some(error), .. })
            if response.status < 500 && response.status != 429 =>
        {
            let reason = REASONS.into_iter().find(|reason| *reason == error);
            Err((Failure::Rejected, reason.unwrap_or("it rejects the request")))
        }
        _ if is_rejected => Err((Failure::Rejected, "it rejects the request")),
        Some(Body { access_token: Some(token), token_type, .. })
            if (200..300).contains(&response.status) =>
        {
            let secret = Secret::new(token.to_owned());
            if !secret.is_bearer_token() || token_type.is_some_and(needs_proof) {
                return Err((Failure::Unavailable, "its token cannot be sent"));
            }
            Ok((secret, value.get("expires_in").and_then(lifetime_ms)))
        }
        _ => Err((Failure::Unavailable, "its response contains no token")),
    }
}

/// Whether a token of this type is no bearer token. Servers have names of their own for those, such as eBay's `Application
/// Access Token`.
fn needs_proof(token_type: &str) -> bool {
    ["mac", "dpop", "pop"].iter().any(|kind| token_type.eq_ignore_ascii_case(kind))
}

impl Failure {
    fn error(self) -> ToolError {
        match self {
            Self::Rejected => ToolError::new("The service rejected the credentials of the server")
                .developer_message("Its authorization server issues no token."),
            Self::Unavailable => {
                ToolError::new("The service's authorization server did not respond").retryable()
            }
        }
    }
}

#[cfg(test)]
mod tests;
