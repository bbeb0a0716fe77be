//! Tokens that are bound to a key of the client (DPoP, RFC 9449, 5): only with proofs of its possession are they worth anything.

use super::error::{INVALID_DPOP_PROOF, OAuthError, USE_DPOP_NONCE};
use toolbooth::auth::{ProofError, ProofVerifier, ValidProof};
use toolbooth::host::Host;
use toolbooth::http::Response;
use toolbooth::route::RouteRequest;

/// The header of proofs.
const PROOF: &str = "dpop";

/// The key whose possession a client proves at the token endpoint, if it offers that. Anyone can make proofs, so this one is
/// used only after the client has authenticated, or has sent a code or a token of its own: until then nothing is stored.
pub(super) struct OfferedKey<'a> {
    proven: Option<(&'a ProofVerifier, ValidProof)>,
    host: &'a dyn Host,
}

impl<'a> OfferedKey<'a> {
    /// Checks the proof of a request.
    pub(super) async fn of(request: &RouteRequest<'a>) -> Result<Self, OAuthError> {
        let host = request.host;
        let Some(proof) = request.headers.get(PROOF) else {
            return Ok(Self { proven: None, host });
        };
        let proofs = request.state.authenticator.proofs();
        let proofs = proofs.ok_or(INVALID_DPOP_PROOF.error("the server accepts no proofs"))?;
        let proof = proofs.verify(&proof, request.target, host).await.map_err(error)?;
        Ok(Self { proven: Some((proofs, proof)), host })
    }

    /// Checks that a code or a refresh token that is bound to a key comes with a proof of it.
    pub(super) fn check(&self, bound: Option<&str>) -> Result<(), OAuthError> {
        let proven = self.proven.as_ref().map(|(_, proof)| proof.thumbprint());
        match bound.is_none() || bound == proven {
            true => Ok(()),
            false => {
                let expected = "a proof with the key that the code or the refresh token is bound to is missing";
                Err(INVALID_DPOP_PROOF.error(expected))
            }
        }
    }

    /// Uses the proof, and returns the thumbprint of the key.
    pub(super) async fn accept(self) -> Result<Option<String>, OAuthError> {
        let Some((proofs, proof)) = self.proven else { return Ok(None) };
        proofs.use_once(proof, self.host).await.map(Some).map_err(error)
    }
}

fn error(error: ProofError) -> OAuthError {
    match error {
        ProofError::Invalid(reason) => INVALID_DPOP_PROOF.error(reason),
        ProofError::Nonce => {
            USE_DPOP_NONCE.error("the proof must have the nonce of the header DPoP-Nonce")
        }
        ProofError::Unavailable => OAuthError::try_again(),
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
