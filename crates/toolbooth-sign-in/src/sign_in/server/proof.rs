//! Tokens that are bound to a key of the client (DPoP, RFC 9449, 5): only with proofs of its possession are they worth anything.

use super::AuthorizationServer;
use super::error::{INVALID_DPOP_PROOF, OAuthError, USE_DPOP_NONCE};
use toolbooth::auth::ProofError;
use toolbooth::http::Response;
use toolbooth::route::RouteRequest;

/// The header of proofs.
const PROOF: &str = "dpop";

impl AuthorizationServer {
    /// The thumbprint of the key whose possession a client proves; `None` if it does not offer that.
    pub(super) async fn proven_key(
        &self,
        request: &RouteRequest<'_>,
    ) -> Result<Option<String>, OAuthError> {
        let Some(proof) = request.headers.get(PROOF) else { return Ok(None) };
        let proofs = request.state.authenticator.proofs();
        let proofs = proofs.ok_or(INVALID_DPOP_PROOF.error("the server accepts no proofs"))?;
        let proven = proofs.verify(&proof, request.target, request.host).await;
        proven.map(Some).map_err(|error| match error {
            ProofError::Invalid(reason) => INVALID_DPOP_PROOF.error(reason),
            ProofError::Nonce => {
                USE_DPOP_NONCE.error("the proof must have the nonce of the header DPoP-Nonce")
            }
            ProofError::Unavailable => OAuthError::try_again(),
        })
    }
}

/// Adds a nonce for the next proof (RFC 9449, 8) to the response to a client that sends proofs.
pub(super) fn with_nonce(response: Response, request: &RouteRequest<'_>) -> Response {
    let proofs = request.state.authenticator.proofs();
    match proofs.filter(|_| request.headers.get(PROOF).is_some()) {
        Some(proofs) => response.with("dpop-nonce", proofs.nonce(request.host)),
        None => response,
    }
}

/// Checks that a code or a refresh token that is bound to a key comes with a proof of it.
pub(super) fn check_key(bound: Option<&str>, proven: Option<&str>) -> Result<(), OAuthError> {
    match bound.is_none() || bound == proven {
        true => Ok(()),
        false => {
            let expected =
                "a proof with the key that the code or the refresh token is bound to is missing";
            Err(INVALID_DPOP_PROOF.error(expected))
        }
    }
}
