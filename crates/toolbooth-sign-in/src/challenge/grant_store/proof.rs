//! Proofs of grants, which let a call be retried at once even if the store is a minute behind.
//!
//! A proof is an opaque handle that the check returns with `completed`. The callback stores a copy of
//! the grant under a key derived from it, which was never read before, so no location has cached
//! a miss. The client sends the handle as its token for the provider, in `context.authorization`.

use std::time::Duration;

use super::{GrantId, GrantStore};
use crate::challenge::grant::Grant;
use crate::oauth::store;
use crate::purpose;
use toolbooth::call::PROOF_PREFIX;
use toolbooth::host::Host;

/// How long a proof is valid after the user agreed: the check may be a minute behind, the call another
/// one, and the client needs time in between.
const LIFE: Duration = Duration::from_secs(5 * 60);

fn is_provable(grant: &Grant, now_ms: u64) -> bool {
    let age = Duration::from_millis(now_ms.saturating_sub(grant.granted_ms));
    age < LIFE && !grant.is_expired(now_ms)
}

impl GrantStore {
    /// The proof of a grant, if it is still valid. It is derived from the grant, so that the check of
    /// any challenge that the grant completes can return it without a write.
    pub(crate) fn proof(&self, id: GrantId<'_>, grant: &Grant, host: &dyn Host) -> Option<String> {
        is_provable(grant, host.now_ms()).then(|| self.handle(id, grant))
    }

    /// Stores the grant without its refresh token under its proof. A failure is logged; the call must
    /// then wait until the grant itself can be read.
    pub(super) async fn save_proof(&self, id: GrantId<'_>, grant: &Grant, host: &dyn Host) {
        let key = self.proof_key(id, &self.handle(id, grant));
        if let Ok(sealed) = self.encrypt(&key, &grant.without_refresh_token(), host) {
            let _ = store::put(&key, &sealed, LIFE, host).await;
        }
    }

    /// The grant of a proof, if it is this user's and still valid. A store that does not respond counts
    /// as a miss, because the grant itself is read too.
    pub(super) async fn load_by_proof(
        &self,
        id: GrantId<'_>,
        proof: Option<&str>,
        host: &dyn Host,
    ) -> Option<Grant> {
        let key = self.proof_key(id, proof.filter(|proof| proof.starts_with(PROOF_PREFIX))?);
        let grant = self.read(&key, host).await.ok()??;
        is_provable(&grant, host.now_ms()).then_some(grant)
    }

    fn handle(&self, id: GrantId<'_>, grant: &Grant) -> String {
        let granted_ms = grant.granted_ms.to_string();
        let parts = [&id.parts()[..], &[&granted_ms]].concat();
        format!("{PROOF_PREFIX}{}", self.state_keys.hash(purpose::PROOF, &parts))
    }

    /// The key in the store. It depends on the user, so that another user's call does not find it.
    fn proof_key(&self, id: GrantId<'_>, handle: &str) -> String {
        let parts = [&id.parts()[..], &[handle]].concat();
        format!("proof:{}", self.state_keys.hash(purpose::PROOF_KEY, &parts))
    }
}
