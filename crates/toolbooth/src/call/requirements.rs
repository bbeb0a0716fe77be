//! Checks the requirements of a tool: tokens from the client or from grants, secrets, and a user id.

use super::grants::{Granted, UsedGrants, is_proof};
use super::missing::{AuthorizationHelp, MissingRequirements};
use super::pipeline::RequestContext;
use super::rejection::Rejection;
use crate::catalog::Tool;
#[cfg(feature = "challenges")]
use crate::challenge::HELP_PATH;
use crate::host::Host;
use crate::principal::UserMismatch;
use crate::secret::Secret;
use crate::tool::{Credentials, Named};
#[cfg(feature = "challenges")]
use crate::url::query_value;

/// The fulfilled requirements of a call.
pub(super) struct Fulfilled<'a> {
    /// The client's credentials and the tokens of grants.
    pub(super) credentials: Credentials,
    grants: UsedGrants<'a>,
}

/// Checks the requirements of `tool`, and adds tokens of grants to the credentials.
///
/// # Errors
/// [`Rejection::MissingRequirements`], with challenges if users can grant tokens; [`Rejection::Malformed`] for a
/// user id that does not match the caller's token, and for a token that cannot be a header value;
/// [`Rejection::Unavailable`].
pub(super) async fn meet<'a>(
    tool: &'static Tool,
    mut sent: Credentials,
    context: RequestContext<'a>,
) -> Result<Fulfilled<'a>, Rejection> {
    let user = context.principal.user(sent.user_id.as_deref()).map_err(|UserMismatch| {
        Rejection::Malformed(format!("context: {}", UserMismatch::MESSAGE))
    })?;
    sent.user_id = user.map(str::to_owned);
    let mut missing = MissingRequirements {
        authorization: Vec::new(),
        secrets: absent(tool.secrets, &sent.secrets).collect(),
        user_id: tool.user_id && sent.user_id.is_none(),
        challenges: Vec::new(),
        help: Vec::new(),
    };
    let mut grants = UsedGrants::default();
    for required in tool.authorization {
        let own = |token: &&Secret| !token.expose().is_empty() && !is_proof(token);
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
        match grants.token(required, tool, &mut sent, context).await? {
            #[cfg(feature = "challenges")]
            Granted::Token => continue,
            #[cfg(feature = "challenges")]
            Granted::UserMissing => {
                missing.user_id = true;
                missing.help.extend(help(required.id, context));
            }
            #[cfg(feature = "challenges")]
            Granted::ConsentRequired(challenge) => missing.challenges.push(challenge),
            Granted::NotConfigured => missing.help.extend(help(required.id, context)),
        }
        missing.authorization.push(required.id);
    }
    if missing == MissingRequirements::default() {
        Ok(Fulfilled { credentials: sent, grants })
    } else {
        Err(Rejection::MissingRequirements(missing))
    }
}

impl Fulfilled<'_> {
    /// The rejection of a call whose token for `provider` was rejected by the service: the client must send
    /// another token (X48), or the user must consent again if the token came from a grant. The grant is kept: it
    /// may have been read from a copy that is a minute old, so deleting it could delete a newer one.
    ///
    /// `None` if the tool requires no token for `provider`.
    pub(super) fn token_rejected(
        &self,
        tool: &'static Tool,
        provider: &str,
        host: &dyn Host,
    ) -> Option<Rejection> {
        let required = tool.authorization.iter().find(|it| it.id == provider)?;
        Some(match self.grants.renew(provider, tool, host) {
            Ok(challenge) => Rejection::MissingRequirements(MissingRequirements {
                authorization: vec![required.id],
                challenges: challenge.into_iter().collect(),
                ..MissingRequirements::default()
            }),
            Err(rejection) => rejection,
        })
    }
}

/// Where to read how to authorize calls.
#[cfg(feature = "challenges")]
fn help(provider: &'static str, context: RequestContext<'_>) -> Option<AuthorizationHelp> {
    let (origin, id) = (context.origin(), query_value(provider));
    Some(AuthorizationHelp { provider, url: format!("{origin}{HELP_PATH}{id}") })
}

/// Without the feature there are no pages about authorization.
#[cfg(not(feature = "challenges"))]
fn help(_: &'static str, _: RequestContext<'_>) -> Option<AuthorizationHelp> {
    None
}

/// The required ids that were not sent.
fn absent<'a>(
    required: &'a [&'static str],
    sent: &'a Named<Secret>,
) -> impl Iterator<Item = &'static str> + 'a {
    required.iter().copied().filter(|id| is_absent(id, sent))
}

/// Whether a secret is missing or empty.
fn is_absent(id: &str, sent: &Named<Secret>) -> bool {
    sent.get(id).is_none_or(|secret| secret.expose().is_empty())
}
