//! The routes of sign-in.

use super::{Received, Server};
use crate::account::Account;
use crate::call::{self, Rejection};
use crate::host::Host;
use crate::http::{self, Headers, Response};
use crate::protocol::SignInHandler;
use crate::sign_in::{Problem, SignIn};

impl Server {
    /// Serves one of these routes. Every request except those for metadata counts against the limit of the network,
    /// before its body is read: what it costs does not depend on a valid credential.
    pub(super) async fn sign_in(
        &self,
        handler: SignInHandler,
        (query, headers): (&str, &dyn Headers),
        body: &mut Received<'_>,
        host: &dyn Host,
    ) -> Result<Response, Rejection> {
        let sign_in = self.sign_in.as_ref().ok_or(Rejection::NOT_FOUND)?;
        if !self.pipeline.settings.problems.is_empty() {
            return match handler {
                SignInHandler::Authorize
                | SignInHandler::Consent
                | SignInHandler::SignIn
                | SignInHandler::Account
                | SignInHandler::ChangeAccount => Ok(sign_in.problem_page(Problem::Internal, host)),
                SignInHandler::Metadata
                | SignInHandler::Token
                | SignInHandler::Register
                | SignInHandler::Revoke => Err(call::misconfigured()),
            };
        }
        match handler {
            SignInHandler::Metadata => {
                let metadata = sign_in.metadata().into_bytes();
                Ok(Response::json(200, metadata).with("cache-control", "no-cache"))
            }
            SignInHandler::Authorize => {
                if let Some(page) = limited(sign_in, headers, host).await {
                    return Ok(page);
                }
                Ok(sign_in.authorize((query, headers), self.permitted_tools(), host).await)
            }
            SignInHandler::Consent => {
                if let Some(page) = limited(sign_in, headers, host).await {
                    return Ok(page);
                }
                if self.receive_form(body, headers).await.is_err() {
                    return Ok(sign_in.problem_page(Problem::Invalid, host));
                }
                Ok(sign_in.consent(&body.bytes, headers, host).await)
            }
            SignInHandler::SignIn => {
                if let Some(page) = limited(sign_in, headers, host).await {
                    return Ok(page);
                }
                let mut parameters = form_urlencoded::parse(query.as_bytes());
                let challenge = parameters.find(|(name, _)| name == "c");
                let challenge = challenge.as_ref().map(|(_, token)| &**token);
                Ok(sign_in.sign_in_page(challenge, headers, host).await)
            }
            SignInHandler::Token => {
                call::count_visit(headers, host).await?;
                self.receive_form(body, headers).await?;
                Ok(sign_in.token(&body.bytes, headers, host).await)
            }
            SignInHandler::Revoke => {
                call::count_visit(headers, host).await?;
                self.receive_form(body, headers).await?;
                Ok(sign_in.revoke(&body.bytes, headers, host).await)
            }
            SignInHandler::Account => {
                if let Some(page) = limited(sign_in, headers, host).await {
                    return Ok(page);
                }
                let tools = self.permitted_tools();
                Ok(self.account(sign_in).page(headers, tools, host).await)
            }
            SignInHandler::ChangeAccount => {
                if let Some(page) = limited(sign_in, headers, host).await {
                    return Ok(page);
                }
                if self.receive_form(body, headers).await.is_err() {
                    return Ok(sign_in.problem_page(Problem::Invalid, host));
                }
                Ok(self.account(sign_in).change(&body.bytes, headers, host).await)
            }
            SignInHandler::Register => {
                call::count_visit(headers, host).await?;
                if !http::is_json(headers) {
                    return Err(Rejection::UnsupportedMediaType);
                }
                self.receive(body).await?;
                Ok(sign_in.register(&body.bytes, host))
            }
        }
    }

    fn account<'a>(&'a self, sign_in: &'a SignIn) -> Account<'a> {
        Account { sign_in, challenges: self.pipeline.challenges.as_ref() }
    }

    /// Serves the callback of a sign-in at a provider.
    pub(super) async fn sign_in_callback(
        &self,
        sign_in: &SignIn,
        provider: &str,
        (query, headers): (&str, &dyn Headers),
        host: &dyn Host,
    ) -> Response {
        if !self.pipeline.settings.problems.is_empty() {
            return sign_in.problem_page(Problem::Internal, host);
        }
        match limited(sign_in, headers, host).await {
            Some(page) => page,
            None => sign_in.callback(provider, (query, headers), host).await,
        }
    }

    /// Reads the body of a form.
    async fn receive_form(
        &self,
        body: &mut Received<'_>,
        headers: &dyn Headers,
    ) -> Result<(), Rejection> {
        let sent = headers.get("content-type").unwrap_or_default();
        let essence = sent.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            let expected = "the body must be application/x-www-form-urlencoded";
            return Err(Rejection::Malformed(expected.to_owned()));
        }
        self.receive(body).await
    }
}

/// The page for a person whose network has sent too many requests, if it has.
async fn limited(sign_in: &SignIn, headers: &dyn Headers, host: &dyn Host) -> Option<Response> {
    let rejection = call::count_visit(headers, host).await.err()?;
    let mut page = sign_in.problem_page(Problem::RateLimited, host);
    page.headers.extend(rejection.header().map(|(name, value)| (name, value.into())));
    Some(page)
}
