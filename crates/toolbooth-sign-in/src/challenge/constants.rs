//! Paths and times of challenges.

// The paths of `routes`, for the URLs that clients and providers get.
/// The consent page.
pub(super) const START: &str = "/auth/start";
/// Where people sign in first, if they must; the challenge follows as `c`.
pub(super) const SIGN_IN: &str = "/oauth/authorize/sign-in";
/// The status of a challenge.
pub(super) const CHECK: &str = "/auth/check";
/// Explains how calls are authorized; the id of the provider follows.
pub(crate) const HELP_PATH: &str = "/auth/help/";

/// How long a client may ask for the status of a challenge.
pub(super) const LIFE_MS: u64 = 15 * 60 * 1000;
/// How long before that end the user must be done, so that the client still gets the result from a
/// store that is a minute behind.
pub(super) const LAG_MS: u64 = 2 * 60 * 1000;
