//! The routes of authorization challenges and grants.

use super::{Received, Server};
use crate::call::{self, Pipeline, Rejection};
use crate::catalog::Tool;
use crate::challenge::{self, DeletionError};
use crate::host::Host;
use crate::http::{self, Headers, Response};
use crate::principal::Person;
use crate::protocol::{ConsentHandler, Protocol};
use crate::settings::Permission;
use crate::url::query_value;

impl Server {
    /// The page about a provider that tools require.
    pub(super) fn authorization_help(&self, provider: &str) -> Result<Response, Rejection> {
        let mut required = self.permitted_tools().flat_map(|it| it.authorization);
        let found = required.find(|it| query_value(it.id).to_string() == provider);
        found.map(|it| challenge::help(it.id)).ok_or(Rejection::NOT_FOUND)
    }

    /// The tools that may be called.
    pub(super) fn permitted_tools(&self) -> impl Iterator<Item = &'static Tool> + Clone {
        let Pipeline { catalog, settings, .. } = &self.pipeline;
        let permitted = |tool: &&Tool| settings.permission(tool) != Permission::Denied;
        catalog.tools.iter().filter(permitted)
    }

    /// Who has signed in with a browser.
    async fn person(&self, headers: &dyn Headers, host: &dyn Host) -> Option<Person> {
        #[cfg(feature = "sign-in")]
        return match &self.sign_in {
            Some(sign_in) => sign_in.person(headers, host).await,
            None => None,
        };
        #[cfg(not(feature = "sign-in"))]
        {
            let _ = (headers, host);
            None
        }
    }

    /// Serves one of these routes. Only confirmations and deletions need credentials, so the rate limit counts by
    /// network. `origin` is that of the page that sent the request, unless the page is one of the server's own.
    pub(super) async fn consent(
        &self,
        protocol: &Protocol,
        (handler, provider): (ConsentHandler, &str),
        (origin, query, headers): (Option<&str>, &str, &dyn Headers),
        body: &mut Received<'_>,
        host: &dyn Host,
    ) -> Result<Response, Rejection> {
        #[cfg(feature = "sign-in")]
        if let (ConsentHandler::Callback, Some(sign_in)) = (handler, &self.sign_in)
            && sign_in.is_sign_in(query)
        {
            return Ok(self.sign_in_callback(sign_in, provider, (query, headers), host).await);
        }
        let challenges = self.pipeline.challenges.as_ref().ok_or(Rejection::NOT_FOUND)?;
        if let Err(rejection) = call::count_visit(headers, host).await {
            return match handler {
                ConsentHandler::Check | ConsentHandler::Confirm | ConsentHandler::DeleteGrant => {
                    Err(rejection)
                }
                ConsentHandler::Page | ConsentHandler::Begin | ConsentHandler::Callback => {
                    let mut page = challenges.rate_limited_page();
                    let header = rejection.header();
                    page.headers.extend(header.map(|(name, value)| (name, value.into())));
                    Ok(page)
                }
            };
        }
        match handler {
            ConsentHandler::Check => Ok(challenges.check(query, host).await),
            ConsentHandler::Page => {
                let tools = self.permitted_tools();
                let person = self.person(headers, host).await;
                Ok(challenges.consent_page((query, headers), person.as_ref(), tools, host))
            }
            ConsentHandler::Begin => {
                let person = self.person(headers, host).await;
                Ok(challenges.begin((query, headers), person.as_ref(), host).await)
            }
            ConsentHandler::Confirm => {
                let principal = self.authenticate(protocol, headers, host).await?;
                if !self.pipeline.settings.problems.is_empty() {
                    return Err(call::misconfigured());
                }
                if !http::is_json(headers) {
                    return Err(Rejection::UnsupportedMediaType);
                }
                self.receive(body).await?;
                let confirmed = challenges.confirm(&body.bytes, &principal, host);
                confirmed.map_err(|error| Rejection::Malformed(error.message().to_owned()))
            }
            ConsentHandler::Callback => {
                Ok(challenges.callback(provider, (query, headers), host).await)
            }
            ConsentHandler::DeleteGrant => {
                // Pages that may not call may not delete grants either.
                let origins = self.pipeline.settings.cors.origins(false);
                if origin.is_some_and(|origin| !origins.allow(origin)) {
                    return Err(Rejection::ForbiddenOrigin);
                }
                let principal = self.authenticate(protocol, headers, host).await?;
                if !self.pipeline.settings.problems.is_empty() {
                    return Err(call::misconfigured());
                }
                let deleted = challenges.delete_grant((provider, query), &principal, host).await;
                deleted.map_err(|error| match error {
                    DeletionError::UnknownProvider => Rejection::NOT_FOUND,
                    DeletionError::Owner(error) => {
                        Rejection::Malformed(format!("in the query: {}", error.message()))
                    }
                    DeletionError::StoreUnavailable => {
                        Rejection::Unavailable("its KV namespace does not answer")
                    }
                })
            }
        }
    }
}
