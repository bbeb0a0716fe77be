//! What binds a browser to a challenge: `state` goes the provider's way, a cookie stays.

use serde::{Deserialize, Serialize};

use crate::challenge::LIFE_MS;
use crate::http::Headers;

const COOKIE: &str = "__Host-toolbooth-";

/// What travels through the provider as `state`. It says nothing of the user.
#[derive(Serialize, Deserialize)]
pub(super) struct State {
    /// The challenge's id.
    pub(super) i: String,
    /// A hash of the mark that the browser got.
    pub(super) b: String,
}

/// The cookie of a browser whose user is done.
pub(super) const DONE: &str = "done";

/// Sets the cookie of a challenge. `__Host-` binds it to this host alone; `Lax` lets it come along
/// when the provider sends the user back.
pub(super) fn set(id: &str, value: &str) -> String {
    let seconds = LIFE_MS / 1000;
    format!("{COOKIE}{id}={value}; Max-Age={seconds}; Path=/; Secure; HttpOnly; SameSite=Lax")
}

pub(super) fn read(headers: &dyn Headers, id: &str) -> Option<String> {
    let all = headers.get("cookie")?;
    let mut pairs = all.split(';').filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(name, _)| name.strip_prefix(COOKIE) == Some(id))?;
    Some(value.to_owned())
}
