//! The credentials of a call.

use base64ct::{Base64, Encoding};

use super::{HttpAuth, HttpCall, OAuthGrant, TokenFn};
use crate::secret::Secret;
use crate::tool::Context;

/// What authorizes one call.
pub(super) struct Auth {
    /// The credentials that are sent.
    pub(super) sent: &'static [HttpAuth],
    /// The token of the server's own grant, once there is one.
    pub(super) token: Option<Secret>,
}

impl Auth {
    /// The credentials of a call: all or, if they are optional and one is not set, none.
    pub(super) fn of(call: &HttpCall, context: &Context<'_>) -> Self {
        let is_anonymous =
            call.auth_optional && !call.auth.iter().all(|auth| is_set(auth, context));
        Self { sent: if is_anonymous { &[] } else { call.auth }, token: None }
    }

    /// The server's own grant, and what gets a token for it.
    pub(super) fn grant(&self) -> Option<(&'static OAuthGrant, TokenFn)> {
        self.sent.iter().find_map(|auth| match auth {
            HttpAuth::Grant(grant, token) => Some((*grant, *token)),
            _ => None,
        })
    }

    /// The provider of the user's token, if one is sent.
    pub(super) fn provider(&self) -> Option<&'static str> {
        self.sent.iter().find_map(|auth| match auth {
            HttpAuth::Provider { id, .. } => Some(*id),
            _ => None,
        })
    }

    /// Calls `hide` with each text that a service could repeat of them.
    pub(super) fn each_text(&self, context: &Context<'_>, mut hide: impl FnMut(&str)) {
        for auth in self.sent {
            match auth {
                HttpAuth::Provider { id, .. } => {
                    hide(context.token(id).map(Secret::expose).unwrap_or_default());
                }
                HttpAuth::Grant(..) => {
                    hide(self.token.as_ref().map(Secret::expose).unwrap_or_default());
                }
                HttpAuth::Secret { secret, .. } => hide(variable(secret, context)),
                HttpAuth::Basic { user, password } => {
                    hide(&pair(user, password, context));
                    hide(variable(password, context));
                }
            }
        }
    }
}

fn is_set(auth: &HttpAuth, context: &Context<'_>) -> bool {
    match auth {
        HttpAuth::Provider { id, .. } => context.token(id).is_some(),
        HttpAuth::Grant(grant, _) => grant.variables().all(|name| context.is_set(name)),
        HttpAuth::Secret { secret, .. } => context.is_set(secret),
        HttpAuth::Basic { user, password } => context.is_set(user) && context.is_set(password),
    }
}

/// A secret of the operator, after the word that says what it is.
pub(super) fn credential(scheme: Option<&str>, secret: &str, context: &Context<'_>) -> String {
    let secret = variable(secret, context);
    match scheme {
        Some(scheme) => [scheme, secret].join(" "),
        None => secret.to_owned(),
    }
}

/// A user and a password of the operator, as a header has them.
pub(super) fn pair(user: &str, password: &str, context: &Context<'_>) -> String {
    pair_of(variable(user, context), variable(password, context))
}

/// A user and a password as a header has them (RFC 7617).
pub(super) fn pair_of(user: &str, password: &str) -> String {
    Base64::encode_string([user, ":", password].concat().as_bytes())
}

/// The value of a variable or of a secret of the operator.
pub(super) fn variable<'a>(name: &str, context: &'a Context<'_>) -> &'a str {
    context.server_secret(name).map_or_else(|| context.variable(name), Secret::expose)
}
