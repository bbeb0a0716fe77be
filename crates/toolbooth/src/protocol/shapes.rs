//! Explains how each protocol writes a call, to clients that send the call of another protocol.

use crate::json::Object;

/// Members of calls that do not belong to the protocol at hand: MCP and the formats of model providers, JSON-RPC,
/// Xaibo.
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

/// How each protocol writes a call, with its address.
const SHAPES: &[&str] = &[
    r#"{"tool_id":"Toolkit.Tool","input":{}} at /call (OXP), or with a name at /langchain/tools/call"#,
    r#"{"request":{"tool_id":"Toolkit.Tool","input":{}}} at /oxp/1.0/call and /otc/call"#,
    #[cfg(feature = "xaibo")]
    r#"{"tool_name":"Toolkit_Tool","parameters":{}} at /xaibo/execute"#,
    #[cfg(feature = "rest")]
    "the input alone at /rest/{name}",
    r#"{"jsonrpc":"2.0","id":"1","method":"Toolkit_Tool","params":{}} at /jsonrpc and /opentool/call"#,
    #[cfg(feature = "mcp")]
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Toolkit_Tool","arguments":{}}} at /mcp"#,
    #[cfg(feature = "providers")]
    "a model's response, with its tool calls, at /providers/openai/call, /providers/openai-responses/call, \
     /providers/anthropic/call and /providers/gemini/call",
];

/// The end of an error about `body`: how each protocol writes a call, if the body looks like a call of another one.
pub(super) fn hint(body: &Object<'_>) -> String {
    if FOREIGN.iter().any(|member| body.contains(member)) {
        format!(". Each protocol writes calls in its own way: {}", SHAPES.join("; "))
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::samples;
    use crate::json::{self, Value};

    #[test]
    fn every_protocol_with_calls_is_explained() {
        let shapes = SHAPES.join("; ");
        for row in samples().filter(|row| !row.mount.is_empty()) {
            let mut paths = row.paths().map(|(path, _)| path).peekable();
            if paths.peek().is_some() && row.mount != "/oxp" {
                assert!(paths.any(|path| shapes.contains(&path)), "{}", row.mount);
            }
        }
    }

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
            assert_eq!(!hint(&body).is_empty(), expected, "{body:?}");
        }
    }
}
