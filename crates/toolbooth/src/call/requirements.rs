//! Checks the requirements of a tool: tokens from the client or from grants, secrets, and a user id.

use super::grants::{GrantRequest, Granted, PROOF_PREFIX, UsedGrant};
use super::missing::{AuthorizationHelp, MissingRequirements};
use super::pipeline::RequestContext;
use super::rejection::Rejection;
use crate::catalog::{Authorization, Tool};
use crate::host::boxed;
use crate::principal::UserMismatch;
use crate::secret::Secret;
use crate::tool::Credentials;
use crate::url::query_value;

/// The requirements of a call, with what it has for them.
pub(super) struct ResolvedRequirements<'a> {
    /// The client's credentials and the tokens of grants.
    pub(super) credentials: Credentials,
    grants: Vec<(&'static Authorization, UsedGrant)>,
    context: RequestContext<'a>,
}

/// Checks the requirements of `tool`, and adds tokens of grants to the credentials.
///
/// # Errors
/// [`Rejection::MissingRequirements`], with challenges if users can grant tokens; [`Rejection::Malformed`] for a
/// user id that does not match the caller's token, and for a token that cannot be a header value;
/// [`Rejection::Unavailable`].
pub(super) async fn resolve<'a>(
    tool: &'static Tool,
    mut sent: Credentials,
    context: RequestContext<'a>,
) -> Result<ResolvedRequirements<'a>, Rejection> {
    let settings = &context.pipeline.settings;
    let user =
        settings.user_of(context.principal, sent.user_id.as_deref()).map_err(|UserMismatch| {
            Rejection::Malformed(format!("context: {}", UserMismatch::MESSAGE))
        })?;
    sent.user_id = user.map(str::to_owned);
    let is_absent =
        |id: &&str| sent.secrets.get(id).is_none_or(|secret| secret.expose().is_empty());
    let mut missing = MissingRequirements {
        secrets: tool.secrets.iter().copied().filter(is_absent).collect(),
        user_id: tool.user_id && sent.user_id.is_none(),
        ..MissingRequirements::default()
    };
    let mut grants = Vec::new();
    // A future of its own, so that a first call does not wait until it is compiled.
    if !tool.authorization.is_empty() {
        boxed(add_tokens(tool, &mut sent, &mut grants, &mut missing, context)).await?;
    }
    if missing == MissingRequirements::default() {
        Ok(ResolvedRequirements { credentials: sent, grants, context })
    } else {
        Err(Rejection::MissingRequirements(missing))
    }
}

/// Checks the client's tokens, and adds those of grants.
async fn add_tokens(
    tool: &'static Tool,
    sent: &mut Credentials,
    grants: &mut Vec<(&'static Authorization, UsedGrant)>,
    missing: &mut MissingRequirements,
    context: RequestContext<'_>,
) -> Result<(), Rejection> {
    for required in tool.authorization {
        let is_own = |token: &&Secret| {
            !token.expose().is_empty() && !token.expose().starts_with(PROOF_PREFIX)
        };
        if let Some(own) = sent.tokens.get(required.id).filter(is_own) {
            if !own.is_bearer_token() {
                let id = required.id;
                return Err(Rejection::Malformed(format!(
                    "context.authorization: the token with id \"{id}\" must be at most 16384 visible \
                     ASCII characters, without spaces"
                )));
            }
            continue;
        }
        let granted = match &context.pipeline.grants {
            Some(grants) => grants.token(GrantRequest { required, tool, sent, context }).await?,
            None => Granted::NotConfigured,
        };
        match granted {
            Granted::NotConfigured | Granted::UserMissing if tool.is_optional(required.id) => {
                continue;
            }
            Granted::Token(token, used) => {
                sent.tokens.insert(required.id.to_owned(), token);
                grants.push((required, used));
                continue;
            }
            Granted::UserMissing => {
                missing.user_id = true;
                missing.help.extend(help(required.id, context));
            }
            Granted::Challenged(challenge) => missing.challenges.push(challenge),
            Granted::NotConfigured => missing.help.extend(help(required.id, context)),
        }
        missing.authorization.push(required.id);
    }
    Ok(())
}

impl ResolvedRequirements<'_> {
    /// The tokens that the client itself has sent: not those of grants.
    pub(super) fn sent_tokens(&self) -> impl Iterator<Item = &(String, Secret)> {
        let is_granted = |id: &str| self.grants.iter().any(|(required, _)| required.id == id);
        self.credentials.tokens.iter().filter(move |(id, _)| !is_granted(id))
    }

    /// The rejection of a call whose token for `provider` was rejected by the service: the client must send
    /// another token (X48), or the user must consent again if the token came from a grant. The grant is kept: it
    /// may have been read from a copy that is a minute old, so deleting it could delete a newer one.
    ///
    /// `None` if the tool requires no token for `provider`.
    pub(super) fn token_rejected(&self, tool: &'static Tool, provider: &str) -> Option<Rejection> {
        let required = tool.authorization.iter().find(|it| it.id == provider)?;
        let (sent, context) = (&self.credentials, self.context);
        let mut challenges = Vec::new();
        if let Some((_, used)) = self.grants.iter().find(|(it, _)| it.id == required.id)
            && let Some(grants) = &context.pipeline.grants
        {
            match grants.renew(GrantRequest { required, tool, sent, context }, used) {
                Ok(challenge) => challenges.push(challenge),
                Err(rejection) => return Some(rejection),
            }
        }
        Some(Rejection::MissingRequirements(MissingRequirements {
            authorization: vec![required.id],
            challenges,
            ..MissingRequirements::default()
        }))
    }
}

/// Where to read how to authorize calls, if the server has such a page.
fn help(provider: &'static str, context: RequestContext<'_>) -> Option<AuthorizationHelp> {
    let path = context.pipeline.authorization_help?;
    let (origin, id) = (context.origin(), query_value(provider));
    Some(AuthorizationHelp { provider, url: format!("{origin}{path}{id}") })
}
