//! Cookies that bind a browser to a challenge or a sign-in: `state` travels through the provider, a cookie stays.

use serde::{Deserialize, Serialize};

use crate::http::Headers;

const PREFIX: &str = "__Host-toolbooth-";

/// How long a flow through a provider may take, in seconds.
const FLOW_SECONDS: u64 = 15 * 60;

/// The claims of `state`. They reveal nothing about the user.
#[derive(Serialize, Deserialize)]
pub(crate) struct State {
    /// The id of the challenge or the sign-in.
    #[serde(rename = "i")]
    pub(crate) challenge: String,
    /// A hash of the browser's CSRF token.
    #[serde(rename = "b")]
    pub(crate) browser: String,
}

/// The cookie of a browser that has completed its challenge.
pub(crate) const DONE: &str = "done";

/// The `Set-Cookie` header of a flow.
pub(crate) fn set(id: &str, value: &str) -> String {
    set_for(id, value, FLOW_SECONDS)
}

/// A `Set-Cookie` header for this many seconds. `__Host-` binds the cookie to this host; with `Lax` browsers send it
/// when a provider redirects them back.
pub(crate) fn set_for(name: &str, value: &str, seconds: u64) -> String {
    format!("{PREFIX}{name}={value}; Max-Age={seconds}; Path=/; Secure; HttpOnly; SameSite=Lax")
}

/// The value of a cookie.
pub(crate) fn read(headers: &dyn Headers, name: &str) -> Option<String> {
    let all = headers.get("cookie")?;
    let mut pairs = all.split(';').filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(known, _)| known.strip_prefix(PREFIX) == Some(name))?;
    Some(value.to_owned())
}
