//! Why a user did not get through, and what the page says of it.

use crate::challenge::LAG_MS;
use crate::challenge::page::Notice;
use crate::challenge::token::InvalidToken;
use crate::challenge::tokens::TokenError;

/// Why a user did not get through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FlowError {
    /// The address is not ours, or was changed.
    Forged,
    /// The time is up.
    Expired,
    /// Another site sent the form.
    Foreign,
    /// This is not the browser that went to the provider.
    OtherBrowser,
    /// The provider is no longer configured, or the server has none.
    NoProvider,
    /// The user said no.
    Denied,
    /// The provider refuses the request.
    Refused,
    /// The provider refuses the code.
    CodeRefused,
    /// The user did not grant everything.
    TooLittle,
    /// The provider gave an authorization that has ended before the call can use it.
    Ended,
    /// The provider does not answer.
    Away,
    /// The store or the random source failed.
    Broken,
    /// Too many requests came from the user's network.
    TooMany,
}

impl FlowError {
    /// After how many milliseconds it decides the challenge, if it does.
    ///
    /// A code is refused to the second of two callbacks too, while the first has stored a grant that
    /// the check may not see for a minute.
    pub(super) fn decides_after_ms(self) -> Option<u64> {
        match self {
            Self::Denied | Self::Refused | Self::TooLittle | Self::Ended => Some(0),
            Self::CodeRefused => Some(LAG_MS / 2),
            _ => None,
        }
    }

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
                "The time to decide is over. Go back to the application and start again.",
            ),
            Self::Foreign => (
                403,
                "This did not start here",
                "Another site sent you here in a way that is not allowed. If you want to go on, \
                 open the address that the application gave you.",
            ),
            Self::OtherBrowser => (
                403,
                "This is not the browser that started",
                "For your safety the authorization must end in the browser where it began, with \
                 cookies allowed. Nothing was granted. If somebody sent you this address, do not \
                 go on.",
            ),
            Self::NoProvider => (
                400,
                "This is no longer possible",
                "The server does not know the service that you were asked to connect.",
            ),
            Self::Denied => (
                403,
                "Not granted",
                "You said no, and nothing was granted. You can close this page.",
            ),
            Self::Refused | Self::CodeRefused => (
                400,
                "It did not work",
                "The service refused the authorization, and nothing was granted. Go back to the \
                 application and start again.",
            ),
            Self::TooLittle => (
                400,
                "Not everything was granted",
                "The application needs all of what it asked for, so nothing was kept. Go back to \
                 the application to start again.",
            ),
            Self::Ended => (
                502,
                "The authorization has already ended",
                "The service gave an authorization that has already ended, so nothing was kept. Go \
                 back to the application to start again.",
            ),
            Self::Away => (
                502,
                "The service does not answer",
                "Nothing was granted yet. Try again in a moment.",
            ),
            Self::Broken => {
                (503, "It could not be kept", "Nothing was granted yet. Try again in a moment.")
            }
            Self::TooMany => (
                429,
                "Too many requests",
                "Too many requests came from your network. Wait a minute, then reload this page.",
            ),
        };
        Notice { status, title, text }
    }
}

impl From<TokenError> for FlowError {
    fn from(why: TokenError) -> Self {
        match why {
            TokenError::Refused => Self::CodeRefused,
            TokenError::Away => Self::Away,
        }
    }
}

impl From<InvalidToken> for FlowError {
    fn from(why: InvalidToken) -> Self {
        match why {
            InvalidToken::Forged => Self::Forged,
            InvalidToken::Expired => Self::Expired,
        }
    }
}
