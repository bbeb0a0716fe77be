//! Proofs: what the check gives out with `completed`, so that the call works again at once where the
//! store is a minute behind.
//!
//! A proof holds the access token, sealed, and nothing else reads it than a call of the same
//! application for the same user. The client sends it as its own token of the provider, in
//! `context.authorization`.

use serde::{Deserialize, Serialize};

use super::grant::Grant;
use super::owner::Owner;
use super::vault::Vault;
use crate::host::Host;
use crate::json;

/// How a proof begins; no provider's tokens do.
const PREFIX: &str = "toolbooth-proof.";
/// How long one counts: the store is a minute behind, and the client needs time to call.
const LIFE_MS: u64 = 2 * 60 * 1000;

#[derive(Serialize, Deserialize)]
struct Proof {
    /// The millisecond since the epoch from which it counts no more.
    end_ms: u64,
    grant: Grant,
}

/// Whether what a client sends as a token is a proof, good or not.
pub(super) fn is_proof(token: &str) -> bool {
    token.starts_with(PREFIX)
}

impl Vault {
    /// A proof of a grant; none where there are no random bytes or its token has ended.
    pub(super) fn proof(
        &self,
        (owner, provider): (&Owner, &str),
        grant: Grant,
        host: &dyn Host,
    ) -> Option<String> {
        let now_ms = host.now_ms();
        let grant = Some(grant).filter(|grant| !grant.is_over(now_ms))?.with_refresh(None);
        let proof = Proof { end_ms: now_ms.saturating_add(LIFE_MS), grant };
        let text = json::write(&proof);
        let sealed = self.seal.seal(&self.place(owner, provider), text.as_bytes(), host).ok()?;
        Some(format!("{PREFIX}{sealed}"))
    }

    /// The grant that a proof holds, if it is one of this owner's and still counts.
    pub(super) fn proven(
        &self,
        (owner, provider): (&Owner, &str),
        proof: &str,
        now_ms: u64,
    ) -> Option<Grant> {
        let text = self.seal.open(&self.place(owner, provider), proof.strip_prefix(PREFIX)?)?;
        let proof: Proof = json::read(&text)?;
        (now_ms < proof.end_ms && !proof.grant.is_over(now_ms)).then_some(proof.grant)
    }

    /// What a proof is sealed for: never the place of a grant, so that neither passes for the other.
    fn place(&self, owner: &Owner, provider: &str) -> String {
        format!("proof:{}", self.key(owner, provider))
    }
}
