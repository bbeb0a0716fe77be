//! What a tool requires and how it is met: by what the client sent, else by what users have granted.

use super::missing::MissingRequirements;
use super::pipeline::RequestContext;
use super::rejection::Rejection;
use crate::catalog::{Authorization, Tool};
use crate::challenge::{Challenges, GrantError, GrantRequest, GrantedToken, Owner, OwnerError};
use crate::host::{Host, rare};
use crate::principal::UserMismatch;
use crate::tool::Named;
use crate::tool::{Credentials, Secret};

/// All that a call needs.
pub(super) struct Met<'a> {
    /// With the tokens of grants beside those that the client sent.
    pub(super) credentials: Credentials,
    /// The grants that were used.
    grants: Vec<Used<'a>>,
}

/// A grant that was used.
struct Used<'a> {
    challenges: &'a Challenges,
    required: &'static Authorization,
    owner: Owner,
    updated_ms: u64,
    scopes: Vec<String>,
}

/// Meets the requirements of `tool`.
///
/// # Errors
/// [`Rejection::MissingRequirements`] with challenges where users can be asked;
/// [`Rejection::Malformed`] for a user id that is too long for that, or not that of the caller's
/// token, and for a token that no service could be sent; [`Rejection::Unavailable`].
pub(super) async fn meet<'a>(
    tool: &'static Tool,
    mut sent: Credentials,
    context: RequestContext<'a>,
) -> Result<Met<'a>, Rejection> {
    let RequestContext { principal, pipeline, host, .. } = context;
    let user = principal.user(sent.user_id.as_deref());
    let user = user.map_err(|UserMismatch| {
        Rejection::Malformed(format!("context: {}", OwnerError::UserMismatch.message()))
    })?;
    sent.user_id = user.map(str::to_owned);
    let mut missing = MissingRequirements {
        authorization: Vec::new(),
        secrets: absent(tool.secrets, &sent.secrets).collect(),
        user_id: tool.user_id && sent.user_id.is_none(),
        challenges: Vec::new(),
    };
    let mut grants = Vec::new();
    for required in tool.authorization {
        let own = |token: &&Secret| !token.expose().is_empty() && !Challenges::is_proof(token);
        if let Some(own) = sent.tokens.get(required.id).filter(own) {
            if !own.is_bearer_token() {
                let id = required.id;
                return Err(Rejection::Malformed(format!(
                    "context.authorization: the token with id \"{id}\" must be at most 16384 visible \
                     ASCII characters, without spaces"
                )));
            }
            continue;
        }
        let known = pipeline.challenges.as_ref();
        let known = known.and_then(|it| Some((it, it.provider(required.id)?)));
        let Some((challenges, provider)) = known else {
            missing.authorization.push(required.id);
            continue;
        };
        let owner = match Owner::of(principal, sent.user_id.as_deref()) {
            Ok(owner) => owner,
            Err(OwnerError::MissingUser) => {
                missing.authorization.push(required.id);
                missing.user_id = true;
                continue;
            }
            Err(error) => {
                return Err(Rejection::Malformed(format!("context: {}", error.message())));
            }
        };
        let id = tool.id();
        let proof = sent.tokens.get(required.id);
        let request =
            GrantRequest { owner: &owner, provider, scopes: required.scopes, tool: &id, proof };
        match rare(challenges.token(&request, host)).await {
            Ok(granted) => {
                let GrantedToken { token, updated_ms, scopes } = granted;
                sent.tokens.insert(required.id.to_owned(), token);
                grants.push(Used { challenges, required, owner, updated_ms, scopes });
            }
            Err(GrantError::ConsentRequired(challenge)) => {
                missing.authorization.push(required.id);
                missing.challenges.push(challenge);
            }
            Err(GrantError::Unavailable(detail)) => return Err(Rejection::Unavailable(detail)),
        }
    }
    if missing == MissingRequirements::default() {
        Ok(Met { credentials: sent, grants })
    } else {
        Err(Rejection::MissingRequirements(missing))
    }
}

impl Met<'_> {
    /// What to answer when a service refuses the token of `provider`: the client must send another
    /// one (X48), or the user be asked anew where the token was that of a grant. The grant stays: it
    /// may have been read from a copy that is a minute old, and deleting it would delete a newer one.
    ///
    /// Nothing if the tool requires no such token.
    pub(super) fn refused(
        &self,
        tool: &'static Tool,
        provider: &str,
        host: &dyn Host,
    ) -> Option<Rejection> {
        let required = tool.authorization.iter().find(|it| it.id == provider)?;
        let mut missing = MissingRequirements {
            authorization: vec![required.id],
            ..MissingRequirements::default()
        };
        if let Some(used) = self.grants.iter().find(|used| used.required.id == provider) {
            let Used { challenges, required, owner, updated_ms, scopes } = used;
            let provider = challenges.provider(provider)?;
            let (scopes_required, id) = (required.scopes, tool.id());
            let request =
                GrantRequest { owner, provider, scopes: scopes_required, tool: &id, proof: None };
            match challenges.challenge(&request, Some(*updated_ms), scopes, host) {
                Ok(challenge) => missing.challenges.push(challenge),
                Err(_) => return Some(Rejection::Unavailable("it has no random bytes")),
            }
        }
        Some(Rejection::MissingRequirements(missing))
    }
}

/// The required ids that were not sent.
fn absent<'a>(
    required: &'a [&'static str],
    sent: &'a Named<Secret>,
) -> impl Iterator<Item = &'static str> + 'a {
    required.iter().copied().filter(|id| is_absent(id, sent))
}

/// An empty token or secret is as good as none.
fn is_absent(id: &str, sent: &Named<Secret>) -> bool {
    sent.get(id).is_none_or(|secret| secret.expose().is_empty())
}
