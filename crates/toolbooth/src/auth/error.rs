//! Why a request is not authenticated.

/// Why a request is not authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuthError {
    /// The request has no credentials, or the server accepts none.
    Missing {
        /// What to send, for the client.
        expected: &'static str,
    },
    /// The request's credentials are rejected.
    Invalid {
        /// Why, for the client. It gives nothing away before a signature has been verified.
        reason: &'static str,
    },
    /// The keys that could verify the token cannot be fetched.
    KeysUnavailable,
}

impl AuthError {
    /// The credentials are rejected without a reason, as before a signature has been verified.
    pub(super) const INVALID: Self = Self::invalid("the credentials are not valid");

    pub(super) const fn invalid(reason: &'static str) -> Self {
        Self::Invalid { reason }
    }
}
