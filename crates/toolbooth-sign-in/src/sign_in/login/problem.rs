//! What can go wrong for people who sign in: the pages, and the names in the log.

use super::Login;
use crate::oauth::FlowError;
use crate::oauth::page::{Forms, Notice, bdi, html, row, with_tls};
use crate::sign_in::event::SignInEvent;
use toolbooth::host::Host;
use toolbooth::http::Response;

/// Why a page shows a problem instead of sending the browser on.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    /// Its name in the log.
    reason: &'static str,
    page: Notice,
    /// The rule that would allow the account.
    rule: Option<String>,
    /// The id of the provider that is the cause, and what it has answered.
    cause: Option<Box<(String, String)>>,
}

impl Problem {
    /// The client was never registered, or the registration is no longer valid.
    pub(crate) const UNKNOWN_CLIENT: Self = Self::new(
        "unknown_client",
        400,
        "This server does not know the application",
        "It is not registered here, or its registration is no longer valid. \
         Remove the server from the application and add it again.",
    );
    /// The operator does not let such clients connect.
    pub(crate) const CLIENT_NOT_ALLOWED: Self = Self::new(
        "client_not_allowed",
        403,
        "This application may not be connected",
        "The operator of the server allows certain applications only. Ask the operator to add this one.",
    );
    /// The metadata document does not describe the client, or a way to authenticate that is supported.
    pub(crate) const INVALID_DOCUMENT: Self = Self::new(
        "invalid_document",
        400,
        "This application cannot be used",
        "The document in which the application describes itself is missing, or is not valid.",
    );
    /// The metadata document cannot be fetched: it may be there later.
    pub(crate) const DOCUMENT_UNREACHABLE: Self = Self::new(
        "document_unreachable",
        502,
        "The application does not respond",
        "The document in which the application describes itself cannot be fetched. Try \
         again in a moment.",
    );
    pub(crate) const INVALID_REDIRECT: Self = Self::new(
        "invalid_redirect_uri",
        400,
        "This return address is not registered",
        "The application asks this server to send you to an address that it has not registered. \
         Nothing was granted. If someone else sent you this link, do not continue.",
    );
    /// The form or the link was not issued here, or was changed.
    pub(crate) const INVALID: Self = Self::of("invalid_request", Notice::INVALID_ADDRESS);
    pub(crate) const EXPIRED: Self = Self::of("expired", Notice::EXPIRED);
    pub(crate) const CROSS_SITE: Self = Self::of("cross_site", Notice::CROSS_SITE);
    pub(crate) const OTHER_BROWSER: Self = Self::of("other_browser", Notice::OTHER_BROWSER);
    pub(crate) const WRONG_KEY: Self = Self::new(
        "wrong_key",
        403,
        "The key is not valid",
        "Nothing was granted. Go back in your browser and try again.",
    );
    /// No rule allows this account at a provider, or its key or Cloudflare Access no longer does.
    const NOT_ALLOWED: Self = Self::new(
        "account_not_allowed",
        403,
        "This account may not sign in",
        "Nothing was granted. Ask the operator of the server for access, or go back to the application and start \
         again with a different account.",
    );
    /// The provider does not say which groups the person is in, or rules name more of them than a session can keep.
    pub(crate) const TOO_MANY_GROUPS: Self = Self::new(
        "too_many_groups",
        403,
        "You are in too many groups",
        "You are in so many groups that your company's sign-in does not name them, or that this server cannot keep them. Nothing \
         was granted. Ask the operator of the server to use app roles instead of groups, or rules about fewer of them.",
    );
    /// The provider does not say what rules with a team, limits or budgets depend on.
    pub(crate) const CLAIM_MISSING: Self = Self::new(
        "claim_missing",
        403,
        "Your groups or your address are not known",
        "The sign-in does not say which groups you are in, or which address you have, and this server needs to know. Nothing was \
         granted. Go back to the application and start again, or ask the operator of the server.",
    );
    pub(crate) const TOO_LONG: Self = Self::new(
        "too_long",
        400,
        "This request is too long",
        "The application asks for too much at once. Nothing was granted.",
    );
    pub(crate) const PROVIDER_REJECTED: Self = Self::of("provider_rejected", Notice::REJECTED);
    pub(crate) const PROVIDER_UNREACHABLE: Self =
        Self::of("provider_unreachable", Notice::UNREACHABLE);
    pub(crate) const PROVIDER_UNUSABLE: Self = Self::of("provider_unusable", Notice::UNUSABLE);
    pub(crate) const INTERNAL: Self = Self::new(
        "internal",
        503,
        "You could not be signed in",
        "Nothing was granted. Try again in a moment.",
    );
    /// The server serves nobody until the operator has corrected its settings.
    pub(crate) const NOT_CONFIGURED: Self = Self::new(
        "not_configured",
        503,
        "This server is not set up",
        "Nothing was granted. The operator of the server has to correct its settings, which its log names.",
    );
    pub(crate) const RATE_LIMITED: Self = Self::of("rate_limited", Notice::RATE_LIMITED);

    const fn new(
        reason: &'static str,
        status: u16,
        title: &'static str,
        text: &'static str,
    ) -> Self {
        Self::of(reason, Notice::new(status, title, text))
    }

    const fn of(reason: &'static str, page: Notice) -> Self {
        Self { reason, page, rule: None, cause: None }
    }

    /// The problem, because of what a provider has answered. Neither text has anything that a person or a provider has written.
    pub(crate) fn at(self, provider: &str, answer: impl Into<String>) -> Self {
        Self { cause: Some(Box::new((provider.to_owned(), answer.into()))), ..self }
    }

    /// The problem of a flow through a provider.
    pub(crate) fn of_flow(error: FlowError, provider: &str) -> Self {
        let answer = match error {
            FlowError::Unreachable => "it does not respond, or only with an error of its own",
            FlowError::Unusable(reason) => reason,
            FlowError::CodeRejected => "it rejects the sign-in",
            _ => return Self::from(error),
        };
        Self::from(error).at(provider, answer)
    }

    /// Whether it may be gone in a moment.
    pub(crate) fn is_temporary(&self) -> bool {
        [Self::DOCUMENT_UNREACHABLE, Self::PROVIDER_UNREACHABLE, Self::INTERNAL]
            .iter()
            .any(|it| it.reason == self.reason)
    }

    /// No rule allows an account. `rule` is one that would.
    pub(crate) fn not_allowed(rule: Option<String>) -> Self {
        Self { rule, ..Self::NOT_ALLOWED }
    }
}

impl<E: Into<FlowError>> From<E> for Problem {
    fn from(error: E) -> Self {
        match error.into() {
            FlowError::Forged => Self::INVALID,
            FlowError::Expired => Self::EXPIRED,
            FlowError::OtherBrowser => Self::OTHER_BROWSER,
            FlowError::Denied | FlowError::Rejected | FlowError::CodeRejected => {
                Self::PROVIDER_REJECTED
            }
            FlowError::Unreachable => Self::PROVIDER_UNREACHABLE,
            FlowError::Unusable(_) => Self::PROVIDER_UNUSABLE,
            FlowError::Internal => Self::INTERNAL,
        }
    }
}

impl Login {
    /// Logs a problem, and returns its page.
    pub(crate) fn report(&self, problem: Problem, host: &dyn Host) -> Response {
        let account = problem.rule.as_deref();
        let cause = problem.cause.as_deref();
        let provider = cause.map(|it| it.0.as_str());
        let answer = cause.map(|it| it.1.as_str());
        let event =
            SignInEvent::SignInRejected { reason: problem.reason, account, provider, answer };
        self.log(event, host);
        self.page(problem)
    }

    /// The page of a problem.
    pub(crate) fn page(&self, problem: Problem) -> Response {
        let Problem { page: Notice { status, title, text }, rule, cause, .. } = problem;
        let cause = cause.map(|cause| {
            let (provider, answer) = *cause;
            let known = self.provider(&provider);
            let title = known.map_or(&*provider, |client| &*client.provider.title);
            format!("<dl>{}</dl>", row(&bdi(title), bdi(&answer)))
        });
        // The operator needs the rule, which cannot be looked up elsewhere.
        let rule = rule.map(|rule| {
            format!(
                "<dl>{}</dl><small>To get access, send this line to the operator of the server.</small>",
                row(
                    "Your account, as a rule of <code>SIGN_IN_ALLOWED</code>",
                    format!("<pre>{}</pre>", bdi(&rule))
                )
            )
        });
        let [cause, rule] = [cause, rule].map(Option::unwrap_or_default);
        let main = format!("<p>{text}</p>{cause}{rule}");
        html(status, title, &main, Forms::None)
    }

    /// The response for a person: a page, a redirect, or the page of a problem.
    pub(crate) fn finish(&self, result: Result<Response, Problem>, host: &dyn Host) -> Response {
        let page = result.unwrap_or_else(|problem| self.report(problem, host));
        with_tls(page, &self.settings.public_url)
    }
}
