//! What can go wrong for people who sign in: the pages, and the names in the log.

use super::SignIn;
use super::client::ClientError;
use super::event::SignInEvent;
use crate::oauth::FlowError;
use crate::oauth::page::{Escaped, Notice, html, notice, with_tls};
use toolbooth::host::Host;
use toolbooth::http::Response;
use toolbooth::seal::InvalidToken;

/// Why a page shows a problem instead of sending the browser on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Problem {
    UnknownClient,
    InvalidDocument,
    DocumentUnreachable,
    InvalidRedirect,
    /// The form or the link was not issued here, or was changed.
    Invalid,
    Expired,
    CrossSite,
    OtherBrowser,
    WrongKey,
    /// No rule allows this account at a provider, or its key or Cloudflare Access no longer does.
    NotAllowed {
        /// The rule that would.
        rule: Option<String>,
    },
    TooLong,
    ProviderRejected,
    ProviderUnreachable,
    Internal,
    RateLimited,
}

impl Problem {
    /// Its name in the log.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::UnknownClient => "unknown_client",
            Self::InvalidDocument => "invalid_document",
            Self::DocumentUnreachable => "document_unreachable",
            Self::InvalidRedirect => "invalid_redirect_uri",
            Self::Invalid => "invalid_request",
            Self::Expired => "expired",
            Self::CrossSite => "cross_site",
            Self::OtherBrowser => "other_browser",
            Self::WrongKey => "wrong_key",
            Self::NotAllowed { .. } => "account_not_allowed",
            Self::TooLong => "too_long",
            Self::ProviderRejected => "provider_rejected",
            Self::ProviderUnreachable => "provider_unreachable",
            Self::Internal => "internal",
            Self::RateLimited => "rate_limited",
        }
    }

    /// Its page.
    pub(super) fn page(&self) -> Response {
        let (status, title, text) = match self {
            Self::UnknownClient => (
                400,
                "This server does not know the application",
                "It is not registered here, or its registration is no longer valid. \
                 Remove the server from the application and add it again.",
            ),
            Self::InvalidDocument => (
                400,
                "This application cannot be used",
                "The document in which the application describes itself is not valid.",
            ),
            Self::DocumentUnreachable => (
                502,
                "The application does not respond",
                "The document in which the application describes itself cannot be fetched. Try \
                 again in a moment.",
            ),
            Self::InvalidRedirect => (
                400,
                "This return address is not registered",
                "The application asks this server to send you to an address that it has not registered. \
                 Nothing was granted. If someone else sent you this link, do not continue.",
            ),
            Self::Invalid => (
                400,
                "This address is not valid",
                "Part of it may be missing. Go back to the application and start again.",
            ),
            Self::Expired => {
                (400, "This took too long", "Go back to the application and start again.")
            }
            Self::CrossSite => (
                403,
                "This did not start here",
                "Another site sent you here in a way that is not allowed. Go back to the \
                 application and start again.",
            ),
            Self::OtherBrowser => (
                403,
                "Continue in the browser where you started",
                "For your safety, finish in the same browser, with cookies allowed. Nothing was granted. If someone else sent you this link, do not continue.",
            ),
            Self::WrongKey => (
                403,
                "The key is not valid",
                "Nothing was granted. Go back in your browser and try again.",
            ),
            Self::NotAllowed { rule } => return not_allowed(rule.as_deref()),
            Self::TooLong => (
                400,
                "This request is too long",
                "The application asks for too much at once. Nothing was granted.",
            ),
            Self::ProviderRejected => (
                400,
                "The service rejected the sign-in",
                "Nothing was granted. Go back to the application and start again.",
            ),
            Self::ProviderUnreachable => (
                502,
                "The service does not respond",
                "Nothing was granted. Go back to the application and start again in a moment.",
            ),
            Self::Internal => {
                (503, "You could not be signed in", "Nothing was granted. Try again in a moment.")
            }
            Self::RateLimited => (
                429,
                "Too many requests",
                "Too many requests came from your network. Wait a minute, then reload this page.",
            ),
        };
        notice(Notice { status, title, text }, None)
    }
}

/// The page for an account that may not sign in. The operator needs the rule, which cannot be looked up elsewhere.
fn not_allowed(rule: Option<&str>) -> Response {
    let rule = rule.map(|rule| {
        format!(
            "<dl><dt>Your account, as a rule of <code>SIGN_IN_ALLOWED</code></dt>\
             <dd><pre><bdi>{}</bdi></pre></dd></dl>\
             <small>To get access, send this line to the operator of the server.</small>",
            Escaped(rule)
        )
    });
    let main = format!(
        "<p>Nothing was granted. Ask the operator of the server for access, or go back to the application and start \
         again with a different account.</p>{}",
        rule.unwrap_or_default()
    );
    html(403, "This account may not sign in", &main, "'none'")
}

impl From<InvalidToken> for Problem {
    fn from(error: InvalidToken) -> Self {
        match error {
            InvalidToken::Forged => Self::Invalid,
            InvalidToken::Expired => Self::Expired,
        }
    }
}

impl From<ClientError> for Problem {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Unknown => Self::UnknownClient,
            ClientError::InvalidDocument => Self::InvalidDocument,
            ClientError::Unreachable => Self::DocumentUnreachable,
        }
    }
}

impl From<FlowError> for Problem {
    fn from(error: FlowError) -> Self {
        match error {
            FlowError::Forged => Self::Invalid,
            FlowError::Expired => Self::Expired,
            FlowError::OtherBrowser => Self::OtherBrowser,
            FlowError::Denied | FlowError::Rejected | FlowError::CodeRejected => {
                Self::ProviderRejected
            }
            FlowError::Unreachable => Self::ProviderUnreachable,
            FlowError::Internal => Self::Internal,
        }
    }
}

impl SignIn {
    /// Logs a problem, and returns its page.
    pub(super) fn report(&self, problem: Problem, host: &dyn Host) -> Response {
        let account = match &problem {
            Problem::NotAllowed { rule } => rule.as_deref(),
            _ => None,
        };
        self.log(SignInEvent::SignInRejected { reason: problem.code(), account }, host);
        problem.page()
    }

    /// The response for a person: a page, a redirect, or the page of a problem.
    pub(super) fn finish(&self, result: Result<Response, Problem>, host: &dyn Host) -> Response {
        let page = result.unwrap_or_else(|problem| self.report(problem, host));
        with_tls(page, &self.settings.public_url)
    }

    /// The page of a problem with a request that has not been read yet.
    pub(crate) fn problem_page(&self, problem: Problem, host: &dyn Host) -> Response {
        self.finish(Err(problem), host)
    }
}
