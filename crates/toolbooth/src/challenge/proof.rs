//! Proofs: what the check returns with `completed`, so that the call works again at once where the
//! store is a minute behind.
//!
//! A proof is a handle without a meaning of its own. The callback stores a copy of the grant under a
//! key that is made of it, which nobody can have read before: no location remembers a miss of it. The
//! client sends the handle as its own token of the provider, in `context.authorization`.

use std::time::Duration;

use super::grant::Grant;
use super::token::TokenPurpose;
use super::vault::{GrantStore, Whose, parts, put};
use crate::host::Host;

/// How a proof begins; no provider's tokens do.
const PREFIX: &str = "toolbooth-proof.";
/// How long one counts after the user consented: the check is a minute behind, the call may be
/// another, and the client needs time between.
const LIFE: Duration = Duration::from_secs(5 * 60);

/// Whether what a client sends as a token is a proof, good or not.
pub(super) fn is_proof(token: &str) -> bool {
    token.starts_with(PREFIX)
}

/// Whether a proof of the grant still counts.
fn counts(grant: &Grant, now_ms: u64) -> bool {
    let age = Duration::from_millis(now_ms.saturating_sub(grant.granted_ms));
    age < LIFE && !grant.is_over(now_ms)
}

impl GrantStore {
    /// The proof of a grant, if it still counts. It follows from the grant, so that the check of any
    /// challenge that the grant completes can return it without writing anything.
    pub(super) fn proof(&self, whose: Whose<'_>, grant: &Grant, host: &dyn Host) -> Option<String> {
        counts(grant, host.now_ms()).then(|| self.handle(whose, grant))
    }

    /// Stores what the proof of a grant stands for: the grant, without its refresh token. A failure
    /// is logged; then the call must wait until the grant itself is seen.
    pub(super) async fn prove(&self, whose: Whose<'_>, grant: &Grant, host: &dyn Host) {
        let key = self.proof_key(whose, &self.handle(whose, grant));
        if let Ok(sealed) = self.sealed(&key, &grant.without_refresh_token(), host) {
            let _ = put(&key, &sealed, LIFE, host).await;
        }
    }

    /// The grant that a proof stands for, if it is one of this user's and still counts. A store that
    /// does not answer is as good as none: the grant itself is looked for too.
    pub(super) async fn proven(
        &self,
        whose: Whose<'_>,
        proof: Option<&str>,
        host: &dyn Host,
    ) -> Option<Grant> {
        let key = self.proof_key(whose, proof.filter(|proof| is_proof(proof))?);
        let grant = self.read(&key, host).await.ok()??;
        counts(&grant, host.now_ms()).then_some(grant)
    }

    fn handle(&self, whose: Whose<'_>, grant: &Grant) -> String {
        let granted_ms = grant.granted_ms.to_string();
        let parts = [&parts(whose)[..], &[&granted_ms]].concat();
        format!("{PREFIX}{}", self.state.hash(TokenPurpose::Proof, &parts))
    }

    /// Another user's call does not find the record, because the key is made of the user too.
    fn proof_key(&self, whose: Whose<'_>, handle: &str) -> String {
        let parts = [&parts(whose)[..], &[handle]].concat();
        format!("proof:{}", self.state.hash(TokenPurpose::ProofKey, &parts))
    }
}
