//! Why a step of a challenge failed, and the page that the user gets.

use crate::challenge::LAG_MS;
use crate::oauth::FlowError;
use crate::oauth::page::Notice;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChallengeError {
    /// A token is not valid, or the way to the provider and back failed. Also if the store failed.
    Flow(FlowError),
    CrossSite,
    /// The application says that its user is a different one.
    OtherUser,
    /// Who opened the challenge cannot be verified, and the operator does not allow that.
    Unverified,
    /// The provider is no longer configured.
    UnknownProvider,
    MissingScopes,
    /// The grant expires before the call can use it.
    AlreadyExpired,
    RateLimited,
}

impl<E: Into<FlowError>> From<E> for ChallengeError {
    fn from(error: E) -> Self {
        Self::Flow(error.into())
    }
}

impl ChallengeError {
    /// After how many milliseconds the challenge fails, if it does. A code is also rejected if it comes
    /// twice, while the first callback has stored a grant that the check may not see for a minute.
    pub(super) fn fails_challenge_after_ms(self) -> Option<u64> {
        match self {
            Self::Flow(FlowError::Denied | FlowError::Rejected | FlowError::Unusable(_))
            | Self::MissingScopes
            | Self::AlreadyExpired => Some(0),
            Self::Flow(FlowError::CodeRejected) => Some(LAG_MS / 2),
            _ => None,
        }
    }

    /// Whether the same step may succeed later.
    pub(super) fn is_temporary(self) -> bool {
        matches!(self, Self::Flow(FlowError::Unreachable | FlowError::Internal))
    }

    /// Its name in the log.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Flow(FlowError::Forged) => "invalid_request",
            Self::Flow(FlowError::Expired) => "expired",
            Self::Flow(FlowError::OtherBrowser) => "other_browser",
            Self::Flow(FlowError::Denied) => "declined",
            Self::Flow(FlowError::Rejected | FlowError::CodeRejected) => "provider_rejected",
            Self::Flow(FlowError::Unreachable) => "provider_unreachable",
            Self::Flow(FlowError::Unusable(_)) => "provider_unusable",
            Self::Flow(FlowError::Internal) => "internal",
            Self::CrossSite => "cross_site",
            Self::RateLimited => "rate_limited",
            Self::OtherUser => "other_user",
            Self::Unverified => "unverified",
            Self::UnknownProvider => "unknown_provider",
            Self::MissingScopes => "missing_scopes",
            Self::AlreadyExpired => "already_expired",
        }
    }

    pub(super) fn notice(self) -> Notice {
        match self {
            Self::Flow(FlowError::Forged) => Notice::INVALID_ADDRESS,
            Self::Flow(FlowError::Expired) => Notice::EXPIRED,
            Self::Flow(FlowError::OtherBrowser) => Notice::OTHER_BROWSER,
            Self::Flow(FlowError::Denied) => Notice::DECLINED,
            Self::Flow(FlowError::Rejected | FlowError::CodeRejected) => Notice::REJECTED,
            Self::Flow(FlowError::Unreachable) => Notice::UNREACHABLE,
            Self::Flow(FlowError::Unusable(_)) => Notice::UNUSABLE,
            Self::Flow(FlowError::Internal) => Notice::new(
                503,
                "Access could not be saved",
                "Nothing was granted yet. Try again in a moment.",
            ),
            Self::CrossSite => Notice::CROSS_SITE,
            Self::RateLimited => Notice::RATE_LIMITED,
            Self::OtherUser => Notice::new(
                403,
                "This link is for someone else",
                "In the application, you are signed in with a different account than the one this link \
                 is for. Nothing was granted, and the link still works for that account. If \
                 someone else sent you this link, do not continue.",
            ),
            Self::Unverified => Notice::new(
                403,
                "This link cannot be used",
                "This server only continues if it can verify who you are, and the application does \
                 not support that. Nothing was granted.",
            ),
            Self::UnknownProvider => Notice::new(
                400,
                "This server no longer connects to the service",
                "Nothing was granted. Ask the operator of the server.",
            ),
            Self::MissingScopes => Notice::new(
                400,
                "Some permissions are missing",
                "The tool needs every permission that it asked for, so nothing was saved. Go back to \
                 the application and start again.",
            ),
            Self::AlreadyExpired => Notice::new(
                502,
                "The access has already expired",
                "The service granted access that has already expired, so nothing was saved. Go back \
                 to the application and start again.",
            ),
        }
    }
}
