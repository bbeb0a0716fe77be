//! Binds a browser to a challenge: `state` travels through the provider, a cookie stays.

use serde::{Deserialize, Serialize};

use crate::challenge::constants::LIFE_MS;
use crate::http::Headers;

const COOKIE: &str = "__Host-toolbooth-";

/// The claims of `state`. They reveal nothing about the user.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    /// The challenge's id.
    #[serde(rename = "i")]
    pub(super) challenge: String,
    /// A hash of the browser's CSRF token.
    #[serde(rename = "b")]
    pub(super) browser: String,
}

/// The cookie of a browser that has completed its challenge.
pub(super) const DONE: &str = "done";

/// The `Set-Cookie` header of a challenge. `__Host-` binds the cookie to this host; with `Lax` browsers
/// send it when the provider redirects them back.
pub(super) fn set(id: &str, value: &str) -> String {
    let seconds = LIFE_MS / 1000;
    format!("{COOKIE}{id}={value}; Max-Age={seconds}; Path=/; Secure; HttpOnly; SameSite=Lax")
}

/// The cookie of a challenge.
pub(super) fn read(headers: &dyn Headers, id: &str) -> Option<String> {
    let all = headers.get("cookie")?;
    let mut pairs = all.split(';').filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(name, _)| name.strip_prefix(COOKIE) == Some(id))?;
    Some(value.to_owned())
}
