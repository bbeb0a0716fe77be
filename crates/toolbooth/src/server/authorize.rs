//! The addresses of challenges and grants, which belong to no protocol.

use super::Server;
use crate::call::{self, Rejection};
use crate::catalog::Tool;
use crate::challenge::{Address, Challenges};
use crate::host::Host;
use crate::http::{Method, Request, Response};
use crate::protocol::{self, Protocol};
use crate::settings::Permission;

impl Server {
    /// Answers a request to one of these addresses. They need no credentials, except to delete a grant, so
    /// the rate limit counts by network.
    pub(super) async fn authorize(
        &self,
        address: Address<'_>,
        request: Request<'_>,
        host: &dyn Host,
    ) -> Response {
        let (method, headers) = (request.method, request.headers);
        let taken = match method {
            Method::Options => Ok(()),
            _ => self.count_visit(headers, host).await,
        };
        let mut answer = match taken {
            Ok(()) => self.conduct(address, request, host).await,
            Err(rejection) => {
                self.too_many(address, protocol::route(method, request.path).0, rejection)
            }
        };
        if method == Method::Head {
            answer.body = (&[]).into();
        }
        answer
    }

    /// Serves the address. JSON errors have the form of the root protocol. The form of the page must come
    /// from the page itself, any page may read the check, and pages that may not call may not delete grants.
    async fn conduct(
        &self,
        address: Address<'_>,
        request: Request<'_>,
        host: &dyn Host,
    ) -> Response {
        let Request { method, path, query, headers, .. } = request;
        let (protocol, _) = protocol::route(method, path);
        let this = self.settings.challenges.as_ref();
        match (address, method) {
            (Address::Check, Method::Get | Method::Head) => {
                Challenges::check(this, query, host).await
            }
            (Address::Start, Method::Get | Method::Head) => {
                let permitted = |tool: &&Tool| self.settings.permission(tool) != Permission::Denied;
                Challenges::ask(this, query, self.catalog.tools.iter().filter(permitted), host)
            }
            (Address::Start, Method::Post) => Challenges::go(this, (query, headers), host).await,
            (Address::Callback(provider), Method::Get) => {
                Challenges::back(this, provider, (query, headers), host).await
            }
            (Address::Grant(provider), Method::Delete) => {
                let forget = async {
                    let origin = headers.get("origin");
                    if origin.is_some_and(|origin| !self.settings.origins_of(false).allow(&origin))
                    {
                        return Err(Rejection::ForbiddenOrigin);
                    }
                    let principal = self.access.authenticate(headers, host).await?;
                    if !self.settings.problems.is_empty() {
                        return Err(call::misconfigured());
                    }
                    Challenges::forget(this, (provider, query), &principal, host).await
                };
                forget.await.unwrap_or_else(|rejection| self.rejected(protocol, rejection))
            }
            (address, Method::Options) => preflight(address),
            (address, _) => {
                self.rejected(protocol, Rejection::MethodNotAllowed { allow: address.allow() })
            }
        }
    }

    /// What the addresses of challenges and grants answer beyond the rate limit: a page where a user
    /// is, else JSON.
    fn too_many(
        &self,
        address: Address<'_>,
        protocol: &Protocol,
        rejection: Rejection,
    ) -> Response {
        match address {
            Address::Start | Address::Callback(_) => {
                let mut page = Challenges::too_many(self.settings.challenges.as_ref());
                let header = rejection.header();
                page.headers.extend(header.map(|(name, value)| (name, value.into())));
                page
            }
            // Every page may read that, like the check itself.
            Address::Check => self
                .rejected(protocol, rejection)
                .with("access-control-allow-origin", "*")
                .with("access-control-expose-headers", "retry-after"),
            Address::Grant(_) => self.rejected(protocol, rejection),
        }
    }
}

/// Answers `OPTIONS` at the addresses of challenges.
fn preflight(address: Address<'_>) -> Response {
    let answer = Response::empty(204).with("allow", address.allow());
    if address != Address::Check {
        return answer;
    }
    answer
        .with("access-control-allow-origin", "*")
        .with("access-control-allow-methods", "GET, HEAD")
        .with("access-control-allow-headers", "*, authorization")
        .with("access-control-max-age", "86400")
}
