//! Why an authorization server returned no tokens.

/// Why an authorization server returned no tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenError {
    /// It rejects the request: repeating it does not help.
    Rejected,
    /// It does not respond, or not as specified: it may work later.
    Unreachable,
}
