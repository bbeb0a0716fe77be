//! Token revocation (RFC 7009).

use super::access_token::RevokedClaims;
use super::{AuthorizationServer, Credentials, OAuthError, Parameters, RefreshClaims, hash};
use crate::purpose;
use crate::sign_in::event::RevocationReason;
use toolbooth::call::Rejection;
use toolbooth::http::{Answer, Response};
use toolbooth::route::RouteRequest;

/// `POST /oauth/revoke`: ends the grant of a refresh token or an access token. Access tokens that were issued remain
/// valid until they expire, because calls do not read the store.
pub(crate) async fn revoke<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let revoked = AuthorizationServer::of(request)?.revoke(request).await;
    let response = match revoked {
        Ok(()) => Response::empty(200).with("cache-control", "no-store"),
        Err(error) => error.response_to(request.headers),
    };
    Ok(response.into())
}

impl AuthorizationServer {
    async fn revoke(&self, request: &RouteRequest<'_>) -> Result<(), OAuthError> {
        let RouteRequest { ref body, headers, host, .. } = *request;
        let form = Parameters::parse(body)?;
        let credentials = Credentials::read(&form, headers)?;
        let token = form.require("token")?;
        let claims = match self.keys.open(purpose::REFRESH_TOKEN, token, host.now_ms()) {
            Ok(RefreshClaims { grant, .. }) => Some(RevokedClaims {
                sub: grant.identity.subject(),
                client_id: grant.client,
                gid: grant.id,
                auth: grant.document,
            }),
            Err(_) => self.revoked_claims(token),
        };
        let document = claims.as_ref().and_then(|claims| claims.auth.as_ref());
        self.authenticate_client(&credentials, document, host).await?;
        // An invalid token, or one of another client, is no error (RFC 7009, 2.2), and nothing is revoked.
        let own = claims.filter(|claims| claims.client_id == hash(&credentials.client_id));
        if let Some(RevokedClaims { sub, gid, .. }) = own {
            self.end_grant(&sub, &gid, RevocationReason::Requested, host).await?;
        }
        Ok(())
    }
}
