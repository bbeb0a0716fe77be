//! Rejects calls of other protocols, and bodies that are a call in two protocols at once.

use crate::call::Rejection;
use crate::json::Object;

/// Members of calls of other protocols: MCP and the formats of model providers, JSON-RPC, Xaibo.
const FOREIGN: [&str; 10] = [
    "arguments",
    "args",
    "function",
    "function_call",
    "method",
    "name",
    "parameters",
    "params",
    "tool_calls",
    "tool_name",
];

/// The rejection of a body that lacks what a call must have. If it looks like one of a different protocol, it says so.
pub(super) fn rejection(body: &Object<'_>, reason: String) -> Rejection {
    if FOREIGN.iter().any(|member| body.contains(member)) {
        Rejection::OtherProtocol(reason)
    } else {
        Rejection::Malformed(reason)
    }
}

/// The members that tell protocols apart: flat OXP, the envelopes of OXP and OTC, JSON-RPC.
const DISCRIMINATORS: [&str; 3] = ["tool_id", "request", "jsonrpc"];

/// Checks that a body has no discriminator except `own`, that of the protocol that decodes it. With two,
/// a gateway that decides which tools may be called could see another call than the one that runs.
pub(super) fn check_discriminators(own: &str, body: &Object<'_>) -> Result<(), String> {
    let other = DISCRIMINATORS.iter().find(|member| **member != own && body.contains(member));
    let Some(other) = other else { return Ok(()) };
    Err(format!("{own} and {other} belong to different protocols; a call has only one of them"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{self, Value};

    #[test]
    fn only_calls_of_other_protocols_get_the_hint() {
        for (body, expected) in [
            (r#"{"name":"A_B","arguments":{}}"#, true),
            (r#"{"type":"function","function":{"name":"A_B","arguments":"{}"}}"#, true),
            (r#"{"tool_calls":[]}"#, true),
            (r#"{"tool_name":"A_B"}"#, true),
            (r#"{"input":{"name":"x"}}"#, false),
            ("{}", false),
        ] {
            let Ok(Value::Object(body)) = json::parse(body) else { panic!("{body}") };
            let rejection = rejection(&body, String::new());
            assert_eq!(matches!(rejection, Rejection::OtherProtocol(_)), expected, "{body:?}");
        }
    }
}
