//! The routes of authorization challenges and grants.

use super::Server;
use crate::call::{self, Rejection};
use crate::catalog::Tool;
use crate::challenge::Challenges;
use crate::host::Host;
use crate::http::{Headers, Response};
use crate::protocol::ConsentHandler;
use crate::settings::Permission;

impl Server {
    /// Answers a request to one of these routes. They need no credentials, except to delete a grant, so
    /// the rate limit counts by network.
    pub(super) async fn consent(
        &self,
        handler: ConsentHandler,
        provider: &str,
        (query, headers): (&str, &dyn Headers),
        host: &dyn Host,
    ) -> Result<Response, Rejection> {
        let challenges = self.pipeline.challenges.as_ref();
        if let Err(rejection) = self.pipeline.count_visit(headers, host).await {
            return match handler {
                ConsentHandler::Check | ConsentHandler::DeleteGrant => Err(rejection),
                ConsentHandler::Page | ConsentHandler::Begin | ConsentHandler::Callback => {
                    let mut page = Challenges::too_many(challenges);
                    let header = rejection.header();
                    page.headers.extend(header.map(|(name, value)| (name, value.into())));
                    Ok(page)
                }
            };
        }
        match handler {
            ConsentHandler::Check => Ok(Challenges::check(challenges, query, host).await),
            ConsentHandler::Page => {
                let settings = &self.pipeline.settings;
                let permitted = |tool: &&Tool| settings.permission(tool) != Permission::Denied;
                let tools = self.pipeline.catalog.tools.iter().filter(permitted);
                Ok(Challenges::ask(challenges, query, tools, host))
            }
            ConsentHandler::Begin => Ok(Challenges::go(challenges, (query, headers), host).await),
            ConsentHandler::Callback => {
                Ok(Challenges::back(challenges, provider, (query, headers), host).await)
            }
            ConsentHandler::DeleteGrant => {
                // Pages that may not call may not delete grants either.
                let origins = self.pipeline.settings.origins_of(false);
                if headers.get("origin").is_some_and(|origin| !origins.allow(&origin)) {
                    return Err(Rejection::ForbiddenOrigin);
                }
                let principal = self.authenticator.authenticate(headers, host).await?;
                if !self.pipeline.settings.problems.is_empty() {
                    return Err(call::misconfigured());
                }
                Challenges::forget(challenges, (provider, query), &principal, host).await
            }
        }
    }
}
