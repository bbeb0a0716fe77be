//! Reads the id of a JSON-RPC request that is rejected before its body is decoded.

use serde_json::{Number, Value};

use crate::json;
use crate::route::MAX_ID_BYTES;

/// The id of the request whose body begins with `start`: a string or an integer. `None` if it has no such id, if
/// the id comes later, or if `start` repeats it.
pub(super) fn request_id(start: &[u8]) -> Option<Value> {
    let start = start.get(..MAX_ID_BYTES).unwrap_or(start);
    // The last character may be cut off.
    let text = start.utf8_chunks().next()?.valid();
    match json::leading_member(text, "id")? {
        json::Value::String(id) => Some(id.into_owned().into()),
        json::Value::Number(id) if is_integer(&id) => Some(id.into()),
        _ => None,
    }
}

/// Whether a number is an integer; some serializers write 1.0. Those that no double has would not be repeated as they are.
pub(super) fn is_integer(id: &Number) -> bool {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    !id.is_f64() || id.as_f64().is_some_and(|id| id.fract() == 0.0 && id.abs() <= LARGEST)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_that_can_be_read() {
        let long = "x".repeat(MAX_ID_BYTES);
        for (body, expected) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, json!(7)),
            (r#" { "id" : "a" , "#, json!(null)),
            (r#"{"id":"a","method":"#, json!("a")),
            (r#"{"method":"ping","params":{"id":1,"x":["#, json!(null)),
            (r#"{"method":"ping","params":{"id":1},"id":-2}"#, json!(-2)),
            (r#"{"\u0069d":18446744073709551615}x"#, json!(18446744073709551615_u64)),
            ("{\"id\":\"é\",\"x\":\"\u{1f600}", json!("é")),
            // The number may go on.
            (r#"{"id":12"#, json!(null)),
            (r#"{"id":1.5}"#, json!(null)),
            (r#"{"id":-2.0,"x":"#, json!(-2.0)),
            (r#"{"id":1e99,"x":"#, json!(null)),
            (r#"{"id":null}"#, json!(null)),
            (r#"{"id":{}}"#, json!(null)),
            (r#"{"id":1,"id":2}"#, json!(null)),
            (r#"[{"id":1}]"#, json!(null)),
            (r#""id""#, json!(null)),
            ("id", json!(null)),
            ("", json!(null)),
            (&format!(r#"{{"id":1,"x":"{long}","id":2}}"#), json!(1)),
            (&format!(r#"{{"x":"{long}","id":2}}"#), json!(null)),
        ] {
            assert_eq!(
                request_id(body.as_bytes()),
                Some(expected).filter(|id| !id.is_null()),
                "{body}"
            );
        }
        // A character that is cut off.
        assert_eq!(request_id(b"{\"id\":1,\"x\":\"\xf0\x9f"), Some(json!(1)));
        assert_eq!(request_id(b"\xff{\"id\":1}"), None);
    }
}
