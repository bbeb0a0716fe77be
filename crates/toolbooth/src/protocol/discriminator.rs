//! Rejects bodies that are a call in two protocols at once.

use crate::json::Object;

/// The members that tell protocols apart: flat OXP, the envelopes of OXP and OTC, JSON-RPC.
const DISCRIMINATORS: [&str; 3] = ["tool_id", "request", "jsonrpc"];

/// Checks that a body has no discriminator except `own`, that of the protocol that decodes it. With two,
/// a gateway that decides which tools may be called could see another call than the one that runs.
pub(super) fn check(own: &str, body: &Object<'_>) -> Result<(), String> {
    match DISCRIMINATORS.iter().find(|member| **member != own && body.contains(member)) {
        None => Ok(()),
        Some(other) => Err(format!(
            "{own} and {other} belong to different protocols; a call has only one of them"
        )),
    }
}
