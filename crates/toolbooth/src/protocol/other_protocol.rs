//! Rejects calls of other protocols, and says how each protocol writes a call.

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

/// The rejection of a body that lacks what a call must have: `reason`, and how each protocol writes a call if it looks like
/// that of a different protocol.
pub(super) fn rejection(body: &Object<'_>, reason: String) -> Rejection {
    if FOREIGN.iter().any(|member| body.contains(member)) {
        Rejection::OtherProtocol(reason)
    } else {
        Rejection::Malformed(reason)
    }
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
