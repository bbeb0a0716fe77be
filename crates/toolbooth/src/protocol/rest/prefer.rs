//! The preferences of clients (RFC 7240).

use crate::http::Headers;

/// Whether the client prefers to get the status of a task at once, and the result later.
pub(super) fn respond_async(headers: &dyn Headers) -> bool {
    let preferences = headers.get("prefer").unwrap_or_default();
    preferences.split(',').any(|one| {
        let name = one.split([';', '=']).next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case("respond-async")
    })
}
