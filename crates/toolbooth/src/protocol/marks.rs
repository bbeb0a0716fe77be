//! Which protocol a body belongs to.

use crate::json::Object;

/// The members by which the root tells protocols apart: OXP, the envelopes of OXP and OTC, JSON-RPC.
const MARKS: [&str; 3] = ["tool_id", "request", "jsonrpc"];

/// Refuses a body that is a call in two protocols at once. Whoever reads one of them, such as a gateway
/// that decides which tools may be called, would see another call than the one that is served.
///
/// # Errors
/// Names the member that does not go with `own`, the mark of the protocol that reads the body.
pub(super) fn only(own: &str, body: &Object<'_>) -> Result<(), String> {
    match MARKS.iter().find(|mark| **mark != own && body.contains(mark)) {
        None => Ok(()),
        Some(other) => Err(format!(
            "{own} and {other} belong to different protocols; a call has only one of them"
        )),
    }
}
