//! Why a step of a challenge failed, and the page that the user gets.

use crate::challenge::constants::LAG_MS;
use crate::oauth::FlowError;
use crate::oauth::page::Notice;
use toolbooth::seal::InvalidToken;

/// Why a step of a challenge failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChallengeError {
    /// The URL was not issued by this server, or was changed.
    Forged,
    /// The challenge has expired.
    Expired,
    /// Another site sent the form.
    CrossSite,
    /// This is not the browser that was sent to the provider.
    OtherBrowser,
    /// The application says that its user is a different one.
    OtherUser,
    /// Who opened the challenge cannot be verified, and the operator does not allow that.
    Unverified,
    /// The provider is no longer configured.
    UnknownProvider,
    /// The user declined.
    Denied,
    /// The provider rejects the request.
    Rejected,
    /// The provider rejects the code.
    CodeRejected,
    /// The user did not grant all required scopes.
    MissingScopes,
    /// The grant expires before the call can use it.
    AlreadyExpired,
    /// The provider does not respond.
    Unreachable,
    /// The store or the random source failed.
    Internal,
    /// The user's network has sent too many requests.
    RateLimited,
}

impl ChallengeError {
    /// After how many milliseconds the challenge fails, if it does.
    ///
    /// A code is also rejected if it comes twice, while the first callback has stored a grant that the
    /// check may not see for a minute.
    pub(super) fn fails_challenge_after_ms(self) -> Option<u64> {
        match self {
            Self::Denied | Self::Rejected | Self::MissingScopes | Self::AlreadyExpired => Some(0),
            Self::CodeRejected => Some(LAG_MS / 2),
            Self::Forged
            | Self::Expired
            | Self::CrossSite
            | Self::OtherBrowser
            | Self::OtherUser
            | Self::Unverified
            | Self::UnknownProvider
            | Self::Unreachable
            | Self::Internal
            | Self::RateLimited => None,
        }
    }

    /// Whether the same step may succeed later.
    pub(super) fn is_temporary(self) -> bool {
        matches!(self, Self::Unreachable | Self::Internal)
    }

    /// The page that the user gets.
    pub(super) fn notice(self) -> Notice {
        let (status, title, text) = match self {
            Self::Forged => (
                400,
                "This address is not valid",
                "Part of it may be missing. Go back to the application and start again.",
            ),
            Self::Expired => (
                400,
                "This took too long",
                "The link has expired. Go back to the application and start again.",
            ),
            Self::CrossSite => (
                403,
                "This did not start here",
                "Another site sent you here in a way that is not allowed. To continue, open the \
                 link that the application gave you.",
            ),
            Self::OtherBrowser => (
                403,
                "Continue in the browser where you started",
                "For your safety, finish in the same browser, with cookies allowed. Nothing was granted. If someone else sent you this link, do not continue.",
            ),
            Self::OtherUser => (
                403,
                "This link is for someone else",
                "In the application, you are signed in with a different account than the one this link \
                 is for. Nothing was granted, and the link still works for that account. If \
                 someone else sent you this link, do not continue.",
            ),
            Self::Unverified => (
                403,
                "This link cannot be used",
                "This server only continues if it can verify who you are, and the application does \
                 not support that. Nothing was granted.",
            ),
            Self::UnknownProvider => (
                400,
                "This server no longer connects to the service",
                "Nothing was granted. Ask the operator of the server.",
            ),
            Self::Denied => (
                403,
                "You declined",
                "Nothing was stored. You can close this page. To grant access after all, go back to the \
                 application and start again.",
            ),
            Self::Rejected | Self::CodeRejected => (
                400,
                "The service rejected the authorization",
                "Nothing was granted. Go back to the application and start again.",
            ),
            Self::MissingScopes => (
                400,
                "Some permissions are missing",
                "The tool needs every permission that it asked for, so nothing was saved. Go back to \
                 the application and start again.",
            ),
            Self::AlreadyExpired => (
                502,
                "The access has already expired",
                "The service granted access that has already expired, so nothing was saved. Go back \
                 to the application and start again.",
            ),
            Self::Unreachable => (
                502,
                "The service does not respond",
                "Nothing was granted yet. Try again in a moment.",
            ),
            Self::Internal => (
                503,
                "Access could not be saved",
                "Nothing was granted yet. Try again in a moment.",
            ),
            Self::RateLimited => (
                429,
                "Too many requests",
                "Too many requests came from your network. Wait a minute, then reload this page.",
            ),
        };
        Notice { status, title, text }
    }
}

impl From<FlowError> for ChallengeError {
    fn from(error: FlowError) -> Self {
        match error {
            FlowError::Forged => Self::Forged,
            FlowError::Expired => Self::Expired,
            FlowError::OtherBrowser => Self::OtherBrowser,
            FlowError::Denied => Self::Denied,
            FlowError::Rejected => Self::Rejected,
            FlowError::CodeRejected => Self::CodeRejected,
            FlowError::Unreachable => Self::Unreachable,
            FlowError::Internal => Self::Internal,
        }
    }
}

impl From<InvalidToken> for ChallengeError {
    fn from(error: InvalidToken) -> Self {
        match error {
            InvalidToken::Forged => Self::Forged,
            InvalidToken::Expired => Self::Expired,
        }
    }
}
