//! The tokens that the server itself issues to the clients of people who sign in.

use std::fmt;
use std::sync::Arc;

use super::AuthError;
use crate::budget::Budget;
use crate::host::{BoxFuture, Host};
use crate::json::{Object, Value};
use crate::principal::{OwnGrant, Principal, Scopes};
use crate::settings::JwtSettings;

/// The claim of a token that says who holds it, in a form that only [`TokenHolders`] read.
pub const HOLDER: &str = "holder";

/// The claim of a token with the id of the grant that it belongs to.
pub const GRANT: &str = "gid";

/// The claim of a token that says how the log names the client.
pub const CLIENT_REF: &str = "client_ref";

/// The tokens that the server itself issues.
#[derive(Debug, Clone)]
pub struct OwnTokens {
    /// How they are signed.
    pub jwt: JwtSettings,
    /// The people who hold them.
    pub holders: Arc<dyn TokenHolders>,
}

/// The people who hold tokens of this server. The settings decide at every call what they may do: a token lasts longer
/// than a rule or an API key that an operator removes.
pub trait TokenHolders: Send + Sync {
    /// What a token may do whose claim [`HOLDER`] is `holder`; `None` if its holder may not call any more. It does not ask
    /// whether the token has expired: a task goes on after that.
    fn permitted(&self, holder: &str) -> Option<Permitted>;

    /// Whether the grant of a token, whose claim [`GRANT`] is `grant`, has ended. Each instance asks when it first sees a token,
    /// and again once a minute; a task asks before each step.
    fn has_ended<'a>(&'a self, grant: &'a str, host: &'a dyn Host) -> BoxFuture<'a, bool>;

    /// Limits the principal of a token with these claims to what its holder may do now. Provided, so that it is linked only
    /// with an implementation.
    ///
    /// # Errors
    /// [`AuthError::Invalid`]: the holder may not call any more, or the grant has ended.
    fn admit<'a>(
        &'a self,
        claims: &'a Object<'_>,
        principal: &'a mut Principal,
        host: &'a dyn Host,
    ) -> BoxFuture<'a, Result<(), AuthError>> {
        Box::pin(async move {
            let claim = |name| claims.get(name).and_then(Value::as_str).unwrap_or_default();
            let permitted = self.permitted(claim(HOLDER));
            let ended = AuthError::invalid("the person who signed in may no longer call");
            if let Principal::User { grant, .. } = principal {
                let [id, holder] = [GRANT, HOLDER].map(|name| claim(name).to_owned());
                *grant = Some(Arc::new(OwnGrant { id, holder }));
            }
            permitted.ok_or(ended)?.limit(principal);
            if self.has_ended(claim(GRANT), host).await {
                return Err(AuthError::invalid("the client was disconnected"));
            }
            Ok(())
        })
    }
}

/// What the holder of a token may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permitted {
    /// The scopes that the token may have.
    pub scopes: Scopes,
    /// The rule whose limits hold, as in [`Principal::User`](crate::principal::Principal::User).
    pub rule: Option<usize>,
    /// How much they may use.
    pub budgets: Vec<Budget>,
    /// The name of the entry of `API_KEYS`, if the holder is this client itself and not a person: then what the entry says
    /// about tools, models and budgets holds.
    pub key: Option<String>,
    /// Their team, as in [`Principal::User`](crate::principal::Principal::User).
    pub team: Option<usize>,
    /// The name of the entry of `API_KEYS` that acts for the holder, if one does.
    pub actor: Option<String>,
}

/// Shows nothing. A supertrait would link the code that shows every part of the server.
impl fmt::Debug for dyn TokenHolders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHolders(…)")
    }
}

impl Permitted {
    /// Limits the principal of a token to what its holder may do now.
    pub(crate) fn limit(self, principal: &mut Principal) {
        match principal {
            Principal::User {
                scopes: Scopes::Listed(scopes),
                rule,
                budgets,
                team,
                actor,
                grant,
                ..
            } => {
                scopes.retain(|scope| self.scopes.cover(&[scope.as_str()]));
                *rule = self.rule;
                *budgets = self.budgets;
                *team = self.team;
                *actor = self.actor;
                if let Some(name) = self.key {
                    let scopes = Scopes::Listed(std::mem::take(scopes));
                    *principal = Principal::Key { name, scopes, hash: None, grant: grant.take() };
                }
            }
            // Of a task: a token for the holder of a key, which was limited when the task began.
            Principal::Key { scopes, .. } => *scopes = scopes.within(&self.scopes),
            Principal::User { .. } | Principal::Anonymous { .. } => {}
        }
    }
}
