//! Whose a grant is.

use serde::{Deserialize, Serialize};

use crate::principal::{Principal, UserMismatch};

/// The longest user id that grants are kept for, in bytes: it travels in addresses and a cookie.
const LONGEST_USER: usize = 128;

/// Whose a grant is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    /// By what the server knows its caller: nobody is to reach, by another way in, the grants of a
    /// user who has the same id there.
    #[serde(rename = "w")]
    pub(super) way: String,
    /// The application that asks; empty when the server does not know its callers by name. Two
    /// applications may have users of the same id.
    #[serde(rename = "a")]
    pub(super) application: String,
    /// The user's id.
    #[serde(rename = "u")]
    pub(super) user: String,
}

/// Why there is no [`Owner`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoOwner {
    /// The request does not say for which user it is.
    Unnamed,
    /// The token that the request came with does not say whose it is.
    NoSubject,
    /// The request names another user than the token that it came with.
    Another,
    /// The user's id is too long.
    TooLong,
}

impl NoOwner {
    /// What to say of it.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Unnamed => "user_id is missing",
            Self::NoSubject => "the token must name its user by sub",
            Self::Another => "user_id must be the user of the token, or absent",
            Self::TooLong => "user_id may have at most 128 bytes",
        }
    }
}

impl Owner {
    /// The user of a request. Whoever has a token without `sub` could name any user, and reach the
    /// grants of all; another claim such as `azp` would only make them all users of one application.
    ///
    /// # Errors
    /// See [`NoOwner`].
    pub(crate) fn of(principal: &Principal, user_id: Option<&str>) -> Result<Self, NoOwner> {
        let (way, application) = match principal {
            Principal::Anonymous { .. } => ("none".to_owned(), ""),
            Principal::Key { name, .. } => ("key".to_owned(), name.as_str()),
            Principal::User { issuer, subject: Some(_), .. } => (format!("user {issuer}"), ""),
            Principal::User { subject: None, .. } => return Err(NoOwner::NoSubject),
        };
        match principal.user(user_id).map_err(|UserMismatch| NoOwner::Another)? {
            None => Err(NoOwner::Unnamed),
            Some(user) if user.len() > LONGEST_USER => Err(NoOwner::TooLong),
            Some(user) => {
                Ok(Self { way, application: application.to_owned(), user: user.to_owned() })
            }
        }
    }
}
