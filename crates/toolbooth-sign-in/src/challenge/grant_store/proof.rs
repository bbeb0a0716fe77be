//! Proofs of grants, which let a call be retried at once even if the store is a minute behind.
//!
//! A proof is an opaque handle that the check returns with `completed`. The callback stores a copy of
//! the grant under a key derived from it, which was never read before, so no location has cached
//! a miss. The client sends the handle as its token for the provider, in `context.authorization`.

use std::time::Duration;

use super::StoredGrant;
use crate::challenge::grant::Grant;
use crate::oauth::store;
use crate::purpose;
use toolbooth::call::PROOF_PREFIX;

/// How long a proof is valid after the user agreed: the check may be a minute behind, the call another
/// one, and the client needs time in between.
const LIFE: Duration = Duration::from_secs(5 * 60);

fn is_provable(grant: &Grant, now_ms: u64) -> bool {
    let age = Duration::from_millis(now_ms.saturating_sub(grant.granted_ms));
    age < LIFE && !grant.is_expired(now_ms)
}

impl StoredGrant<'_> {
    /// The proof of a grant, if it is still valid. It is derived from the grant, so that the check of
    /// any challenge that the grant completes can return it without a write.
    pub(crate) fn proof(self, grant: &Grant) -> Option<String> {
        is_provable(grant, self.host.now_ms()).then(|| self.handle(grant))
    }

    /// Stores the grant without its refresh token under its proof. A failure is logged; the call must
    /// then wait until the grant itself can be read.
    pub(super) async fn save_proof(self, grant: &Grant) {
        let key = self.proof_key(&self.handle(grant));
        if let Ok(sealed) = self.encrypt(&key, &grant.without_refresh_token()) {
            let _ = store::put(&key, &sealed, LIFE, self.host).await;
        }
    }

    /// The grant of a proof, if it is this user's and still valid. A store that does not respond counts
    /// as a miss, because the grant itself is read too.
    pub(super) async fn load_by_proof(self, proof: Option<&str>) -> Option<Grant> {
        let key = self.proof_key(proof.filter(|proof| proof.starts_with(PROOF_PREFIX))?);
        let grant = self.read(&key).await.ok()??;
        is_provable(&grant, self.host.now_ms()).then_some(grant)
    }

    fn handle(self, grant: &Grant) -> String {
        let granted_ms = grant.granted_ms.to_string();
        let parts = [&self.parts()[..], &[&granted_ms]].concat();
        format!("{PROOF_PREFIX}{}", self.store.state_keys.hash(purpose::PROOF, &parts))
    }

    /// The key in the store. It depends on the user, so that another user's call does not find it.
    fn proof_key(self, handle: &str) -> String {
        let parts = [&self.parts()[..], &[handle]].concat();
        format!("proof:{}", self.store.state_keys.hash(purpose::PROOF_KEY, &parts))
    }
}
