//! What a provider answers to requests with a person's token, and why an account is not known then.

use super::Problem;
use crate::oauth::{OAuthClient, ProviderError, is_temporary};
use toolbooth::host::{Host, HttpRequest, HttpResponse};
use toolbooth::json::{self, Value};
use toolbooth::secret::Secret;

/// What a userinfo endpoint, or GitHub, says about the owner of a token.
pub(super) const DESCRIPTION: &str = "its description of the account";

/// Why an account is not known, with what the provider has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AccountError {
    /// The provider does not accept the token, or only a new ID token would say.
    Rejected(String),
    /// It does not respond, or only with an error of its own.
    Unreachable(String),
    /// Waiting does not help: its answer is of no use.
    Unusable(String),
    /// It leaves out the groups of the account, because there are too many.
    TooManyGroups,
    /// It does not say which groups, organizations or address the account has, and rules with a team, limits or budgets depend on
    /// that.
    ClaimMissing(String),
}

impl AccountError {
    /// The error about `what` is asked for.
    pub(super) fn of(error: ProviderError, what: &str) -> Self {
        match error {
            ProviderError::Rejected => Self::Rejected(what.to_owned()),
            ProviderError::Unreachable => Self::Unreachable(format!("{what}: no response")),
            ProviderError::Unusable(reason) => Self::Unusable(format!("{what}: {reason}")),
        }
    }

    /// What the person sees. `provider` is its id.
    pub(super) fn problem(self, provider: &str) -> Problem {
        match self {
            // It has issued the token a moment ago.
            Self::Rejected(problem) | Self::Unusable(problem) => {
                Problem::PROVIDER_UNUSABLE.at(provider, problem)
            }
            Self::Unreachable(problem) => Problem::PROVIDER_UNREACHABLE.at(provider, problem),
            Self::TooManyGroups => Problem::TOO_MANY_GROUPS,
            Self::ClaimMissing(problem) => Problem::CLAIM_MISSING.at(provider, problem),
        }
    }
}

/// What a provider has answered.
pub(super) enum Answer {
    Json(Value<'static>),
    /// A signed token (OpenID Connect Core 1.0, 5.3.2).
    Token(String),
    /// It does not exist, or the token does not show it.
    Missing,
    /// Something else, with this status: nothing is known.
    Other(u16),
}

impl Answer {
    /// The JSON, if there is some. The error is the status of an answer that is something else.
    pub(super) fn json(self) -> Result<Option<Value<'static>>, u16> {
        match self {
            Self::Json(value) => Ok(Some(value)),
            Self::Missing => Ok(None),
            Self::Token(_) => Err(200),
            Self::Other(status) => Err(status),
        }
    }

    /// The JSON, without which the account is not known.
    pub(super) fn described(self) -> Result<Value<'static>, AccountError> {
        let status = match self.json() {
            Ok(Some(value)) => return Ok(value),
            Ok(None) => 404,
            Err(status) => status,
        };
        let problem = match status {
            200 => format!("{DESCRIPTION} is not JSON"),
            _ => format!("{DESCRIPTION} has the status {status}"),
        };
        Err(AccountError::Unusable(problem))
    }
}

/// Fetches what an access token gives access to. `what` is that, for people and the log.
pub(super) async fn fetch(
    client: &OAuthClient,
    (url, what): (&str, &str),
    access: &Secret,
    host: &dyn Host,
) -> Result<Answer, AccountError> {
    let request = HttpRequest {
        headers: vec![
            ("accept", "application/json".into()),
            ("authorization", format!("Bearer {}", access.expose()).into()),
            // GitHub rejects requests without it.
            ("user-agent", "toolbooth".into()),
        ],
        max_bytes: 64 * 1024,
        ..HttpRequest::get(url)
    };
    let response = client.send(request, host).await;
    let response = response.map_err(|error| AccountError::of(error, what))?;
    let status = response.status;
    match status {
        200 => Ok(match json::parse_bytes(&response.body) {
            Some(value) => Answer::Json(value.into_owned()),
            None => token(&response.body).map_or(Answer::Other(200), Answer::Token),
        }),
        401 => Err(AccountError::Rejected(format!("{what}: status 401"))),
        404 => Ok(Answer::Missing),
        _ if is_temporary(status) || is_rate_limit(&response) => {
            Err(AccountError::Unreachable(format!("{what}: status {status}")))
        }
        _ => Ok(Answer::Other(status)),
    }
}

/// A body that is a signed token, which has three parts.
fn token(body: &[u8]) -> Option<String> {
    let text = str::from_utf8(body).ok()?.trim();
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_token = text.split('.').count() == 3 && text.bytes().all(is_part);
    is_token.then(|| text.to_owned())
}

/// Whether GitHub has answered 403 because of too many requests, and not because the token must not read this.
fn is_rate_limit(response: &HttpResponse) -> bool {
    const WORDS: &[u8] = b"rate limit";
    response.status == 403
        && (response.retry_after_ms.is_some()
            || response.body.windows(WORDS.len()).any(|part| part.eq_ignore_ascii_case(WORDS)))
}
