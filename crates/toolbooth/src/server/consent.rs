//! The routes of authorization challenges and grants.

use super::Server;
use crate::call::{self, Pipeline, Rejection};
use crate::catalog::Tool;
use crate::challenge::{self, DeletionError};
use crate::host::Host;
use crate::http::{Headers, Response};
use crate::protocol::{ConsentHandler, Protocol};
use crate::settings::Permission;
use crate::url::query_value;

impl Server {
    /// The page about a provider that tools require.
    pub(super) fn authorization_help(&self, provider: &str) -> Result<Response, Rejection> {
        let Pipeline { catalog, settings, .. } = &self.pipeline;
        let permitted = |tool: &&Tool| settings.permission(tool) != Permission::Denied;
        let mut required = catalog.tools.iter().filter(permitted).flat_map(|it| it.authorization);
        let found = required.find(|it| query_value(it.id).to_string() == provider);
        found.map(|it| challenge::help(it.id)).ok_or(Rejection::NOT_FOUND)
    }

    /// Serves one of these routes. Only the deletion of a grant needs credentials, so the rate limit counts by
    /// network.
    pub(super) async fn consent(
        &self,
        protocol: &Protocol,
        (handler, provider): (ConsentHandler, &str),
        (query, headers): (&str, &dyn Headers),
        host: &dyn Host,
    ) -> Result<Response, Rejection> {
        #[cfg(feature = "sign-in")]
        if let (ConsentHandler::Callback, Some(sign_in)) = (handler, &self.sign_in)
            && sign_in.is_sign_in(query)
        {
            return match self.limited(sign_in, headers, host).await {
                Some(page) => Ok(page),
                None => Ok(sign_in.callback(provider, (query, headers), host).await),
            };
        }
        let challenges = self.pipeline.challenges.as_ref().ok_or(Rejection::NOT_FOUND)?;
        if let Err(rejection) = self.pipeline.count_visit(headers, host).await {
            return match handler {
                ConsentHandler::Check | ConsentHandler::DeleteGrant => Err(rejection),
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
                let settings = &self.pipeline.settings;
                let permitted = |tool: &&Tool| settings.permission(tool) != Permission::Denied;
                let tools = self.pipeline.catalog.tools.iter().filter(permitted);
                Ok(challenges.consent_page(query, tools, host))
            }
            ConsentHandler::Begin => Ok(challenges.begin(query, headers, host).await),
            ConsentHandler::Callback => {
                Ok(challenges.callback(provider, (query, headers), host).await)
            }
            ConsentHandler::DeleteGrant => {
                // Pages that may not call may not delete grants either.
                let origins = self.pipeline.settings.cors.origins(false);
                if headers.get("origin").is_some_and(|origin| !origins.allow(&origin)) {
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
