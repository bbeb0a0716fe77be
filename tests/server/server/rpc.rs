//! Property tests of JSON-RPC and OpenTool: anything that is posted gets a response in their format (`answer`
//! checks it), and errors do not repeat parameter values.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::properties::{any_json, modest};
use super::*;

const ADDRESSES: [&str; 4] = ["/jsonrpc", "/opentool/call", "/opentool/streamCall", "/call"];

/// A request whose members are valid, invalid or missing.
fn request() -> impl Strategy<Value = Value> {
    let member = |valid: Vec<Value>| prop_oneof![6 => select(valid), 1 => any_json()];
    let members = (
        prop::option::weighted(0.9, member(vec![json!("2.0"), json!("2.0.0")])),
        prop::option::weighted(
            0.9,
            member(vec![json!("Echo_Say"), json!("Echo.Say@1"), json!("Echo_Private"), json!("x")]),
        ),
        prop::option::weighted(
            0.9,
            member(vec![json!({"text": "hi"}), json!({"text": "fail"}), json!({}), json!([1])]),
        ),
        prop::option::weighted(0.8, member(vec![json!("a"), json!(7), json!(-0.5), Value::Null])),
    );
    members.prop_map(|(jsonrpc, method, params, id)| {
        let named = [("jsonrpc", jsonrpc), ("method", method), ("params", params), ("id", id)];
        let there = named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Value::Object(there.collect::<Map<_, _>>())
    })
}

fn posted(path: &str, body: Vec<u8>) -> Response {
    let host = FakeHost::with(&[("MAX_TOOL_CALLS", "4")]);
    answer(CATALOG, &host, ("POST", path, &[JSON]), Body::from(body))
}

proptest! {
    #![proptest_config(modest())]

    #[test]
    fn any_bytes_get_a_response(
        path in select(ADDRESSES.to_vec()),
        body in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        posted(path, body);
    }

    #[test]
    fn any_json_gets_a_response(path in select(ADDRESSES.to_vec()), body in any_json()) {
        posted(path, body.to_string().into_bytes());
    }

    #[test]
    fn a_response_has_the_id_of_its_request(
        path in select(ADDRESSES[..2].to_vec()),
        request in request(),
    ) {
        let answer = posted(path, request.to_string().into_bytes());
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        match request.get("id") {
            Some(id) if id.is_string() || id.is_number() || id.is_null() => {
                prop_assert_eq!((answer.status, &body["id"]), (200, id));
            }
            Some(_) => prop_assert_eq!((answer.status, &body["error"]["code"]), (200, &json!(-32600))),
            None if answer.status == 204 => {}
            None => prop_assert_eq!((&body["error"]["code"], &body["id"]), (&json!(-32600), &Value::Null)),
        }
    }

    #[test]
    fn each_member_of_a_batch_gets_its_response(
        path in select(ADDRESSES[..2].to_vec()),
        requests in prop::collection::vec(request(), 0..6),
    ) {
        let single = |request: &Value| posted("/jsonrpc", request.to_string().into_bytes());
        let answer = posted(path, json!(requests).to_string().into_bytes());
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        match requests.len() {
            1..=4 if path == "/jsonrpc" => {
                let alone: Vec<Value> = requests.iter().map(single)
                    .filter_map(|answer| serde_json::from_slice(&answer.body).ok()).collect();
                let expected = if alone.is_empty() { Value::Null } else { json!(alone) };
                prop_assert_eq!(body, expected);
            }
            1..=4 => prop_assert!(body.is_array() || answer.status == 204),
            _ => prop_assert_eq!((&body["error"]["code"], &body["id"]), (&json!(-32600), &Value::Null)),
        }
    }

    #[test]
    fn any_stream_has_valid_events(request in request()) {
        let answer = posted("/opentool/streamCall", request.to_string().into_bytes());
        prop_assert!([200, 400].contains(&answer.status));
        let has_valid_id = request.get("id").is_some_and(Value::is_string);
        prop_assert!(answer.status == 400 || has_valid_id);
    }

    #[test]
    fn errors_do_not_repeat_parameter_values(
        path in select(ADDRESSES.to_vec()),
        method in select(vec!["Echo_Say", "Echo_Private", "Echo_Broken", "x"]),
        key in select(vec!["text", "mood", "times", "tags", "at", "either", "one", "code"]),
        depth in 0..3_usize,
    ) {
        let value = (0..depth).fold(json!("Zc4n4ry"), |inner, _| json!([inner]));
        // `colour` is an unknown parameter, so the tool does not run.
        let params = json!({"text": "a", "colour": "Zc4n4ry", key: value});
        let body = json!({"jsonrpc": "2.0", "method": method, "params": params, "id": "a"});
        let answer = wire(&posted(path, body.to_string().into_bytes()));
        prop_assert!(answer.contains("\"error\":") && !answer.contains("Zc4n4ry"), "{}", answer);
    }
}
