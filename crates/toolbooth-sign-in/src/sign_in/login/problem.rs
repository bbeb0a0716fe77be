//! What can go wrong for people who sign in: the pages, and the names in the log.

use super::Login;
use crate::oauth::FlowError;
use crate::oauth::page::{
    Escaped, INVALID_ADDRESS, Notice, OTHER_BROWSER, RATE_LIMITED, html, notice, with_tls,
};
use crate::sign_in::event::SignInEvent;
use toolbooth::host::Host;
use toolbooth::http::Response;

/// Why a page shows a problem instead of sending the browser on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The client was never registered, or the registration is no longer valid.
    UnknownClient,
    /// The metadata document does not describe the client, or a way to authenticate that is supported.
    InvalidDocument,
    /// The metadata document cannot be fetched: it may be there later.
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
    /// Its name in the log, and its page.
    fn describe(&self) -> (&'static str, Notice) {
        let (code, status, title, text) = match self {
            Self::UnknownClient => (
                "unknown_client",
                400,
                "This server does not know the application",
                "It is not registered here, or its registration is no longer valid. \
                 Remove the server from the application and add it again.",
            ),
            Self::InvalidDocument => (
                "invalid_document",
                400,
                "This application cannot be used",
                "The document in which the application describes itself is not valid.",
            ),
            Self::DocumentUnreachable => (
                "document_unreachable",
                502,
                "The application does not respond",
                "The document in which the application describes itself cannot be fetched. Try \
                 again in a moment.",
            ),
            Self::InvalidRedirect => (
                "invalid_redirect_uri",
                400,
                "This return address is not registered",
                "The application asks this server to send you to an address that it has not registered. \
                 Nothing was granted. If someone else sent you this link, do not continue.",
            ),
            Self::Invalid => return ("invalid_request", INVALID_ADDRESS),
            Self::Expired => (
                "expired",
                400,
                "This took too long",
                "Go back to the application and start again.",
            ),
            Self::CrossSite => (
                "cross_site",
                403,
                "This did not start here",
                "Another site sent you here in a way that is not allowed. Go back to the \
                 application and start again.",
            ),
            Self::OtherBrowser => return ("other_browser", OTHER_BROWSER),
            Self::WrongKey => (
                "wrong_key",
                403,
                "The key is not valid",
                "Nothing was granted. Go back in your browser and try again.",
            ),
            Self::NotAllowed { .. } => {
                ("account_not_allowed", 403, "This account may not sign in", "")
            }
            Self::TooLong => (
                "too_long",
                400,
                "This request is too long",
                "The application asks for too much at once. Nothing was granted.",
            ),
            Self::ProviderRejected => (
                "provider_rejected",
                400,
                "The service rejected the sign-in",
                "Nothing was granted. Go back to the application and start again.",
            ),
            Self::ProviderUnreachable => (
                "provider_unreachable",
                502,
                "The service does not respond",
                "Nothing was granted. Go back to the application and start again in a moment.",
            ),
            Self::Internal => (
                "internal",
                503,
                "You could not be signed in",
                "Nothing was granted. Try again in a moment.",
            ),
            Self::RateLimited => return ("rate_limited", RATE_LIMITED),
        };
        (code, Notice { status, title, text })
    }
}

/// The page for an account that may not sign in. The operator needs the rule, which cannot be looked up elsewhere.
fn not_allowed(notice: Notice, rule: Option<&str>) -> Response {
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
    html(notice.status, notice.title, &main, "'none'")
}

impl<E: Into<FlowError>> From<E> for Problem {
    fn from(error: E) -> Self {
        match error.into() {
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

impl Login {
    /// Logs a problem, and returns its page.
    pub(crate) fn report(&self, problem: Problem, host: &dyn Host) -> Response {
        let (reason, page) = problem.describe();
        let (account, page) = match &problem {
            Problem::NotAllowed { rule } => (rule.as_deref(), not_allowed(page, rule.as_deref())),
            _ => (None, notice(page, None)),
        };
        self.log(SignInEvent::SignInRejected { reason, account }, host);
        page
    }

    /// The response for a person: a page, a redirect, or the page of a problem.
    pub(crate) fn finish(&self, result: Result<Response, Problem>, host: &dyn Host) -> Response {
        let page = result.unwrap_or_else(|problem| self.report(problem, host));
        with_tls(page, &self.settings.public_url)
    }
}
