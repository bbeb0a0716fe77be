//! The status of a challenge, which clients poll.

use serde::Serialize;

use crate::challenge::{ChallengeClaims, Challenges, Grant, Verification};
use crate::purpose;
use toolbooth::call::Rejection;
use toolbooth::host::Host;
use toolbooth::http::{Answer, Response};
use toolbooth::route::RouteRequest;
use toolbooth::url::query_parameter;

/// The status of a challenge (OXP "Tool Authorization Challenges").
#[derive(Serialize)]
struct CheckResponse {
    status: ChallengeStatus,
    /// The provider's name for people, unless the address is not valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    /// Lets the call be retried at once, even if the store is a minute behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<String>,
}

#[derive(Serialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum ChallengeStatus {
    Pending,
    Completed,
    Failed,
}

/// `GET /auth/check` (X21): always 200, and readable from any page. Any grant that a call from here would find completes
/// the challenge: `completed` is a promise that the call can be retried. The proof makes that true if the store is
/// behind: docs/STORAGE.md.
pub(crate) async fn check<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let status = Challenges::of(request)?.status(request.query, request.host).await;
    Ok(Response::json_of(200, &status).into())
}

impl Challenges {
    async fn status(&self, query: &str, host: &dyn Host) -> CheckResponse {
        let token = query_parameter(query, "c").unwrap_or_default();
        let claims = self.state_keys.open(purpose::CHALLENGE, &token, host.now_ms());
        let Ok(claims) = claims else {
            return CheckResponse { status: ChallengeStatus::Failed, provider: None, proof: None };
        };
        let (status, proof) = self.progress(&claims, host).await;
        let client = self.provider(&claims.provider);
        CheckResponse { status, provider: client.map(|it| it.provider.title.clone()), proof }
    }

    /// The status of a challenge, and a proof if it is completed.
    async fn progress(
        &self,
        claims: &ChallengeClaims,
        host: &dyn Host,
    ) -> (ChallengeStatus, Option<String>) {
        let stored = self.grant(&claims.owner, &claims.provider, host);
        // If the store does not respond, the status stays open. It is logged.
        let Ok(grant) = stored.load().await else {
            return (ChallengeStatus::Pending, None);
        };
        let now_ms = host.now_ms();
        // A dead grant neither completes nor fails the challenge: the user may be about to replace it,
        // and this copy may be a minute old.
        let suffices = |grant: &Grant| {
            grant.covers(&claims.required_scopes)
                && claims.seen_ms.is_none_or(|seen_ms| grant.updated_ms > seen_ms)
                && !grant.is_dead(now_ms)
        };
        match grant.filter(suffices) {
            Some(grant) => (ChallengeStatus::Completed, stored.proof(&grant)),
            None if self.verifiers.verification(&claims.owner) == Verification::Denied => {
                (ChallengeStatus::Failed, None)
            }
            None if self.grants.has_failed(&claims.id, host).await => {
                (ChallengeStatus::Failed, None)
            }
            None => (ChallengeStatus::Pending, None),
        }
    }
}
