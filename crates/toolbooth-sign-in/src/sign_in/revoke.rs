//! Token revocation (RFC 7009).

use super::SignIn;
use super::access_token::RevokedClaims;
use super::client::hash;
use super::client_auth::Credentials;
use super::error::OAuthError;
use super::event::{RevocationReason, SignInEvent};
use super::form::Parameters;
use super::grant::RefreshClaims;
use toolbooth::host::Host;
use toolbooth::http::{Headers, Response};

impl SignIn {
    /// `POST /oauth/revoke`: ends the grant of a refresh token or an access token. Access tokens that were issued
    /// remain valid until they expire, because calls do not read the store.
    pub(crate) async fn revoke(
        &self,
        body: &[u8],
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Response {
        match self.try_revoke(body, headers, host).await {
            Ok(()) => Response::empty(200).with("cache-control", "no-store"),
            Err(error) => error.response_to(headers),
        }
    }

    async fn try_revoke(
        &self,
        body: &[u8],
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<(), OAuthError> {
        let form = Parameters::parse(body)?;
        let credentials = Credentials::read(&form, headers)?;
        let token = form.require("token")?;
        let claims = match self.open_refresh_token(token, host.now_ms()) {
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
            self.token_status.revoke(&gid, host).await.map_err(|_| OAuthError::try_again())?;
            self.forget_connection(&sub, &gid, host).await;
            let (reason, caller) = (RevocationReason::Requested, self.caller(&sub));
            self.log(SignInEvent::ClientRevoked { reason, caller }, host);
        }
        Ok(())
    }
}
