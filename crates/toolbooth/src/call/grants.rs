//! Tokens from grants: replaces tokens that the client did not send by those that the user granted.

use crate::catalog::{Authorization, Tool};
use crate::challenge::{
    Challenge, Challenges, GrantError, GrantRequest, GrantedToken, Owner, OwnerError,
};
use crate::host::{Host, boxed};
use crate::secret::Secret;
use crate::tool::Credentials;

use super::pipeline::RequestContext;
use super::rejection::Rejection;

/// The result of a lookup of the user's grant.
pub(super) enum Granted {
    /// The grant has an access token, which was added to the credentials.
    Token,
    /// No provider of this id is configured.
    NotConfigured,
    /// The request has no user id.
    UserMissing,
    /// The user must consent first.
    ConsentRequired(Challenge),
}

/// The grants that a call uses.
#[derive(Default)]
pub(super) struct UsedGrants<'a>(Vec<UsedGrant<'a>>);

struct UsedGrant<'a> {
    challenges: &'a Challenges,
    required: &'static Authorization,
    owner: Owner,
    client: Option<&'a str>,
    updated_ms: u64,
    scopes: Vec<String>,
}

/// Whether a client's token has the format of a proof of a grant, valid or not.
pub(super) fn is_proof(token: &Secret) -> bool {
    Challenges::is_proof(token)
}

impl<'a> UsedGrants<'a> {
    /// Gets the token that `tool` requires from the user's grant.
    ///
    /// # Errors
    /// [`Rejection::Malformed`] for a user who cannot have grants; [`Rejection::Unavailable`].
    pub(super) async fn token(
        &mut self,
        required: &'static Authorization,
        tool: &Tool,
        sent: &mut Credentials,
        context: RequestContext<'a>,
    ) -> Result<Granted, Rejection> {
        let RequestContext { principal, pipeline, host, .. } = context;
        let known = pipeline.challenges.as_ref();
        let known = known.and_then(|it| Some((it, it.provider(required.id)?)));
        let Some((challenges, provider)) = known else { return Ok(Granted::NotConfigured) };
        let owner = match Owner::of(principal, sent.user_id.as_deref()) {
            Ok(owner) => owner,
            Err(OwnerError::MissingUser) => return Ok(Granted::UserMissing),
            Err(error) => {
                return Err(Rejection::Malformed(format!("context: {}", error.message())));
            }
        };
        let id = tool.id();
        let proof = sent.tokens.get(required.id);
        let client = principal.client();
        let scopes = required.scopes;
        let request = GrantRequest { owner: &owner, client, provider, scopes, tool: &id, proof };
        match boxed(challenges.token(&request, host)).await {
            Ok(GrantedToken { token, updated_ms, scopes }) => {
                sent.tokens.insert(required.id.to_owned(), token);
                self.0.push(UsedGrant { challenges, required, owner, client, updated_ms, scopes });
                Ok(Granted::Token)
            }
            Err(GrantError::ConsentRequired(challenge)) => Ok(Granted::ConsentRequired(challenge)),
            Err(GrantError::Unavailable(detail)) => Err(Rejection::Unavailable(detail)),
        }
    }

    /// A challenge that replaces a grant whose token a service rejected; `None` if the call used no grant of
    /// `provider`.
    ///
    /// # Errors
    /// [`Rejection::Unavailable`]: the source of random bytes failed.
    pub(super) fn renew(
        &self,
        provider: &str,
        tool: &Tool,
        host: &dyn Host,
    ) -> Result<Option<Challenge>, Rejection> {
        let used = self.0.iter().find(|used| used.required.id == provider);
        let Some((used, provider)) =
            used.and_then(|used| Some((used, used.challenges.provider(provider)?)))
        else {
            return Ok(None);
        };
        let UsedGrant { challenges, required, owner, client, updated_ms, scopes } = used;
        let (client, required, id, proof) = (*client, required.scopes, tool.id(), None);
        let request = GrantRequest { owner, client, provider, scopes: required, tool: &id, proof };
        let challenge = challenges.challenge(&request, Some(*updated_ms), scopes, host);
        let no_random = |_| Rejection::Unavailable("it has no random bytes");
        challenge.map(Some).map_err(no_random)
    }
}
